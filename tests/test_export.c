// SPDX-License-Identifier: MIT
// Exported files, byte for byte; tests/check_exports.py reads them back with other programs' readers.
#define _POSIX_C_SOURCE 200809L
#include "simulation_fixture.h"

#include "scene/export.h"
#include <sys/stat.h>

#define TINY                                                                                                           \
    "{\"solver\": {\"spacing\": 0.1, \"substeps\": 2}, \"materials\": {\"oil\": {\"density\": 800}},"                  \
    " \"fluids\": [{\"size\": [0.2, 0.3, 0.2]}, {\"size\": [0.1, 0.1, 0.1], \"position\": [1, 2, 3],"                  \
    "   \"material\": \"oil\", \"velocity\": [4, 5, 6]}]}"

enum { PARTICLES = 13, CHANNELS = 4 };

// What the files must hold, row by row: position, velocity, id, phase, density, mass, then the channels.
typedef struct Row {
    float position[3], velocity[3];
    uint32_t id, phase;
    float density, mass;
    float heat, uv[2], x, id_channel[4];
} Row;

static Running start_tiny(Row rows[PARTICLES])
{
    Running running = fixture_start(TINY, "cpu");
    expect_ok(mote_world_add_channel(running.world, "heat", 1));
    expect_ok(mote_world_add_channel(running.world, "u v/\"<", 2)); // no format's idea of a name
    expect_ok(mote_world_add_channel(running.world, "x", 1));       // a name that PLY needs itself
    expect_ok(mote_world_add_channel(running.world, "id", 4));      // one that all need
    fixture_advance(&running, 2);
    float heat[PARTICLES], uv[2 * PARTICLES], x[PARTICLES], id[4 * PARTICLES];
    assert_int_equal(mote_world_particle_count(running.world), PARTICLES);
    for (uint32_t i = 0; i < PARTICLES; i++) {
        rows[i].heat = heat[i] = (float)i + 0.5f;
        rows[i].x = x[i] = -(float)i;
        for (uint32_t c = 0; c < 4; c++) {
            rows[i].id_channel[c] = id[4 * i + c] = (float)(100 * i + c);
        }
        for (uint32_t c = 0; c < 2; c++) {
            rows[i].uv[c] = uv[2 * i + c] = (float)(1000 * i + c);
        }
    }
    expect_ok(mote_world_write_channel(running.world, "heat", heat));
    expect_ok(mote_world_write_channel(running.world, "u v/\"<", uv));
    expect_ok(mote_world_write_channel(running.world, "x", x));
    expect_ok(mote_world_write_channel(running.world, "id", id));
    const MoteParticleView view = fixture_view(&running);
    for (uint32_t i = 0; i < PARTICLES; i++) {
        memcpy(rows[i].position, view.positions + 4 * i, sizeof rows[i].position);
        memcpy(rows[i].velocity, view.velocities + 4 * i, sizeof rows[i].velocity);
        rows[i].id = view.ids[i];
        rows[i].phase = view.phases[i] & MOTE_PHASE_GROUP_MASK;
        rows[i].density = view.velocities[4 * i + 3];
        rows[i].mass = 1.0f / view.positions[4 * i + 3];
    }
    return running;
}

static void ply_has_a_row_a_particle(void **state)
{
    (void)state;
    Row rows[PARTICLES];
    Running running = start_tiny(rows);
    expect_ok(mote_simulation_export(running.simulation, fixture_path("tiny"), "ply"));
    size_t size;
    char *bytes = fixture_read("tiny.ply", &size);
    static const char header_start[] = "ply\nformat binary_little_endian 1.0\ncomment Mote ";
    static const char header_end[] =
        "element vertex 13\n"
        "property float x\nproperty float y\nproperty float z\n"
        "property float vx\nproperty float vy\nproperty float vz\n"
        "property uint id\nproperty uint phase\nproperty float density\nproperty float mass\n"
        "property float heat\nproperty float u_v____x\nproperty float u_v____y\nproperty float x_2\n"
        "property float id_2_x\nproperty float id_2_y\nproperty float id_2_z\nproperty float id_2_w\n"
        "end_header\n";
    assert_memory_equal(bytes, header_start, sizeof header_start - 1);
    const char *end = strstr(bytes, header_end);
    assert_non_null(end);
    assert_non_null(strstr(bytes, "comment time 0.0333333333 s\n"));
    const char *data = end + sizeof header_end - 1;
    assert_int_equal(bytes + size - data, PARTICLES * sizeof(Row)); // a Row has the same order, and no gaps
    assert_memory_equal(data, rows, sizeof rows);
    free(bytes);
    fixture_stop(&running);
}

