// SPDX-License-Identifier: MIT
// Steps that are run on guesses of the last step's numbers (src/solver/steps.c): whatever was guessed, and however many
// steps the host runs before it looks, the result is that of single steps, bit for bit.
#include "solid_fixture.h"

#include "solver/batch.h"

static const float time_step = 1.0f / 240.0f;

// Water that collapses onto grains that roll, with a channel and a body: everything that a step moves around.
static MoteWorld *make_scene(const TestBackend *backend)
{
    MoteSettings settings = solid_settings(0.05f);
    settings.stabilization_iterations = 1;
    settings.vorticity = 1.0f;
    MoteWorld *world = make_world(backend, &settings);
    expect_ok(mote_world_add_channel(world, "tag", 2));
    add_block(world, (MoteVec3){0.05f, 0.05f, 0.05f}, 6, 8, 6);
    MoteVec3 grains[12];
    for (int i = 0; i < 12; i++) {
        grains[i] = (MoteVec3){0.5f + 0.051f * (float)(i % 4), 0.1f + 0.051f * (float)(i / 4), 0.1f};
    }
    add_grains(world, grains, NULL, 12, 2);
    add_box(world, &(TestBox){3, 3, 3, 0.05f, {0.5f, 0.5f, 0.2f}, {0, 0, 0, 1}, true, {.mass = 10.0f, .stiffness = 1}});
    MoteShape shapes[2] = {
        box_container((MoteVec3){0.5f, 0.5f, 0.2f}, (MoteVec3){0.5f, 0.5f, 0.2f}),
        still_shape(MOTE_SHAPE_BOX, (MoteVec3){0.75f, 0.5f, 0.2f}, (MoteVec3){0.05f, 0.05f, 0.05f}, 0.0f)};
    shapes[1].mass = 1.0f;
    expect_ok(mote_world_set_shapes(world, shapes, 2));
    return world;
}

static void kill_below(MoteWorld *world, float height)
{
    const MoteShape volume =
        still_shape(MOTE_SHAPE_BOX, (MoteVec3){0.5f, height - 1.0f, 0.2f}, (MoteVec3){1.0f, 1.0f, 1.0f}, 0.0f);
    expect_ok(mote_world_set_kill_volumes(world, &volume, 1));
}

// Everything that the run has come to.
static uint64_t final_hash(MoteWorld *world, uint32_t steps, uint32_t particles)
{
    const MoteStatistics statistics = read_statistics(world);
    assert_int_equal(statistics.steps, steps);
    assert_int_equal(statistics.particles, particles);
    const uint64_t hash = read_hash(world);
    mote_world_destroy(world);
    return hash;
}

static void many_are_the_same_as_one_by_one(void **state)
{
    MoteWorld *single = make_scene(*state), *many = make_scene(*state);
    uint32_t done = 0;
    run_steps(single, 40, time_step);
    expect_ok(mote_world_steps(many, time_step, 40, &done));
    assert_int_equal(done, 40);
    const uint32_t count = mote_world_particle_count(single);
    assert_true(final_hash(single, 40, count) == final_hash(many, 40, count));
}

// As if the last step had had a single cell and no lists; at every third batch.
static void wrong_guesses_are_corrected(void **state)
{
    MoteWorld *single = make_scene(*state), *wrong = make_scene(*state);
    const uint32_t count = mote_world_particle_count(single);
    run_steps(single, 36, time_step);
    run_steps(wrong, 2, time_step);
    for (uint32_t n = 0; n < 17; n++) {
        if (n % 3 == 0) {
            wrong->last_cells = 1;
        }
        if (n % 3 != 1) {
            wrong->last_blocks = 0;
        }
        expect_ok(mote_world_steps(wrong, time_step, 2, NULL));
        assert_true(wrong->view.cell_count > 65 && wrong->listed_entries > 65 * NEIGHBOUR_BLOCK);
    }
    assert_true(final_hash(single, 36, count) == final_hash(wrong, 36, count));
}

// The volume's top rises through the water, which nobody expects at first.
static void removals_are_noticed(void **state)
{
    MoteWorld *single = make_scene(*state), *many = make_scene(*state);
    const uint32_t all = mote_world_particle_count(single);
    for (uint32_t n = 0; n < 4; n++) {
        kill_below(single, n < 2 ? -0.1f : 0.04f * (float)n);
        kill_below(many, n < 2 ? -0.1f : 0.04f * (float)n);
        run_steps(single, 9, time_step);
        expect_ok(mote_world_steps(many, time_step, 9, NULL));
    }
    const uint32_t left = mote_world_particle_count(single);
    assert_in_range(left, 1, all - 20);
    assert_true(final_hash(single, 36, left) == final_hash(many, 36, left));
}

// A nozzle: a row of drops every other step, each row a phase group of its own.
typedef struct Nozzle {
    MoteWorld *world;
    uint32_t steps; // before this call's
} Nozzle;

static MoteResult pour(void *context, uint32_t before)
{
    const Nozzle *nozzle = context;
    const uint32_t step = nozzle->steps + before;
    MoteVec3 drops[6];
    for (uint32_t i = 0; i < 6; i++) {
        drops[i] = (MoteVec3){0.1f + 0.05f * (float)i, 0.8f + 0.001f * (float)step, 0.2f};
    }
    const MoteParticles row = {
        .count = 6, .positions = drops, .mass = 0.1f / (float)(step + 1), .phase = MOTE_PHASE_FLUID | (20 + step)};
    return step % 2 == 0 ? mote_world_add_particles(nozzle->world, &row, NULL) : MOTE_OK;
}

