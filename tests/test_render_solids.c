// SPDX-License-Identifier: MIT
// Grains and meshes against closed forms: where they are, what they hide from the sun, and that liquid has no part in
// them nor they in it.
#include "solids_fixture.h"

#include "geometry/mesh.h"

// ---- Grains ----

enum { GRAINS = 40 };

static float number(uint32_t *seed) // -1 to 1
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(*seed >> 8) / 8388608.0f - 1.0f;
}

static MoteWorld *make_grains(const char *backend, float spacing, MoteVec3 *points, uint32_t count)
{
    MoteSettings settings = mote_default_settings();
    settings.spacing = spacing;
    MoteWorld *world;
    MUST(mote_world_create(&settings, &(MoteBackendOptions){.backend = backend}, &world));
    MUST(mote_world_add_particles(
        world, &(MoteParticles){.count = count, .positions = points, .mass = 1.0f, .phase = 0}, NULL));
    return world;
}

// Depth, normal and id of the nearest sphere at every pixel, spheres of half a spacing; no liquid anywhere.
static void test_grains(void **state)
{
    MoteRenderer *renderer = *state;
    const float spacing = 0.3f;
    uint32_t seed = 7;
    MoteVec3 points[GRAINS];
    for (uint32_t i = 0; i < GRAINS; i++) {
        points[i] = (MoteVec3){1.2f * number(&seed), 0.8f * number(&seed), number(&seed)};
    }
    MoteWorld *world = make_grains("cpu", spacing, points, GRAINS);
    MoteRenderScene scene = make_scene((MoteVec3){0.4f, 0.5f, 3.5f}, (MoteVec3){0, 0, 0}, 45.0f);
    float *depth = draw_layer(renderer, world, &scene, "depth");
    float *normals = read_layer(renderer, "normal", WIDTH, HEIGHT), *ids = read_layer(renderer, "id", WIDTH, HEIGHT);
    float *thickness = read_layer(renderer, "thickness", WIDTH, HEIGHT);
    const Camera camera = camera_of(&scene);
    const double radius = 0.5 * spacing;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        const Vector ray = pixel_ray(&camera, i % WIDTH, i / WIDTH);
        double nearest = INFINITY;
        uint32_t who = 0;
        bool outline = false;
        for (uint32_t g = 0; g < GRAINS; g++) {
            const Vector c = add(vector(points[g]), -1.0, camera.eye);
            const double middle = dot(c, ray) / dot(ray, ray), off = dot(c, c) - middle * middle * dot(ray, ray);
            const double inside = 1.0 - off / (radius * radius);
            outline |= fabs(inside) < 2e-4;
            const double z = inside >= 0.0 ? middle - radius * sqrt(inside / dot(ray, ray)) : INFINITY;
            who = z < nearest ? g + 1 : who;
            nearest = fmin(nearest, z);
        }
        uint32_t id;
        memcpy(&id, &ids[i], sizeof id);
        assert_true(thickness[i] == 0.0f);
        if (outline) {
            continue;
        }
        if (isinf(nearest) != isinf(depth[i]) || (isfinite(nearest) && fabs(depth[i] - nearest) > 1e-5 * nearest)) {
            fail_msg("pixel %u, %u: depth %.7g, expected %.7g", i % WIDTH, i / WIDTH, (double)depth[i], nearest);
        }
        assert_int_equal(id, who);
        if (who > 0) {
            const Vector n = unit(add(add(camera.eye, nearest, ray), -1.0, vector(points[who - 1])));
            assert_true(fabs(normals[3 * i] - n.x) + fabs(normals[3 * i + 1] - n.y) + fabs(normals[3 * i + 2] - n.z) <
                        2e-3);
            seen++;
        }
    }
    assert_true(seen > 3000);
    free(depth);
    free(normals);
    free(ids);
    free(thickness);
    mote_world_destroy(world);
}

