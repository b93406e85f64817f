// SPDX-License-Identifier: MIT
// Files that crash assimp, or make it take all memory: each is an error with the file's name, and this process goes on.
// In this process every one of them would end it, or take gigabytes.
#define _POSIX_C_SOURCE 200809L
#include "mesh_fixture.h"

#include "base/clock.h"
#include "base/isolate.h"
#include "geometry/mesh_internal.h"
#include <sys/resource.h>

typedef struct Text {
    char *bytes;
    size_t size, capacity;
} Text;

static void put_text(Text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char part[4096];
    const int size = vsnprintf(part, sizeof part, format, arguments);
    va_end(arguments);
    assert_true(size >= 0 && (size_t)size < sizeof part);
    if (text->size + (size_t)size > text->capacity) {
        text->capacity = 2 * (text->size + (size_t)size);
        text->bytes = realloc(text->bytes, text->capacity);
        assert_non_null(text->bytes);
    }
    memcpy(text->bytes + text->size, part, (size_t)size);
    text->size += (size_t)size;
}

// Refused with its name and one of these words, in a few seconds; frees the text.
static void expect_refused(const char *name, Text *text, MoteResult result, const char *words)
{
    fixture_write(name, text->bytes, text->size);
    free(text->bytes);
    *text = (Text){0};
    const double start = clock_seconds();
    Mesh mesh;
    const MoteResult found = mesh_load(name, fixture_folder, &mesh);
    if (found != result || strstr(mote_error_message(), name) == NULL || strstr(mote_error_message(), words) == NULL) {
        fail_msg("%s: expected %d with \"%s\", found %d: %s", name, result, words, found, mote_error_message());
    }
    assert_true(mesh.positions == NULL && mesh.triangles == NULL);
    assert_true(clock_seconds() - start < 60.0);
    struct rusage children;
    getrusage(RUSAGE_CHILDREN, &children);
    assert_true(children.ru_maxrss < 1 << 20); // kB
}

// ---- FBX ----

static void add_fbx(Text *text, const char *connections)
{
    put_text(text, "; FBX 7.4.0 project file\nFBXHeaderExtension:  {\n\tFBXHeaderVersion: 1003\n\tFBXVersion: 7400\n}\n"
                   "GlobalSettings:  {\n\tVersion: 1000\n\tProperties70:  {\n\t}\n}\nObjects:  {\n");
    put_text(text, "\tModel: 1000, \"Model::a\", \"Null\" {\n\t\tVersion: 232\n\t}\n");
    put_text(text, "\tModel: 1001, \"Model::b\", \"Null\" {\n\t\tVersion: 232\n\t}\n}\n");
    put_text(text, "Connections:  {\n\tC: \"OO\",1000,0\n%s}\n", connections);
}

static void a_model_may_not_be_its_own_parent(void **state)
{
    (void)state;
    Text text = {0};
    add_fbx(&text, "\tC: \"OO\",1000,1000\n\tC: \"OO\",1001,1000\n");
    expect_refused("self.fbx", &text, MOTE_ERROR_INPUT, "its importer crashed (segmentation fault)");
    add_fbx(&text, "\tC: \"OO\",1001,1000\n\tC: \"OO\",1000,1001\n");
    expect_refused("circle.fbx", &text, MOTE_ERROR_INPUT, "its importer crashed (segmentation fault)");
}

// ---- OFF and PLY: faces without a corner, at which assimp asserts that there are some ----

static void assertions_are_errors(void **state)
{
    (void)state;
    Text text = {0};
    put_text(&text, "OFF\n2 1 0\n0 0 0\n9 0 0 0 0 0 580 0 0\n");
    expect_refused("few.off", &text, MOTE_ERROR_INPUT, "its importer crashed (it aborted)");
    put_text(&text, "OFF\n1 1 ");
    expect_refused("cut.off", &text, MOTE_ERROR_INPUT, "its importer crashed (it aborted)");
    put_text(&text,
             "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nelement "
             "face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n0\n");
    expect_refused("none.ply", &text, MOTE_ERROR_INPUT, "its importer crashed (it aborted)");
}

