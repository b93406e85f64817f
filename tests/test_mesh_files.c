// SPDX-License-Identifier: MIT
// Mesh files: the same box in every format, packages, and files that lie.
#define _POSIX_C_SOURCE 200809L
#include "mesh_fixture.h"

// ---- A box of 1 x 2 x 3 with a corner at the origin ----

static const float corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {1, 2, 0},
                                    {0, 0, 3}, {1, 0, 3}, {0, 2, 3}, {1, 2, 3}};
static const int32_t quads[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};

typedef struct Bytes {
    char data[8192];
    size_t size;
} Bytes;

static void put(Bytes *bytes, const void *data, size_t size)
{
    assert_true(bytes->size + size <= sizeof bytes->data);
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

static void put_text(Bytes *bytes, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put(bytes, text, strlen(text));
}

static void put_u32(Bytes *bytes, uint32_t value)
{
    const unsigned char b[4] = {(unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16),
                                (unsigned char)(value >> 24)};
    put(bytes, b, 4);
}

static uint32_t corner_of(uint32_t triangle, uint32_t k)
{
    return (uint32_t)quads[triangle / 2][triangle % 2 == 0 ? k : (k == 0 ? 0 : k + 1)];
}

static Bytes make_obj(void)
{
    Bytes out = {.size = 0};
    for (uint32_t i = 0; i < 8; i++) {
        put_text(&out, "v %g %g %g\n", corners[i][0], corners[i][1], corners[i][2]);
    }
    for (uint32_t f = 0; f < 6; f++) {
        put_text(&out, "f %d %d %d %d\n", quads[f][0] + 1, quads[f][1] + 1, quads[f][2] + 1, quads[f][3] + 1);
    }
    return out;
}

static Bytes make_ply(const char *format)
{
    Bytes out = {.size = 0};
    put_text(&out,
             "ply\nformat %s 1.0\ncomment a box\nelement vertex 8\nproperty float x\nproperty float y\nproperty float "
             "z\nelement face 6\nproperty list uchar int vertex_indices\nend_header\n",
             format);
    const bool ascii = strcmp(format, "ascii") == 0, big = strcmp(format, "binary_big_endian") == 0;
    for (uint32_t i = 0; i < 8 && ascii; i++) {
        put_text(&out, "%g %g %g\n", corners[i][0], corners[i][1], corners[i][2]);
    }
    for (uint32_t f = 0; f < 6 && ascii; f++) {
        put_text(&out, "4 %d %d %d %d\n", quads[f][0], quads[f][1], quads[f][2], quads[f][3]);
    }
    for (uint32_t i = 0; i < 24 + 24 && !ascii; i++) {
        uint32_t bits;
        memcpy(&bits, i < 24 ? (const void *)&corners[i / 3][i % 3] : (const void *)&quads[(i - 24) / 4][i % 4], 4);
        if (i >= 24 && i % 4 == 0) {
            put(&out, "\4", 1);
        }
        put_u32(&out, big ? bits >> 24 | (bits >> 8 & 0xff00) | (bits << 8 & 0xff0000) | bits << 24 : bits);
    }
    return out;
}

static Bytes make_stl(bool binary)
{
    Bytes out = {.size = 0};
    char header[80] = "a box";
    if (binary) {
        put(&out, header, sizeof header);
        put_u32(&out, 12);
    } else {
        put_text(&out, "solid box\n");
    }
    for (uint32_t t = 0; t < 12; t++) {
        const float normal[3] = {0, 0, 0};
        if (binary) {
            put(&out, normal, sizeof normal);
        } else {
            put_text(&out, "facet normal 0 0 0\nouter loop\n");
        }
        for (uint32_t k = 0; k < 3; k++) {
            const float *p = corners[corner_of(t, k)];
            if (binary) {
                put(&out, p, 3 * sizeof *p);
            } else {
                put_text(&out, "vertex %g %g %g\n", p[0], p[1], p[2]);
            }
        }
        put(&out, binary ? "\0\0" : "endloop\nendfacet\n", binary ? 2 : strlen("endloop\nendfacet\n"));
    }
    if (!binary) {
        put_text(&out, "endsolid box\n");
    }
    return out;
}

// Positions, then indices.
static Bytes make_gltf_buffer(void)
{
    Bytes out = {.size = 0};
    put(&out, corners, sizeof corners);
    for (uint32_t i = 0; i < 36; i++) {
        const uint16_t index = (uint16_t)corner_of(i / 3, i % 3);
        put(&out, &index, sizeof index);
    }
    return out;
}

static void put_base64(Bytes *out, const Bytes *data)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i + 2 < data->size; i += 3) { // 168 bytes: no padding
        const unsigned char *b = (const unsigned char *)data->data + i;
        const char four[4] = {digits[b[0] >> 2], digits[(b[0] & 3) << 4 | b[1] >> 4],
                              digits[(b[1] & 15) << 2 | b[2] >> 6], digits[b[2] & 63]};
        put(out, four, 4);
    }
}

