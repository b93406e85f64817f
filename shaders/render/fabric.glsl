// SPDX-License-Identifier: MIT
// fabric.glsl - what stands in place of a roughness where a surface is of fabric: below 0, and exact in 16 bits for the
// first 2,000 fabrics; those beyond look like the last of these.

float fabric_mark(uint fabric)
{
    return -1.0 - float(min(fabric, 2000u));
}

bool is_fabric(float mark)
{
    return mark < -0.5;
}

uint fabric_of_mark(float mark)
{
    return uint(-mark - 0.5);
}