// ---- VTK ----

static uint64_t block_size(const char *block)
{
    uint64_t size;
    memcpy(&size, block, sizeof size);
    return size;
}

// The appended block of an array, whose declaration must have these attributes.
static const char *vtk_block(const char *bytes, const char *declaration, uint64_t expected_size)
{
    const char *found = strstr(bytes, declaration);
    if (found == NULL) {
        fail_msg("the file has no %s", declaration);
        return NULL;
    }
    const char *offset = strstr(found, "offset=\"");
    const char *appended = strstr(bytes, "<AppendedData encoding=\"raw\">\n_");
    assert_non_null(offset);
    assert_non_null(appended);
    const char *block = strchr(appended, '_') + 1 + strtoull(offset + 8, NULL, 10);
    assert_int_equal(block_size(block), expected_size);
    return block + 8;
}

static void vtk_has_a_block_an_attribute(void **state)
{
    (void)state;
    Row rows[PARTICLES];
    Running running = start_tiny(rows);
    expect_ok(mote_simulation_export(running.simulation, fixture_path("tiny"), "vtk"));
    size_t size;
    char *bytes = fixture_read("tiny.vtu", &size);
    assert_non_null(strstr(bytes, "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" "
                                  "header_type=\"UInt64\">"));
    assert_non_null(strstr(bytes, "<Piece NumberOfPoints=\"13\" NumberOfCells=\"13\">"));
    assert_memory_equal(bytes + size - 28, "\n</AppendedData>\n</VTKFile>\n", 28);

    const uint32_t n = PARTICLES;
    const char *points = vtk_block(bytes, "\"Float32\" Name=\"Points\" NumberOfComponents=\"3\"", 12 * n);
    const char *cells = vtk_block(bytes, "\"Int64\" Name=\"connectivity\"", 8 * n);
    const char *offsets = vtk_block(bytes, "\"Int64\" Name=\"offsets\"", 8 * n);
    const char *types = vtk_block(bytes, "\"UInt8\" Name=\"types\"", n);
    const char *velocity = vtk_block(bytes, "\"Float32\" Name=\"velocity\" NumberOfComponents=\"3\"", 12 * n);
    const char *id = vtk_block(bytes, "\"UInt32\" Name=\"id\" NumberOfComponents=\"1\"", 4 * n);
    const char *phase = vtk_block(bytes, "\"UInt32\" Name=\"phase\" NumberOfComponents=\"1\"", 4 * n);
    const char *density = vtk_block(bytes, "\"Float32\" Name=\"density\" NumberOfComponents=\"1\"", 4 * n);
    const char *mass = vtk_block(bytes, "\"Float32\" Name=\"mass\" NumberOfComponents=\"1\"", 4 * n);
    const char *heat = vtk_block(bytes, "\"Float32\" Name=\"heat\" NumberOfComponents=\"1\"", 4 * n);
    const char *uv = vtk_block(bytes, "\"Float32\" Name=\"u_v___\" NumberOfComponents=\"2\"", 8 * n);
    const char *x = vtk_block(bytes, "\"Float32\" Name=\"x\" NumberOfComponents=\"1\"", 4 * n);
    const char *four = vtk_block(bytes, "\"Float32\" Name=\"id_2\" NumberOfComponents=\"4\"", 16 * n);
    assert_ptr_equal(four + 16 * n, bytes + size - 28); // the last block ends where the data do
    for (uint32_t i = 0; i < n; i++) {
        const int64_t cell = i, next = i + 1;
        assert_memory_equal(points + 12 * i, rows[i].position, 12);
        assert_memory_equal(velocity + 12 * i, rows[i].velocity, 12);
        assert_memory_equal(id + 4 * i, &rows[i].id, 4);
        assert_memory_equal(phase + 4 * i, &rows[i].phase, 4);
        assert_memory_equal(density + 4 * i, &rows[i].density, 4);
        assert_memory_equal(mass + 4 * i, &rows[i].mass, 4);
        assert_memory_equal(heat + 4 * i, &rows[i].heat, 4);
        assert_memory_equal(uv + 8 * i, rows[i].uv, 8);
        assert_memory_equal(x + 4 * i, &rows[i].x, 4);
        assert_memory_equal(four + 16 * i, rows[i].id_channel, 16);
        assert_memory_equal(cells + 8 * i, &cell, 8);
        assert_memory_equal(offsets + 8 * i, &next, 8);
        assert_int_equal(types[i], 1);
    }
    double time;
    memcpy(&time, vtk_block(bytes, "\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\"", 8), sizeof time);
    assert_true(time == mote_simulation_time(running.simulation));
    free(bytes);
    fixture_stop(&running);
}

