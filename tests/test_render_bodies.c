// SPDX-License-Identifier: MIT
// Many bodies: a thousand in one draw, the views of their members, what is refused, and equal pixels by every path.
#include "golden_fixture.h"
#include "solids_fixture.h"

// ---- A thousand ----

enum { BODIES = 1000, MEMBERS = 4 };

typedef struct Pile {
    HandMade made;
    MoteRenderInstance instances[BODIES];
    MoteRenderScene scene;
} Pile;

// Boxes of four members in a loose heap, each turned its own way.
static Pile *make_pile(MoteRenderer *renderer)
{
    const Box box = make_box();
    const MoteVec3 rests[MEMBERS] = {{0.2f, 0, 0.3f}, {-0.2f, 0, 0.3f}, {0.2f, 0, -0.3f}, {-0.2f, 0, -0.3f}};
    uint32_t members[4 * BOX_VERTICES];
    float weights[4 * BOX_VERTICES];
    MoteVec3 vertex_rests[4 * BOX_VERTICES];
    for (uint32_t i = 0; i < 4 * BOX_VERTICES; i++) {
        members[i] = i % 4;
        weights[i] = 0.25f;
        vertex_rests[i] = rests[i % 4];
    }
    MoteRenderMesh mesh = box_mesh(&box);
    mesh.members = members;
    mesh.weights = weights;
    mesh.rests = vertex_rests;
    mesh.member_count = MEMBERS;
    MUST(mote_renderer_set_meshes(renderer, &mesh, 1));

    Pile *pile = calloc(1, sizeof *pile);
    MoteVec3 *points = calloc(BODIES * MEMBERS, sizeof *points);
    MoteQuaternion rotations[BODIES];
    for (uint32_t b = 0; b < BODIES; b++) {
        const double angle = 0.37 * b, s = sin(angle);
        rotations[b] = (MoteQuaternion){(float)(0.6 * s), 0.0f, (float)(0.8 * s), (float)cos(angle)};
        const Vector centre = {(double)(b % 10) - 4.5, 0.5 + (double)(b / 100), (double)(b / 10 % 10) - 4.5};
        for (uint32_t m = 0; m < MEMBERS; m++) {
            const Vector p = add(centre, 1.0, turn(rotations[b], vector(rests[m]), false));
            points[b * MEMBERS + m] = (MoteVec3){(float)p.x, (float)p.y, (float)p.z};
        }
        pile->instances[b] = (MoteRenderInstance){.tint = {1.0f, (float)(b % 7) / 6.0f, (float)(b % 3) / 2.0f},
                                                  .member_offset = b * MEMBERS};
    }
    pile->made = make_bodies(points, BODIES * MEMBERS, 0.2f);
    for (uint32_t b = 0; b < BODIES; b++) {
        memcpy(pile->made.rotations + 4 * (size_t)b, &rotations[b], sizeof rotations[b]);
        for (uint32_t m = 0; m < MEMBERS; m++) {
            pile->made.clusters[b * MEMBERS + m] = b;
        }
    }
    free(points);
    pile->scene = make_dry_scene((MoteVec3){9, 10, 14}, (MoteVec3){0, 4, 0});
    pile->scene.ground.visible = true;
    pile->scene.instances = pile->instances;
    pile->scene.instance_count = BODIES;
    return pile;
}

static void end_pile(Pile *pile)
{
    end_bodies(&pile->made);
    free(pile);
}