static const char *const gltf_nodes = "\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}]";

static void put_gltf_json(Bytes *out, const char *nodes, uint32_t vertices, uint32_t buffer_size, bool embed)
{
    put_text(out,
             "{\"asset\":{\"version\":\"2.0\"},%s,\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},"
             "\"indices\":1}]}],",
             nodes);
    put_text(out,
             "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":%u,\"type\":\"VEC3\",\"min\":[0,0,0],"
             "\"max\":[1,2,3]},{\"bufferView\":1,\"componentType\":5123,\"count\":36,\"type\":\"SCALAR\"}],",
             vertices);
    put_text(out,
             "\"bufferViews\":[{\"buffer\":0,\"byteOffset\":0,\"byteLength\":96},{\"buffer\":0,\"byteOffset\":96,"
             "\"byteLength\":72}],\"buffers\":[{\"byteLength\":%u",
             buffer_size);
    if (embed) {
        const Bytes data = make_gltf_buffer();
        put_text(out, ",\"uri\":\"data:application/octet-stream;base64,");
        put_base64(out, &data);
        put_text(out, "\"");
    }
    put_text(out, "}]}");
}

static Bytes make_gltf(const char *nodes, uint32_t vertices, uint32_t buffer_size)
{
    Bytes out = {.size = 0};
    put_gltf_json(&out, nodes, vertices, buffer_size, true);
    return out;
}

static Bytes make_glb(uint32_t claimed_size, uint32_t claimed_json, uint32_t claimed_data)
{
    Bytes json = {.size = 0}, out = {.size = 0};
    const Bytes data = make_gltf_buffer();
    put_gltf_json(&json, gltf_nodes, 8, 168, false);
    while (json.size % 4 != 0) {
        put(&json, " ", 1);
    }
    put(&out, "glTF", 4);
    put_u32(&out, 2);
    put_u32(&out, claimed_size > 0 ? claimed_size : (uint32_t)(12 + 8 + json.size + 8 + data.size));
    put_u32(&out, claimed_json > 0 ? claimed_json : (uint32_t)json.size);
    put(&out, "JSON", 4);
    put(&out, json.data, json.size);
    put_u32(&out, claimed_data > 0 ? claimed_data : (uint32_t)data.size);
    put(&out, "BIN\0", 4);
    put(&out, data.data, data.size);
    return out;
}

static void write_bytes(const char *name, const Bytes *bytes)
{
    fixture_write(name, bytes->data, bytes->size);
}

static void expect_box(const char *name, const Bytes *bytes)
{
    write_bytes(name, bytes);
    Mesh mesh = load_mesh(name);
    const MeshReport report = report_of(&mesh);
    if (!report.closed || !report.manifold || !report.consistently_oriented) {
        fail_msg("%s is not read as a closed box", name);
    }
    assert_int_equal(mesh.triangle_count, 12);
    assert_int_equal(mesh.vertex_count, 24);
    expect_near(report.volume, 6.0, 1e-6, name);
    expect_near(report.area, 22.0, 1e-6, name);
    const double low = fabs(report.bounds_min.x) + fabs(report.bounds_min.y) + fabs(report.bounds_min.z);
    expect_near(low, 0.0, 0.0, name);
    assert_true(report.bounds_max.x == 1.0f && report.bounds_max.y == 2.0f && report.bounds_max.z == 3.0f);
    mesh_free(&mesh);
}