// Ids, and whatever else the world counts, are those of single steps, even where rows that came too early are taken
// back because a guess before them was wrong.
static void particles_come_between_steps(void **state)
{
    MoteWorld *single = make_scene(*state), *many = make_scene(*state);
    kill_below(single, 0.03f);
    kill_below(many, 0.03f); // a few are removed when they fall that far
    for (uint32_t n = 0; n < 24; n++) {
        const Nozzle nozzle = {single, n};
        expect_ok(pour((void *)&nozzle, 0));
        expect_ok(mote_world_step(single, time_step));
    }
    for (uint32_t n = 0; n < 24; n += 6) {
        Nozzle nozzle = {many, n};
        many->last_cells = n == 12 ? 1 : many->last_cells;
        many->last_blocks = n == 6 ? 0 : many->last_blocks;
        assert_true(world_expect_particles(many, 18, MOTE_PHASE_FLUID));
        expect_ok(world_prepared_steps(many, time_step, 6, pour, &nozzle, NULL));
        assert_int_equal(many->tally.next_id, mote_world_particle_count(many) + many->removed);
    }
    const uint32_t count = mote_world_particle_count(single);
    assert_int_equal(many->tally.next_id, single->tally.next_id);
    assert_int_equal(many->tally.next_group, single->tally.next_group);
    assert_true(many->tally.largest_inverse_mass == single->tally.largest_inverse_mass);
    assert_true(final_hash(single, 24, count) == final_hash(many, 24, count));
}

static void particles_must_be_expected(void **state)
{
    MoteWorld *world = make_scene(*state);
    Nozzle nozzle = {world, 0};
    uint32_t done = 7;
    run_steps(world, 2, time_step);
    expect_error(world_prepared_steps(world, time_step, 4, pour, &nozzle, &done), MOTE_ERROR_INPUT,
                 "world_expect_particles");
    assert_int_equal(done, 0);
    const MoteSettings settings = mote_default_settings();
    MoteWorld *empty = make_world(*state, &settings);
    assert_false(world_expect_particles(empty, 1, 1)); // the first grain
    assert_false(world_expect_particles(world, UINT32_MAX, MOTE_PHASE_FLUID));
    mote_world_destroy(empty);
    mote_world_destroy(world);
}

// One that leaves the range of floats in the seventh of twelve steps ends the run there, as it does step by step.
static void what_fails_ends_the_run(void **state)
{
    uint32_t done[2] = {0, 0};
    uint64_t hashes[2];
    char said[2][256];
    for (int many = 0; many < 2; many++) {
        MoteSettings settings = mote_default_settings();
        settings.gravity = (MoteVec3){0, 0, 0};
        settings.max_speed = settings.max_displacement = settings.max_acceleration = 0.0f;
        MoteWorld *world = make_world(*state, &settings);
        build_dam_break(world, 4, 4, 4);
        run_steps(world, 2, time_step);
        expect_ok(mote_world_set_shapes(world, NULL, 0));
        const float far = 3.4e38f; // m; half a metre a step short of the end
        add_grain(world, (MoteVec3){far, 0, 0}, (MoteVec3){(3.4028e38f - far) / 6.5f / time_step, 0, 0});
        MoteResult result = MOTE_OK;
        if (many) {
            result = mote_world_steps(world, time_step, 12, &done[1]);
        } else {
            while (done[0] < 12 && (result = mote_world_step(world, time_step)) == MOTE_OK) {
                done[0]++;
            }
        }
        assert_int_equal(result, MOTE_ERROR_UNSTABLE);
        snprintf(said[many], sizeof said[many], "%s", mote_error_message());
        hashes[many] = read_hash(world);
        mote_world_destroy(world);
    }
    print_message("after %u steps: %s\n", done[0], said[0]);
    assert_in_range(done[0], 1, 11);
    assert_int_equal(done[1], done[0]);
    assert_string_equal(said[1], said[0]);
    assert_true(hashes[0] == hashes[1]);
}

static void an_empty_world_steps_too(void **state)
{
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world = make_world(*state, &settings);
    uint32_t done = 7;
    expect_ok(mote_world_steps(world, time_step, 0, &done));
    assert_int_equal(done, 0);
    expect_ok(mote_world_steps(world, time_step, 11, &done));
    assert_int_equal(done, 11);
    expect_error(mote_world_steps(world, -1.0f, 3, &done), MOTE_ERROR_INPUT, "time step");
    assert_int_equal(done, 0);
    add_block(world, (MoteVec3){0, 0, 0}, 4, 4, 4);
    expect_ok(mote_world_steps(world, time_step, 10, NULL));
    kill_below(world, 0.9f); // the last ones go in the middle of a batch
    expect_ok(mote_world_steps(world, time_step, 10, NULL));
    final_hash(world, 31, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(many_are_the_same_as_one_by_one),
        ON_EVERY_BACKEND(wrong_guesses_are_corrected),
        ON_EVERY_BACKEND(removals_are_noticed),
        ON_EVERY_BACKEND(particles_come_between_steps),
        ON_EVERY_BACKEND(particles_must_be_expected),
        ON_EVERY_BACKEND(what_fails_ends_the_run),
        ON_EVERY_BACKEND(an_empty_world_steps_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