static void test_thousand_bodies(void **state)
{
    MoteRenderer *renderer = *state;
    Pile *pile = make_pile(renderer);
    float *colors = draw_bodies_layer(renderer, &pile->made, &pile->scene, "color");
    float *normals = read_layer(renderer, "normal", WIDTH, HEIGHT);
    assert_int_equal(renderer->bodies.draw_count, 1);
    assert_int_equal(renderer->bodies.draws[0].count, BODIES);
    uint32_t seen = 0, tints[2] = {0};
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        const float *n = normals + 3 * i, *c = at(colors, i % WIDTH, i / WIDTH);
        const float squared = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
        assert_true(squared == 0.0f || fabsf(squared - 1.0f) < 1e-2f);
        seen += squared > 0.0f;
        tints[0] += squared > 0.0f && c[0] > 5.0f * c[1];
        tints[1] += squared > 0.0f && c[0] < 5.0f * c[1];
    }
    assert_true(seen > WIDTH * HEIGHT / 8 && tints[0] > 200 && tints[1] > 200);
    // The same again, bit for bit; and with the arrays copied instead of read in place.
    float *again = draw_bodies_layer(renderer, &pile->made, &pile->scene, "color");
    assert_memory_equal(colors, again, (size_t)WIDTH * HEIGHT * 4 * sizeof *colors);
    free(again);
    // Of more samples each is a whole picture: the mean is the same but at the edges.
    const MotePicture smooth = {.width = WIDTH, .height = HEIGHT, .samples = 3, .layers = true};
    MUST(draw_bodies(renderer, &pile->made, &pile->scene, &smooth));
    again = read_layer(renderer, "color", WIDTH, HEIGHT);
    double change = 0.0, sum = 0.0;
    for (uint32_t i = 0; i < 4 * WIDTH * HEIGHT; i++) {
        change += fabs((double)again[i] - (double)colors[i]);
        sum += (double)colors[i];
    }
    assert_true(change > 0.001 * sum && change < 0.1 * sum);
    free(again);
    MoteRenderer *other;
    MUST(mote_renderer_create(
        &(MoteRendererOptions){.device = MOTE_DEVICE_AUTO, .validate = true, .force_staging = true}, &other));
    Pile *same = make_pile(other);
    again = draw_bodies_layer(other, &same->made, &same->scene, "color");
    assert_string_equal(mote_renderer_interop(other).path, "staging");
    assert_memory_equal(colors, again, (size_t)WIDTH * HEIGHT * 4 * sizeof *colors);
    free(again);
    end_pile(same);
    end_renderer(other);
    free(colors);
    free(normals);
    end_pile(pile);
}

// ---- Looks and views ----

static uint32_t differing(const float *a, const float *b)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        count += memcmp(a + 4 * (size_t)i, b + 4 * (size_t)i, 3 * sizeof *a) != 0;
    }
    return count;
}

// Solid, glass, wire frame and hidden differ; a hidden body hides its members too, one without a mesh shows them.
static void test_looks(void **state)
{
    MoteRenderer *renderer = *state;
    Pile *pile = make_pile(renderer);
    float *pictures[6];
    for (uint32_t look = MOTE_LOOK_AUTO; look <= MOTE_LOOK_HIDDEN; look++) {
        for (uint32_t b = 0; b < BODIES; b++) {
            pile->instances[b].look = look;
        }
        pictures[look] = draw_bodies_layer(renderer, &pile->made, &pile->scene, "color");
    }
    pile->scene.instance_count = 0;
    pictures[5] = draw_bodies_layer(renderer, &pile->made, &pile->scene, "color");
    assert_int_equal(differing(pictures[MOTE_LOOK_AUTO], pictures[MOTE_LOOK_SOLID]), 0);
    for (uint32_t a = MOTE_LOOK_SOLID; a < 6; a++) {
        for (uint32_t b = a + 1; b < 6; b++) {
            assert_true(differing(pictures[a], pictures[b]) > 500);
        }
    }
    float *ids = read_layer(renderer, "id", WIDTH, HEIGHT);
    uint32_t members = 0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        uint32_t id;
        memcpy(&id, &ids[i], sizeof id);
        assert_true(id <= BODIES * MEMBERS);
        members += id > 0;
    }
    assert_true(members > 500);
    free(ids);
    for (uint32_t i = 0; i < 6; i++) {
        free(pictures[i]);
    }
    end_pile(pile);
}

