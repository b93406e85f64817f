// SPDX-License-Identifier: MIT
// info.c - `mote info`: what this build is and what it finds on this machine.
#define _POSIX_C_SOURCE 200809L
#include "cli/command.h"
#include "cli/drawing.h"
#include "cli/options.h"
#include "mote_render.h"

#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

enum { BACKEND_LIMIT = 8, DEVICE_LIMIT = 16 };

static const Usage usage = {
    .command = "info",
    .arguments = "",
    .meaning = "Shows the version, the backends with their device or why there is none, the Vulkan devices that can "
               "draw, the CPU and the compiler.",
};

typedef struct Settings {
    MoteBackendOptions backend;
    DrawingOptions drawing;
    bool interop, backend_given, device_given, no_share_given;
} Settings;

// ---- CPU ----

// The CPU's name as the kernel gives it, or the kind of machine where it gives none (as on ARM).
static void cpu_model(char *out, size_t size)
{
    struct utsname machine;
    snprintf(out, size, "%s", uname(&machine) == 0 ? machine.machine : "unknown");
    FILE *stream = fopen("/proc/cpuinfo", "r");
    char line[512];
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && value != NULL) {
            value += strspn(value, ": \t");
            snprintf(out, size, "%.*s", (int)strcspn(value, "\n"), value);
            break;
        }
    }
    if (stream != NULL) {
        fclose(stream);
    }
}

static void print_cpu_features(void)
{
    printf("CPU features:");
#if defined(__x86_64__)
    __builtin_cpu_init();
    printf("%s", __builtin_cpu_supports("sse4.2") ? " sse4.2" : "");
    printf("%s", __builtin_cpu_supports("avx") ? " avx" : "");
    printf("%s", __builtin_cpu_supports("avx2") ? " avx2" : "");
    printf("%s", __builtin_cpu_supports("fma") ? " fma" : "");
    printf("%s", __builtin_cpu_supports("bmi2") ? " bmi2" : "");
    printf("%s", __builtin_cpu_supports("avx512f") ? " avx512f" : "");
#else
    printf(" none that the vectorised kernels use");
#endif
    printf("\n");
}

// ---- Backends ----

static void print_backends(void)
{
    MoteBackendInfo rows[BACKEND_LIMIT];
    uint32_t count = mote_backends(rows, BACKEND_LIMIT);
    count = count < BACKEND_LIMIT ? count : BACKEND_LIMIT;
    const char *chosen = "none";
    for (uint32_t i = count; i-- > 0;) {
        chosen = rows[i].automatic ? rows[i].name : chosen;
    }
    printf("Backends:\n");
    for (uint32_t i = 0; i < count; i++) {
        printf("  %-8s %s%s\n", rows[i].name, rows[i].available ? "" : "not available: ", rows[i].device);
    }
    printf("  %-8s would choose %s\n", "auto", chosen);
}

// ---- Vulkan ----

// The row that --device auto stands for; `count` if none can draw. Only the renderer ranks devices, so it is asked
// where there is a choice; of equal ones it takes the first.
static uint32_t find_automatic(const MoteDeviceInfo *rows, uint32_t count)
{
    uint32_t first = count, usable = 0;
    for (uint32_t i = count; i-- > 0;) {
        first = rows[i].usable ? i : first;
        usable += rows[i].usable;
    }
    MoteRenderer *renderer;
    const MoteRendererOptions options = mote_default_renderer_options();
    if (usable < 2 || mote_renderer_create(&options, &renderer) != MOTE_OK) {
        return first;
    }
    const MoteDeviceInfo *chosen = mote_renderer_device(renderer);
    uint32_t found = 0;
    while (found < count && (!rows[found].usable || strcmp(rows[found].name, chosen->name) != 0 ||
                             strcmp(rows[found].driver, chosen->driver) != 0)) {
        found++;
    }
    mote_renderer_destroy(renderer);
    return found;
}

static void print_device(uint32_t index, const MoteDeviceInfo *device)
{
    printf("  %-8u %s (%s, %.1f GiB)\n", index, device->name, device->software ? "software" : "hardware",
           (double)device->memory_bytes / (1 << 30));
    printf("           driver %s, Vulkan %s\n", device->driver, device->api);
    if (!device->usable) {
        printf("           cannot draw: lacks %s\n", device->lacks);
    }
    printf("           host memory import: %s, memory export: %s, timeline semaphore export: %s\n",
           device->imports_host_memory ? "yes" : "no", device->exports_memory ? "yes" : "no",
           device->exports_semaphores ? "yes" : "no");
}

static void print_devices(void)
{
    MoteDeviceInfo rows[DEVICE_LIMIT];
    uint32_t count = mote_render_devices(rows, DEVICE_LIMIT);
    printf("Vulkan devices:\n");
    if (count == 0) {
        printf("  %-8s %s\n", "none", mote_error_message());
        return;
    }
    count = count < DEVICE_LIMIT ? count : DEVICE_LIMIT;
    for (uint32_t i = 0; i < count; i++) {
        print_device(i, &rows[i]);
    }
    const uint32_t automatic = find_automatic(rows, count);
    if (automatic < count) {
        printf("  %-8s would choose %u\n", "auto", automatic);
    } else {
        printf("  %-8s would find none that can draw\n", "auto");
    }
}