static void every_format_gives_the_same_box(void **state)
{
    (void)state;
    const Bytes files[] = {
        make_obj(),      make_ply("ascii"), make_ply("binary_little_endian"), make_ply("binary_big_endian"),
        make_stl(false), make_stl(true),    make_gltf(gltf_nodes, 8, 168),    make_glb(0, 0, 0),
        make_obj()};
    const char *const names[] = {"a.obj", "b.ply", "c.ply", "d.ply", "e.stl", "f.stl", "g.gltf", "h.glb", "I.OBJ"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        expect_box(names[i], &files[i]);
    }
    char path[512];
    snprintf(path, sizeof path, "%s/a.obj", fixture_folder);
    Mesh mesh;
    expect_ok(mesh_load(path, "/nowhere", &mesh)); // absolute paths need no folder
    mesh_free(&mesh);
}

static void nodes_place_their_meshes(void **state)
{
    (void)state;
    // The box twice: once twice as large, below it once mirrored and moved.
    const Bytes file = make_gltf("\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0,\"scale\":[2,2,2],"
                                 "\"children\":[1]},{\"mesh\":0,\"scale\":[-1,1,1],\"translation\":[-5,0,0]}]",
                                 8, 168);
    write_bytes("nodes.gltf", &file);
    Mesh mesh = load_mesh("nodes.gltf");
    const MeshReport report = report_of(&mesh);
    assert_int_equal(report.components, 2);
    assert_true(report.consistently_oriented);
    expect_near(report.volume, 96.0, 1e-4, "volume of both");
    expect_near(report.bounds_min.x, -12.0, 1e-5, "lowest x");
    expect_near(report.bounds_max.x, 2.0, 1e-5, "highest x");
    mesh_free(&mesh);
}

static void seams_of_uvs_do_not_open_a_mesh(void **state)
{
    (void)state;
    Bytes file = make_obj();
    file.size = (size_t)(strstr(file.data, "f ") - file.data);
    put_text(&file, "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n");
    for (uint32_t f = 0; f < 6; f++) {
        put_text(&file, "f %d/1 %d/2 %d/3 %d/4\n", quads[f][0] + 1, quads[f][1] + 1, quads[f][2] + 1, quads[f][3] + 1);
    }
    expect_box("uv.obj", &file);
    Mesh mesh = load_mesh("uv.obj");
    assert_non_null(mesh.uvs);
    for (uint32_t i = 0; i < 2 * mesh.vertex_count; i++) {
        assert_true(mesh.uvs[i] == 0.0f || mesh.uvs[i] == 1.0f);
    }
    mesh_free(&mesh);
}

static void packages_are_found(void **state)
{
    (void)state;
    const char *const names[] = {"package:glmark2/models/cube.3ds", "package:glmark2/models/horse.3ds",
                                 "package:glmark2/models/asteroid-low.3ds"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        Mesh mesh = load_mesh(names[i]);
        const MeshReport report = report_of(&mesh);
        assert_true(report.closed && report.volume > 0.0);
        if (i == 0) {
            assert_int_equal(mesh.triangle_count, 12);
            expect_near(report.volume, 8.0, 1e-6, "volume of the cube");
        }
        mesh_free(&mesh);
    }
    Mesh mesh;
    expect_error(mesh_load("package:glmark2/models/none.obj", NULL, &mesh), MOTE_ERROR_IO,
                 "install the package glmark2-data");
    expect_error(mesh_load("package:../etc/passwd", NULL, &mesh), MOTE_ERROR_INPUT, "without \"..\"");
    expect_error(mesh_load("package:", NULL, &mesh), MOTE_ERROR_INPUT, "a path below");
    const Bytes box = make_obj();
    write_bytes("p.obj", &box);
    char *before = getenv("XDG_DATA_DIRS") != NULL ? strdup(getenv("XDG_DATA_DIRS")) : NULL;
    char folders[512];
    snprintf(folders, sizeof folders, "/nowhere::%s", fixture_folder);
    setenv("XDG_DATA_DIRS", folders, 1);
    expect_ok(mesh_load("package:p.obj", NULL, &mesh));
    mesh_free(&mesh);
    expect_error(mesh_load("package:glmark2/models/bunny.obj", NULL, &mesh), MOTE_ERROR_IO, "below /nowhere::");
    if (before != NULL) {
        setenv("XDG_DATA_DIRS", before, 1);
    } else {
        unsetenv("XDG_DATA_DIRS");
    }
    free(before);
}

// ---- Hostile files ----

