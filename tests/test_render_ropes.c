// SPDX-License-Identifier: MIT
// Ropes against closed forms: where a tube is and ends, frames that do not turn about it, strands that fade into their
// mean, and what is gone.
#include "cloth_fixture.h"

#include "passes/ropes.h"

typedef struct Chain {
    Sheet points;
    MoteParticleHandle *nodes;
    MoteRenderRope rope;
    MoteRenderScene scene;
} Chain;

// Lit by a white sky alone.
static Chain make_chain(uint32_t count, float radius)
{
    Chain chain = {.points = make_points(count, 0.05f, MOTE_KIND_BODY), .nodes = malloc(count * sizeof *chain.nodes)};
    for (uint32_t v = 0; v < count; v++) {
        chain.nodes[v] = (MoteParticleHandle){chain.points.handles[v] + 1};
    }
    chain.rope = mote_default_render_rope();
    chain.rope.node_count = count;
    chain.rope.radius = radius;
    chain.rope.length = 1.0f;
    chain.rope.color = (MoteVec3){0.5f, 0.5f, 0.5f};
    chain.rope.sheen = 0.0f;
    chain.scene = make_dry_scene((MoteVec3){0, 0, 1.6f}, (MoteVec3){0, 0, 0});
    chain.scene.sky.kind = MOTE_SKY_COLOR;
    chain.scene.sky.color = (MoteVec3){1, 1, 1};
    chain.scene.sky.brightness = 1.0f;
    chain.scene.sky.sun_brightness = 0.0f;
    chain.scene.picture.occlusion = false;
    return chain;
}

static float *draw_chain(MoteRenderer *renderer, Chain *chain, const char *layer)
{
    chain->scene.ropes = &chain->rope;
    chain->scene.rope_count = 1;
    chain->scene.rope_nodes = chain->nodes;
    chain->scene.rope_node_count = chain->rope.node_count;
    return draw_sheet(renderer, &chain->points, &chain->scene, layer);
}

static void end_chain(Chain *chain)
{
    end_sheet(&chain->points);
    free(chain->nodes);
}

static Chain straight_chain(uint32_t count, float radius)
{
    Chain chain = make_chain(count, radius);
    for (uint32_t v = 0; v < count; v++) {
        sheet_move(&chain.points, v, (MoteVec3){-0.5f + (float)v / (float)(count - 1), 0, 0});
    }
    sheet_changed(&chain.points);
    return chain;
}

// Between a cylinder and the prism in it, half a ball at each end; and no spheres of the particles, which are smaller.
static void test_straight_rope(void **state)
{
    MoteRenderer *renderer = *state;
    const float radius = 0.06f;
    const uint32_t counts[] = {2, 9};
    for (int k = 0; k < 2; k++) {
        Chain chain = straight_chain(counts[k], radius);
        float *depth = draw_chain(renderer, &chain, "depth");
        const Camera camera = camera_of(&chain.scene);
        MoteCollider outer = {.kind = MOTE_COLLIDER_CAPSULE,
                              .radius = radius + 1e-3f,
                              .half_size = {0, 0.5f, 0},
                              .to = {{0, 0, 0}, {0, 0, 0.70710678f, 0.70710678f}}};
        MoteCollider inner = outer;
        inner.radius = 0.9f * radius; // of 10 sides; a cap has fewer rings
        uint32_t seen = 0;
        for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
            const Vector ray = pixel_ray(&camera, i % WIDTH, i / WIDTH);
            const double length = sqrt(dot(ray, ray));
            const double first = ray_hit(&outer, camera.eye, unit(ray), false) / length;
            const double last = ray_hit(&inner, camera.eye, unit(ray), false) / length;
            if (isinf(first)) {
                assert_true(isinf(depth[i]));
            } else if (isfinite(last)) {
                assert_true(depth[i] >= first && depth[i] <= last);
                seen++;
            }
        }
        assert_true(seen > 900);
        free(depth);
        end_chain(&chain);
    }
}

typedef struct RopeFrame {
    float centre[3], radius, across[3], metres, along[3], lean;
} RopeFrame;

static double dot3(const float *a, const float *b)
{
    return (double)a[0] * b[0] + (double)a[1] * b[1] + (double)a[2] * b[2];
}

static RopeFrame *read_frames(MoteRenderer *renderer, uint32_t *count)
{
    const SimplePass *pass = renderer->states[PASS_ropes];
    *count = renderer->ropes.frame_count;
    return read_buffer(renderer, &pass->buffer, *count * sizeof(RopeFrame));
}