// A block of liquid looks as if the grains around it were not there: its ellipsoids and its thickness.
static void test_liquid_ignores_grains(void **state)
{
    MoteRenderer *renderer = *state;
    enum { SIDE = 6, LIQUID = SIDE * SIDE * SIDE, ALL = LIQUID + SIDE * SIDE };
    MoteVec3 points[ALL];
    for (uint32_t i = 0; i < ALL; i++) { // the last layer, on top, are grains
        points[i] =
            (MoteVec3){0.1f * (float)(i % SIDE), 0.1f * (float)(i / SIDE / SIDE), 0.1f * (float)(i / SIDE % SIDE)};
    }
    MoteRenderScene scene = make_scene((MoteVec3){0.25f, 0.25f, 3.0f}, (MoteVec3){0.25f, 0.25f, 0.25f}, 25.0f);
    float *rows[2], *thickness[2];
    for (int with = 0; with < 2; with++) {
        MoteWorld *world = make_world("cpu", NULL, 0.1f, 2.0f, points, LIQUID);
        if (with != 0) {
            MUST(mote_world_add_particles(
                world, &(MoteParticles){.count = ALL - LIQUID, .positions = points + LIQUID, .mass = 1.0f, .phase = 0},
                NULL));
        }
        draw(renderer, world, &scene);
        thickness[with] = read_layer(renderer, "thickness", WIDTH, HEIGHT);
        const SimplePass *pass = renderer->states[PASS_anisotropy];
        rows[with] = read_buffer(renderer, &pass->buffer, (size_t)LIQUID * 12 * sizeof(float));
        mote_world_destroy(world);
    }
    for (uint32_t i = 0; i < LIQUID * 12; i++) {
        assert_true(fabsf(rows[0][i] - rows[1][i]) < 1e-5f);
    }
    double sums[2] = {0};
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        sums[0] += thickness[0][i];
        sums[1] += thickness[1][i];
    }
    assert_true(sums[0] > 100.0 && fabs(sums[1] / sums[0] - 1.0) < 0.01);
    for (int with = 0; with < 2; with++) {
        free(rows[with]);
        free(thickness[with]);
    }
}

// Groups have the materials that the scene gives them, and grains their own shades of it.
static void test_grain_materials(void **state)
{
    MoteRenderer *renderer = *state;
    MoteVec3 points[3] = {{-0.5f, 0, 0}, {0, 0, 0}, {0.5f, 0, 0}};
    MoteWorld *world = make_grains("cpu", 0.4f, points, 2); // group 0, ids 0 and 1
    MUST(mote_world_add_particles(
        world, &(MoteParticles){.count = 1, .positions = points + 2, .mass = 1.0f, .phase = 5}, NULL));
    MoteRenderScene scene = make_dry_scene((MoteVec3){0, 0, 3.0f}, (MoteVec3){0, 0, 0});
    scene.sky.kind = MOTE_SKY_COLOR;
    scene.sky.color = (MoteVec3){1, 1, 1};
    scene.sky.sun_brightness = 0.0f;
    scene.picture.occlusion = false;
    MoteRenderMaterial materials[3] = {{.color = {0, 0, 1}, .roughness = 1},
                                       {.color = {0.5f, 0, 0}, .roughness = 1},
                                       {.color = {0, 0.5f, 0}, .roughness = 1}};
    const uint32_t groups[] = {1, 0, 0, 0, 0, 2};
    scene.materials = materials;
    scene.material_count = 3;
    scene.group_materials = groups;
    scene.group_count = 6;
    const Camera camera = camera_of(&scene);
    const uint32_t off = (uint32_t)(0.5 / 3.0 / camera.scale), y = HEIGHT / 2, x = WIDTH / 2;
    float *colors = draw_layer(renderer, world, &scene, "color");
    // Red, red and green; what the surface mirrors is grey and small.
    const float *left = at(colors, x - off, y), *middle = at(colors, x, y), *right = at(colors, x + off, y);
    assert_true(left[0] > 0.4f && left[0] > 4.0f * left[1] && fabsf(left[0] - middle[0]) < 0.01f);
    assert_true(right[1] > 0.4f && right[1] > 4.0f * right[0]);
    assert_true(left[3] == 1.0f);
    materials[1].color_variation = 0.5f;
    float *varied = draw_layer(renderer, world, &scene, "color");
    assert_true(fabsf(at(varied, x - off, y)[0] - at(varied, x, y)[0]) > 0.02f); // ids 0 and 1 are not alike
    for (int k = 0; k < 2; k++) {
        const float share = at(varied, x - (k == 0 ? off : 0), y)[0] / left[0];
        assert_true(share > 0.45f && share < 1.55f);
    }
    free(varied);
    free(colors);
    mote_world_destroy(world);
}

// ---- Meshes ----

