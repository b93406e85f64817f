// SPDX-License-Identifier: MIT
// display.glsl - from linear light to what a screen shows.

// The sRGB transfer function (IEC 61966-2-1) and its inverse, for values of 0 to 1.
vec3 srgb_encode(vec3 linear)
{
    return mix(1.055 * pow(linear, vec3(1.0 / 2.4)) - 0.055, 12.92 * linear, lessThanEqual(linear, vec3(0.0031308)));
}

vec3 srgb_decode(vec3 encoded)
{
    return mix(pow((encoded + 0.055) / 1.055, vec3(2.4)), encoded / 12.92, lessThanEqual(encoded, vec3(0.04045)));
}

float luminance(vec3 linear)
{
    return dot(linear, vec3(0.2126, 0.7152, 0.0722));
}

// A filmic curve in the rational form of Narkowicz 2015, x (a x + b) / (x (c x + d) + e), with coefficients of our own:
// mid-grey 0.18 stays 0.18, 1 becomes 0.74, 10 becomes 1, and blacks keep a slope of 0.6 where that fit has 0.2.
vec3 filmic_curve(vec3 x)
{
    return min(x * (4.5123 * x + 0.6) / (x * (4.4127 * x + 1.4958) + 1.0), vec3(1.0));
}

// Each colour through the curve by itself bleaches what is bright, as film does; all three by the factor of the
// strongest keep their hue. A blue sky needs some of the second to stay blue.
vec3 filmic(vec3 linear)
{
    const vec3 bleached = filmic_curve(linear);
    const float peak = max(linear.r, max(linear.g, linear.b));
    const float brightest = max(bleached.r, max(bleached.g, bleached.b)); // the curve rises: the peak's
    return mix(bleached, linear * (brightest / max(peak, 1e-6)), 0.35);
}

// AgX (Troy Sobotka 2022), with the polynomial that Benjamin Wrensch fitted to its curve: colours move towards grey, then
// each component, as a logarithm from -12.47 to 4.03 stops, goes through the curve, and colours move back. Linear again.
vec3 agx(vec3 linear)
{
    const mat3 inset = mat3(0.842479062253094, 0.0423282422610123, 0.0423756549057051, 0.0784335999999992,
                            0.878468636469772, 0.0784336, 0.0792237451477643, 0.0791661274605434, 0.879142973793104);
    const mat3 outset = mat3(1.19687900512017, -0.0528968517574562, -0.0529716355144438, -0.0980208811401368,
                             1.15190312990417, -0.0980434501171241, -0.0990297440797205, -0.0989611768448433,
                             1.15107367264116);
    const float lowest = -12.47393, highest = 4.026069;
    const vec3 stops = clamp(log2(max(inset * linear, vec3(1e-10))), lowest, highest);
    const vec3 x = (stops - lowest) / (highest - lowest), x2 = x * x, x4 = x2 * x2;
    const vec3 curve = 15.5 * x4 * x2 - 40.14 * x4 * x + 31.96 * x4 - 6.868 * x2 * x + 0.4298 * x2 + 0.1191 * x - 0.00232;
    return pow(clamp(outset * curve, vec3(0.0), vec3(1.0)), vec3(2.2));
}

// Pictures in buffers: 16 bits a component, two uints a pixel, at twice its number.
void store_display(UintTarget target, uint place, vec4 color)
{
    const uvec4 levels = uvec4(clamp(color, 0.0, 1.0) * 65535.0 + 0.5);
    target.at[place] = levels.r | levels.g << 16u;
    target.at[place + 1u] = levels.b | levels.a << 16u;
}

vec4 load_display(UintTarget source, uint place)
{
    const uint low = source.at[place], high = source.at[place + 1u];
    return vec4(low & 0xffffu, low >> 16u, high & 0xffffu, high >> 16u) / 65535.0;
}