static void claims_of_memory_are_errors(void **state)
{
    (void)state;
    Text text = {0};
    put_text(&text, "OFF\n1 150000000 0\n0 0 0\n");
    expect_refused("faces.off", &text, MOTE_ERROR_MEMORY, "of memory");
}

// ---- OBJ: a file that names itself as its materials, with a texture of none of them ----

static void a_texture_of_no_material_is_an_error(void **state)
{
    (void)state;
    const char *const good = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    Text text = {0};
    put_text(&text, "mtllib mesh.obj\nmap_Kd x.png\n%s", good); // mesh.obj is what the importer calls it
    expect_refused("texture.obj", &text, MOTE_ERROR_INPUT, "its importer crashed (segmentation fault)");
    put_text(&text, "mtllib other.obj\nmap_Kd x.png\n%s", good); // materials of other files are not read
    fixture_write("other.obj", text.bytes, text.size);
    free(text.bytes);
    Mesh mesh = load_mesh("other.obj");
    assert_int_equal(mesh.triangle_count, 1);
    mesh_free(&mesh);
}

// ---- COLLADA ----

static void begin_collada_named(Text *text, uint32_t stride, const char *name)
{
    put_text(text,
             "<?xml version=\"1.0\"?><COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\">"
             "<asset><up_axis>Y_UP</up_axis></asset><library_geometries><geometry id=\"%s\"><mesh><source id=\"p\">"
             "<float_array id=\"pa\" count=\"9\">0 0 0 1 0 0 0 1 0</float_array><technique_common>",
             name);
    put_text(text,
             "<accessor source=\"#pa\" count=\"3\" stride=\"%u\"><param name=\"X\" type=\"float\"/><param name=\"Y\" "
             "type=\"float\"/><param name=\"Z\" type=\"float\"/></accessor></technique_common></source>",
             stride);
    put_text(text,
             "<vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices><triangles count=\"1\"><input "
             "semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>0 1 2</p></triangles></mesh></geometry>"
             "</library_geometries>");
}

static void begin_collada(Text *text, uint32_t stride)
{
    begin_collada_named(text, stride, "g");
}

static void end_collada(Text *text, const char *instance)
{
    put_text(
        text,
        "<library_visual_scenes><visual_scene id=\"s\"><node id=\"r\">%s</node></visual_scene></library_visual_scenes>"
        "<scene><instance_visual_scene url=\"#s\"/></scene></COLLADA>",
        instance);
}

static void collada_that_is_none_of_these_is_read(void **state)
{
    (void)state;
    Text text = {0};
    begin_collada(&text, 3);
    end_collada(&text, "<instance_geometry url=\"#g\"/>");
    fixture_write("good.dae", text.bytes, text.size);
    free(text.bytes);
    Mesh mesh = load_mesh("good.dae");
    assert_int_equal(mesh.triangle_count, 1);
    mesh_free(&mesh);
}

// A few kilobytes whose nodes hold the next one twice: two million copies.
static void nodes_that_multiply_have_an_end(void **state)
{
    (void)state;
    enum { LEVELS = 24 };
    Text text = {0};
    begin_collada(&text, 3);
    put_text(&text, "<library_nodes>");
    for (int i = 0; i < LEVELS; i++) {
        put_text(&text, "<node id=\"n%d\"><instance_node url=\"#n%d\"/><instance_node url=\"#n%d\"/></node>", i, i + 1,
                 i + 1);
    }
    put_text(&text, "<node id=\"n%d\"><instance_geometry url=\"#g\"/></node></library_nodes>", LEVELS);
    end_collada(&text, "<instance_node url=\"#n0\"/>");
    assert_true(text.size < 5000);
    expect_refused("bomb.dae", &text, MOTE_ERROR_MEMORY, "it needs more than 256 MB of memory");
}