// Whether a picture's depth and normals are those of the box of solid() in this pose.
static void expect_box(const MoteRenderScene *scene, const float *depth, const float *normals, MoteTransform pose)
{
    MoteRenderShape box = solid(MOTE_SHAPE_BOX, pose.position, pose.rotation);
    const Camera camera = camera_of(scene);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        const Vector ray = pixel_ray(&camera, i % WIDTH, i / WIDTH);
        const double length = sqrt(dot(ray, ray)), z = ray_hit(&box.shape, camera.eye, unit(ray), false) / length;
        // Within a millimetre of the outline either answer is right.
        MoteShape grown = box.shape, shrunk = box.shape;
        grown.half_size = (MoteVec3){HALF_SIZE.x + 1e-3f, HALF_SIZE.y + 1e-3f, HALF_SIZE.z + 1e-3f};
        shrunk.half_size = (MoteVec3){HALF_SIZE.x - 1e-3f, HALF_SIZE.y - 1e-3f, HALF_SIZE.z - 1e-3f};
        const bool touches = isfinite(ray_hit(&grown, camera.eye, unit(ray), false));
        const bool inside = isfinite(ray_hit(&shrunk, camera.eye, unit(ray), false));
        if (!touches) {
            if (isfinite(depth[i])) {
                fail_msg("pixel %u, %u: depth %g beside the box", i % WIDTH, i / WIDTH, (double)depth[i]);
            }
        } else if (inside) {
            if (!(fabs(depth[i] - z) < 2e-5 * z)) {
                fail_msg("pixel %u, %u: depth %.7g, expected %.7g", i % WIDTH, i / WIDTH, (double)depth[i], z);
            }
            // The normal is that of the side which the point is on; near the edges of a side it may be either's.
            const Vector p = turn(pose.rotation, add(add(camera.eye, z, ray), -1.0, vector(pose.position)), true);
            const double q[3] = {fabs(p.x) - HALF_SIZE.x, fabs(p.y) - HALF_SIZE.y, fabs(p.z) - HALF_SIZE.z};
            const int side = q[0] > q[1] && q[0] > q[2] ? 0 : q[1] > q[2] ? 1 : 2;
            const bool edge = (q[0] > -5e-3) + (q[1] > -5e-3) + (q[2] > -5e-3) > 1;
            const Vector local = {side == 0 ? copysign(1, p.x) : 0, side == 1 ? copysign(1, p.y) : 0,
                                  side == 2 ? copysign(1, p.z) : 0};
            const Vector n = turn(pose.rotation, local, false);
            const float *found = normals + 3 * i;
            if (!edge && fabs(found[0] - n.x) + fabs(found[1] - n.y) + fabs(found[2] - n.z) > 1e-3) {
                fail_msg("pixel %u, %u: normal %g %g %g, expected %g %g %g", i % WIDTH, i / WIDTH, (double)found[0],
                         (double)found[1], (double)found[2], n.x, n.y, n.z);
            }
            seen++;
        }
    }
    assert_true(seen > 500);
}

static void test_posed_mesh(void **state)
{
    MoteRenderer *renderer = *state;
    const Box box = make_box();
    const MoteRenderMesh mesh = box_mesh(&box);
    MUST(mote_renderer_set_meshes(renderer, &mesh, 1));
    MoteWorld *world = make_dry_world();
    MoteRenderScene scene = make_dry_scene((MoteVec3){0.8f, 1.3f, 2.0f}, (MoteVec3){0.1f, 0, 0});
    MoteRenderInstance instance = upright_instance((MoteVec3){0.2f, 0.1f, -0.3f});
    instance.pose.rotation = TURNED;
    scene.instances = &instance;
    scene.instance_count = 1;
    float *depth = draw_layer(renderer, world, &scene, "depth"),
          *normals = read_layer(renderer, "normal", WIDTH, HEIGHT);
    expect_box(&scene, depth, normals, instance.pose);
    assert_true(renderer->meshes.meshes[0].closed);
    free(depth);
    free(normals);
    mote_world_destroy(world);
}

// Eight members at the corners of the box, which each vertex follows four of.
typedef struct Skin {
    uint32_t members[4 * BOX_VERTICES];
    float weights[4 * BOX_VERTICES];
    MoteVec3 rests[4 * BOX_VERTICES], corners[8];
} Skin;

