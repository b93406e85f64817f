// ellipsoid.glsl - a particle's ellipsoid in view space, its bounds on the screen and where a ray meets it.

struct Ellipsoid {
    vec3 centre;             // view space
    mat3 axes;               // columns: view space, as long as the radii
    mat3 quadric;            // Q: (x - c)^T Q (x - c) = 1 on the surface
};

mat3 outer_sum(vec3 a, vec3 b, vec3 c)
{
    return outerProduct(a, a) + outerProduct(b, b) + outerProduct(c, c);
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

// View z where the ray through `slope` enters and leaves; (0, -1) if it misses. Written relative to the centre, so
// that nothing cancels: with d = (slope, 1) and the centre's own ray at offset o = slope - c.xy / c.z, a point of the
// ray is at c + c.z o + t d, and the roots of |.|_Q = 1 in t are small numbers.
vec2 ray_hits(Ellipsoid e, vec2 slope)
{
    const vec3 d = vec3(slope, 1.0);
    const vec3 o = vec3(slope * e.centre.z - e.centre.xy, 0.0);
    const vec3 qd = e.quadric * d;
    const float a = dot(d, qd), b = dot(o, qd), c = dot(o, e.quadric * o) - 1.0;
    const float discriminant = b * b - a * c;
    if (discriminant < 0.0) {
        return vec2(0.0, -1.0);
    }
    const float root = sqrt(discriminant);
    return vec2(e.centre.z) + (vec2(-b) + vec2(-root, root)) / a;
}
