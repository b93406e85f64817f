// SPDX-License-Identifier: MIT
// A device that has no memory left or is lost, at each of the calls that can say so in turn: what the layer of
// tests/vulkan_faults does. Whatever fails, and whenever, there is one sentence about it, nothing leaks, nothing hangs,
// the validation layers have nothing to say, and what succeeds after all gives the same bits.
// MOTE_FAULTS_EVERY=N tries every N-th call of all sweeps; 1 is all of them. Under the sanitizers (MOTE_SHORT_TESTS)
// each sweep tries two.
#define _POSIX_C_SOURCE 200809L
#include "render_fixture.h"

#include "particle_fixture.h"
#include "vulkan_faults/vulkan_faults.h"
#include <dlfcn.h>
#include <unistd.h>

enum { WIDTH = 96, HEIGHT = 64, PIXELS = WIDTH * HEIGHT * 4 };

// ---- What is tried ----

// Liquid, a body, grains, a glass and a solid collider, the ground: every pass of the renderer has work.
static const char scene_text[] =
    "{\"name\": \"faults\", \"solver\": {\"spacing\": 0.1, \"substeps\": 1, \"iterations\": 2},"
    "\"materials\": {\"wood\": {\"density\": 600}},"
    "\"fluids\": [{\"position\": [0, 0.3, 0], \"size\": [0.4, 0.4, 0.4]}],"
    "\"bodies\": [{\"mesh\": \"shape:box?x=0.2&y=0.2&z=0.2\", \"material\": \"wood\", \"position\": [0.6, 0.5, 0]}],"
    "\"grains\": [{\"material\": \"wood\", \"position\": [-0.6, 0.5, 0], \"size\": [0.2, 0.2, 0.2]}],"
    "\"colliders\": [{\"shape\": \"plane\"},"
    "{\"shape\": \"box\", \"inside_out\": true, \"position\": [0, 0.5, 0], \"size\": [2, 1, 1]},"
    "{\"shape\": \"sphere\", \"position\": [0, 0.1, 0.3], \"radius\": 0.1}],"
    "\"camera\": {\"position\": [0.5, 0.9, 2.5], \"target\": [0, 0.4, 0]}}";
static MoteScene *scene;

// What a run made, if it came to its end.
typedef struct Outcome {
    MoteResult result;
    char message[512];
    uint8_t pixels[PIXELS];
    float positions[4096];
    uint32_t count; // particles
} Outcome;

typedef MoteResult Run(Outcome *out);

static MoteResult keep_positions(MoteSimulation *simulation, Outcome *out)
{
    MoteParticleView view;
    const MoteResult result = read_particles(mote_simulation_world(simulation), &view);
    if (result == MOTE_OK) {
        assert_true(4 * view.count <= sizeof out->positions / sizeof out->positions[0]);
        out->count = view.count;
        memcpy(out->positions, view.positions, 4 * view.count * sizeof *out->positions);
    }
    return result;
}

// Steps on `options`' backend.
static MoteResult step(const MoteBackendOptions *options, MoteSimulation **simulation, Outcome *out)
{
    MoteResult result = mote_simulation_create(scene, options, simulation);
    for (int frame = 0; frame < 2 && result == MOTE_OK; frame++) {
        result = mote_simulation_advance_frame(*simulation);
    }
    return result == MOTE_OK ? keep_positions(*simulation, out) : result;
}

static MoteResult solve(Outcome *out)
{
    MoteSimulation *simulation = NULL;
    const MoteResult result = step(&(MoteBackendOptions){.backend = "vulkan", .validate = true}, &simulation, out);
    snprintf(out->message, sizeof out->message, "%s", result == MOTE_OK ? "" : mote_error_message());
    mote_simulation_destroy(simulation);
    return result;
}

static MoteResult draw(MoteRenderer *renderer, MoteSimulation *simulation, Outcome *out)
{
    MoteRenderScene look;
    const MoteRenderMesh *meshes;
    uint32_t mesh_count;
    MoteResult result = mote_simulation_render_meshes(simulation, &meshes, &mesh_count);
    result = result == MOTE_OK ? mote_renderer_set_meshes(renderer, meshes, mesh_count) : result;
    result = result == MOTE_OK ? mote_simulation_render_scene(simulation, NULL, &look) : result;
    const MotePicture picture = {.width = WIDTH, .height = HEIGHT, .samples = 2, .layers = true};
    if (result == MOTE_OK) {
        result = mote_renderer_draw(renderer, mote_simulation_world(simulation), &look, &picture);
    }
    float *values = calloc(PIXELS, sizeof *values);
    result = result == MOTE_OK ? mote_renderer_read_layer(renderer, "color", values) : result;
    free(values);
    return result == MOTE_OK ? mote_renderer_read_rgba8(renderer, out->pixels) : result;
}

