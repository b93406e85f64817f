// SPDX-License-Identifier: MIT
// fabric_light.glsl - cloth in the light of sun and sky. Needs lighting.glsl.

// Fibres that stand up, over the sun's irradiance: the distribution of Estevez and Kulla ("Production friendly microfacet
// sheen BRDF", 2017) with the visibility of Neubelt and Pettineo ("Crafting a next-gen material pipeline for The Order:
// 1886", 2013).
float sun_sheen(vec3 n, vec3 to_eye, float roughness)
{
    const vec3 to_sun = frame.sun_direction.xyz, halfway = normalize(to_sun + to_eye);
    const float nl = max(dot(n, to_sun), 1e-4), nv = max(dot(n, to_eye), 1e-4), nh = dot(n, halfway);
    const float power = 1.0 / roughness;
    const float distribution = (2.0 + power) * pow(max(1.0 - nh * nh, 0.0), 0.5 * power) / 6.2831853;
    return distribution / (4.0 * (nl + nv - nl * nv));
}

// The share of light from everywhere that they send to the eye. Fitted to the integral: within 0.02 for roughness from
// 0.2 to 1.
float sheen_albedo(float nv, float roughness)
{
    const float r = roughness, x = 1.0 - clamp(nv, 0.0, 1.0), across = x * x * x * x * x;
    return r * (0.382 - 0.18 * r) - 0.067 + x * (0.452 + r * (0.084 * r - 0.245)) + across * (0.038 + (0.137 - 0.0076 / r) / r);
}

// Matte, with sheen, and light that comes through: from behind, E/pi of the share that goes through and the colour. The
// sun on the far face is what reaches the middle of the cloth.
vec4 fabric_light(vec3 point, vec3 n, vec3 to_eye, vec3 color, Fabric look)
{
    const float through = look.back_color.w, roughness = clamp(look.color.w, 0.2, 1.0);
    const bool lit = dot(n, frame.sun_direction.xyz) > 0.0;
    const vec3 far = point - (lit ? 0.0 : look.thickness) * n;
    const vec3 sun = sun_irradiance(far, lit ? n : -n) * (lit ? 1.0 - through : through);
    const vec3 sky = (1.0 - through) * sky_irradiance(n) + through * sky_irradiance(-n);
    const vec3 fibres = look.sheen * sqrt(max(color, 0.0));
    const float sent = sheen_albedo(dot(n, to_eye), roughness), kept = 1.0 - look.sheen * sent;
    const vec3 from_sky = matte_light(color, sky) * kept + fibres * sent * sky_irradiance(n) / 3.14159265;
    const vec3 shine = fibres * (lit ? sun_sheen(n, to_eye, roughness) : 0.0);
    const vec3 fire = (1.0 - through) * fire_irradiance(point, n) + through * fire_irradiance(point, -n);
    return shared_light(matte_light(color, sun + fire) * kept + shine * sun + from_sky, from_sky);
}