static Skin make_skin(const Box *box)
{
    Skin skin = {0};
    for (uint32_t m = 0; m < 8; m++) {
        skin.corners[m] =
            (MoteVec3){(m & 1u) != 0 ? HALF_SIZE.x : -HALF_SIZE.x, (m & 2u) != 0 ? HALF_SIZE.y : -HALF_SIZE.y,
                       (m & 4u) != 0 ? HALF_SIZE.z : -HALF_SIZE.z};
    }
    const float weights[4] = {0.4f, 0.3f, 0.2f, 0.1f};
    for (uint32_t i = 0; i < 4 * BOX_VERTICES; i++) {
        const MoteVec3 p = box->positions[i / 4];
        const uint32_t own = (p.x > 0.0f ? 1u : 0u) | (p.y > 0.0f ? 2u : 0u) | (p.z > 0.0f ? 4u : 0u);
        skin.members[i] = i % 4 == 0 ? own : own ^ 1u << (i % 4 - 1);
        skin.weights[i] = weights[i % 4];
        skin.rests[i] = skin.corners[skin.members[i]];
    }
    return skin;
}

static void dress(MoteRenderMesh *mesh, const Skin *skin)
{
    mesh->members = skin->members;
    mesh->weights = skin->weights;
    mesh->rests = skin->rests;
    mesh->member_count = 8;
}

static void set_rotation(HandMade *made, uint32_t cluster, MoteQuaternion q)
{
    memcpy(made->rotations + 4 * (size_t)cluster, &q, sizeof q);
}

// Members that were moved as one carry the box along, whichever particles they are now; and members that are gone leave
// it to the others.
static void test_skin_of_rigid_body(void **state)
{
    MoteRenderer *renderer = *state;
    const Box box = make_box();
    const Skin skin = make_skin(&box);
    MoteRenderMesh mesh = box_mesh(&box);
    dress(&mesh, &skin);
    MUST(mote_renderer_set_meshes(renderer, &mesh, 1));
    const MoteTransform pose = {{0.2f, 0.1f, -0.3f}, TURNED};
    MoteVec3 points[10] = {{5, 5, 5}, {6, 5, 5}}; // two that belong to another body come first in the table
    for (uint32_t m = 0; m < 8; m++) {
        const Vector p = add(vector(pose.position), 1.0, turn(pose.rotation, vector(skin.corners[m]), false));
        points[2 + (m * 3) % 8] = (MoteVec3){(float)p.x, (float)p.y, (float)p.z};
    }
    HandMade made = make_bodies(points, 10, 0.1f);
    for (uint32_t m = 0; m < 8; m++) { // and particles lie in another order
        const uint32_t slot = 2 + (m * 3) % 8;
        made.slots[2 + m] = slot;
        made.members[slot] = 2 + m;
        made.clusters[2 + m] = 4;
    }
    set_rotation(&made, 4, pose.rotation);
    MoteRenderScene scene = make_dry_scene((MoteVec3){0.8f, 1.3f, 2.0f}, (MoteVec3){0.1f, 0, 0});
    const MoteRenderInstance instance = {.tint = {1, 1, 1}, .member_offset = 2};
    scene.instances = &instance;
    scene.instance_count = 1;
    for (int gone = 0; gone < 2; gone++) {
        if (gone != 0) {
            made.slots[2 + 3] = UINT32_MAX;
        }
        for (int deforms = 0; deforms < 2; deforms++) { // either way its normals are the sides'
            mesh.deforms = deforms != 0;
            MUST(mote_renderer_set_meshes(renderer, &mesh, 1));
            float *depth = draw_bodies_layer(renderer, &made, &scene, "depth");
            float *normals = read_layer(renderer, "normal", WIDTH, HEIGHT);
            expect_box(&scene, depth, normals, pose);
            free(depth);
            free(normals);
        }
    }
    for (uint32_t m = 0; m < 8; m++) {
        made.slots[2 + m] = UINT32_MAX;
    }
    float *depth = draw_bodies_layer(renderer, &made, &scene, "depth");
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        assert_true(isinf(depth[i])); // nobody is left, and members have no spheres where there is a skin
    }
    free(depth);
    end_bodies(&made);
}

// Nearest hit of a ray with triangles; *edge if it passes one within a hundredth of its size of an edge.
static double hit_triangles(const Vector *places, const uint32_t *triangles, uint32_t count, Vector eye, Vector ray,
                            bool *edge)
{
    double nearest = INFINITY;
    *edge = false;
    for (uint32_t t = 0; t < count; t++) {
        const Vector a = places[triangles[3 * t]], u = add(places[triangles[3 * t + 1]], -1.0, a);
        const Vector v = add(places[triangles[3 * t + 2]], -1.0, a), p = cross(ray, v), o = add(eye, -1.0, a);
        const double d = dot(u, p), s = dot(o, p) / d;
        const Vector q = cross(o, u);
        const double r = dot(ray, q) / d, z = dot(v, q) / d;
        const double inside = fmin(s, fmin(r, 1.0 - s - r));
        *edge |= fabs(inside) < 0.01;
        if (inside > 0.0 && z > 0.0) {
            nearest = fmin(nearest, z);
        }
    }
    return nearest;
}

