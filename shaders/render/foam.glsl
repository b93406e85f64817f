// SPDX-License-Identifier: MIT
// foam.glsl - the light of white water. Needs sky.glsl and foam.h.

// Radiance of foam with this normal: a diffuse reflector of which light goes a little round the edges, because foam
// scatters inside; `sun` is the share of the sun's light that reaches it, `open` of the sky's.
vec3 foam_radiance(vec3 color, vec3 normal, float sun, float open)
{
    const float wrap = 0.5;
    const float facing = max((dot(normal, frame.sun_direction.xyz) + wrap) / ((1.0 + wrap) * (1.0 + wrap)), 0.0);
    const vec3 from_sun = frame.sun_radiance.rgb * (facing * sun);
    return color * (from_sun + sky_irradiance(normal) * open) / 3.14159265;
}

// What an optical depth hides.
float foam_opacity(float depth)
{
    return 1.0 - exp(-depth);
}
