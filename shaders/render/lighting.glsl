// SPDX-License-Identifier: MIT
// lighting.glsl - surfaces in the light of sun and sky. Needs sky.glsl and shadow.glsl.

vec3 sun_irradiance(vec3 point, vec3 normal)
{
    const float facing = dot(normal, frame.sun_direction.xyz);
    vec3 light = vec3(0.0);
    if (facing > 0.0) {
        light = frame.sun_radiance.rgb * facing * sun_visibility(point, normal) * sunlight_through_liquid(point) *
                smoke_sun(point);
    }
    return light;
}

// The sun in a rough dielectric surface, over its irradiance: GGX (Walter and others, "Microfacet models for refraction
// through rough surfaces", 2007), with Smith's masking as Hammon approximated it ("PBR diffuse lighting for GGX+Smith
// microsurfaces", 2017).
float sun_gloss(vec3 normal, vec3 to_eye, float roughness)
{
    const vec3 to_sun = frame.sun_direction.xyz, halfway = normalize(to_sun + to_eye);
    const float nl = max(dot(normal, to_sun), 1e-4), nv = max(dot(normal, to_eye), 1e-4);
    const float nh = max(dot(normal, halfway), 0.0), vh = max(dot(to_eye, halfway), 0.0);
    const float a = max(roughness * roughness, 0.02), a2 = a * a; // the sun is no point
    const float d = nh * nh * (a2 - 1.0) + 1.0;
    const float distribution = a2 / (3.14159265 * d * d);
    const float masking = 0.5 / mix(2.0 * nl * nv, nl + nv, a);
    return distribution * masking * (0.04 + 0.96 * pow(1.0 - vh, 5.0));
}

vec3 matte_light(vec3 color, vec3 irradiance)
{
    return color * irradiance / 3.14159265;
}

// Light of which some is the sky's: its share is alpha, for the occlusion pass to take away from.
vec4 shared_light(vec3 light, vec3 from_sky)
{
    const vec3 weights = vec3(0.2126, 0.7152, 0.0722);
    return vec4(light, clamp(dot(from_sky, weights) / max(dot(light, weights), 1e-6), 0.0, 1.0));
}

// A solid of some colour and roughness. `open` is how much of the sky reaches it, 0 to 1.
vec4 solid_light(vec3 point, vec3 normal, vec3 to_eye, vec3 color, float roughness, float open)
{
    const vec3 sun = sun_irradiance(point, normal), sky = open * sky_irradiance(normal);
    // Sky in the surface: mirrored where it is smooth, scattered where it is rough.
    const float facing = max(dot(normal, to_eye), 0.0);
    const float fresnel = 0.04 + (max(1.0 - roughness, 0.04) - 0.04) * pow(1.0 - facing, 5.0);
    const vec3 mirrored = mix(sky_radiance(reflect(-to_eye, normal)), sky / 3.14159265, sqrt(roughness));
    const vec3 gloss = open * fresnel * mirrored + sun * sun_gloss(normal, to_eye, roughness);
    return shared_light(matte_light(color, sun + sky + fire_irradiance(point, normal)) * (1.0 - fresnel) + gloss,
                        matte_light(color, sky) * (1.0 - fresnel) + open * fresnel * mirrored);
}

// How much of the ground, or of another plane, has become horizon: 0 near the middle of the scene, 1 far away. Even over
// 1 / distance, which is what the picture's height is: over distance, all of it would happen in a few rows.
float horizon_share(vec3 point)
{
    const float begins = 0.3, away = distance(point, frame.ground_centre.xyz) / frame.ground_centre.w;
    return 1.0 - smoothstep(1.0, 1.0 / begins, 1.0 / max(away, 1e-6));
}