// ---- bgeo ----

typedef struct Big {
    const unsigned char *at;
} Big;

static uint32_t big_u16(Big *big)
{
    big->at += 2;
    return (uint32_t)(big->at[-2] << 8 | big->at[-1]);
}

static uint32_t big_u32(Big *big)
{
    const uint32_t high = big_u16(big);
    return high << 16 | big_u16(big);
}

static void expect_bgeo_attribute(Big *big, const char *name, uint32_t size, uint32_t type)
{
    const uint32_t length = big_u16(big);
    assert_int_equal(length, strlen(name));
    assert_memory_equal(big->at, name, length);
    big->at += length;
    assert_int_equal(big_u16(big), size);
    assert_int_equal(big_u32(big), type);
    for (uint32_t i = 0; i < size; i++) {
        assert_int_equal(big_u32(big), 0);
    }
}

static void expect_bgeo_values(Big *big, const void *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t found = big_u32(big);
        assert_memory_equal((const char *)values + 4 * i, &found, 4);
    }
}

static void bgeo_has_the_classic_layout(void **state)
{
    (void)state;
    Row rows[PARTICLES];
    Running running = start_tiny(rows);
    expect_ok(mote_simulation_export(running.simulation, fixture_path("tiny"), "bgeo"));
    size_t size;
    char *bytes = fixture_read("tiny.bgeo", &size);
    assert_memory_equal(bytes, "BgeoV\0\0\0\5", 9);
    Big big = {(const unsigned char *)bytes + 9};
    const uint32_t counts[8] = {PARTICLES, 0, 0, 0, 5 + CHANNELS, 0, 0, 0};
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(big_u32(&big), counts[i]);
    }
    expect_bgeo_attribute(&big, "v", 3, 5);
    expect_bgeo_attribute(&big, "id", 1, 1);
    expect_bgeo_attribute(&big, "phase", 1, 1);
    expect_bgeo_attribute(&big, "density", 1, 0);
    expect_bgeo_attribute(&big, "mass", 1, 0);
    expect_bgeo_attribute(&big, "heat", 1, 0);
    expect_bgeo_attribute(&big, "u_v___", 2, 0);
    expect_bgeo_attribute(&big, "x", 1, 0);
    expect_bgeo_attribute(&big, "id_2", 4, 0);
    for (uint32_t i = 0; i < PARTICLES; i++) {
        const float one = 1.0f;
        expect_bgeo_values(&big, rows[i].position, 3);
        expect_bgeo_values(&big, &one, 1);
        expect_bgeo_values(&big, rows[i].velocity, (sizeof(Row) - sizeof rows[i].position) / 4);
    }
    assert_memory_equal(big.at, "\x00\xff", 2);
    assert_ptr_equal(big.at + 2, (unsigned char *)bytes + size);
    free(bytes);
    fixture_stop(&running);
}

// ---- Edges ----

static void pinned_particles_have_no_mass(void **state)
{
    (void)state;
    Running running = fixture_start("{}", "cpu");
    const MoteVec3 position = {1, 2, 3};
    const MoteParticles pinned = {.count = 1, .positions = &position, .mass = 0, .phase = 7 | MOTE_PHASE_FLUID};
    expect_ok(mote_world_add_particles(running.world, &pinned, NULL));
    expect_ok(mote_simulation_export(running.simulation, fixture_path("pinned"), "ply"));
    size_t size;
    char *bytes = fixture_read("pinned.ply", &size);
    float mass;
    uint32_t phase;
    memcpy(&mass, bytes + size - 4, sizeof mass);
    memcpy(&phase, bytes + size - 12, sizeof phase);
    assert_true(mass == 0.0f);
    assert_int_equal(phase, 7);
    free(bytes);
    fixture_stop(&running);
}

static void worlds_without_particles_have_files_too(void **state)
{
    (void)state;
    Running running = fixture_start("{}", "cpu");
    static const char *const formats[] = {"ply", "vtk", "bgeo"};
    for (uint32_t i = 0; i < 3; i++) {
        expect_ok(mote_simulation_export(running.simulation, fixture_path("none"), formats[i]));
    }
    size_t size;
    char *bytes = fixture_read("none.ply", &size);
    assert_non_null(strstr(bytes, "element vertex 0\n"));
    assert_memory_equal(bytes + size - 11, "end_header\n", 11);
    free(bytes);
    free(fixture_read("none.vtu", &size));
    free(fixture_read("none.bgeo", &size));
    fixture_stop(&running);
}

