// SPDX-License-Identifier: MIT
// weave.glsl - patterns and threads of cloth, as means over a pixel's box in closed form: neither of them flickers where
// it is finer than the pixels, and both fade into their mean.

// A normal of a surface whose height over it has these derivatives by screen coordinates (Mikkelsen, "Bump mapping
// unparametrized surfaces on the GPU", 2010).
vec3 bumped(vec3 n, vec3 along_x, vec3 along_y, vec2 height)
{
    const vec3 across_y = cross(along_y, n), across_x = cross(n, along_x);
    const float area = dot(along_x, across_y);
    const vec3 slope = sign(area) * (height.x * across_y + height.y * across_x);
    return normalize(max(abs(area), 1e-20) * n - slope);
}

// The mean of a wave of angular frequency k over a box of this width is its value in the middle times this. Beyond the
// box's first zero nothing of it is left: what a box lets through there has the wrong sign.
float wave_left(float k, float width)
{
    const float x = 0.5 * k * width;
    return x < 1e-3 ? 1.0 : x < 3.14159265 ? sin(x) / x : 0.0;
}

// From 0 to x of a square wave that is 0 for a unit, then 1 for a unit.
float square_wave_sum(float x)
{
    const float period = floor(0.5 * x);
    return period + max(x - 2.0 * period - 1.0, 0.0);
}

// The share of a box that every other stripe covers.
float stripes(float x, float width)
{
    const float w = max(width, 1e-4);
    return clamp((square_wave_sum(x + 0.5 * w) - square_wave_sum(x - 0.5 * w)) / w, 0.0, 1.0);
}

// The share of the second colour at a place (stripes) within a box.
float pattern_share(uint pattern, vec2 at, vec2 width)
{
    const float u = stripes(at.x, width.x), v = stripes(at.y, width.y);
    float share = 0.0;
    if (pattern == FABRIC_STRIPES) {
        share = u;
    } else if (pattern == FABRIC_BANDS) {
        share = v;
    } else if (pattern == FABRIC_CHECKS) {
        share = u + v - 2.0 * u * v;
    } else if (pattern == FABRIC_GINGHAM) {
        share = 0.5 * (u + v);
    }
    return share;
}

// A plain weave, in units of threads: x, y are the slopes of its height along u and v, z is the height, 0 to 1, 1/2 in the
// mean. In every other square of a chessboard the thread along v lies on top, a ridge 1/2 (1 - cos 2 pi a) across u; in
// the rest the one along u. With the chessboard as sin(pi a) sin(pi b),
//   h = 1/2 - 1/4 cos 2 pi a - 1/4 cos 2 pi b + 1/8 (sin pi a sin 3 pi b - sin 3 pi a sin pi b),
// of which a box has a mean in closed form.
vec3 weave(vec2 at, vec2 width)
{
    const float PI = 3.14159265;
    vec2 s1, s2, s3, c1, c2, c3;
    for (int k = 0; k < 2; k++) {
        const float one = wave_left(PI, width[k]), two = wave_left(2.0 * PI, width[k]), three = wave_left(3.0 * PI, width[k]);
        const float x = PI * (at[k] - 2.0 * floor(0.5 * at[k]));
        s1[k] = one * sin(x);
        c1[k] = one * cos(x);
        s2[k] = two * sin(2.0 * x);
        c2[k] = two * cos(2.0 * x);
        s3[k] = three * sin(3.0 * x);
        c3[k] = three * cos(3.0 * x);
    }
    const float height = 0.5 - 0.25 * (c2.x + c2.y) + 0.125 * (s1.x * s3.y - s3.x * s1.y);
    const float along_u = PI * (0.5 * s2.x + 0.125 * (c1.x * s3.y - 3.0 * c3.x * s1.y));
    const float along_v = PI * (0.5 * s2.y + 0.125 * (3.0 * s1.x * c3.y - s3.x * c1.y));
    return vec3(along_u, along_v, height);
}

// From 0 to x of |sin x|.
float ridges_sum(float x)
{
    const float PI = 3.14159265, ridge = floor(x / PI);
    return 2.0 * ridge + 1.0 - cos(x - PI * ridge);
}

// Means of |sin x| over a box: of its slope, and of itself (2 / pi in the mean).
vec2 ridges(float x, float width)
{
    const float PI = 3.14159265, w = max(width, 1e-3), middle = x - PI * floor(x / PI);
    const float low = middle - 0.5 * w, high = middle + 0.5 * w;
    return vec2(abs(sin(high)) - abs(sin(low)), ridges_sum(high) - ridges_sum(low)) / w;
}
