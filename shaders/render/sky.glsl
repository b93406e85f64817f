// SPDX-License-Identifier: MIT
// sky.glsl - light from the sky as the environment pass stored it: equirectangular, y up, +z in the middle, and +x to
// the left of it, as who stands inside sees it (OpenEXR's latitude-longitude maps).

vec2 sky_coordinates(vec3 direction)
{
    return vec2(0.5 - atan(direction.x, direction.z) / 6.2831853, acos(clamp(direction.y, -1.0, 1.0)) / 3.14159265);
}

// Radiance from a direction of unit length, without the sun's disc.
vec3 sky_radiance(vec3 direction)
{
    return textureLod(sampler2D(environment_image, sky_sampler), sky_coordinates(direction), 0.0).rgb;
}

// What the ground fades into: the sky just above the horizon, below a direction or above it.
vec3 horizon_radiance(vec3 direction)
{
    const float lowest = 0.00614; // the middle of the lowest row of texels that is sky
    return sky_radiance(vec3(normalize(direction.xz + 1e-6) * 0.99998, lowest).xzy);
}

layout(set = 0, binding = BINDING_sky_light, scalar) uniform SkyBlock
{
    vec4 sky_harmonics[SKY_HARMONICS];
};

// Irradiance of a surface with this normal: nine spherical harmonics are within a few percent for any sky (Ramamoorthi
// and Hanrahan, "An efficient representation for irradiance environment maps", 2001).
vec3 sky_irradiance(vec3 n)
{
    vec3 sum = sky_harmonics[0].rgb;
    sum += sky_harmonics[1].rgb * n.x + sky_harmonics[2].rgb * n.y + sky_harmonics[3].rgb * n.z;
    sum += sky_harmonics[4].rgb * (n.x * n.y) + sky_harmonics[5].rgb * (n.y * n.z) + sky_harmonics[6].rgb * (n.z * n.x);
    sum += sky_harmonics[7].rgb * (3.0 * n.y * n.y - 1.0) + sky_harmonics[8].rgb * (n.x * n.x - n.z * n.z);
    return max(sum, 0.0);
}
