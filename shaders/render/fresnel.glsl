// SPDX-License-Identifier: MIT
// fresnel.glsl - how much a smooth surface reflects.

// Of unpolarised light on a dielectric, from outside (Born and Wolf, "Principles of Optics", section 1.5.2). `cos_in` is
// that of the angle between ray and normal.
float dielectric_fresnel(float cos_in, float refraction)
{
    const float c = clamp(cos_in, 0.0, 1.0);
    const float g = sqrt(max(refraction * refraction - 1.0 + c * c, 0.0)); // refraction times the cosine inside
    const float s = (c - g) / (c + g);
    const float ratio = refraction * refraction;
    const float p = (ratio * c - g) / (ratio * c + g);
    return 0.5 * (s * s + p * p);
}
