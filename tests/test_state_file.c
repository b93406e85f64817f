// SPDX-License-Identifier: MIT
// Saved states: resuming gives the same bits as not having stopped, and damaged files are refused.
#define _POSIX_C_SOURCE 200809L
#include "simulation_fixture.h"

#include "base/hash.h"
#include "scene/scene.h"
#include "scene/simulation.h"
#include "scene/state_file.h"

// Emitters, kill volumes, moving colliders, animated settings: all that a state must remember or find again.
#define EVERYTHING                                                                                                     \
    "{\"solver\": {\"spacing\": 0.05, \"substeps\": 2, \"iterations\": 3, \"vorticity\": 0.1,"                         \
    "   \"viscosity\": {\"keyframes\": [[0, 0.01], [1, 0.2]]}},"                                                       \
    " \"materials\": {\"oil\": {\"density\": 700}},"                                                                   \
    " \"fluids\": [{\"size\": [0.3, 0.2, 0.3], \"position\": [0, 0.2, 0]}],"                                           \
    " \"colliders\": [{\"shape\": \"box\", \"inside_out\": true, \"size\": [1, 2, 1], \"position\": [0, 1, 0]},"       \
    "   {\"shape\": \"sphere\", \"radius\": 0.15,"                                                                     \
    "    \"position\": {\"keyframes\": [[0, [-0.4, 0.1, 0]], [0.5, [0.4, 0.1, 0]]]}}],"                                \
    " \"emitters\": [{\"radius\": 0.1, \"speed\": 2.3, \"position\": [0, 1.2, 0], \"rotation\": [180, 0, 0]},"         \
    "   {\"material\": \"oil\", \"radius\": 0.06, \"rotation\": [0, 0, -70], \"position\": [-0.4, 0.6, 0],"            \
    "    \"speed\": {\"keyframes\": [[0, 1], [0.3, 3]]}, \"max_particles\": 60}],"                                     \
    " \"kill_volumes\": [{\"shape\": \"box\", \"size\": [0.2, 0.2, 2], \"position\": [0.45, 0.1, 0]}]}"

#define SMALL                                                                                                          \
    "{\"solver\": {\"spacing\": 0.1}, \"fluids\": [{\"size\": [0.3, 0.3, 0.3]}],"                                      \
    " \"emitters\": [{\"radius\": 0.1, \"position\": [0, 1, 0]}]}"

static const char *const saved = "saved.state";

static void add_channels(const Running *running)
{
    expect_ok(mote_world_add_channel(running->world, "heat", 1));
    expect_ok(mote_world_add_channel(running->world, "where it began", 3));
    const uint32_t count = mote_world_particle_count(running->world);
    float *values = malloc((size_t)count * 3 * sizeof *values);
    for (uint32_t i = 0; i < count * 3; i++) {
        values[i] = (float)i * 0.25f;
    }
    expect_ok(mote_world_write_channel(running->world, "heat", values));
    expect_ok(mote_world_write_channel(running->world, "where it began", values));
    free(values);
}

static uint64_t channel_hash(const Running *running, const char *name, uint32_t components)
{
    const size_t size = (size_t)mote_world_particle_count(running->world) * components * sizeof(float);
    float *values = malloc(size + 1);
    expect_ok(mote_world_read_channel(running->world, name, values));
    const uint64_t hash = hash_bytes(HASH_START, values, size);
    free(values);
    return hash;
}

// ---- Resuming ----

static void expect_same(const Running *a, const Running *b)
{
    assert_int_equal(mote_simulation_frame(a->simulation), mote_simulation_frame(b->simulation));
    assert_int_equal(mote_simulation_emitted(a->simulation), mote_simulation_emitted(b->simulation));
    assert_int_equal(mote_world_particle_count(a->world), mote_world_particle_count(b->world));
    assert_true(fixture_hash(a) == fixture_hash(b));
    MoteStatistics x, y;
    expect_ok(mote_world_statistics(a->world, &x));
    expect_ok(mote_world_statistics(b->world, &y));
    assert_int_equal(x.steps, y.steps);
    assert_int_equal(x.removed, y.removed);
    assert_true(channel_hash(a, "heat", 1) == channel_hash(b, "heat", 1));
    assert_true(channel_hash(a, "where it began", 3) == channel_hash(b, "where it began", 3));
}