static void collada_that_crashes_is_refused(void **state)
{
    (void)state;
    Text text = {0};
    begin_collada(&text, 3);
    put_text(&text, "<library_nodes><node id=\"a\"><instance_node url=\"#a\"/></node></library_nodes>");
    end_collada(&text, "<instance_node url=\"#a\"/>");
    expect_refused("self.dae", &text, MOTE_ERROR_INPUT, "its importer crashed (segmentation fault)");
    begin_collada(&text, 4000000000u);
    end_collada(&text, "<instance_geometry url=\"#g\"/>");
    expect_refused("stride.dae", &text, MOTE_ERROR_INPUT, "its importer crashed (segmentation fault)");
    begin_collada_named(&text, 3, ""); // ColladaLoader asserts that meshes have names
    end_collada(&text, "<instance_geometry url=\"#\"/>");
    expect_refused("nameless.dae", &text, MOTE_ERROR_INPUT, "its importer crashed (it aborted)");
    begin_collada(&text, 3);
    put_text(&text, "<library_nodes>");
    for (int i = 0; i < 60000; i++) {
        put_text(&text, "<node>");
    }
    for (int i = 0; i < 60000; i++) {
        put_text(&text, "</node>");
    }
    put_text(&text, "</library_nodes>");
    end_collada(&text, "<instance_geometry url=\"#g\"/>");
    expect_refused("deep.dae", &text, MOTE_ERROR_INPUT, "its importer crashed (segmentation fault)");
}

// ---- glTF ----

static const char *const triangle_json =
    "\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":{"
    "\"POSITION\":0},\"material\":0}]}],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":"
    "\"VEC3\"}],"
    "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}]";
static const float triangle[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};

static void add_gltf(Text *text, const char *buffer, const char *rest)
{
    put_text(text, "{\"asset\":{\"version\":\"2.0\"},%s,\"buffers\":[{\"byteLength\":36%s}]%s}", triangle_json, buffer,
             rest);
}

static void put_word(Text *text, uint32_t word)
{
    for (int k = 0; k < 4; k++) {
        put_text(text, " ");
        text->bytes[text->size - 1] = (char)(word >> 8 * k & 255);
    }
}

static void a_null_pointer_is_an_error(void **state)
{
    (void)state;
    Text json = {0}, text = {0};
    add_gltf(&json, "",
             ",\"materials\":[{\"pbrMetallicRoughness\":{\"baseColorTexture\":{\"index\":0}}}],\"textures\":[{"
             "\"source\":0}],\"images\":[{\"bufferView\":0,\"mimeType\":\"imagepng\"}]"); // assimp looks for the "/"
    while (json.size % 4 != 0) {
        put_text(&json, " ");
    }
    put_text(&text, "glTF");
    put_word(&text, 2);
    put_word(&text, (uint32_t)(12 + 8 + json.size + 8 + sizeof triangle));
    put_word(&text, (uint32_t)json.size);
    put_text(&text, "JSON%.*s", (int)json.size, json.bytes);
    put_word(&text, (uint32_t)sizeof triangle);
    put_word(&text, 0x004e4942); // "BIN"
    for (size_t i = 0; i < 9; i++) {
        uint32_t bits;
        memcpy(&bits, &triangle[i], 4);
        put_word(&text, bits);
    }
    free(json.bytes);
    expect_refused("null.glb", &text, MOTE_ERROR_INPUT, "its importer crashed (segmentation fault)");
}

static void buffers_are_files_below(void **state)
{
    (void)state;
    Text text = {0};
    fixture_write("triangle.bin", triangle, sizeof triangle);
    add_gltf(&text, ",\"uri\":\"triangle.bin\"", ",\"materials\":[{}]");
    fixture_write("beside.gltf", text.bytes, text.size);
    free(text.bytes);
    Mesh mesh = load_mesh("beside.gltf");
    assert_int_equal(mesh.triangle_count, 1);
    mesh_free(&mesh);
    text = (Text){0};
    add_gltf(&text, ",\"uri\":\"../etc/passwd\"", ",\"materials\":[{}]");
    expect_refused("above.gltf", &text, MOTE_ERROR_INPUT, "buffer 0 is \"../etc/passwd\", expected a path below");
    add_gltf(&text, ",\"uri\":\"/etc/passwd\"", ",\"materials\":[{}]");
    expect_refused("elsewhere.gltf", &text, MOTE_ERROR_INPUT, "expected a path below the file's own folder");
    add_gltf(&text, ",\"uri\":\"missing.bin\"", ",\"materials\":[{}]");
    expect_refused("missing.gltf", &text, MOTE_ERROR_INPUT, "claims 36 bytes, but there are 0");
}

// One mesh in thousands of nodes: many triangles of few bytes.
static void meshes_that_repeat_have_an_end(void **state)
{
    (void)state;
    enum { NODES = 3000, VERTICES = 3000 };
    float *positions = calloc(3 * VERTICES, sizeof *positions);
    assert_non_null(positions);
    fixture_write("many.bin", positions, 3 * VERTICES * sizeof *positions);
    free(positions);
    Text text = {0};
    put_text(&text, "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0");
    for (int i = 1; i < NODES; i++) {
        put_text(&text, ",%d", i);
    }
    put_text(&text, "]}],\"nodes\":[{\"mesh\":0}");
    for (int i = 1; i < NODES; i++) {
        put_text(&text, ",{\"mesh\":0}");
    }
    put_text(
        &text,
        "],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"accessors\":[{\"bufferView\":0,"
        "\"componentType\":5126,\"count\":%d,\"type\":\"VEC3\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":%d}],"
        "\"buffers\":[{\"byteLength\":%d,\"uri\":\"many.bin\"}]}",
        VERTICES, 12 * VERTICES, 12 * VERTICES);
    expect_refused("many.gltf", &text, MOTE_ERROR_INPUT, "counted as often as they appear");
}