static void expect_refused(const char *name, const void *bytes, size_t size, const char *text)
{
    fixture_write(name, bytes, size);
    Mesh mesh;
    const MoteResult result = mesh_load(name, fixture_folder, &mesh);
    if (result == MOTE_OK || strstr(mote_error_message(), text) == NULL || strstr(mote_error_message(), name) == NULL) {
        fail_msg("%s: expected \"%s\", found %d \"%s\"", name, text, result, mote_error_message());
    }
    assert_true(mesh.positions == NULL && mesh.triangles == NULL);
}

static void refuse_text(const char *name, const char *text, const char *expected)
{
    expect_refused(name, text, strlen(text), expected);
}

static void files_that_are_no_meshes_are_refused(void **state)
{
    (void)state;
    Mesh mesh;
    expect_error(mesh_load("missing.obj", fixture_folder, &mesh), MOTE_ERROR_IO, "missing.obj: cannot open");
    expect_error(mesh_load(".", fixture_folder, &mesh), MOTE_ERROR_IO, "is a folder");
    expect_error(mesh_load("/dev/zero", NULL, &mesh), MOTE_ERROR_IO, "no regular file");
    const char *const kinds[] = {"obj", "ply", "stl", "gltf", "glb", "3ds", "off", "dae", "fbx"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "empty.%s", kinds[i]);
        expect_refused(name, "", 0, "is empty");
        snprintf(name, sizeof name, "words.%s", kinds[i]);
        refuse_text(name, "the quick brown fox\njumps over the lazy dog\n", "");
        snprintf(name, sizeof name, "zeros.%s", kinds[i]);
        static const char zeros[300];
        expect_refused(name, zeros, sizeof zeros, "");
    }
    refuse_text("a.txt", "v 0 0 0\n", "expected one of .obj, .ply");
    refuse_text("none", "v 0 0 0\n", "is no mesh file by its name");
}

