// SPDX-License-Identifier: MIT
// glass.glsl - thin glass: the sky mirrored in it, and the rims of its panes, which gather light. The liquid behind is
// what one should look at. For fragments of glass.vert and body_glass.vert.
#ifndef GLASS_GLSL
#define GLASS_GLSL
#include "frame.glsl"
#include "colliders.glsl"
#include "sky.glsl"
layout(location = 0) in vec3 point;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 local;
layout(location = 3) flat in vec3 side;
layout(location = 4) flat in vec4 box;
layout(location = 5) flat in vec3 rim_color;

// How much of a pixel the rim of a box's pane covers.
float rim_share()
{
    const vec3 inwards = box.xyz - abs(local); // metres from each pair of sides
    const vec3 pixel = max(fwidth(local), vec3(1e-9));
    const float wide = 0.006 * max(box.x, max(box.y, box.z));
    const vec3 width = max(vec3(wide), pixel); // at least a pixel, fainter instead of thinner
    vec3 share = clamp((width - inwards) / pixel + 0.5, 0.0, 1.0) * (wide / width);
    share *= 1.0 - abs(side); // not from the side that the pane is itself
    return max(share.x, max(share.y, share.z));
}

// Takes derivatives: before any lane leaves.
vec4 glass_color()
{
    const uint kind = uint(box.w);
    const vec3 to_eye = normalize(frame.eye.xyz - point);
    vec3 n = normalize(normal);
    n = dot(n, to_eye) < 0.0 ? -n : n;
    const float rim = kind == COLLIDER_BOX ? rim_share() : 0.0;
    float fade = 1.0;
    if (kind == COLLIDER_PLANE) {
        fade = 1.0 - smoothstep(0.3, 1.0, length(local.xz) / frame.ground_centre.w);
    }
    const float once = 0.04 + 0.96 * pow(1.0 - dot(n, to_eye), 5.0);
    float mirrored = min(2.0 * once / (1.0 + once), 0.5); // by both of its surfaces
    float tint = 0.02;
    if (frame.ground_visible != 0u && abs(n.y) > 0.999 && abs(point.y - frame.ground_color.w) < 0.5 * frame.spacing) {
        mirrored = tint = 0.0; // a pane that lies on the ground is not seen
    }
    const vec4 pane = vec4(sky_radiance(reflect(-to_eye, n)) * mirrored, mirrored + tint);
    return mix(pane, vec4(rim_color, 1.0), 0.6 * rim) * fade;
}

#endif
