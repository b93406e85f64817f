// SPDX-License-Identifier: MIT
// composite.comp - water in front of the scene: Fresnel reflection of the sky and the sun, the scene behind refracted
// and absorbed (Beer-Lambert), a little light scattered back.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "sky.glsl"
#include "shadow.glsl"
#include "fresnel.glsl"
#include "smoke_view.glsl"
#include "occlusion.glsl"
#include "passes/composite.h"
#include "passes/foam.h"
#include "foam.glsl"
PASS_CONSTANTS(CompositeConstants)
layout(local_size_x = 8, local_size_y = 8) in;
layout(constant_id = 0) const uint HAS_FOAM = 0u;
layout(constant_id = 1) const uint HAS_SMOKE = 0u;
layout(constant_id = 2) const uint HAS_LIQUID = 1u; // without, the scene is the picture: software drivers go through all of a branch

// 1 / z of the smoothed surface next to a texel; the texel's own where there is an edge between.
float inverse_beside(ivec2 texel, ivec2 offset, float own)
{
    const ivec2 t = texel + offset;
    if (any(lessThan(t, ivec2(0))) || any(greaterThanEqual(t, ivec2(frame.width, frame.height)))) {
        return -1.0;
    }
    const float z = texelFetch(smooth_depth_image, t, 0).x;
    return isinf(z) || abs(z - 1.0 / own) > 2.0 * frame.smoothing_radius ? -1.0 : 1.0 / z;
}

// The slope of 1 / z at a texel from the steps to both sides, each weighted down as it gets steeper than 45 degrees
// (w ~ 1 / (1 + slope^2)^2, the weights of WENO schemes; Jiang and Shu 1996): their mean where the surface is smooth,
// the flatter of the two at an edge that is smaller than what inverse_beside() tells apart. A step across a droplet's
// rim would be a mirror a pixel wide, where the real one is a hundredth. y is how far the two agree, 0 to 1, z the angle
// between them (its sine).
vec3 slope_between(float before, float own, float after)
{
    const float unit = own / frame.focal; // a step of a surface at 45 degrees
    const float back = (own - before) / unit, ahead = (after - own) / unit;
    const float flat_back = 1.0 / (1.0 + back * back), flat_ahead = 1.0 / (1.0 + ahead * ahead);
    const float weight_back = before > 0.0 ? flat_back * flat_back : 0.0;
    const float weight_ahead = after > 0.0 ? flat_ahead * flat_ahead : 0.0;
    const float slope = (weight_back * back + weight_ahead * ahead) / max(weight_back + weight_ahead, 1e-20);
    const float agree = 1.0 - abs(ahead - back) / (1.0 + abs(back) + abs(ahead));
    const float bend = abs(ahead - back) * sqrt(flat_back * flat_ahead);
    return min(before, after) > 0.0 ? vec3(unit * slope, agree, bend) : vec3(unit * slope, 0.0, 0.0);
}

// The normal towards the eye, world space. A plane n . p = 1 has 1 / z = n . (slope, 1): the gradient of 1 / z over the
// slope is the normal itself.
struct SurfaceNormal {
    vec3 normal;
    float sure;   // 0 to 1
    float change; // from pixel to pixel, squared
};

SurfaceNormal surface_normal(ivec2 texel, float z)
{
    const float q = 1.0 / z;
    const vec3 x = slope_between(inverse_beside(texel, ivec2(-1, 0), q), q, inverse_beside(texel, ivec2(1, 0), q));
    const vec3 y = slope_between(inverse_beside(texel, ivec2(0, -1), q), q, inverse_beside(texel, ivec2(0, 1), q));
    const vec2 gradient = vec2(x.x, -y.x) * frame.focal;
    const vec2 slope = pixel_slope(vec2(texel) + 0.5);
    const vec3 n = vec3(gradient, q - dot(gradient, slope));
    return SurfaceNormal(-normalize(view_to_world_direction(n)), min(x.y, y.y), 0.5 * (x.z * x.z + y.z * y.z));
}

// Where the refracted ray is on the screen after `metres` of liquid. Where something before the liquid is there, which
// cannot be seen through it: the last place on the way at which nothing is, so that the picture behind the surface is
// compressed beside it, and not torn.
vec2 pixel_behind(vec3 point, vec3 direction, float metres, float surface_z, ivec2 texel)
{
    const vec3 leaves = to_view(point + direction * metres);
    const vec2 pixel = pixel_of(vec3(leaves.xy, max(leaves.z, 1e-3)));
    const vec2 size = vec2(frame.width, frame.height), own = vec2(texel) + 0.5;
    const vec2 seen = clamp(pixel, vec2(0.5), size - 0.5);
    float share = 1.0;
    if (scene_view_z(ivec2(seen)) < surface_z) {
        share = 0.0;
        for (float step = 0.5; step > 0.02; step *= 0.5) { // bisection
            share += scene_view_z(ivec2(mix(own, seen, share + step))) < surface_z ? 0.0 : step;
        }
    }
    return mix(own, seen, share);
}