static void resume_is_bit_identical(const char *backend)
{
    Running whole = fixture_start(EVERYTHING, backend);
    assert_string_equal(mote_world_backend(whole.world), backend);
    add_channels(&whole);
    fixture_advance(&whole, 13);
    expect_ok(mote_simulation_save(whole.simulation, fixture_path(saved)));
    const uint64_t emitted = mote_simulation_emitted(whole.simulation);
    fixture_advance(&whole, 20);
    expect_ok(mote_simulation_save(whole.simulation, fixture_path("later.state")));
    assert_true(mote_simulation_emitted(whole.simulation) > emitted + 100);

    // Into a simulation that has just been made, and one that has gone on already.
    Running resumed = fixture_start(EVERYTHING, backend);
    expect_ok(mote_simulation_load(resumed.simulation, fixture_path(saved)));
    assert_int_equal(mote_simulation_frame(resumed.simulation), 13);
    fixture_advance(&resumed, 20);
    expect_same(&whole, &resumed);
    expect_ok(mote_simulation_load(resumed.simulation, fixture_path(saved)));
    fixture_advance(&resumed, 20);
    expect_same(&whole, &resumed);

    // Stopping twice, and the files themselves: the same state, the same bytes.
    expect_ok(mote_simulation_save(resumed.simulation, fixture_path("again.state")));
    size_t size, other_size;
    char *bytes = fixture_read("later.state", &size), *other_bytes = fixture_read("again.state", &other_size);
    assert_int_equal(size, other_size);
    assert_memory_equal(bytes, other_bytes, size);
    free(bytes);
    free(other_bytes);
    expect_ok(mote_simulation_load(resumed.simulation, fixture_path("again.state")));
    fixture_advance(&whole, 7);
    fixture_advance(&resumed, 7);
    expect_same(&whole, &resumed);
    fixture_stop(&whole);
    fixture_stop(&resumed);
}

static void resume_is_bit_identical_on_the_cpu(void **state)
{
    (void)state;
    resume_is_bit_identical("cpu");
}

static void resume_is_bit_identical_on_cuda(void **state)
{
    (void)state;
    resume_is_bit_identical("cuda");
}

// Particles that are gone leave traces: the solver's softness is relative to the heaviest liquid there ever was, which
// changes last bits, and ids are not used again.
static void particles_long_gone_are_remembered(void **state)
{
    (void)state;
    static const char json[] =
        "{\"solver\": {\"spacing\": 0.05, \"substeps\": 2}, \"materials\": {\"brine\": {\"density\": 1300}},"
        " \"fluids\": [{\"size\": [0.3, 0.3, 0.3], \"position\": [0, 0.3, 0]}],"
        " \"colliders\": [{\"shape\": \"plane\"}],"
        " \"emitters\": [{\"material\": \"brine\", \"position\": [9, 0, 0], \"stop\": 0.1}],"
        " \"kill_volumes\": [{\"shape\": \"sphere\", \"radius\": 2, \"position\": [9, 0, 0]}]}";
    Running whole = fixture_start(json, "cpu"), resumed = fixture_start(json, "cpu");
    fixture_advance(&whole, 10);
    assert_int_equal(mote_world_particle_count(whole.world), 6 * 6 * 6);
    assert_true(mote_simulation_emitted(whole.simulation) > 0);
    expect_ok(mote_simulation_save(whole.simulation, fixture_path(saved)));
    expect_ok(mote_simulation_load(resumed.simulation, fixture_path(saved)));
    fixture_advance(&whole, 10);
    fixture_advance(&resumed, 10);
    assert_true(fixture_hash(&whole) == fixture_hash(&resumed));

    // The other way round: what a simulation did before it loaded a state does not matter.
    expect_ok(mote_simulation_save(whole.simulation, fixture_path("later.state")));
    fixture_stop(&resumed);
    resumed = fixture_start(json, "cpu");
    expect_ok(mote_simulation_save(resumed.simulation, fixture_path(saved)));
    fixture_advance(&resumed, 1);
    expect_ok(mote_simulation_load(whole.simulation, fixture_path(saved)));
    fixture_advance(&whole, 1);
    assert_true(fixture_hash(&whole) == fixture_hash(&resumed));
    fixture_stop(&whole);
    fixture_stop(&resumed);
}