// Every member goes its own way: each vertex is where x = sum_k w_k (x_member + R_member (position - rest)) says.
static void test_skin_of_soft_body(void **state)
{
    MoteRenderer *renderer = *state;
    const Box box = make_box();
    const Skin skin = make_skin(&box);
    MoteRenderMesh mesh = box_mesh(&box);
    dress(&mesh, &skin);
    mesh.deforms = true;
    MUST(mote_renderer_set_meshes(renderer, &mesh, 1));
    uint32_t seed = 3;
    MoteVec3 points[8];
    MoteQuaternion rotations[8];
    for (uint32_t m = 0; m < 8; m++) {
        const MoteVec3 c = skin.corners[m];
        points[m] = (MoteVec3){c.x + 0.1f * number(&seed), c.y + 0.1f * number(&seed), c.z + 0.1f * number(&seed)};
        MoteQuaternion q = {0.3f * number(&seed), 0.3f * number(&seed), 0.3f * number(&seed), 0.0f};
        q.w = sqrtf(1.0f - q.x * q.x - q.y * q.y - q.z * q.z);
        rotations[m] = q;
    }
    Vector places[BOX_VERTICES] = {0};
    for (uint32_t i = 0; i < 4 * BOX_VERTICES; i++) {
        const uint32_t m = skin.members[i];
        const Vector offset = add(vector(box.positions[i / 4]), -1.0, vector(skin.rests[i]));
        const Vector there = add(vector(points[m]), 1.0, turn(rotations[m], offset, false));
        places[i / 4] = add(places[i / 4], skin.weights[i], there);
    }
    HandMade made = make_bodies(points, 8, 0.1f);
    for (uint32_t m = 0; m < 8; m++) {
        set_rotation(&made, m, rotations[m]);
    }
    MoteRenderScene scene = make_dry_scene((MoteVec3){0.8f, 1.3f, 2.0f}, (MoteVec3){0.0f, 0, 0});
    const MoteRenderInstance instance = {.tint = {1, 1, 1}};
    scene.instances = &instance;
    scene.instance_count = 1;
    float *depth = draw_bodies_layer(renderer, &made, &scene, "depth");
    const Camera camera = camera_of(&scene);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        bool edge;
        const double z = hit_triangles(places, box.triangles, BOX_TRIANGLES, camera.eye,
                                       pixel_ray(&camera, i % WIDTH, i / WIDTH), &edge);
        if (!edge && (isfinite(z) != isfinite(depth[i]) || (isfinite(z) && fabs(depth[i] - z) > 5e-5 * z))) {
            fail_msg("pixel %u, %u: depth %.7g, expected %.7g", i % WIDTH, i / WIDTH, (double)depth[i], z);
        }
        seen += !edge && isfinite(z);
    }
    assert_true(seen > 500);
    free(depth);
    end_bodies(&made);
}