// What is seen along the refracted ray after `metres` of liquid: the scene as it is on the screen where the ray leaves.
vec3 behind(vec3 point, vec3 direction, float metres, float surface_z, ivec2 texel)
{
    const vec2 seen = pixel_behind(point, direction, metres, surface_z, texel);
    vec3 light = textureLod(sampler2D(scene_color_image, linear_sampler), seen / vec2(frame.width, frame.height), 0.0).rgb;
    if (HAS_SMOKE != 0u) {
        light = smoke_removed(light, seen, surface_z); // what is before the surface is before all of the liquid's light
    }
    return light;
}

// Bubbles and foam below the surface, over what is behind them. On the screen they are where the refracted ray is once it
// is as deep as they are. Light reaches them through the liquid, too, from above.
vec3 foam_behind(vec3 point, vec3 direction, float z, ivec2 texel, vec3 light, vec4 thickness)
{
    const uint own = FOAM_WORDS * uint(texel.y * int(frame.width) + texel.x);
    const float own_sum = max(float(frame.foam.at[own + FOAM_BEHIND]), 1.0);
    const float way = float(frame.foam.at[own + FOAM_BEHIND_WAY]) * (FOAM_UNIT / FOAM_WAY_UNIT) / own_sum;
    const ivec2 seen = ivec2(pixel_behind(point, direction, max(way, 0.5 * frame.spacing), z, texel));
    const uint at = FOAM_WORDS * uint(seen.y * int(frame.width) + seen.x);
    const float sum = float(frame.foam.at[at + FOAM_BEHIND]);
    const float sun = float(frame.foam.at[at + FOAM_BEHIND_LIGHT]) / max(sum, 1.0);
    const float metres = float(frame.foam.at[at + FOAM_BEHIND_WAY]) * (FOAM_UNIT / FOAM_WAY_UNIT) / max(sum, 1.0);
    const vec3 absorption = thickness.rgb / max(thickness.a, 1e-6);
    const vec3 white = foam_radiance(pass.foam_color.rgb, vec3(0.0, 1.0, 0.0), sun, 0.8);
    return mix(light, white * exp(-1.7 * absorption * metres), foam_opacity(sum / FOAM_UNIT));
}

// The scene in the direction of a mirrored ray, as far as the picture shows it: w is 1 where the ray meets something, less
// near the picture's border. Steps grow with the way; what a ray passes behind by more than a step, it does not meet.
vec4 mirrored_scene(vec3 point, vec3 direction)
{
    const int STEPS = 14;
    const vec3 from = to_view(point), along = to_view(frame.eye.xyz + direction);
    const vec2 size = vec2(frame.width, frame.height);
    float near = 0.0, far = 0.0, way = frame.smoothing_radius;
    for (int k = 0; k < STEPS && far == 0.0; k++, way *= 1.5) {
        const vec3 at = from + way * along;
        const vec2 pixel = pixel_of(vec3(at.xy, max(at.z, frame.near_plane)));
        if (at.z <= frame.near_plane || any(lessThan(pixel, vec2(0.0))) || any(greaterThanEqual(pixel, size))) {
            break;
        }
        const float behind = at.z - scene_view_z(ivec2(pixel));
        far = behind > 0.0 && behind < 0.5 * way ? way : 0.0;
        near = far > 0.0 ? near : way;
    }
    vec4 seen = vec4(0.0);
    if (far > 0.0) {
        for (int k = 0; k < 5; k++) {
            const float middle = 0.5 * (near + far);
            const vec3 at = from + middle * along;
            const bool before = at.z < scene_view_z(ivec2(clamp(pixel_of(at), vec2(0.0), size - 1.0)));
            near = before ? middle : near;
            far = before ? far : middle;
        }
        const vec2 place = pixel_of(from + far * along) / size;
        const vec2 border = min(place, 1.0 - place);
        seen = vec4(textureLod(sampler2D(scene_color_image, linear_sampler), place, 0.0).rgb,
                    smoothstep(0.0, 0.05, min(border.x, border.y)));
    }
    return seen;
}

// The sun in the surface, over its irradiance: GGX (Walter et al. 2007) as wide as the smoothing leaves the surface uncertain,
// and wider where the normal changes from pixel to pixel, so that small waves glitter evenly instead of in dots (Tokuyoshi
// and Kaplanyan 2019).
float glint(vec3 normal, vec3 to_eye, float change)
{
    const vec3 to_sun = frame.sun_direction.xyz, halfway = normalize(to_sun + to_eye);
    const float nl = max(dot(normal, to_sun), 0.0), nv = max(dot(normal, to_eye), 1e-3);
    const float nh = max(dot(normal, halfway), 0.0);
    const float a2 = min(0.058 * 0.058 + min(change, 0.18), 1.0), a = sqrt(a2);
    const float d = nh * nh * (a2 - 1.0) + 1.0;
    const float masking = 0.5 / max(mix(2.0 * nl * nv, nl + nv, a), 1e-4);
    return nl * a2 / (3.14159265 * d * d) * masking * dielectric_fresnel(dot(to_eye, halfway), pass.refraction);
}

