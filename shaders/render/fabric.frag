// SPDX-License-Identifier: MIT
// fabric.frag - what solids.frag needs to know of cloth: colour, normal with the relief of its threads, and in place of
// the roughness which fabric it is.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "fabric.glsl"
#include "weave.glsl"
layout(location = 0) centroid in vec3 normal;
layout(location = 1) in vec3 point;
layout(location = 2) in vec2 place;
layout(location = 3) flat in uint fabric;
layout(location = 0) out vec4 color;
layout(location = 1) out vec4 normal_depth;

const float RELIEF = 0.25; // of threads, over the distance between them
const float CREASES = 0.5; // how much darker it is between threads than on top

void main()
{
    const Fabric look = frame.fabrics.at[min(fabric >> 1u, frame.fabric_count - 1u)];
    const vec3 to_eye = normalize(frame.eye.xyz - point), along_x = dFdx(point), along_y = dFdy(point);
    const vec2 by_x = dFdx(place), by_y = dFdy(place), width = abs(by_x) + abs(by_y);
    vec3 n = normalize(normal);
    // Between vertices a smooth normal may turn away from who sees the face.
    n = normalize(n + max(0.03 - dot(n, to_eye), 0.0) * to_eye);
    vec3 dye = (fabric & 1u) != 0u ? look.back_color.rgb : look.color.rgb;
    if (look.pattern != FABRIC_PLAIN) {
        const float stripe = max(look.pattern_color.w, 1e-6);
        dye = mix(dye, look.pattern_color.rgb, pattern_share(look.pattern, place / stripe, width / stripe));
    }
    if (look.weave > 0.0) {
        const vec3 threads = weave(place / look.weave, width / look.weave);
        const vec2 slope = RELIEF * threads.xy;
        n = bumped(n, along_x, along_y, vec2(dot(slope, by_x), dot(slope, by_y)));
        dye = min(dye * (1.0 + CREASES * (threads.z - 0.5)), 1.0);
    }
    color = vec4(dye, fabric_mark(fabric >> 1u));
    normal_depth = vec4(n, frame.near_plane / gl_FragCoord.z);
}