static MoteResult step_and_draw(const char *backend, bool force_staging, Outcome *out)
{
    MoteRenderer *renderer = NULL;
    MoteSimulation *simulation = NULL;
    const MoteRendererOptions options = {.device = MOTE_DEVICE_AUTO, .validate = true, .force_staging = force_staging};
    MoteResult result = mote_renderer_create(&options, &renderer);
    if (result == MOTE_OK) {
        const MoteBackendOptions with = {.backend = backend, .shared_memory = mote_renderer_shared_memory(renderer)};
        result = step(&with, &simulation, out);
    }
    result = result == MOTE_OK ? draw(renderer, simulation, out) : result;
    snprintf(out->message, sizeof out->message, "%s", result == MOTE_OK ? "" : mote_error_message());
    mote_simulation_destroy(simulation);
    mote_renderer_destroy(renderer);
    return result;
}

static MoteResult draw_cpu(Outcome *out)
{
    return step_and_draw("cpu", false, out);
}
static MoteResult draw_copies(Outcome *out)
{
    return step_and_draw("cpu", true, out);
}
static MoteResult draw_vulkan(Outcome *out)
{
    return step_and_draw("vulkan", false, out);
}

// ---- How it fails ----

static MoteVulkanFaults (*take_record)(void);

static Outcome run_with(Run *run, const char *faults)
{
    Outcome outcome = {0};
    setenv("MOTE_VULKAN_FAULTS", faults, 1);
    take_record();
    outcome.result = run(&outcome);
    setenv("MOTE_VULKAN_FAULTS", "", 1);
    return outcome;
}

static void expect_sentence(const Outcome *outcome, const char *faults, const char *expected, bool solver)
{
    const bool named = strstr(outcome->message, expected) != NULL;
    const bool next = !solver || strstr(outcome->message, "try backend cpu") != NULL;
    if (!named || !next || strchr(outcome->message, '\n') != NULL) {
        fail_msg("%s: said \"%s\", expected \"%s\"%s", faults, outcome->message, expected,
                 solver ? " and \"try backend cpu\"" : "");
    }
}

typedef struct Sweep {
    Run *run;
    const char *faults; // "lose=%u", for "lose=1", "lose=2" and so on
    size_t calls;       // offset in MoteVulkanFaults: how many there are
    uint32_t every;     // so many of them
    const char *error;  // what every error says, and there must be some; NULL: other ways are found at least once
    bool solver;        // every error is one of the backend, and names the next to try
} Sweep;

// A run without a fault but what is wrong with the device anyway: several sweeps have the same.
typedef struct Unharmed {
    Run *run;
    char device[64];
    Outcome outcome;
    MoteVulkanFaults calls;
} Unharmed;

static const Unharmed *run_unharmed(const Sweep *s)
{
    enum { LIMIT = 16 };
    static Unharmed known[LIMIT];
    static uint32_t count;
    const char *comma = strchr(s->faults, ',');
    char device[64] = "";
    snprintf(device, sizeof device, "%.*s", comma != NULL ? (int)(comma - s->faults) : 0, s->faults);
    for (uint32_t i = 0; i < count; i++) {
        if (known[i].run == s->run && strcmp(known[i].device, device) == 0) {
            return &known[i];
        }
    }
    assert_true(count < LIMIT);
    Unharmed *row = &known[count++];
    row->run = s->run;
    memcpy(row->device, device, sizeof device);
    row->outcome = run_with(s->run, device);
    row->calls = take_record();
    return row;
}

// Which calls are tried: the first, and others so many apart.
static uint32_t find_stride(const Sweep *s, uint32_t calls)
{
    const char *said = getenv("MOTE_FAULTS_EVERY");
    const uint32_t half = (calls + 1) / 2;
    if (said != NULL) {
        return (uint32_t)strtoul(said, NULL, 10);
    }
    return getenv("MOTE_SHORT_TESTS") != NULL && half > s->every ? half : s->every;
}