// Views of particles show the members, in the colour of their cluster; views of images show the skins.
static void test_views(void **state)
{
    MoteRenderer *renderer = *state;
    const Box box = make_box();
    MoteRenderMesh mesh = box_mesh(&box);
    MUST(mote_renderer_set_meshes(renderer, &mesh, 1));
    const MoteVec3 points[4] = {{-0.6f, 0, 0}, {-0.2f, 0, 0}, {0.2f, 0, 0}, {0.6f, 0, 0}};
    HandMade made = make_bodies(points, 4, 0.3f);
    made.members[3] = UINT32_MAX; // a grain
    made.clusters[0] = made.clusters[1] = 2;
    made.clusters[2] = 3;
    MoteRenderScene scene = make_dry_scene((MoteVec3){0, 0, 3.0f}, (MoteVec3){0, 0, 0});
    scene.liquid.visible = true;
    const Camera camera = camera_of(&scene);
    MotePicture picture = {.width = WIDTH, .height = HEIGHT, .samples = 1, .layers = true, .view = "clusters"};
    MUST(draw_bodies(renderer, &made, &scene, &picture));
    float *colors = read_layer(renderer, "color", WIDTH, HEIGHT);
    float seen[4][3]; // colours, whatever the lamp makes of them
    for (int i = 0; i < 4; i++) {
        const int off = (int)lround(points[i].x / 3.0 / camera.scale);
        const float *c = at(colors, (uint32_t)(WIDTH / 2 + off), HEIGHT / 2);
        for (int k = 0; k < 3; k++) {
            seen[i][k] = c[k] / (c[0] + c[1] + c[2]);
        }
    }
    double differences[3] = {0};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            differences[i] += fabs((double)seen[i][k] - (i < 2 ? (double)seen[i + 1][k] : 1.0 / 3.0));
        }
    }
    assert_true(differences[0] < 0.01 && differences[1] > 0.1); // one cluster, another
    assert_true(fabsf(seen[3][0] - seen[3][1]) < 1e-3f && fabsf(seen[3][1] - seen[3][2]) < 1e-3f); // grey
    free(colors);

    MoteRenderInstance instance = upright_instance((MoteVec3){0, 0, 0});
    scene.instances = &instance;
    scene.instance_count = 1;
    uint16_t *with = malloc((size_t)WIDTH * HEIGHT * 8), *without = malloc((size_t)WIDTH * HEIGHT * 8);
    for (uint32_t v = 0; mote_render_view_name(v) != NULL; v++) {
        picture.view = mote_render_view_name(v);
        const bool image = strcmp(picture.view, "depth") == 0 || strcmp(picture.view, "smooth_depth") == 0 ||
                           strcmp(picture.view, "normals") == 0 || strcmp(picture.view, "liquid") == 0 ||
                           strcmp(picture.view, "colliders") == 0;
        if (strcmp(picture.view, "channel") != 0) {
            instance.look = MOTE_LOOK_SOLID;
            MUST(draw_bodies(renderer, &made, &scene, &picture));
            MUST(mote_renderer_read_rgba16(renderer, with));
            instance.look = MOTE_LOOK_HIDDEN;
            MUST(draw_bodies(renderer, &made, &scene, &picture));
            MUST(mote_renderer_read_rgba16(renderer, without));
            uint32_t changed = 0;
            for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
                changed += memcmp(with + 4 * (size_t)i, without + 4 * (size_t)i, 8) != 0;
            }
            if (image && changed < 300) {
                fail_msg("view %s: the box changes %u pixels", picture.view, changed);
            }
        }
    }
    assert_int_equal(mote_renderer_validation_messages(renderer), 0);
    free(with);
    free(without);
    end_bodies(&made);
}

// ---- Light from the sky ----