// More particles than any of the buffers that files are written through.
static void many_particles_are_written_whole(void **state)
{
    (void)state;
    Running running = fixture_start("{\"fluids\": [{\"size\": [1.05, 1.05, 1.05]}]}", "cpu");
    expect_ok(mote_simulation_export(running.simulation, fixture_path("many"), "ply"));
    expect_ok(mote_simulation_export(running.simulation, fixture_path("many"), "vtk"));
    const MoteParticleView view = fixture_view(&running);
    assert_int_equal(view.count, 21 * 21 * 21);
    size_t size, ply_size;
    char *ply = fixture_read("many.ply", &ply_size), *vtk = fixture_read("many.vtu", &size);
    const char *rows = strstr(ply, "end_header\n") + 11;
    assert_int_equal(ply + ply_size - rows, view.count * 40);
    const char *points = vtk_block(vtk, "Name=\"Points\"", 12 * view.count);
    const char *ids = vtk_block(vtk, "Name=\"id\"", 4 * view.count);
    for (uint32_t i = 0; i < view.count; i++) {
        assert_memory_equal(rows + 40 * i, view.positions + 4 * i, 12);
        assert_memory_equal(rows + 40 * i + 24, view.ids + i, 4);
        assert_memory_equal(points + 12 * i, view.positions + 4 * i, 12);
        assert_memory_equal(ids + 4 * i, view.ids + i, 4);
    }
    free(ply);
    free(vtk);
    fixture_stop(&running);
}

static void what_cannot_be_written_is_said(void **state)
{
    (void)state;
    Running running = fixture_start("{}", "cpu");
    static const char *const formats[] = {"ply", "vtk", "bgeo"};
    static const char *const extensions[] = {"ply", "vtu", "bgeo"};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(mote_simulation_export(running.simulation, fixture_path("no_such_folder/frame"), formats[i]),
                         MOTE_ERROR_IO);
        char file[64];
        snprintf(file, sizeof file, "no_such_folder/frame.%s", extensions[i]);
        expect_message(file);
        assert_string_equal(export_extension(formats[i]), extensions[i]);
    }
    assert_int_equal(mote_simulation_export(running.simulation, fixture_path("frame"), "obj"), MOTE_ERROR_INPUT);
    expect_message("found no cloth");
    assert_int_equal(mote_simulation_export(running.simulation, fixture_path("frame"), "abc"), MOTE_ERROR_INPUT);
    expect_message("\"abc\"");
    expect_message("ply, vtk, bgeo or obj");
    assert_int_equal(mote_simulation_export(running.simulation, fixture_path("frame"), ""), MOTE_ERROR_INPUT);
    assert_null(export_extension("obj"));

    // A folder where the file should go: the rename fails, and the temporary file goes.
    assert_int_equal(mkdir(fixture_path("taken.ply"), 0777), 0);
    assert_int_equal(mote_simulation_export(running.simulation, fixture_path("taken"), "ply"), MOTE_ERROR_IO);
    expect_message("taken.ply");
    assert_int_equal(rmdir(fixture_path("taken.ply")), 0);
    assert_int_equal(fixture_files(".partial", false), 0);
    fixture_stop(&running);
}

static void collections_give_files_their_times(void **state)
{
    (void)state;
    static const char *const names[] = {"frame_1.vtu", "a \"b\" & <c>.vtu"};
    static const double times[] = {0, 0.125};
    expect_ok(export_write_collection(fixture_path("frames.pvd"), names, times, 2));
    size_t size;
    char *bytes = fixture_read("frames.pvd", &size);
    assert_non_null(strstr(bytes, "<VTKFile type=\"Collection\""));
    assert_non_null(strstr(bytes, "<DataSet timestep=\"0\" part=\"0\" file=\"frame_1.vtu\"/>"));
    assert_non_null(
        strstr(bytes, "<DataSet timestep=\"0.125\" part=\"0\" file=\"a &quot;b&quot; &amp; &lt;c>.vtu\"/>"));
    free(bytes);
    assert_int_equal(export_write_collection(fixture_path("no_such_folder/frames.pvd"), names, times, 2),
                     MOTE_ERROR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ply_has_a_row_a_particle),
        cmocka_unit_test(vtk_has_a_block_an_attribute),
        cmocka_unit_test(bgeo_has_the_classic_layout),
        cmocka_unit_test(pinned_particles_have_no_mass),
        cmocka_unit_test(worlds_without_particles_have_files_too),
        cmocka_unit_test(many_particles_are_written_whole),
        cmocka_unit_test(what_cannot_be_written_is_said),
        cmocka_unit_test(collections_give_files_their_times),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
