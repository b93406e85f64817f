// SPDX-License-Identifier: MIT
// The meshes of primitive colliders against closed forms.
#include "ray_fixture.h"

#include "render/primitive_mesh.h"

static MoteVec3 mesh_point(const PrimitiveMesh *mesh, const Collider *collider, uint32_t index)
{
    return collider_point(collider, &mesh->vertices[mesh->indices[index]]);
}

// All vertices on the surface, all triangles facing outwards, and the volume inside them that of the collider.
static void test_meshes(void **state)
{
    (void)state;
    PrimitiveMesh mesh;
    MUST(primitive_mesh_create(&mesh));
    const double r = 0.25, h = 0.2;
    const double volumes[PRIMITIVE_KINDS] = {[MOTE_COLLIDER_BOX] = 8.0 * 0.3 * 0.2 * 0.45,
                                             [MOTE_COLLIDER_SPHERE] = 4.0 / 3.0 * PI * r * r * r,
                                             [MOTE_COLLIDER_CAPSULE] =
                                                 4.0 / 3.0 * PI * r * r * r + PI * r * r * 2.0 * h};
    for (uint32_t kind = MOTE_COLLIDER_BOX; kind <= MOTE_COLLIDER_CAPSULE; kind++) {
        const MoteRenderCollider look = solid(kind, (MoteVec3){0.4f, -0.7f, 1.1f}, TURNED);
        const Collider collider = collider_instance(&look, (MoteVec3){0}, 0.0f);
        const PrimitiveRange triangles = mesh.triangles[kind];
        const Vector middle = vector(look.collider.to.position);
        double volume = 0.0;
        assert_true(triangles.count >= 12 * 3 && triangles.count % 3 == 0);
        for (uint32_t i = triangles.first; i < triangles.first + triangles.count; i += 3) {
            Vector p[3];
            Vector normals = {0, 0, 0};
            for (uint32_t k = 0; k < 3; k++) {
                p[k] = vector(mesh_point(&mesh, &collider, i + k));
                assert_true(fabs(distance_to(&look.collider, p[k])) < 1e-6);
                normals = add(normals, 1.0, vector(collider_normal(&collider, &mesh.vertices[mesh.indices[i + k]])));
                p[k] = add(p[k], -1.0, middle);
            }
            const Vector facing = cross(add(p[1], -1.0, p[0]), add(p[2], -1.0, p[0]));
            assert_true(dot(facing, normals) >= 0.0);
            volume += dot(p[0], cross(p[1], p[2])) / 6.0;
        }
        assert_true(volume <= volumes[kind] * (1.0 + 1e-5) && volume > 0.99 * volumes[kind]);
    }
    primitive_mesh_destroy(&mesh);
}

static void test_plane_mesh(void **state)
{
    (void)state;
    PrimitiveMesh mesh;
    MUST(primitive_mesh_create(&mesh));
    const MoteRenderCollider look = solid(MOTE_COLLIDER_PLANE, (MoteVec3){0.4f, -0.7f, 1.1f}, TURNED);
    const MoteVec3 middle = {3.0f, 2.0f, -1.0f};
    const Collider collider = collider_instance(&look, middle, 5.0f);
    const Vector normal = turn(TURNED, (Vector){0, 1, 0}, false);
    const double above = dot(normal, add(vector(middle), -1.0, vector(look.collider.to.position)));
    const Vector foot = add(vector(middle), -above, normal); // of the middle on the plane
    const PrimitiveRange triangles = mesh.triangles[MOTE_COLLIDER_PLANE];
    double farthest = 0.0;
    for (uint32_t i = triangles.first; i < triangles.first + triangles.count; i++) {
        const Vector p = add(vector(mesh_point(&mesh, &collider, i)), -1.0, foot);
        assert_true(fabs(dot(p, normal)) < 1e-5);
        farthest = fmax(farthest, sqrt(dot(p, p)));
    }
    assert_true(fabs(farthest - 5.0 * sqrt(2.0)) < 1e-4);
    primitive_mesh_destroy(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meshes),
        cmocka_unit_test(test_plane_mesh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