// Where a box stands on the ground less of the sky is seen; far from it, and without occlusion, all of it.
static void test_occlusion(void **state)
{
    MoteRenderer *renderer = *state;
    const Box box = make_box();
    const MoteRenderMesh mesh = box_mesh(&box);
    MUST(mote_renderer_set_meshes(renderer, &mesh, 1));
    MoteWorld *world = make_dry_world();
    MoteRenderScene scene = make_sunlit_ground((MoteVec3){0.0f, 1.0f, 2.5f}, (MoteVec3){0, 0.1f, 0});
    scene.sky.color = (MoteVec3){1, 1, 1};
    scene.sky.sun_brightness = 0.0f;
    const MoteRenderInstance instance = upright_instance((MoteVec3){0.0f, HALF_SIZE.y, 0.0f});
    scene.instances = &instance;
    scene.instance_count = 1;
    float *dark = draw_layer(renderer, world, &scene, "color"), *depth = read_layer(renderer, "depth", WIDTH, HEIGHT);
    scene.picture.occlusion = false;
    float *open = draw_layer(renderer, world, &scene, "color");
    const Camera camera = camera_of(&scene);
    double near_sum = 0.0;
    uint32_t near_count = 0, far_count = 0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        const Vector ray = pixel_ray(&camera, i % WIDTH, i / WIDTH), there = add(camera.eye, depth[i], ray);
        const float before = at(open, i % WIDTH, i / WIDTH)[1], after = at(dark, i % WIDTH, i / WIDTH)[1];
        assert_true(after <= before * 1.0001f);
        if (isfinite(depth[i]) && fabs(there.y) < 1e-3) {
            const double outside = fmax(fabs(there.x) - HALF_SIZE.x, fabs(there.z) - HALF_SIZE.z);
            if (outside > 0.4) {
                assert_true(after > 0.98f * before);
                far_count++;
            } else if (outside < 0.04 && there.z > HALF_SIZE.z) {
                near_sum += after / before;
                near_count++;
            }
        }
    }
    printf("beside the box %.2f of the sky's light is left\n", near_sum / near_count);
    assert_true(far_count > 1000 && near_count > 20 && near_sum / near_count < 0.8 && near_sum / near_count > 0.3);
    free(dark);
    free(open);
    free(depth);
    mote_world_destroy(world);
}

// ---- A picture of all of it ----

// A heap of grains of two materials, a stack of boxes that lean and bend, one of glass and one of wires, a block of
// liquid in front; compared with what was looked at.
static void test_golden_solids(void **state)
{
    MoteRenderer *renderer = *state;
    enum { STACK = 6, HEAP = 3000, POOL = 14 * 6 * 10 };
    const Box box = make_box();
    uint32_t members[4 * BOX_VERTICES];
    float weights[4 * BOX_VERTICES];
    MoteVec3 rests[4 * BOX_VERTICES];
    for (uint32_t i = 0; i < 4 * BOX_VERTICES; i++) { // one member below, one above, to which vertices belong by height
        const bool above = box.positions[i / 4].y > 0.0f;
        members[i] = i % 2;
        weights[i] = i % 4 > 1 ? 0.0f : (i % 2 == 1) == above ? 0.9f : 0.1f;
        rests[i] = (MoteVec3){0.0f, i % 2 == 1 ? 0.1f : -0.1f, 0.0f};
    }
    MoteRenderMesh meshes[2] = {box_mesh(&box), box_mesh(&box)};
    meshes[0].members = members;
    meshes[0].weights = weights;
    meshes[0].rests = rests;
    meshes[0].member_count = 2;
    meshes[0].deforms = true;
    meshes[0].normals = NULL;
    MUST(mote_renderer_set_meshes(renderer, meshes, 2));

    static MoteVec3 points[2 * STACK + HEAP];
    for (uint32_t i = 0; i < 2 * STACK; i++) {
        points[i] = (MoteVec3){0.04f * (float)i - 0.7f, 0.1f + 0.2f * (float)i, 0.3f * sinf((float)(i / 2))};
    }
    uint32_t grains = 0;
    for (uint32_t i = 0; grains < HEAP; i++) {
        const float x = 0.08f * (float)(i % 30) - 1.2f, z = 0.08f * (float)(i / 30 % 30) - 1.2f;
        const float y = 0.04f + 0.07f * (float)(i / 900);
        if (y > 2.0f) {
            break;
        }
        if (x * x + z * z < (1.1f - y) * (1.1f - y)) {
            points[2 * STACK + grains++] = (MoteVec3){x + 1.1f + 0.01f * sinf((float)i), y, z - 0.6f};
        }
    }
    HandMade made = make_bodies(points, 2 * STACK + grains, 0.08f);
    for (uint32_t i = 0; i < 2 * STACK; i++) {
        const float half = 0.1f * sinf((float)i);
        const MoteQuaternion q = {0.0f, sinf(half), 0.0f, cosf(half)};
        memcpy(made.rotations + 4 * (size_t)i, &q, sizeof q);
    }
    for (uint32_t i = 0; i < grains; i++) {
        made.members[2 * STACK + i] = UINT32_MAX;
    }
    MoteVec3 pool[POOL];
    for (uint32_t i = 0; i < POOL; i++) {
        pool[i] = (MoteVec3){0.08f * (float)(i % 14) - 0.2f, 0.04f + 0.08f * (float)(i / 14 % 6),
                             0.6f + 0.08f * (float)(i / 84)};
    }
    MUST(mote_world_add_particles(
        made.world, &(MoteParticles){.count = POOL, .positions = pool, .mass = 1.0f, .phase = MOTE_PHASE_FLUID}, NULL));
    for (uint32_t i = 0; i < POOL; i++) { // there is room: an array is as long as that of the rotations
        made.members[made.count + i] = UINT32_MAX;
    }
    made.count += POOL;
    MoteRenderInstance instances[STACK + 2];
    for (uint32_t i = 0; i < STACK; i++) {
        instances[i] = (MoteRenderInstance){
            .tint = {1.0f, 1.0f + (float)i, 1.0f}, .member_offset = 2 * i, .look = MOTE_LOOK_SOLID};
    }
    instances[STACK] = upright_instance((MoteVec3){-1.6f, 0.25f, 0.6f});
    instances[STACK].mesh = 1;
    instances[STACK].look = MOTE_LOOK_GLASS;
    instances[STACK + 1] = upright_instance((MoteVec3){1.6f, 0.8f, 0.8f});
    instances[STACK + 1].mesh = 1;
    instances[STACK + 1].look = MOTE_LOOK_WIREFRAME;
    instances[STACK + 1].pose.rotation = TURNED;
    MoteRenderScene scene = mote_default_render_scene();
    const MoteRenderMaterial materials[3] = {
        scene.materials[0], {.color = {0.75f, 0.6f, 0.35f}, .roughness = 0.9f, .color_variation = 0.3f}};
    scene.materials = materials;
    scene.material_count = 2;
    scene.camera.position = (MoteVec3){0.6f, 2.4f, 4.6f};
    scene.camera.target = (MoteVec3){0.1f, 0.7f, 0.0f};
    scene.sky.sun_elevation = 40.0f;
    scene.sky.sun_azimuth = -70.0f;
    scene.instances = instances;
    scene.instance_count = STACK + 2;
    const char *views[] = {"liquid", "normals"};
    bool right = true;
    for (int v = 0; v < 2; v++) {
        const MotePicture picture = {.width = 320, .height = 180, .samples = 1, .view = views[v]};
        MUST(draw_bodies(renderer, &made, &scene, &picture));
        Image image = read_image(renderer, picture.width, picture.height);
        char name[64];
        snprintf(name, sizeof name, "solids_%s", views[v]);
        right = looks_right(&image, name) && right;
        image_destroy(&image);
    }
    assert_true(right);
    end_bodies(&made);
}