static void wrong_numbers_are_refused(void **state)
{
    (void)state;
    refuse_text("nan.obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "finite");
    refuse_text("inf.obj", "v inf 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "finite");
    refuse_text("huge.obj", "v 1e30 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "finite numbers within 1e+09");
    refuse_text("range.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", "");
    refuse_text("points.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", "");
    refuse_text("line.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "none of 1 triangles has an area");
    const char *const ply = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty "
                            "float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";
    char text[512];
    snprintf(text, sizeof text, "%s0 0 0\n1 0 0\n0 1 0\n3 0 1 9\n", ply);
    refuse_text("range.ply", text, "");
    snprintf(text, sizeof text, "%s0 0 nan\n1 0 0\n0 1 0\n3 0 1 2\n", ply);
    refuse_text("nan.ply", text, "finite");
    Bytes stl = make_stl(true);
    const uint32_t nan_bits = 0x7fc00000;
    memcpy(stl.data + 84 + 12, &nan_bits, 4);
    expect_refused("nan.stl", stl.data, stl.size, "finite");
}

static void a_million_degenerate_triangles_are_refused(void **state)
{
    (void)state;
    enum { COUNT = 1000000 };
    char *bytes = calloc(84 + 50 * (size_t)COUNT, 1);
    assert_non_null(bytes);
    bytes[80] = (char)(COUNT & 255);
    bytes[81] = (char)(COUNT >> 8 & 255);
    bytes[82] = (char)(COUNT >> 16);
    expect_refused("degenerate.stl", bytes, 84 + 50 * (size_t)COUNT, "none of 1000000 triangles has an area");
    free(bytes);
}

static void claims_of_gigabytes_are_refused(void **state)
{
    (void)state;
    Bytes stl = make_stl(true);
    const uint32_t many = 40000000;
    memcpy(stl.data + 80, &many, 4);
    expect_refused("claim.stl", stl.data, stl.size, "claims 40000000 triangles");
    refuse_text("claim.ply",
                "ply\nformat binary_little_endian 1.0\nelement vertex 180000000\nproperty float x\nproperty float "
                "y\nproperty float z\nend_header\n",
                "claims 180000000 of \"vertex\"");
    refuse_text("empty_claim.ply", "ply\nformat ascii 1.0\nelement vertex 2000000000\nend_header\n",
                "with 0 properties");
    refuse_text(
        "list.ply",
        "ply\nformat ascii 1.0\nelement face 1\nproperty list uint int vertex_indices\nend_header\n2000000000 1\n",
        "a list is no list");
    refuse_text("negative.ply",
                "ply\nformat ascii 1.0\nelement face 1\nproperty list int int vertex_indices\nend_header\n-1 1\n",
                "a list is no list");
    Bytes list = {.size = 0};
    put_text(&list, "ply\nformat binary_little_endian 1.0\nelement face 1\nproperty list uint int vertex_indices\n"
                    "end_header\n");
    put_u32(&list, 500000000);
    expect_refused("binary_list.ply", list.data, list.size, "claims 1 of \"face\"");
    const Bytes whole = make_glb(2000000000, 0, 0), json = make_glb(0, 2000000000, 0),
                data = make_glb(0, 0, 2000000000);
    expect_refused("whole.glb", whole.data, whole.size, "claims version 2, 2000000000 bytes");
    expect_refused("json.glb", json.data, json.size, "2000000000 of JSON");
    expect_refused("data.glb", data.data, data.size, "claims 2000000000 bytes of data");
    const Bytes buffer = make_gltf(gltf_nodes, 8, 2000000000), accessor = make_gltf(gltf_nodes, 170000000, 168);
    expect_refused("buffer.gltf", buffer.data, buffer.size, "buffer 0 claims 2000000000 bytes");
    expect_refused("accessor.gltf", accessor.data, accessor.size, "accessor 0 claims 170000000 elements");
    const Bytes loop = make_gltf("\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0,\"children\":[1]},"
                                 "{\"children\":[0]}]",
                                 8, 168);
    expect_refused("loop.gltf", loop.data, loop.size, "no tree");
    const unsigned char chunk[] = {0x4d, 0x4d, 0, 0, 0, 0x70, 0, 0};
    expect_refused("claim.3ds", chunk, sizeof chunk, "but has 8");
    // A polygon so large that cutting it into triangles would take minutes.
    char *polygon = malloc(3000000);
    assert_non_null(polygon);
    size_t size = (size_t)sprintf(polygon, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf");
    for (uint32_t i = 0; i < 100000; i++) {
        size += (size_t)sprintf(polygon + size, " %u", i % 3 + 1);
    }
    expect_refused("polygon.obj", polygon, size, "100000 corners");
    free(polygon);
}

// Files cut short and with bytes changed: read or refused, never a crash.
static void damaged_files_do_no_harm(void **state)
{
    (void)state;
    const Bytes files[] = {make_obj(),       make_ply("ascii"), make_ply("binary_little_endian"),
                           make_stl(true),   make_stl(false),   make_gltf(gltf_nodes, 8, 168),
                           make_glb(0, 0, 0)};
    const char *const names[] = {"m.obj", "m1.ply", "m2.ply", "m1.stl", "m2.stl", "m.gltf", "m.glb"};
    const uint32_t copies = getenv("MOTE_SHORT_TESTS") == NULL ? 200 : 30; // the sanitizers' forks are slow
    uint32_t refused = 0, read = 0;
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        for (uint32_t i = 0; i < copies; i++) {
            Bytes changed = files[f];
            for (uint32_t k = 0; k <= i % 4; k++) {
                changed.data[random_bits() % changed.size] = (char)random_bits();
            }
            if (i % 8 == 7) {
                changed.size = random_bits() % changed.size;
            }
            write_bytes(names[f], &changed);
            Mesh mesh;
            if (mesh_load(names[f], fixture_folder, &mesh) == MOTE_OK) {
                expect_ok(mesh_check(&mesh, names[f]));
                mesh_free(&mesh);
                read++;
            } else {
                refused++;
            }
        }
    }
    assert_true(refused > copies / 2 && read > copies / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_gives_the_same_box),
        cmocka_unit_test(nodes_place_their_meshes),
        cmocka_unit_test(seams_of_uvs_do_not_open_a_mesh),
        cmocka_unit_test(packages_are_found),
        cmocka_unit_test(files_that_are_no_meshes_are_refused),
        cmocka_unit_test(wrong_numbers_are_refused),
        cmocka_unit_test(a_million_degenerate_triangles_are_refused),
        cmocka_unit_test(claims_of_gigabytes_are_refused),
        cmocka_unit_test(damaged_files_do_no_harm),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