// ---- What an importer sends ----

typedef struct Planted {
    MeshSource source;
    uint32_t words[16], count;
    Mesh mesh;
} Planted;

static MoteResult send_words(void *context, IsolatePipe *out)
{
    const Planted *planted = context;
    isolate_send(out, planted->words, planted->count * sizeof planted->words[0]);
    return MOTE_OK;
}

static MoteResult take_mesh(void *context, IsolatePipe *in)
{
    Planted *planted = context;
    return mesh_receive(&planted->source, in, &planted->mesh);
}

static void expect_words(const uint32_t *words, uint32_t count, const char *message)
{
    Planted planted = {.source = {.path = "planted.obj"}, .count = count};
    memcpy(planted.words, words, count * sizeof *words);
    const IsolateLimits limits = isolate_limits_of(100);
    const MoteResult result = isolate("planted.obj", MESH_PURPOSE, &limits, send_words, take_mesh, &planted);
    if (message == NULL) {
        expect_ok(result);
        assert_int_equal(planted.mesh.triangle_count, 1);
        mesh_free(&planted.mesh);
        return;
    }
    expect_error(result, MOTE_ERROR_INPUT, message);
    mesh_free(&planted.mesh);
}

static void what_arrives_is_checked(void **state)
{
    (void)state;
    const uint32_t good[] = {3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2};
    const uint32_t outside[] = {3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 3};
    const uint32_t many[] = {50000001, 1, 0}, flag[] = {3, 1, 2}, none[] = {3, 4000000000u, 0};
    expect_words(good, 15, NULL);
    expect_words(outside, 15, "planted.obj: a triangle uses vertex 3, expected one of the 3 there are");
    expect_words(good, 14, "its importer sent");
    expect_words(good, 2, "its importer sent");
    expect_words(many, 3, "claims 50000001 vertices and 1 triangles");
    expect_words(none, 3, "claims 3 vertices and 4000000000 triangles");
    expect_words(flag, 3, "claims 3 vertices");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_may_not_be_its_own_parent),
        cmocka_unit_test(assertions_are_errors),
        cmocka_unit_test(claims_of_memory_are_errors),
        cmocka_unit_test(a_texture_of_no_material_is_an_error),
        cmocka_unit_test(collada_that_is_none_of_these_is_read),
        cmocka_unit_test(nodes_that_multiply_have_an_end),
        cmocka_unit_test(collada_that_crashes_is_refused),
        cmocka_unit_test(a_null_pointer_is_an_error),
        cmocka_unit_test(buffers_are_files_below),
        cmocka_unit_test(meshes_that_repeat_have_an_end),
        cmocka_unit_test(what_arrives_is_checked),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