// ---- How particles reach the renderer ----

// A block of a few particles, after a step of the solver.
static MoteResult make_world(const MoteBackendOptions *options, MoteWorld **out)
{
    enum { SIDE = 10 };
    const MoteSettings settings = mote_default_settings();
    static MoteVec3 positions[SIDE * SIDE * SIDE];
    for (uint32_t i = 0; i < SIDE * SIDE * SIDE; i++) {
        positions[i] = (MoteVec3){settings.spacing * (float)(i % SIDE), settings.spacing * (float)(i / SIDE % SIDE),
                                  settings.spacing * (float)(i / SIDE / SIDE)};
    }
    MoteResult result = mote_world_create(&settings, options, out);
    if (result == MOTE_OK) {
        const MoteParticles particles = {.count = SIDE * SIDE * SIDE,
                                         .positions = positions,
                                         .mass = mote_world_particle_mass(*out, 1000.0f),
                                         .phase = MOTE_PHASE(MOTE_KIND_LIQUID, 0)};
        result = mote_world_add_particles(*out, &particles, NULL);
    }
    return result == MOTE_OK ? mote_world_step(*out, 1e-3f) : result;
}

static void print_interop(const MoteRenderer *renderer, const MoteWorld *world)
{
    const MoteInteropReport report = mote_renderer_interop(renderer);
    printf("Interop:\n");
    printf("  %-8s %s\n", "backend", mote_world_backend(world));
    printf("  %-8s %s\n", "device", mote_renderer_device(renderer)->name);
    printf("  %-8s %s%s%s\n", "path", report.path, report.why[0] != '\0' ? ": " : "", report.why);
    printf("  %-8s %" PRIu64 " bytes a frame\n", "copied", report.bytes_copied);
    printf("  %-8s %" PRIu64 " bytes, read in place\n", "shared", report.bytes_shared);
    printf("  %-8s %s\n", "order", report.order);
}

static MoteResult try_interop(const Settings *settings)
{
    MoteRenderer *renderer = NULL;
    MoteWorld *world = NULL;
    MoteResult result = mote_renderer_create(&settings->drawing.renderer, &renderer);
    if (result == MOTE_OK) {
        const MoteBackendOptions backend = drawing_backend(&settings->backend, renderer);
        result = make_world(&backend, &world);
    }
    if (result == MOTE_OK) {
        const MoteRenderScene scene = mote_default_render_scene();
        const MotePicture picture = {.width = 64, .height = 64, .samples = 1};
        result = mote_renderer_draw(renderer, world, &scene, &picture);
    }
    if (result == MOTE_OK) {
        print_interop(renderer, world);
    }
    mote_world_destroy(world); // before the renderer, whose memory it may use
    mote_renderer_destroy(renderer);
    return result;
}

// ---- The command ----

static void print_everything(void)
{
    char model[256];
    cpu_model(model, sizeof model);
    printf("Mote %s\n", mote_version());
    print_backends();
    print_devices();
    printf("CPU: %s\n", model);
    print_cpu_features();
    printf("Threads: %d (of %d processors)\n", omp_get_max_threads(), omp_get_num_procs());
#if defined(__clang__)
    printf("Compiler: %s\n", __VERSION__);
#else
    printf("Compiler: GCC %s\n", __VERSION__);
#endif
}

int command_info(int argc, char **argv)
{
    Settings s = {.backend = {.backend = "auto"}, .drawing = DRAWING_DEFAULTS};
    const Option options[] = {
        {"interop", OPTION_FLAG, &s.interop, NULL,
         "Draw a few particles and show how they got from the solver to the renderer", NULL, 0, 0, NULL},
        {"backend", OPTION_CHOICE, &s.backend.backend, "NAME",
         "With --interop: auto (the default), cpu, cuda or vulkan", "auto|cpu|cuda|vulkan", 0, 0, &s.backend_given},
        {"device", OPTION_TEXT, &s.drawing.device, "N",
         "With --interop: the Vulkan device, auto (the default) or its number", NULL, 0, 0, &s.device_given},
        {"no-share", OPTION_FLAG, &s.drawing.no_share, NULL,
         "With --interop: copy the particles even where memory could be shared", NULL, 0, 0, &s.no_share_given},
    };
    OptionList arguments = {0};
    const OptionsOutcome outcome =
        options_parse(&usage, options, sizeof options / sizeof options[0], argc, argv, &arguments);
    option_list_free(&arguments);
    if (outcome != OPTIONS_PARSED) {
        return outcome == OPTIONS_WRONG ? STATUS_USAGE : STATUS_FINE;
    }
    if (!s.interop && (s.backend_given || s.device_given || s.no_share_given)) {
        return usage_error(usage.command, "--backend, --device and --no-share need --interop");
    }
    if (s.interop) {
        const int status = drawing_options_check(usage.command, &s.drawing);
        return status != STATUS_FINE ? status : try_interop(&s) == MOTE_OK ? STATUS_FINE : command_failed();
    }
    print_everything();
    return STATUS_FINE;
}