// A sheet whose members slide up a slope without turning: its normals follow only if it says that it deforms.
static void test_normals_of_bent_sheet(void **state)
{
    MoteRenderer *renderer = *state;
    const MoteVec3 corners[4] = {{-1, 0, -1}, {1, 0, -1}, {1, 0, 1}, {-1, 0, 1}};
    const uint32_t triangles[6] = {0, 2, 1, 0, 3, 2};
    uint32_t members[16] = {0};
    float weights[16] = {0};
    MoteVec3 rests[16] = {0}, points[4];
    for (uint32_t v = 0; v < 4; v++) {
        members[4 * v] = v;
        weights[4 * v] = 1.0f;
        rests[4 * v] = corners[v];
        points[v] = (MoteVec3){corners[v].x, 0.5f * corners[v].x, corners[v].z};
    }
    MoteRenderMesh mesh = {.vertex_count = 4,
                           .triangle_count = 2,
                           .positions = corners,
                           .triangles = triangles,
                           .members = members,
                           .weights = weights,
                           .rests = rests,
                           .member_count = 4};
    HandMade made = make_bodies(points, 4, 0.1f);
    MoteRenderScene scene = make_dry_scene((MoteVec3){0.0f, 3.0f, 0.5f}, (MoteVec3){0.0f, 0, 0});
    const MoteRenderInstance instance = {.tint = {1, 1, 1}};
    scene.instances = &instance;
    scene.instance_count = 1;
    for (int deforms = 0; deforms < 2; deforms++) {
        mesh.deforms = deforms != 0;
        MUST(mote_renderer_set_meshes(renderer, &mesh, 1));
        assert_false(renderer->meshes.meshes[0].closed);
        float *normals = draw_bodies_layer(renderer, &made, &scene, "normal");
        const float *n = normals + 3 * (HEIGHT / 2 * WIDTH + WIDTH / 2);
        const double length = sqrt(1.25), expected[3] = {deforms ? -0.5 / length : 0, deforms ? 1 / length : 1, 0};
        assert_true(fabs(n[0] - expected[0]) + fabs(n[1] - expected[1]) + fabs(n[2] - expected[2]) < 1e-3);
        free(normals);
    }
    // From below it is seen as well, with its normal towards the eye.
    scene.camera.position.y = -3.0f;
    float *normals = draw_bodies_layer(renderer, &made, &scene, "normal");
    assert_true(normals[3 * (HEIGHT / 2 * WIDTH + WIDTH / 2) + 1] < -0.8f);
    free(normals);
    end_bodies(&made);
}

// A rigid body of a world, thrown and spinning: its skin is where the body's pose says, on every way from solver to
// renderer.
static void test_body_of_a_world(void **state)
{
    MoteRenderer *renderer = *state;
    enum { X = 4, Y = 3, Z = 6, COUNT = X * Y * Z };
    const Box box = make_box();
    MoteRenderMesh mesh = box_mesh(&box);
    MoteVec3 rests[COUNT], points[COUNT], vertex_rests[4 * BOX_VERTICES];
    for (uint32_t i = 0; i < COUNT; i++) {
        rests[i] = (MoteVec3){0.14f * ((float)(i % X) - 1.5f), 0.14f * ((float)(i / X % Y) - 1.0f),
                              0.14f * ((float)(i / X / Y) - 2.5f)};
        points[i] = (MoteVec3){rests[i].x + 0.3f, rests[i].y + 0.2f, rests[i].z};
    }
    uint32_t members[4 * BOX_VERTICES];
    float weights[4 * BOX_VERTICES];
    Mesh skinned = {.vertex_count = BOX_VERTICES, .positions = (MoteVec3 *)(uintptr_t)box.positions};
    MUST(mesh_skin(&skinned, rests, COUNT, members, weights));
    for (uint32_t i = 0; i < 4 * BOX_VERTICES; i++) {
        vertex_rests[i] = rests[members[i]];
    }
    mesh.members = members;
    mesh.weights = weights;
    mesh.rests = vertex_rests;
    mesh.member_count = COUNT;
    MUST(mote_renderer_set_meshes(renderer, &mesh, 1));
    const char *backends[] = {"cpu", "cuda", "vulkan", "cuda"};
    const char *paths[] = {"host import", "shared memory", "same device", "staging"};
    for (int b = 0; b < 4; b++) {
        MoteSettings settings = mote_default_settings();
        settings.spacing = 0.14f;
        settings.gravity = (MoteVec3){0, -1, 0};
        MoteWorld *world;
        MUST(mote_world_create(
            &settings,
            &(MoteBackendOptions){.backend = backends[b],
                                  .shared_memory = b == 1 || b == 2 ? mote_renderer_shared_memory(renderer) : NULL},
            &world));
        MoteBodyId id;
        MUST(mote_world_add_body(world,
                                 &(MoteBody){.count = COUNT,
                                             .positions = points,
                                             .mass = 1.0f,
                                             .velocity = {-1, 1, 0},
                                             .angular_velocity = {1, 4, 2},
                                             .stiffness = 1.0f},
                                 NULL, &id));
        for (int step = 0; step < 30; step++) {
            MUST(mote_world_step(world, 1.0f / 120.0f));
        }
        MoteBodyState body;
        MUST(mote_world_read_body(world, id, &body));
        MoteRenderScene scene = make_dry_scene((MoteVec3){0.8f, 1.3f, 2.0f}, (MoteVec3){0.1f, 0.2f, 0});
        const MoteRenderInstance instance = {.tint = {1, 1, 1}, .member_offset = body.first_member};
        scene.instances = &instance;
        scene.instance_count = 1;
        float *depth = draw_layer(renderer, world, &scene, "depth");
        float *normals = read_layer(renderer, "normal", WIDTH, HEIGHT);
        assert_string_equal(mote_renderer_interop(renderer).path, paths[b]);
        printf("%s, %s: at %.3f %.3f %.3f, turned by %.3f\n", backends[b], paths[b], (double)body.pose.position.x,
               (double)body.pose.position.y, (double)body.pose.position.z,
               2.0 * acos(fmin(fabs((double)body.pose.rotation.w), 1.0)));
        assert_true(fabsf(body.pose.rotation.w) < 0.95f);
        expect_box(&scene, depth, normals, body.pose);
        free(depth);
        free(normals);
        mote_world_destroy(world);
    }
}