// On a circle, centres are on it to the curve's error, and frames do not leave the angle that they have with its plane.
static void test_frames_on_a_circle(void **state)
{
    MoteRenderer *renderer = *state;
    enum { NODES = 24 };
    Chain chain = make_chain(NODES, 0.02f);
    for (uint32_t v = 0; v < NODES; v++) {
        const double angle = 5.0 * v / (NODES - 1);
        sheet_move(&chain.points, v, (MoteVec3){(float)(0.4 * cos(angle)), (float)(0.4 * sin(angle)), 0});
    }
    sheet_changed(&chain.points);
    free(draw_chain(renderer, &chain, "depth"));
    uint32_t count;
    RopeFrame *frames = read_frames(renderer, &count);
    assert_int_equal(count, (NODES - 1) * ROPE_SAMPLES + 1 + 2 * ROPE_CAP);
    for (uint32_t i = 0; i < count; i++) {
        const RopeFrame *f = &frames[i];
        assert_true(fabs(dot3(f->across, f->across) - 1.0) < 1e-5 && fabs(dot3(f->along, f->along) - 1.0) < 1e-5);
        assert_true(fabs(dot3(f->across, f->along)) < 1e-5);
        if (i > ROPE_CAP + ROPE_SAMPLES && i + ROPE_CAP + ROPE_SAMPLES < count) { // ends go on straight
            assert_true(fabs(sqrt(dot3(f->centre, f->centre)) - 0.4) < 2e-4);
            assert_true(fabs(dot3(f->centre, f->along)) < 4e-3);
        }
        assert_true(fabs((double)f->across[2] - (double)frames[0].across[2]) < 1e-4);
    }
    assert_true(frames[0].radius == 0.0f && frames[count - 1].radius < 1e-6f);
    assert_true(fabsf(frames[count - 1 - ROPE_CAP].metres - 1.0f) < 1e-6f);
    free(frames);
    end_chain(&chain);
}

// More segments than one invocation follows: a helix, whose frames do not jump at the seams.
static void test_long_rope(void **state)
{
    MoteRenderer *renderer = *state;
    enum { NODES = 2 * ROPE_CHUNK + 501 };
    Chain chain = make_chain(NODES, 0.01f);
    for (uint32_t v = 0; v < NODES; v++) {
        const double angle = 60.0 * v / (NODES - 1);
        sheet_move(
            &chain.points, v,
            (MoteVec3){(float)(0.4 * cos(angle)), (float)(0.8 * v / (NODES - 1) - 0.4), (float)(0.4 * sin(angle))});
    }
    sheet_changed(&chain.points);
    free(draw_chain(renderer, &chain, "depth"));
    uint32_t count;
    RopeFrame *frames = read_frames(renderer, &count);
    double least = 1.0;
    for (uint32_t i = 1; i < count; i++) {
        least = fmin(least, dot3(frames[i].across, frames[i - 1].across));
    }
    printf("a rope of %d segments: neighbouring frames turn by at most %.3f degrees\n", NODES - 1,
           acos(least) * 180.0 / PI);
    assert_true(least > cos(1.0 * PI / 180.0)); // of the helix itself: 0.4
    free(frames);
    end_chain(&chain);
}

// The rope is as bright as its colour says in the mean, whether strands are wide or finer than a pixel.
static void test_strands(void **state)
{
    MoteRenderer *renderer = *state;
    for (int k = 0; k < 2; k++) {
        Chain chain = straight_chain(9, k == 0 ? 0.12f : 0.012f);
        float *colors = draw_chain(renderer, &chain, "color");
        double sum = 0.0, least = 1.0, most = 0.0;
        for (uint32_t x = WIDTH / 2 - 30; x < WIDTH / 2 + 30; x++) {
            const double c = at(colors, x, HEIGHT / 2)[0];
            sum += c / 60.0;
            least = fmin(least, c);
            most = fmax(most, c);
        }
        printf("strands: mean %.4f, %.4f to %.4f\n", sum, least, most);
        assert_true(fabs(sum - 0.5) < 0.03);
        assert_true(k == 0 ? most - least > 0.15 : most - least < 0.15);
        free(colors);
        end_chain(&chain);
    }
}

