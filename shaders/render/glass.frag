// glass.frag - thin glass: the sky mirrored in it, and the rims of its panes, which gather light. The liquid behind is
// what one should look at.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "shapes.glsl"
#include "sky.glsl"
layout(location = 0) in vec3 point;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 local;
layout(location = 3) flat in vec3 side;
layout(location = 4) flat in vec4 box;
layout(location = 5) flat in vec3 rim_color;
layout(location = 0) out vec4 color;
layout(push_constant) uniform Push
{
    uint in_front; // of the liquid: drawn over the picture, and hidden by what is in the depth images
} push;

// Whether the scene or the liquid is nearer. Liquid is drawn up to half a spacing through the wall that holds it.
bool is_hidden(ivec2 texel, float z)
{
    const float liquid = texelFetch(smooth_depth_image, texel, 0).x;
    return z > 1.0005 * scene_view_z(texel) || z > liquid + 2.0 * frame.spacing;
}

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

void main()
{
    const uint kind = uint(box.w);
    const vec3 to_eye = normalize(frame.eye.xyz - point);
    vec3 n = normalize(normal);
    n = dot(n, to_eye) < 0.0 ? -n : n;
    const float rim = kind == SHAPE_BOX ? rim_share() : 0.0; // before any lane leaves: it takes derivatives
    if (push.in_front != 0u && is_hidden(ivec2(gl_FragCoord.xy), dot(point - frame.eye.xyz, frame.forward.xyz))) {
        discard;
    }
    float fade = 1.0;
    if (kind == SHAPE_PLANE) {
        fade = 1.0 - smoothstep(0.3, 1.0, length(local.xz) / frame.ground_centre.w);
    }
    const float once = 0.04 + 0.96 * pow(1.0 - dot(n, to_eye), 5.0);
    float mirrored = min(2.0 * once / (1.0 + once), 0.5); // by both of its surfaces
    float tint = 0.02;
    if (frame.ground_visible != 0u && abs(n.y) > 0.999 && abs(point.y - frame.ground_color.w) < 0.5 * frame.spacing) {
        mirrored = tint = 0.0; // a pane that lies on the ground is not seen
    }
    const vec4 pane = vec4(sky_radiance(reflect(-to_eye, n)) * mirrored, mirrored + tint);
    color = mix(pane, vec4(rim_color, 1.0), 0.6 * rim) * fade;
}
