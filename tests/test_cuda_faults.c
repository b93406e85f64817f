// SPDX-License-Identifier: MIT
// The CUDA backend on a device that has no memory left, is lost, or refuses what is asked of it, at each of the calls
// that can say so in turn (tests/cuda_emulation). Whatever fails, and whenever, there is one sentence about it, nothing
// leaks, nothing hangs, and what succeeds after all gives the same bits. MOTE_FAULTS_EVERY=N tries every N-th call of
// all sweeps; 1 is all of them.
#define _POSIX_C_SOURCE 200809L // setenv
#include "simulation_fixture.h"

#include "cuda_emulation/emulation.h"

// Liquid, a body, an emitter, a kill volume: memory grows, and particles are uploaded.
static const char scene_text[] =
    "{\"solver\": {\"spacing\": 0.1, \"substeps\": 2, \"iterations\": 2},"
    "\"materials\": {\"wood\": {\"density\": 600}},"
    "\"fluids\": [{\"position\": [0, 0.3, 0], \"size\": [0.4, 0.4, 0.4]}],"
    "\"bodies\": [{\"mesh\": \"shape:box?x=0.2&y=0.2&z=0.2\", \"material\": \"wood\", \"position\": [0.6, 0.5, 0]}],"
    "\"emitters\": [{\"shape\": \"box\", \"position\": [0, 1, 0], \"rotation\": [0, 0, 180], \"size\": [0.2, 0, 0.2],"
    "   \"speed\": 4}],"
    "\"kill_volumes\": [{\"shape\": \"box\", \"size\": [4, 0.1, 4], \"position\": [0, 0.02, 0]}],"
    "\"colliders\": [{\"shape\": \"plane\"}]}";
static MoteScene *scene;

typedef struct Outcome {
    MoteResult result;
    char message[512];
    uint64_t hash;
} Outcome;

static Outcome run(void)
{
    Outcome outcome = {0};
    MoteSimulation *simulation = NULL;
    outcome.result = mote_simulation_create(scene, &(MoteBackendOptions){.backend = "cuda"}, &simulation);
    for (int frame = 0; frame < 3 && outcome.result == MOTE_OK; frame++) {
        outcome.result = mote_simulation_advance_frame(simulation);
    }
    if (outcome.result == MOTE_OK) {
        outcome.result = mote_world_state_hash(mote_simulation_world(simulation), &outcome.hash);
    }
    snprintf(outcome.message, sizeof outcome.message, "%s", outcome.result == MOTE_OK ? "" : mote_error_message());
    mote_simulation_destroy(simulation);
    return outcome;
}

typedef struct Sweep {
    const char *name;
    CudaCall kind;
    bool and_later;
    uint32_t every;
    const char *words; // what every error says
    bool recovers;     // some come to the same bits in the end
} Sweep;

static const Sweep sweeps[] = {
    {"no memory for one call", CUDA_CALL_ALLOCATE, false, 9, "memory", true},
    {"no memory from a call on", CUDA_CALL_ALLOCATE, true, 9, "memory", false},
    {"one object is refused", CUDA_CALL_CREATE, false, 1, "out of memory", false},
    {"one capture is refused", CUDA_CALL_CAPTURE, false, 1, "", true},
    {"no capture from one on", CUDA_CALL_CAPTURE, true, 1, "", true},
    {"the device is lost at a submit", CUDA_CALL_SUBMIT, false, 37, "launch failure", false},
    {"the device is lost at a wait", CUDA_CALL_WAIT, false, 1, "launch failure", false},
};
enum { SWEEPS = sizeof sweeps / sizeof sweeps[0] };

static void test_sweep(void **state)
{
    const Sweep *s = *state;
    cuda_emulation_fail(s->kind, 0, false);
    const Outcome right = run();
    if (right.result != MOTE_OK) {
        fail_msg("%s", right.message);
    }
    assert_int_equal(cuda_emulation_live(), 0);
    const uint64_t calls = cuda_emulation_record().calls[s->kind];
    const char *said = getenv("MOTE_FAULTS_EVERY");
    const uint32_t stride = said != NULL ? (uint32_t)strtoul(said, NULL, 10) : s->every;
    uint32_t failed = 0, recovered = 0;
    for (uint64_t number = 1; number <= calls; number += stride) {
        cuda_emulation_fail(s->kind, number, s->and_later);
        const Outcome outcome = run();
        assert_true(cuda_emulation_record().struck > 0);
        if (cuda_emulation_live() != 0) {
            fail_msg("%s, number %u: %u objects are left", s->name, (uint32_t)number, cuda_emulation_live());
        }
        if (outcome.result == MOTE_OK) {
            assert_true(outcome.hash == right.hash);
            recovered++;
        } else if (outcome.message[0] == '\0' || strstr(outcome.message, s->words) == NULL ||
                   strchr(outcome.message, '\n') != NULL) {
            fail_msg("%s, number %u: said \"%s\"", s->name, (uint32_t)number, outcome.message);
        } else {
            failed++;
        }
    }
    cuda_emulation_fail(s->kind, 0, false);
    printf("%-32s %3u calls, %2u tried: an error after %u, the same bits after %u\n", s->name, (uint32_t)calls,
           failed + recovered, failed, recovered);
    assert_true(s->recovers ? recovered > 0 : failed > 0);
}

// Whatever order invocations run in, and whether a step is a graph or not, the bits are the same.
static void order_and_graphs_change_nothing(void **state)
{
    (void)state;
    cuda_emulation_fail(CUDA_CALL_SUBMIT, 0, false);
    const uint64_t hash = run().hash;
    const CudaEmulationRecord with = cuda_emulation_record();
    assert_true(with.graphs >= 4 && with.launches > 100);
    for (uint32_t seed = 1; seed < 5; seed++) {
        cuda_emulation_shuffle(seed);
        assert_true(run().hash == hash);
    }
    setenv("MOTE_CUDA_GRAPHS", "0", 1);
    cuda_emulation_fail(CUDA_CALL_SUBMIT, 0, false);
    assert_true(run().hash == hash);
    unsetenv("MOTE_CUDA_GRAPHS");
    const CudaEmulationRecord without = cuda_emulation_record();
    assert_int_equal(without.graphs, 0);
    assert_int_equal(without.launches, with.launches);
    assert_int_equal(without.stalls, with.stalls);
}

static int open_scene(void **state)
{
    if (fixture_open(state) != 0) {
        return -1;
    }
    scene = fixture_scene("faults.json", scene_text);
    return 0;
}

static int close_scene(void **state)
{
    mote_scene_destroy(scene);
    return fixture_close(state);
}

int main(void)
{
    struct CMUnitTest tests[SWEEPS + 1];
    for (uint32_t i = 0; i < SWEEPS; i++) {
        tests[i] = (struct CMUnitTest){
            .name = sweeps[i].name, .test_func = test_sweep, .initial_state = (void *)(uintptr_t)&sweeps[i]};
    }
    tests[SWEEPS] = (struct CMUnitTest)cmocka_unit_test(order_and_graphs_change_nothing);
    return cmocka_run_group_tests(tests, open_scene, close_scene);
}
