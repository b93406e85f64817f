// SPDX-License-Identifier: MIT
// skins.frag - a thin translucent skin with a smooth coat, where neither the scene nor the liquid hides it: what it leaves
// of the light behind it, or the light that it sends itself.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "sky.glsl"
#include "shadow.glsl"
#include "lighting.glsl"
#include "smoke_view.glsl"
layout(location = 0) in vec3 normal;
layout(location = 1) in vec3 point;
layout(location = 2) flat in uint fabric;
layout(location = 0) out vec4 color;
layout(constant_id = 0) const uint NEAR_SIDES = 1u; // liquid may be in front
layout(constant_id = 1) const uint LIGHT = 0u;

const float SCATTERED = 0.25; // of the light that it takes away

bool is_hidden(ivec2 texel, float z)
{
    return z > 1.0005 * scene_view_z(texel) ||
           (NEAR_SIDES != 0u && z > texelFetch(smooth_depth_image, texel, 0).x + 2.0 * frame.spacing);
}

void main()
{
    const Fabric look = frame.fabrics.at[fabric];
    const vec3 to_eye = normalize(frame.eye.xyz - point);
    vec3 n = normalize(normal);
    n = dot(n, to_eye) < 0.0 ? -n : n;
    const float facing = max(dot(n, to_eye), 0.05), mirrored = 0.04 + 0.96 * pow(1.0 - facing, 5.0);
    const vec3 dye = NEAR_SIDES != 0u ? look.color.rgb : look.back_color.rgb;
    const vec3 through = exp(-(1.0 - dye) * look.absorption / facing); // Beer-Lambert along the ray
    const float z = dot(point - frame.eye.xyz, frame.forward.xyz);
    const vec3 left = through * (1.0 - mirrored);
    color = vec4(left, 0.0);
    if (LIGHT != 0u) {
        // A skin sends as much of what it scatters to either side.
        const vec3 sun = sun_irradiance(point, n), behind = sun_irradiance(point, -n);
        const vec3 sky = 0.5 * (sky_irradiance(n) + sky_irradiance(-n));
        const vec3 scattered = matte_light(SCATTERED * (1.0 - through) * dye, sun + behind + sky);
        const vec3 coat = mirrored * sky_radiance(reflect(-to_eye, n)) + sun * sun_gloss(n, to_eye, look.color.w);
        const vec4 smoke = smoke_before(gl_FragCoord.xy, z);
        color = vec4(smoke.a * ((1.0 - mirrored) * scattered + coat) + (1.0 - left) * smoke.rgb, 0.0);
    }
    if (is_hidden(ivec2(gl_FragCoord.xy), z)) {
        discard;
    }
}