static void an_empty_world_can_be_saved(void **state)
{
    (void)state;
    Running running = fixture_start("{}", "cpu");
    expect_ok(mote_simulation_save(running.simulation, fixture_path(saved)));
    expect_ok(mote_simulation_load(running.simulation, fixture_path(saved)));
    fixture_advance(&running, 1);
    assert_int_equal(mote_world_particle_count(running.world), 0);
    fixture_stop(&running);
}

static void a_failed_save_leaves_the_old_file(void **state)
{
    (void)state;
    Running running = fixture_start(SMALL, "cpu");
    assert_int_equal(mote_simulation_save(running.simulation, fixture_path("no_such_folder/x.state")), MOTE_ERROR_IO);
    expect_message("no_such_folder/x.state");
    assert_int_equal(fixture_files(".partial", false), 0);
    fixture_stop(&running);
}

// ---- Damaged files ----

typedef struct Damage {
    Running running;
    uint64_t hash;
    char *bytes; // of a good file
    size_t size;
    uint32_t refused;
} Damage;

static Damage damage_start(void)
{
    Damage damage = {.running = fixture_start(SMALL, "cpu")};
    add_channels(&damage.running);
    fixture_advance(&damage.running, 3);
    expect_ok(mote_simulation_save(damage.running.simulation, fixture_path(saved)));
    damage.bytes = fixture_read(saved, &damage.size);
    fixture_advance(&damage.running, 2); // so that a load that went through would show
    damage.hash = fixture_hash(&damage.running);
    return damage;
}

static void damage_stop(Damage *damage)
{
    expect_ok(mote_simulation_load(damage->running.simulation, fixture_path(saved))); // the good one still is
    assert_int_equal(mote_simulation_frame(damage->running.simulation), 3);
    fixture_stop(&damage->running);
    free(damage->bytes);
}

// These bytes must be refused with a message that names the file and says `text`, and change nothing.
static void expect_refused(Damage *damage, const void *bytes, size_t size, const char *text)
{
    const Running *running = &damage->running;
    const EmitterState before = running->simulation->emitters[0];
    fixture_write("damaged.state", bytes, size);
    const MoteResult result = mote_simulation_load(running->simulation, fixture_path("damaged.state"));
    if (result == MOTE_OK) {
        fail_msg("a damaged state of %zu bytes was taken (expected \"%s\")", size, text);
    }
    assert_int_equal(result, MOTE_ERROR_INPUT);
    expect_message("damaged.state: ");
    expect_message(text);
    assert_int_equal(mote_simulation_frame(running->simulation), 5);
    assert_true(fixture_hash(running) == damage->hash);
    assert_memory_equal(&before, &running->simulation->emitters[0], sizeof before);
    damage->refused++;
}

static void truncated_files_are_refused(void **state)
{
    (void)state;
    Damage damage = damage_start();
    expect_refused(&damage, "", 0, "is empty");
    static const size_t lengths[] = {1, 7, 8, 9, 12, 16, 60, 119, 120, 121, 199, 200, 201, 240};
    for (uint32_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        expect_refused(&damage, damage.bytes, lengths[i], "is cut short");
    }
    for (size_t length = 241; length < damage.size; length += damage.size / 23) {
        expect_refused(&damage, damage.bytes, length, "is cut short");
    }
    for (size_t missing = 1; missing <= 9; missing += 4) {
        expect_refused(&damage, damage.bytes, damage.size - missing, "is cut short");
    }
    assert_true(damage.refused > 30);
    damage_stop(&damage);
}