vec3 shade(ivec2 texel, float z, SurfaceNormal surface, vec4 thickness)
{
    const vec3 normal = surface.normal;
    const float sure = smoothstep(0.0, 0.7, surface.sure);
    const vec2 pixel = vec2(texel) + 0.5;
    const vec3 direction = normalize(pixel_direction(pixel));
    const vec3 point = world_point_at(pixel, z);
    const float facing = clamp(-dot(direction, normal), 0.0, 1.0);
    const float fresnel = dielectric_fresnel(facing, pass.refraction);

    const vec3 refracted = refract(direction, normal, 1.0 / pass.refraction);
    // At most to the ground, and as far as the liquid's own scale: a deep pool bends what is near its surface, not what is
    // miles away.
    const float down = frame.ground_visible != 0u ? max(-refracted.y, 0.0) : 0.0;
    const float to_ground = max(point.y - frame.ground_color.w, 0.0) / max(down, 1e-4);
    const float way = min(min(thickness.a, to_ground), 8.0 * frame.smoothing_radius);
    const vec3 background = behind(point, refracted, way, z, texel);
    const vec3 transmittance = exp(-thickness.rgb);
    const vec3 scatter_color = material_color_at(thickness);
    float lit = sun_visibility(point + normal * (0.5 * frame.spacing));
    if (HAS_SMOKE != 0u) {
        lit *= smoke_sun(point);
    }
    const vec3 light = sky_irradiance(vec3(0.0, 1.0, 0.0)) + frame.sun_radiance.rgb * (lit * max(frame.sun_direction.y, 0.0));
    const vec3 scattered = scatter_color * light * (1.0 - transmittance) * (pass.scattering * 0.25 / 3.14159);

    const vec3 mirrored = reflect(direction, normal);
    // A mirrored ray that goes down meets the liquid again, as a rule: it sees what the refracted one does, not the ground.
    const float mirror = fresnel * sure * smoothstep(-0.1, 0.0, mirrored.y);
    vec3 reflection = sky_radiance(mirrored);
    if (mirror > 0.02) {
        const vec4 seen = mirrored_scene(point, mirrored);
        reflection = mix(reflection, seen.rgb, seen.w);
    }
    const vec3 sun = frame.sun_radiance.rgb * (lit * sure * glint(normal, -direction, surface.change));
    vec3 through = background * transmittance + scattered;
    if (HAS_FOAM != 0u) {
        through = foam_behind(point, refracted, z, texel, through, thickness);
    }
    return (1.0 - mirror) * through + mirror * reflection + sun;
}

// Of the scene's samples at a pixel, those in front of the liquid: the sum of their light; w is how many they are.
vec4 samples_in_front(ivec2 texel, float z)
{
    vec4 sum = vec4(0.0);
    for (int k = 0; k < int(pass.edge_samples); k++) {
        const float own = frame.near_plane / texelFetch(depth_samples_image, texel, k).x;
        for (uint front = own < z ? 1u : 0u; front > 0u; front--) { // software drivers skip loops, not branches
            vec4 light = texelFetch(color_samples_image, texel, k);
            if (pass.has_occlusion != 0u) {
                light = occluded(light, occlusion_left(texel, own));
            }
            if (HAS_SMOKE != 0u) {
                light.rgb = smoke_over(light.rgb, vec2(texel) + 0.5, own);
            }
            sum += vec4(light.rgb, 1.0);
        }
    }
    return sum;
}

void main()
{
    const ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(texel, ivec2(frame.width, frame.height)))) {
        return;
    }
    if (HAS_LIQUID == 0u) {
        imageStore(normals_store, texel, vec4(0.0));
        imageStore(color_store, texel, vec4(texelFetch(scene_color_image, texel, 0).rgb, 1.0));
        return;
    }
    const float z = texelFetch(smooth_depth_image, texel, 0).x;
    vec4 in_front = vec4(0.0);
    bool hidden = isinf(z);
    if (pass.edge_samples > 0u) {
        in_front = hidden ? in_front : samples_in_front(texel, z) / float(pass.edge_samples);
        hidden = hidden || in_front.w == 1.0;
    } else {
        hidden = hidden || z > scene_view_z(texel);
    }
    if (hidden) {
        imageStore(normals_store, texel, vec4(0.0));
        imageStore(color_store, texel, vec4(texelFetch(scene_color_image, texel, 0).rgb, 1.0));
        return;
    }
    const SurfaceNormal surface = surface_normal(texel, z);
    const vec2 at = (vec2(texel) + 0.5) / vec2(2 * imageSize(thickness_store));
    vec4 thickness = textureLod(sampler2D(thickness_image, linear_sampler), at, 0.0);
    imageStore(normals_store, texel, vec4(surface.normal, 1.0));
    vec3 liquid = shade(texel, z, surface, thickness);
    if (HAS_SMOKE != 0u) {
        liquid = smoke_over(liquid, vec2(texel) + 0.5, z);
    }
    imageStore(color_store, texel, vec4(in_front.rgb + (1.0 - in_front.w) * liquid, 1.0));
}