// ---- Shadows and liquid ----

// A box of triangles and a sphere of one grain keep the sun from the ground as the same shapes in closed form would.
static void test_shadows(void **state)
{
    MoteRenderer *renderer = *state;
    const Box box = make_box();
    const MoteRenderMesh mesh = box_mesh(&box);
    MUST(mote_renderer_set_meshes(renderer, &mesh, 1));
    for (int grain = 0; grain < 2; grain++) {
        MoteVec3 point = {0.0f, grain != 0 ? 0.55f : 0.5f, 0.0f};
        MoteWorld *world = grain != 0 ? make_grains("cpu", 0.5f, &point, 1) : make_dry_world();
        MoteRenderScene scene = make_sunlit_ground((MoteVec3){0.3f, 2.5f, 2.2f}, (MoteVec3){-0.1f, 0.2f, -0.1f});
        scene.sky.sun_azimuth = 100.0f;
        scene.sky.sun_elevation = 50.0f;
        MoteRenderInstance instance = upright_instance((MoteVec3){0.0f, 0.55f, 0.0f});
        instance.pose.rotation = TURNED;
        scene.instances = &instance;
        scene.instance_count = grain != 0 ? 0 : 1;
        const MoteRenderShape shape =
            solid(grain != 0 ? MOTE_SHAPE_SPHERE : MOTE_SHAPE_BOX, instance.pose.position, TURNED);
        float *colors = draw_layer(renderer, world, &scene, "color");
        const Camera camera = camera_of(&scene);
        const Vector sun = sun_of(&scene);
        const double lit = scene.sky.sun_brightness * sun.y / PI, slope = tan(0.5 * scene.sky.sun_size * PI / 180.0);
        uint32_t dark = 0, bright = 0;
        for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
            const Vector ray = pixel_ray(&camera, i % WIDTH, i / WIDTH);
            const Vector there = add(camera.eye, -camera.eye.y / ray.y, ray);
            if (isfinite(ray_hit(&shape.shape, camera.eye, unit(ray), false))) {
                continue;
            }
            const int kept = rays_kept(&shape.shape, there, sun, 1.3 * slope, 0.015);
            const double seen = at(colors, i % WIDTH, i / WIDTH)[1] / lit;
            if ((kept == 16 && seen > 0.02) || (kept == 0 && seen > 1e-3 && fabs(seen - 1.0) > 0.01)) {
                fail_msg("%s, pixel %u, %u: %g of the sun, where %d of 16 rays are kept", grain != 0 ? "grain" : "mesh",
                         i % WIDTH, i / WIDTH, seen, kept);
            }
            dark += kept == 16 ? 1 : 0;
            bright += kept == 0 && seen > 0.99 ? 1 : 0;
        }
        printf("%s: %u pixels in the umbra, %u in the sun\n", grain != 0 ? "grain" : "mesh", dark, bright);
        assert_true(dark > 200 && bright > 5000);
        free(colors);
        mote_world_destroy(world);
    }
}

// Red of a box behind a slab of clear liquid, over the picture: how much there is, and where its middle is.
static void measure_red(const float *colors, double *amount, double *middle)
{
    *amount = *middle = 0.0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        const float *c = at(colors, i % WIDTH, i / WIDTH);
        const double red = fmax((double)c[0] - 1.5 * (double)c[1], 0.0);
        *amount += red;
        *middle += red * (i / WIDTH);
    }
    *middle /= *amount;
}