static void flipped_bits_are_refused(void **state)
{
    (void)state;
    Damage damage = damage_start();
    // Every byte of the header and the first section, then some everywhere else.
    for (size_t at = 0; at < damage.size; at += at < 250 ? 1 : damage.size / 200) {
        damage.bytes[at] ^= (char)(1 << at % 8);
        expect_refused(&damage, damage.bytes, damage.size, "");
        damage.bytes[at] ^= (char)(1 << at % 8);
    }
    assert_true(damage.refused > 350);
    damage.bytes[damage.size - 1] ^= 1;
    expect_refused(&damage, damage.bytes, damage.size, "end marker");
    damage_stop(&damage);
}

static void foreign_files_are_refused(void **state)
{
    (void)state;
    Damage damage = damage_start();
    expect_refused(&damage, SMALL, sizeof SMALL - 1, "is not a saved state");
    expect_refused(&damage, "x", 1, "is not a saved state");
    char zeros[4096] = {0};
    expect_refused(&damage, zeros, sizeof zeros, "is not a saved state");
    // As after a transfer that took it for text.
    char *text = malloc(damage.size);
    memcpy(text, damage.bytes, damage.size);
    memmove(text + 5, text + 6, damage.size - 6);
    expect_refused(&damage, text, damage.size - 1, "is not a saved state");
    free(text);
    char *longer = calloc(1, damage.size + 10);
    memcpy(longer, damage.bytes, damage.size);
    expect_refused(&damage, longer, damage.size + 10, "has 10 bytes after its end");
    free(longer);

    MoteSimulation *simulation = damage.running.simulation;
    assert_int_equal(mote_simulation_load(simulation, fixture_path("missing.state")), MOTE_ERROR_IO);
    expect_message("missing.state");
    assert_int_equal(mote_simulation_load(simulation, fixture_folder), MOTE_ERROR_IO);
    expect_message("is a folder, expected a file");
    assert_true(fixture_hash(&damage.running) == damage.hash);
    damage_stop(&damage);
}

// Changes the header's fields, with a checksum that matches them.
static void expect_header_refused(Damage *damage, const StateHeader *header, const char *text)
{
    StateHeader complete = *header;
    complete.checksum = hash_bytes(HASH_START, &complete, offsetof(StateHeader, checksum));
    char *bytes = malloc(damage->size);
    memcpy(bytes, damage->bytes, damage->size);
    memcpy(bytes, &complete, sizeof complete);
    expect_refused(damage, bytes, damage->size, text);
    free(bytes);
}

static void headers_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    Damage damage = damage_start();
    StateHeader good, header;
    memcpy(&good, damage.bytes, sizeof good);

    header = good;
    header.version = STATE_VERSION + 1;
    expect_header_refused(&damage, &header, "version 5, this program reads versions 3 to 4");
    header.version = 0;
    expect_header_refused(&damage, &header, "version 0");
    header = good;
    header.byte_order = 0x04030201;
    expect_header_refused(&damage, &header, "big-endian");
    header.byte_order = 7;
    expect_header_refused(&damage, &header, "byte order");
    header = good;
    header.emitter_count = 3;
    expect_header_refused(&damage, &header, "3 emitters");
    header = good;
    header.channel_count = 1;
    expect_header_refused(&damage, &header, "");
    header.channel_count = 3;
    expect_header_refused(&damage, &header, "");
    header.channel_count = UINT32_MAX;
    expect_header_refused(&damage, &header, "channels");
    header = good;
    header.particle_count++;
    expect_header_refused(&damage, &header, "positions");
    header.particle_count = UINT32_MAX; // 64 GiB that must not be asked for
    expect_header_refused(&damage, &header, "positions");
    header = good;
    header.file_size = UINT64_MAX;
    expect_header_refused(&damage, &header, "is cut short");
    damage_stop(&damage);
}

