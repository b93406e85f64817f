// SPDX-License-Identifier: MIT
// ellipsoid.glsl - a particle's ellipsoid in view space, its bounds on the screen and where a ray meets it.

struct Ellipsoid {
    vec3 centre;             // view space
    mat3 axes;               // columns: view space, as long as the radii
    mat3 quadric;            // Q: (x - c)^T Q (x - c) = 1 on the surface
    // What ray_hits() needs of them:
    vec2 slope;              // of the ray d0 through the centre
    vec3 forward;            // (Q d0).xy, d0 . Q d0
    vec3 form;               // Qxx, 2 Qxy, Qyy
    float squared_depth;     // of the centre
};

mat3 outer_sum(vec3 a, vec3 b, vec3 c)
{
    return outerProduct(a, a) + outerProduct(b, b) + outerProduct(c, c);
}

// A sphere of the world.
Ellipsoid make_sphere(vec3 centre, float radius)
{
    const float q = 1.0 / (radius * radius);
    Ellipsoid e;
    e.centre = to_view(centre);
    e.axes = mat3(radius);
    e.quadric = mat3(q);
    const vec3 d0 = e.centre / e.centre.z;
    e.slope = d0.xy;
    e.forward = q * vec3(d0.xy, dot(d0, d0));
    e.form = vec3(q, 0.0, q);
    e.squared_depth = e.centre.z * e.centre.z;
    return e;
}

Ellipsoid load_ellipsoid(uint i)
{
    const vec4 row0 = frame.ellipsoids.at[3u * i];
    const vec4 row1 = frame.ellipsoids.at[3u * i + 1u];
    const vec4 row2 = frame.ellipsoids.at[3u * i + 2u];
    const mat3 to_view_space = transpose(mat3(frame.right.xyz, frame.up.xyz, frame.forward.xyz));
    Ellipsoid e;
    e.centre = to_view(vec3(row0.w, row1.w, row2.w));
    e.axes = to_view_space * transpose(mat3(row0.xyz, row1.xyz, row2.xyz));
    e.quadric = outer_sum(e.axes[0] / dot(e.axes[0], e.axes[0]), e.axes[1] / dot(e.axes[1], e.axes[1]),
                          e.axes[2] / dot(e.axes[2], e.axes[2]));
    const vec3 d0 = e.centre / e.centre.z, qd = e.quadric * d0;
    e.slope = d0.xy;
    e.forward = vec3(qd.xy, dot(d0, qd));
    e.form = vec3(e.quadric[0][0], 2.0 * e.quadric[0][1], e.quadric[1][1]);
    e.squared_depth = e.centre.z * e.centre.z;
    return e;
}

// Pixels that can see it: (left, top, right, bottom), exact. A plane through the eye, x = s z, touches the ellipsoid
// where (n . c)^2 = n^T S n with n = (1, 0, -s) and S the sum of its axes' outer products; a quadratic in s. Empty
// (right < left) if it is behind the eye or around it.
vec4 screen_bounds(Ellipsoid e)
{
    const mat3 s = outer_sum(e.axes[0], e.axes[1], e.axes[2]);
    const vec3 c = e.centre;
    const float a = c.z * c.z - s[2][2];
    if (c.z <= frame.near_plane || a <= 0.0) {
        return vec4(0.0, 0.0, -1.0, -1.0);
    }
    const vec2 b = c.xy * c.z - vec2(s[2][0], s[2][1]);
    const vec2 d = c.xy * c.xy - vec2(s[0][0], s[1][1]);
    const vec2 root = sqrt(max(b * b - a * d, vec2(0.0)));
    const vec2 low = (b - root) / a, high = (b + root) / a;
    return vec4(frame.centre.x + frame.focal * low.x, frame.centre.y - frame.focal * high.y,
                frame.centre.x + frame.focal * high.x, frame.centre.y - frame.focal * low.y);
}

// View z where the ray through `slope` enters and leaves; (0, -1) if it misses. Written relative to the ray through the
// centre, so that nothing cancels: with d = (slope, 1), the centre's own d0, and t = d - d0, a point of the ray is at
// c + c.z t + s d, and (.)^T Q (.) = 1 is a quadratic in s: a s^2 + 2 b s + e = 0 with, for m = t . Q d0, n = t . Q t and
// a0 = d0 . Q d0,
//   a = a0 + 2 m + n,   b = c.z (m + n),   e = c.z^2 n - 1,   b^2 - a e = a + c.z^2 (m^2 - a0 n).
vec2 ray_hits(Ellipsoid e, vec2 slope)
{
    const vec2 t = slope - e.slope;
    const float m = dot(t, e.forward.xy), n = dot(t, e.form.xz * t) + e.form.y * t.x * t.y, a0 = e.forward.z;
    const float a = a0 + 2.0 * m + n;
    const float discriminant = a + e.squared_depth * (m * m - a0 * n);
    if (discriminant < 0.0) {
        return vec2(0.0, -1.0);
    }
    const float root = sqrt(discriminant);
    return vec2(e.centre.z) + (vec2(-e.centre.z * (m + n)) + vec2(-root, root)) / a;
}