// Liquid in front of a mesh lets it be seen, moved by refraction; above it, it colours its light.
static void test_liquid_and_mesh(void **state)
{
    MoteRenderer *renderer = *state;
    enum { X = 24, Y = 6, Z = 24 };
    MoteVec3 points[X * Y * Z];
    for (uint32_t i = 0; i < X * Y * Z; i++) {
        points[i] = (MoteVec3){0.05f * ((float)(i % X) - 11.5f), 0.05f * (float)(i / X % Y),
                               0.05f * ((float)(i / X / Y) - 11.5f)};
    }
    const Box box = make_box();
    const MoteRenderMesh mesh = box_mesh(&box);
    MUST(mote_renderer_set_meshes(renderer, &mesh, 1));
    MoteWorld *world = make_world("cpu", NULL, 0.05f, 2.0f, points, X * Y * Z);
    MoteRenderScene scene = make_scene((MoteVec3){0.0f, 2.0f, 2.0f}, (MoteVec3){0, -0.2f, 0}, 40.0f);
    const MoteRenderMaterial clear = {.color = {0.2f, 0.6f, 1.0f}, .absorption = 1.0f};
    scene.materials = &clear;
    scene.liquid.shadow = 0.0f;
    MoteRenderInstance instance = upright_instance((MoteVec3){0.0f, -0.4f, 0.0f});
    instance.scale = 0.4f;
    scene.instances = &instance;
    scene.instance_count = 1;
    double amount[3], middle[3];
    for (int i = 0; i < 3; i++) { // no liquid, liquid that bends nothing, liquid
        scene.liquid.visible = i > 0;
        scene.liquid.refraction = i == 1 ? 1.0f : 1.33f;
        float *colors = draw_layer(renderer, world, &scene, "color");
        measure_red(colors, &amount[i], &middle[i]);
        free(colors);
    }
    printf("red: %.1f around row %.1f; behind liquid %.1f, %.1f; refracted %.1f, %.1f\n", amount[0], middle[0],
           amount[1], middle[1], amount[2], middle[2]);
    assert_true(amount[0] > 10.0 && amount[2] > 0.2 * amount[0] && amount[2] < 0.9 * amount[0]);
    assert_true(fabs(middle[1] - middle[0]) < 1.0 && middle[2] < middle[1] - 1.0); // it seems to be less deep

    // The sun shines straight down through the slab; the camera looks below it.
    scene.camera.position = (MoteVec3){0.0f, -0.3f, 2.0f};
    scene.camera.target = (MoteVec3){0.0f, -0.3f, 0.0f};
    scene.camera.position.y = -0.15f;
    scene.sky.sun_elevation = 90.0f;
    scene.sky.kind = MOTE_SKY_COLOR;
    scene.sky.color = (MoteVec3){0, 0, 0};
    scene.sky.sun_color = (MoteVec3){1, 1, 1};
    double sums[2][3] = {{0}};
    for (int shadow = 0; shadow < 2; shadow++) {
        scene.liquid.shadow = (float)shadow;
        float *colors = draw_layer(renderer, world, &scene, "color"),
              *normals = read_layer(renderer, "normal", WIDTH, HEIGHT);
        float *depth = read_layer(renderer, "depth", WIDTH, HEIGHT);
        const Camera camera = camera_of(&scene);
        for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
            const Vector ray = pixel_ray(&camera, i % WIDTH, i / WIDTH);
            const double y = camera.eye.y + depth[i] * ray.y;
            if (isfinite(depth[i]) && y < -0.3 && normals[3 * i + 1] > 0.9f) { // the top of the box
                for (int k = 0; k < 3; k++) {
                    sums[shadow][k] += at(colors, i % WIDTH, i / WIDTH)[k];
                }
            }
        }
        free(colors);
        free(normals);
        free(depth);
    }
    const double red = sums[1][0] / sums[0][0], blue = sums[1][2] / sums[0][2]; // 0.3 m of it
    assert_true(sums[0][0] > 1.0);
    assert_true(red > 0.6 * exp(-0.8 * 0.3) && red < exp(-0.8 * 0.3) && blue > 0.75 && blue < 1.0 && red < 0.9 * blue);
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grains),
        cmocka_unit_test(test_liquid_ignores_grains),
        cmocka_unit_test(test_grain_materials),
        cmocka_unit_test(test_posed_mesh),
        cmocka_unit_test(test_skin_of_rigid_body),
        cmocka_unit_test(test_skin_of_soft_body),
        cmocka_unit_test(test_normals_of_bent_sheet),
        cmocka_unit_test(test_body_of_a_world),
        cmocka_unit_test(test_shadows),
        cmocka_unit_test(test_liquid_and_mesh),
    };
    return cmocka_run_group_tests(tests, renderer_set_up, renderer_tear_down);
}