// ---- Levels ----

enum { ROWS = 100, COLUMNS = 200, BALL_VERTICES = (ROWS - 1) * COLUMNS + 2, BALL_TRIANGLES = 2 * (ROWS - 1) * COLUMNS };

static void make_ball(float radius, MoteVec3 *positions, uint32_t *triangles)
{
    for (uint32_t i = 0; i < (ROWS - 1) * COLUMNS; i++) {
        const double a = PI * (i / COLUMNS + 1) / ROWS, b = 2.0 * PI * (i % COLUMNS) / COLUMNS;
        positions[i] =
            (MoteVec3){(float)(radius * sin(a) * sin(b)), (float)(radius * cos(a)), (float)(radius * sin(a) * cos(b))};
    }
    const uint32_t top = BALL_VERTICES - 2, bottom = BALL_VERTICES - 1;
    positions[top] = (MoteVec3){0, radius, 0};
    positions[bottom] = (MoteVec3){0, -radius, 0};
    uint32_t *t = triangles;
    for (uint32_t c = 0; c < COLUMNS; c++) {
        const uint32_t d = (c + 1) % COLUMNS;
        for (uint32_t r = 0; r + 2 < ROWS; r++) {
            const uint32_t quad[6] = {r * COLUMNS + c, (r + 1) * COLUMNS + c, (r + 1) * COLUMNS + d,
                                      r * COLUMNS + c, (r + 1) * COLUMNS + d, r * COLUMNS + d};
            memcpy(t, quad, sizeof quad);
            t += 6;
        }
        const uint32_t caps[6] = {top, c, d, bottom, (ROWS - 2) * COLUMNS + d, (ROWS - 2) * COLUMNS + c};
        memcpy(t, caps, sizeof caps);
        t += 6;
    }
    assert_int_equal(t - triangles, 3 * BALL_TRIANGLES);
}

