// SPDX-License-Identifier: MIT
// lines.glsl - a line of world space as a quad of a few pixels' width: an instance a line, six vertices each. Includes
// the outputs that lines.frag reads.
layout(location = 0) out vec4 line_color;     // rgb, opacity
layout(location = 1) out float pixels_across; // from the line's middle

// The part of a line in front of the near plane and not too far outside of the picture: shares of its length, crossed
// if there is none. Rasterisers lose precision in coordinates far beyond the screen.
vec2 clipped(vec3 a, vec3 b)
{
    const vec2 reach = 1.5 * vec2(frame.width, frame.height) / frame.focal; // at z = 1, to each side
    const vec3 planes[4] = vec3[](vec3(1, 0, reach.x), vec3(-1, 0, reach.x), vec3(0, 1, reach.y), vec3(0, -1, reach.y));
    vec2 part = vec2(0.0, 1.0);
    for (int i = 0; i < 5; i++) {
        const float from = i < 4 ? dot(planes[i & 3], a) : a.z - 1.001 * frame.near_plane;
        const float to = i < 4 ? dot(planes[i & 3], b) : b.z - 1.001 * frame.near_plane;
        if (from < 0.0 && to < 0.0) {
            return vec2(1.0, 0.0);
        } else if (from < 0.0) {
            part.x = max(part.x, from / (from - to));
        } else if (to < 0.0) {
            part.y = min(part.y, from / (from - to));
        }
    }
    return part;
}

// The corner gl_VertexIndex of a line between two places; w of each is the line's opacity there. half_width in pixels.
void draw_line(vec4 first, vec4 second, vec3 rgb, float half_width)
{
    const vec2 corners[6] = vec2[](vec2(0, -1), vec2(1, -1), vec2(1, 1), vec2(0, -1), vec2(1, 1), vec2(0, 1));
    const vec2 corner = corners[gl_VertexIndex];
    const vec3 a = to_view(first.xyz), b = to_view(second.xyz);
    const vec2 part = clipped(a, b);
    const vec3 from = mix(a, b, part.x), to = mix(a, b, part.y);
    const vec2 from_pixel = pixel_of(from), to_pixel = pixel_of(to);
    const float pixels = length(to_pixel - from_pixel);
    if (part.x > part.y || pixels == 0.0) {
        line_color = vec4(0.0);
        pixels_across = 0.0;
        gl_Position = vec4(0.0, 0.0, -1.0, 1.0);
        return;
    }
    const vec2 along = (to_pixel - from_pixel) / pixels;
    const float reach = half_width + 1.0; // and a pixel for its soft edge
    const vec2 pixel = mix(from_pixel, to_pixel, corner.x) + corner.y * reach * vec2(-along.y, along.x);
    const float share = mix(part.x, part.y, corner.x);
    line_color = vec4(rgb, mix(first.w, second.w, share));
    pixels_across = corner.y * reach;
    // near / z is linear on the screen, as reversed depth is.
    gl_Position = vec4(2.0 * pixel / vec2(frame.width, frame.height) - 1.0,
                       frame.near_plane / mix(from.z, to.z, corner.x), 1.0);
}