// Where a section's header is in the file; copied, because it may not be aligned.
static size_t find_section(const char *bytes, const char *name, StateSection *section)
{
    size_t at = sizeof(StateHeader);
    for (;;) {
        memcpy(section, bytes + at, sizeof *section);
        if (strcmp(section->name, name) == 0) {
            return at;
        }
        at += sizeof *section + section->size;
    }
}

// Changes `width` bytes at `offset` from the section's beginning. Data get a checksum that matches them; a wrong
// header is noticed before its checksum.
static void expect_section_refused(Damage *damage, const char *name, size_t offset, uint64_t value, size_t width,
                                   const char *text)
{
    char *bytes = malloc(damage->size);
    memcpy(bytes, damage->bytes, damage->size);
    StateSection section;
    const size_t at = find_section(bytes, name, &section);
    memcpy(bytes + at + offset, &value, width);
    if (offset >= sizeof section) {
        section.checksum = hash_bytes(HASH_START, &section, offsetof(StateSection, checksum));
        section.checksum = hash_bytes(section.checksum, bytes + at + sizeof section, section.size);
        memcpy(bytes + at, &section, sizeof section);
    }
    expect_refused(damage, bytes, damage->size, text);
    free(bytes);
}

static void sections_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    Damage damage = damage_start();
    const size_t data = sizeof(StateSection);
    expect_section_refused(&damage, "ids", 0, 'x', 1, "expected \"ids\"");
    expect_section_refused(&damage, "ids", offsetof(StateSection, type), STATE_F32, 4, "expected u32 x 1");
    expect_section_refused(&damage, "ids", offsetof(StateSection, type), 77, 4, "unknown type");
    expect_section_refused(&damage, "positions", offsetof(StateSection, components), 3, 4, "expected f32 x 4");
    expect_section_refused(&damage, "positions", offsetof(StateSection, count), UINT64_MAX, 8, "elements");
    expect_section_refused(&damage, "positions", offsetof(StateSection, size), UINT64_MAX, 8, "bytes");
    expect_section_refused(&damage, "channel.heat", 0, 'x', 1, "expected a channel");
    expect_section_refused(&damage, "channel.heat", 8, 0, 1, "expected a channel");
    expect_section_refused(&damage, "channel.heat", offsetof(StateSection, components), 5, 4, "1 to 4");
    // Checksums that match, values that cannot be.
    expect_section_refused(&damage, "positions", data, 0x7fc00000, 4, "not finite");
    expect_section_refused(&damage, "velocities", data, 0x7f800000, 4, "not finite");
    expect_section_refused(&damage, "ids", data, UINT32_MAX, 4, "id");
    expect_section_refused(&damage, "clock", data, UINT64_MAX, 8, "clock");
    expect_section_refused(&damage, "clock", data + 24, UINT64_MAX, 8, "next particle id");
    expect_section_refused(&damage, "clock", data + 24, 1, 8, "id");
    expect_section_refused(&damage, "lightest", data, 0x7fc00000, 4, "inverse mass");
    expect_section_refused(&damage, "emitter.next", data, 0x7ff8000000000000u, 8, "next layer");
    expect_section_refused(&damage, "emitter.next", data, 0x4059000000000000u, 8, "100 m");
    damage_stop(&damage);
}

static void states_of_other_scenes_are_refused(void **state)
{
    (void)state;
    Damage damage = damage_start();
    MoteScene *other = fixture_scene("other_scene.json", "{\"name\": \"another pond\", \"emitters\": [{}]}");
    MoteSimulation *simulation;
    expect_ok(mote_simulation_create(other, NULL, &simulation));
    expect_ok(mote_simulation_save(simulation, fixture_path("other.state")));
    size_t size;
    char *bytes = fixture_read("other.state", &size);
    expect_refused(&damage, bytes, size, "another scene");
    expect_message("another pond");
    expect_message(damage.running.scene->name);
    free(bytes);
    mote_simulation_destroy(simulation);
    mote_scene_destroy(other);
    damage_stop(&damage);
}

