// SPDX-License-Identifier: MIT
// sky_picture.glsl - the pixels of a sky from a file, at their own resolution.

vec3 sky_picture_pixel(ivec2 pixel)
{
    const ivec2 size = ivec2(frame.sky_width, frame.sky_height);
    const int x = (pixel.x % size.x + size.x) % size.x, y = clamp(pixel.y, 0, size.y - 1);
    const uint at = 2u * uint(y * size.x + x);
    return vec3(unpackHalf2x16(frame.sky_pixels.at[at]), unpackHalf2x16(frame.sky_pixels.at[at + 1u]).x);
}

// Bilinear, at sky_coordinates(), turned by the scene's image_rotation.
vec3 sky_picture(vec2 coordinates)
{
    const vec2 turned = coordinates + vec2(frame.sky_turn / 6.2831853, 0.0);
    const vec2 at = turned * vec2(frame.sky_width, frame.sky_height) - 0.5;
    const ivec2 low = ivec2(floor(at));
    const vec2 part = at - floor(at);
    const vec3 above = mix(sky_picture_pixel(low), sky_picture_pixel(low + ivec2(1, 0)), part.x);
    const vec3 below = mix(sky_picture_pixel(low + ivec2(0, 1)), sky_picture_pixel(low + ivec2(1, 1)), part.x);
    return frame.sky_brightness * mix(above, below, part.y);
}