// A fine ball from afar is drawn with fewer triangles, without a hole, and as round as pixels can show; from near by
// with all of them. A skin that deforms makes its normals of the triangles that are left.
static void test_levels(void **state)
{
    MoteRenderer *renderer = *state;
    const float radius = 0.5f;
    MoteVec3 *positions = calloc(BALL_VERTICES, sizeof *positions), *rests = calloc(4 * BALL_VERTICES, sizeof *rests);
    uint32_t *triangles = calloc(3 * BALL_TRIANGLES, sizeof *triangles);
    uint32_t *members = calloc(4 * BALL_VERTICES, sizeof *members);
    float *weights = calloc(4 * BALL_VERTICES, sizeof *weights);
    make_ball(radius, positions, triangles);
    for (uint32_t v = 0; v < BALL_VERTICES; v++) {
        weights[4 * v] = 1.0f;
    }
    const MoteRenderMesh mesh = {.vertex_count = BALL_VERTICES,
                                 .triangle_count = BALL_TRIANGLES,
                                 .positions = positions,
                                 .triangles = triangles,
                                 .members = members,
                                 .weights = weights,
                                 .rests = rests,
                                 .member_count = 1,
                                 .deforms = true};
    MUST(mote_renderer_set_meshes(renderer, &mesh, 1));
    const MeshRange *range = &renderer->meshes.meshes[0];
    assert_true(range->closed && range->level_count > 2);
    const MoteVec3 centre = {0, 0, 0};
    HandMade made = make_bodies(&centre, 1, 0.1f);
    MoteRenderScene scene = make_dry_scene((MoteVec3){0.5f, 1.0f, 3.0f}, (MoteVec3){0, 0, 0});
    const MoteRenderInstance instance = {.tint = {1, 1, 1}};
    scene.instances = &instance;
    scene.instance_count = 1;
    const MoteCollider ball = {.kind = MOTE_COLLIDER_SPHERE, .radius = radius, .to = {centre, UPRIGHT}};
    uint32_t last = 0;
    for (int far_away = 0; far_away < 3; far_away++) {
        const float away = far_away == 0 ? 0.4f : far_away == 1 ? 1.0f : 2.0f;
        scene.camera.position = (MoteVec3){0.5f * away, 1.0f * away, 3.0f * away};
        float *depth = draw_bodies_layer(renderer, &made, &scene, "depth");
        float *normals = read_layer(renderer, "normal", WIDTH, HEIGHT);
        const BodyDraw *drawn = &renderer->bodies.draws[0];
        const Camera camera = camera_of(&scene);
        const double cell = range->levels[drawn->level].cell;
        printf("level %u: %u triangles of %u, cells of %g m\n", drawn->level,
               range->levels[drawn->level].triangle_count, BALL_TRIANGLES, cell);
        assert_true(drawn->level >= last);
        last = drawn->level;
        uint32_t seen = 0;
        for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
            const Vector ray = pixel_ray(&camera, i % WIDTH, i / WIDTH);
            const double length = sqrt(dot(ray, ray)), z = ray_hit(&ball, camera.eye, unit(ray), false) / length;
            const Vector n = isfinite(z) ? unit(add(camera.eye, z, ray)) : (Vector){0, 0, 0};
            if (isinf(z)) {
                assert_true(isinf(depth[i]));      // vertices are on the ball: nothing is outside
            } else if (-dot(n, unit(ray)) > 0.3) { // not at the outline
                // Chords of at most two cells' diagonal, seen at a slant; and a little for how round the ball is.
                const double sags = (12.0 * cell * cell / (8.0 * radius) + 1e-3) / 0.3;
                assert_true(fabs(depth[i] - z) < sags);
                const double like = n.x * normals[3 * i] + n.y * normals[3 * i + 1] + n.z * normals[3 * i + 2];
                assert_true(like > (drawn->level == 0 ? 0.999 : 0.97));
                seen++;
            }
        }
        assert_true(seen > 200);
        free(depth);
        free(normals);
    }
    assert_true(last >= 2);
    end_bodies(&made);
    free(positions);
    free(rests);
    free(triangles);
    free(members);
    free(weights);
}