// Without a particle, the segments beside it go, and no others.
static void test_gone_node(void **state)
{
    MoteRenderer *renderer = *state;
    Chain chain = straight_chain(9, 0.05f);
    chain.points.slots[chain.points.handles[4] - MOTE_HANDLE_SINGLE] = MOTE_NONE;
    float *depth = draw_chain(renderer, &chain, "depth");
    const Camera camera = camera_of(&chain.scene);
    for (int k = 0; k < 8; k++) {
        const Vector p = add((Vector){-0.5 + (k + 0.5) / 8.0, 0, 0}, -1.0, camera.eye);
        const double z = dot(p, camera.forward);
        const uint32_t x = (uint32_t)(0.5 * WIDTH + dot(p, camera.right) / z / camera.scale);
        const bool there = isfinite(depth[HEIGHT / 2 * WIDTH + x]);
        assert_true(there == (k != 3 && k != 4));
    }
    free(depth);
    end_chain(&chain);
}

// Of each particle the link that is stretched most; of those that are shorter than at rest, 0.
static void test_stretch_view(void **state)
{
    MoteRenderer *renderer = *state;
    enum { NODES = 5, LINKS = 4 };
    Chain chain = straight_chain(NODES, 0.05f);
    const float rests[LINKS] = {0.25f / 1.08f, 0.25f / 1.02f, 0.25f / 0.9f, 0.25f / 0.5f}; // nodes are 0.25 m apart
    MoteRenderView *view = &chain.points.view;
    view->link_count = LINKS;
    view->link_ends = sheet_array(&chain.points, 2 * LINKS * sizeof(uint32_t));
    view->link_laws = sheet_array(&chain.points, 4 * LINKS * sizeof(float));
    uint32_t *ends = sheet_data(view->link_ends);
    float *laws = sheet_data(view->link_laws);
    for (uint32_t i = 0; i < LINKS; i++) {
        ends[2 * i] = chain.points.handles[i];
        ends[2 * i + 1] = chain.points.handles[i + 1];
        laws[4 * i] = rests[i];
    }
    chain.scene.liquid.visible = true;
    MUST(mote_renderer_draw_arrays(renderer, view, NULL, &chain.scene,
                                   &(MotePicture){.width = WIDTH, .height = HEIGHT, .samples = 1, .view = "stretch"}));
    const SimplePass *pass = renderer->states[PASS_stretch];
    float *stretch = read_buffer(renderer, &pass->buffer, NODES * sizeof *stretch);
    const double wanted[NODES] = {0.08, 0.08, 0.02, 0.0, 0.0};
    for (uint32_t v = 0; v < NODES; v++) {
        assert_true(fabs(stretch[sheet_slot(&chain.points, v)] - wanted[v]) < 1e-5);
    }
    free(stretch);
    end_chain(&chain);
}

static void expect_error(MoteRenderer *renderer, const Chain *chain, const char *words)
{
    const MotePicture picture = {.width = WIDTH, .height = HEIGHT, .samples = 1};
    assert_int_equal(mote_renderer_draw_arrays(renderer, &chain->points.view, NULL, &chain->scene, &picture),
                     MOTE_ERROR_INPUT);
    assert_non_null(strstr(mote_error_message(), words));
}

static void test_errors(void **state)
{
    MoteRenderer *renderer = *state;
    Chain chain = straight_chain(9, 0.05f);
    free(draw_chain(renderer, &chain, "depth"));
    chain.rope.node_count = 10;
    expect_error(renderer, &chain, "nodes 0 to 9");
    chain.rope.node_count = 1;
    expect_error(renderer, &chain, "expected at least 2");
    chain.rope.node_count = 9;
    chain.rope.radius = NAN;
    expect_error(renderer, &chain, "radius");
    chain.rope.radius = 0.05f;
    const MoteParticleHandle wrong[] = {{0}, {MOTE_HANDLE_SINGLE + 10}, {1}};
    for (int k = 0; k < 3; k++) {
        chain.nodes[3] = wrong[k];
        expect_error(renderer, &chain, "node 3 of the ropes");
    }
    end_chain(&chain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_straight_rope), cmocka_unit_test(test_frames_on_a_circle),
        cmocka_unit_test(test_long_rope),     cmocka_unit_test(test_strands),
        cmocka_unit_test(test_gone_node),     cmocka_unit_test(test_errors),
        cmocka_unit_test(test_stretch_view),
    };
    return cmocka_run_group_tests(tests, renderer_set_up, renderer_tear_down);
}