static void sweep(const Sweep *s)
{
    const Unharmed *unharmed = run_unharmed(s);
    const Outcome right = unharmed->outcome;
    if (right.result != MOTE_OK) {
        fail_msg("%s", right.message);
    }
    const uint64_t calls = *(const uint64_t *)((const char *)&unharmed->calls + s->calls);
    const uint32_t stride = find_stride(s, (uint32_t)calls);
    uint32_t failed = 0, recovered = 0;
    for (uint32_t number = 1; number <= calls; number += stride) {
        char faults[64];
        snprintf(faults, sizeof faults, s->faults, number);
        const Outcome outcome = run_with(s->run, faults);
        assert_true(take_record().struck > 0);
        if (mote_renderer_validation_messages(NULL) != 0) {
            fail_msg("%s: the validation layers had something to say", faults);
        }
        if (outcome.result != MOTE_OK) {
            expect_sentence(&outcome, faults, s->error != NULL ? s->error : "", s->solver);
            failed++;
            continue;
        }
        assert_memory_equal(outcome.pixels, right.pixels, sizeof right.pixels);
        assert_int_equal(outcome.count, right.count);
        assert_memory_equal(outcome.positions, right.positions, 4 * right.count * sizeof *right.positions);
        recovered++;
    }
    printf("%-26s %3u calls, %2u tried: an error after %u, the same bits after %u\n", s->faults, (uint32_t)calls,
           failed + recovered, failed, recovered);
    assert_true(s->error == NULL ? recovered > 0 : failed > 0);
}

#define CALLS(kind) offsetof(MoteVulkanFaults, kind)
#define SMALL       "heap=67108864," // of which VMA takes small blocks: more calls that can fail
static const char no_memory[] = "memory", lost[] = "the device was lost";
static const Sweep sweeps[] = {
    {draw_copies, SMALL "exhaust=%u+", CALLS(allocations), 1, no_memory, false},
    {draw_cpu, SMALL "exhaust=%u", CALLS(allocations), 6, NULL, false}, // what cannot be imported is copied
    {solve, SMALL "exhaust=%u+", CALLS(allocations), 1, no_memory, true},
    {draw_cpu, "refuse=%u", CALLS(objects), 67, "out of ", false},
    {solve, "refuse=%u", CALLS(objects), 53, no_memory, true},
    {draw_cpu, "lose=%u", CALLS(submits), 3, lost, false},
    {draw_cpu, "lose_wait=%u", CALLS(waits), 3, lost, false},
    {solve, "lose=%u", CALLS(submits), 5, lost, true},
    {solve, "lose_wait=%u", CALLS(waits), 7, lost, true},
    // Solver and renderer on one device, behind each other on a timeline that a lost device never signals.
    {draw_vulkan, "lose=%u", CALLS(submits), 11, lost, false},
    {draw_vulkan, "lose_wait=%u", CALLS(waits), 19, lost, false},
};
enum { SWEEPS = sizeof sweeps / sizeof sweeps[0] };

static void test_sweep(void **state)
{
    sweep(*state);
}

// The layers are found by the loader of this process, and told of faults before each instance.
static int open_layers(void **state)
{
    (void)state;
    char path[] = "/tmp/mote_faults_XXXXXX";
    setenv("VK_ADD_LAYER_PATH", MOTE_BINARY_DIR "/tests/layers", 1);
    setenv("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation:VK_LAYER_MOTE_faults", 1);
    void *layer = dlopen(MOTE_BINARY_DIR "/tests/libvulkan_faults.so", RTLD_NOW);
    void *found = layer != NULL ? dlsym(layer, "mote_vulkan_faults_record") : NULL;
    const int file = mkstemp(path);
    if (found == NULL || file < 0 || write(file, scene_text, strlen(scene_text)) != (ssize_t)strlen(scene_text)) {
        return -1;
    }
    memcpy(&take_record, &found, sizeof found); // C has no cast from an object's to a function's address
    close(file);
    const MoteResult result = mote_scene_load(path, NULL, 0, &scene);
    unlink(path);
    if (result != MOTE_OK) {
        fprintf(stderr, "%s\n", mote_error_message());
    }
    keep_drivers();
    return result == MOTE_OK ? 0 : -1;
}

static int close_scene(void **state)
{
    (void)state;
    mote_scene_destroy(scene);
    return 0;
}

int main(void)
{
    setenv("LP_NUM_THREADS", "0", 0); // Mesa: for so little, waking threads takes longer than the work
    struct CMUnitTest tests[SWEEPS];
    for (uint32_t i = 0; i < SWEEPS; i++) {
        tests[i] = (struct CMUnitTest){
            .name = sweeps[i].faults, .test_func = test_sweep, .initial_state = (void *)(uintptr_t)&sweeps[i]};
    }
    return cmocka_run_group_tests(tests, open_layers, close_scene);
}