// ---- What is refused ----

static void expect_refused(MoteRenderer *renderer, const MoteRenderMesh *mesh, const char *word)
{
    assert_int_equal(mote_renderer_set_meshes(renderer, mesh, 1), MOTE_ERROR_INPUT);
    if (strstr(mote_error_message(), word) == NULL) {
        fail_msg("\"%s\" says nothing of \"%s\"", mote_error_message(), word);
    }
}

static void test_errors(void **state)
{
    MoteRenderer *renderer = *state;
    Box box = make_box();
    const MoteRenderMesh good = box_mesh(&box);
    MUST(mote_renderer_set_meshes(renderer, &good, 1));
    MoteRenderMesh bad = good;
    bad.triangle_count = 0;
    expect_refused(renderer, &bad, "0 triangles");
    bad = good;
    bad.positions = NULL;
    expect_refused(renderer, &bad, "0 vertices");
    box.triangles[5] = BOX_VERTICES;
    expect_refused(renderer, &good, "vertex 24");
    box.triangles[5] = 3;
    box.positions[7].y = NAN;
    expect_refused(renderer, &good, "vertex 7");
    box.positions[7].y = 0.0f;
    uint32_t members[4 * BOX_VERTICES] = {0};
    float weights[4 * BOX_VERTICES] = {0};
    MoteVec3 rests[4 * BOX_VERTICES] = {{0}};
    bad = good;
    bad.members = members;
    bad.weights = weights;
    bad.rests = rests;
    expect_refused(renderer, &bad, "member_count");
    bad.member_count = 2;
    expect_refused(renderer, &bad, "sum to 0");
    for (uint32_t v = 0; v < BOX_VERTICES; v++) {
        weights[4 * v] = 1.0f;
    }
    members[9] = 2;
    expect_refused(renderer, &bad, "member 2");
    members[9] = 1;
    weights[4] = -1.0f;
    expect_refused(renderer, &bad, "weight -1");
    weights[4] = 1.0f;
    assert_int_equal(renderer->meshes.count, 1); // what was there stays
    assert_int_equal(renderer->meshes.meshes[0].member_count, 0);

    MoteWorld *world = make_dry_world();
    MoteRenderScene scene = make_dry_scene((MoteVec3){0, 0, 3.0f}, (MoteVec3){0, 0, 0});
    MoteRenderInstance instance = upright_instance((MoteVec3){0, 0, 0});
    scene.instances = &instance;
    scene.instance_count = 1;
    const MotePicture picture = {.width = WIDTH, .height = HEIGHT, .samples = 1};
    MUST(mote_renderer_draw(renderer, world, &scene, &picture));
    instance.mesh = 1;
    assert_int_equal(mote_renderer_draw(renderer, world, &scene, &picture), MOTE_ERROR_INPUT);
    assert_non_null(strstr(mote_error_message(), "mesh 1"));
    instance.mesh = 0;
    instance.scale = 0.0f;
    assert_int_equal(mote_renderer_draw(renderer, world, &scene, &picture), MOTE_ERROR_INPUT);
    instance.scale = 1.0f;
    instance.look = 77;
    assert_int_equal(mote_renderer_draw(renderer, world, &scene, &picture), MOTE_ERROR_INPUT);
    instance.look = MOTE_LOOK_SOLID;
    MUST(mote_renderer_set_meshes(renderer, &bad, 1)); // not bad any more
    instance.member_offset = 3;
    assert_int_equal(mote_renderer_draw(renderer, world, &scene, &picture), MOTE_ERROR_INPUT);
    assert_non_null(strstr(mote_error_message(), "members 3 to 4"));
    MUST(mote_renderer_set_meshes(renderer, NULL, 0));
    scene.instance_count = 0;
    MUST(mote_renderer_draw(renderer, world, &scene, &picture));
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thousand_bodies), cmocka_unit_test(test_looks),     cmocka_unit_test(test_views),
        cmocka_unit_test(test_golden_solids),   cmocka_unit_test(test_occlusion), cmocka_unit_test(test_levels),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, renderer_set_up, renderer_tear_down);
}