// tests/states holds a state that was saved when states had version 3, of a scene with everything that it kept: liquid,
// grains that roll, a rigid and a soft body, a dynamic collider, an emitter; and one of version 4 from when handles
// were members alone. Their hash was taken when they were saved.
static void older_states_are_read(void **state)
{
    (void)state;
    static const char *const backends[] = {"cpu", "cuda", "vulkan"};
    static const struct {
        const char *path;
        uint64_t hash;
    } files[] = {{MOTE_SOURCE_DIR "/tests/states/version_3.state", UINT64_C(0x7e5cfe1fcd917a0c)},
                 {MOTE_SOURCE_DIR "/tests/states/version_4_members.state", UINT64_C(0x8ecfd7726094b132)}};
    for (uint32_t b = 0; b < 6; b++) {
        Running running = {0};
        expect_ok(mote_scene_load(MOTE_SOURCE_DIR "/tests/states/version_3.json", NULL, 0, &running.scene));
        const MoteBackendOptions options = {.backend = backends[b % 3]};
        expect_ok(mote_simulation_create(running.scene, &options, &running.simulation));
        running.world = mote_simulation_world(running.simulation);
        expect_ok(mote_simulation_load(running.simulation, files[b / 3].path));
        assert_int_equal(mote_simulation_frame(running.simulation), 8);
        assert_true(fixture_hash(&running) == files[b / 3].hash);
        // What is written now is as good: both go on alike.
        expect_ok(mote_simulation_save(running.simulation, fixture_path("newer.state")));
        fixture_advance(&running, 5);
        const uint64_t after = fixture_hash(&running);
        expect_ok(mote_simulation_load(running.simulation, fixture_path("newer.state")));
        fixture_advance(&running, 5);
        assert_true(fixture_hash(&running) == after);
        fixture_stop(&running);
    }
}

// A state that was saved before arrays, channels and keys got the names they have now (FORMER_KEY, former_sections), of
// a scene with all of them: it is that state bit for bit, and goes on.
static void states_with_former_names_are_read(void **state)
{
    (void)state;
    Running running = {0};
    expect_ok(mote_scene_load(MOTE_SOURCE_DIR "/tests/states/version_4.json", NULL, 0, &running.scene));
    const MoteBackendOptions options = {.backend = "cpu", .portable = true};
    expect_ok(mote_simulation_create(running.scene, &options, &running.simulation));
    running.world = mote_simulation_world(running.simulation);
    expect_ok(mote_simulation_load(running.simulation, MOTE_SOURCE_DIR "/tests/states/version_4.state"));
    assert_int_equal(mote_simulation_frame(running.simulation), 12);
    assert_true(fixture_hash(&running) == UINT64_C(0x8fc0c41886806676));
    fixture_advance(&running, 5);
    assert_int_equal(mote_simulation_frame(running.simulation), 17);
    fixture_stop(&running);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resume_is_bit_identical_on_the_cpu),
        cmocka_unit_test(resume_is_bit_identical_on_cuda),
        cmocka_unit_test(particles_long_gone_are_remembered),
        cmocka_unit_test(an_empty_world_can_be_saved),
        cmocka_unit_test(a_failed_save_leaves_the_old_file),
        cmocka_unit_test(truncated_files_are_refused),
        cmocka_unit_test(flipped_bits_are_refused),
        cmocka_unit_test(foreign_files_are_refused),
        cmocka_unit_test(headers_that_do_not_fit_are_refused),
        cmocka_unit_test(sections_that_do_not_fit_are_refused),
        cmocka_unit_test(states_of_other_scenes_are_refused),
        cmocka_unit_test(older_states_are_read),
        cmocka_unit_test(states_with_former_names_are_read),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
