// SPDX-License-Identifier: MIT
// smoke_source.glsl - light that smoke sends to the eye. Needs sky.glsl, shadow.glsl and smoke_particles.glsl.

// Henyey and Greenstein's phase function, 1/sr.
float phase(float g, float cosine)
{
    return (1.0 - g * g) / (12.5663706 * pow(max(1.0 + g * g - 2.0 * g * cosine, 1e-6), 1.5));
}

// The sun's light that smoke sends to the eye, per albedo: what is scattered once, and several times as octaves of half
// the light, half the extinction and half the asymmetry each (Wrenninge, Kulla and Lundqvist 2013).
vec3 sun_scattered(vec3 point, float tau, float cosine)
{
    const vec3 place = (frame.sun_projection * vec4(point, 1.0)).xyz;
    float visible = 1.0;
    if (all(lessThan(abs(place.xy), vec2(0.999)))) {
        visible = lit_share(0.5 * place.xy + 0.5, place.z - 1.5 / float(frame.shadow_size));
    }
    float sum = 0.0, part = 1.0;
    for (uint n = 0u; n < pass.octaves; n++) {
        sum += part * phase(part * pass.asymmetry, cosine) * exp(-part * tau);
        part *= 0.5;
    }
    return frame.sun_radiance.rgb * (visible * sum);
}

// Mean radiance of the sky around a point.
vec3 sky_around(vec3 point)
{
    const float ratio = float(SMOKE_LIGHT_SIDE / SMOKE_OPEN_SIDE);
    const vec3 place = smoke_light_place(point) / ratio;
    vec3 sum = vec3(0.0);
    for (int corner = 0; corner < 8; corner++) {
        float weight;
        const ivec3 cell = corner_of(place, corner, weight);
        sum += weight * pass.open_light.at[cell_number(ivec3(SMOKE_OPEN_SIDE, SMOKE_OPEN_SIDE, SMOKE_OPEN_DEEP), cell)].rgb;
    }
    return sum;
}

// Over its extinction, at an optical depth of the sun's; `cosine` is that of the angle between the line of sight and the sun.
vec3 smoke_radiance(vec3 point, float temperature, float tau, float cosine)
{
    const vec3 albedo = puff_albedo(temperature);
    vec3 sky = sky_harmonics[0].rgb / 3.14159265; // the mean of all of it
    for (uint once = frame.smoke_mode == SMOKE_MODE_MAP ? 0u : 1u; once > 0u; once--) {
        sky = sky_around(point);
    }
    return albedo * (sun_scattered(point, tau, cosine) + sky) + (1.0 - albedo) * pass.fire * wien(SMOKE_AROUND + temperature);
}
