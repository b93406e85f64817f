// SPDX-License-Identifier: MIT
// cloth_build.c - builds a scene's cloth: the vertices of grids and meshes become particles, some of them pins.
#include "base/error.h"
#include "base/vec.h"
#include "mote_cloth.h"
#include "scene/build.h"
#include "scene/cloth_yard.h"
#include "scene/load.h"
#include "scene/meshes.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void yard_free(ClothYard *yard)
{
    free(yard->positions);
    free(yard->triangles);
    free(yard->uvs);
    free(yard->masses);
}

static MoteResult yard_allocate(ClothYard *yard, uint64_t vertices, uint64_t triangles)
{
    if (vertices > SCENE_PARTICLE_LIMIT) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: %llu vertices, expected at most %u", yard->what,
                         (unsigned long long)vertices, SCENE_PARTICLE_LIMIT);
    }
    yard->vertex_count = (uint32_t)vertices;
    yard->triangle_count = (uint32_t)triangles;
    yard->positions = malloc(vertices * sizeof *yard->positions);
    yard->triangles = malloc(3 * triangles * sizeof *yard->triangles);
    yard->uvs = malloc(6 * triangles * sizeof *yard->uvs);
    yard->masses = malloc(vertices * sizeof *yard->masses);
    const bool complete =
        yard->positions != NULL && yard->triangles != NULL && yard->uvs != NULL && yard->masses != NULL;
    return complete ? MOTE_OK
                    : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for %u vertices", yard->what, yard->vertex_count);
}

float scene_cloth_pressure(const SceneCloth *cloth)
{
    return cloth->inflation == MOTE_INFLATION_GAS ? cloth->gas_pressure : cloth->pressure;
}

enum { BEND_LINKS, BEND_HINGES }; // what the key bend_model says

// ---- Shapes ------------------------------------------------------------------------------------------------

static void set_corner(ClothYard *yard, uint32_t corner, uint32_t vertex, float u, float v)
{
    yard->triangles[corner] = vertex;
    yard->uvs[2 * (size_t)corner] = u;
    yard->uvs[2 * (size_t)corner + 1] = v;
}

// The corners of a grid's quad go round counter-clockwise, seen from local z; diagonals alternate.
static void cut_quad(ClothYard *yard, uint32_t column, uint32_t row)
{
    static const uint32_t right[] = {0, 0, 1, 1}, down[] = {0, 1, 1, 0};
    static const uint32_t cuts[2][6] = {{0, 1, 2, 0, 2, 3}, {0, 1, 3, 1, 2, 3}};
    const uint32_t first = 6 * (row * (yard->columns - 1) + column);
    for (uint32_t k = 0; k < 6; k++) {
        const uint32_t c = cuts[(column + row) % 2][k];
        const uint32_t x = column + right[c], y = row + down[c];
        set_corner(yard, first + k, y * yard->columns + x, (float)x / (float)(yard->columns - 1),
                   (float)y / (float)(yard->rows - 1));
    }
}

static MoteResult make_grid(ClothYard *yard)
{
    const SceneCloth *cloth = yard->cloth;
    const uint64_t columns = cloth->columns, rows = cloth->rows;
    const MoteResult result = yard_allocate(yard, columns * rows, 2 * (columns - 1) * (rows - 1));
    if (result != MOTE_OK) {
        return result;
    }
    yard->columns = cloth->columns;
    yard->rows = cloth->rows;
    for (uint32_t v = 0; v < yard->vertex_count; v++) {
        const double x = (double)(v % columns) / (double)(columns - 1) - 0.5;
        const double y = 0.5 - (double)(v / columns) / (double)(rows - 1);
        yard->positions[v] = (MoteVec3){(float)(x * (double)cloth->size.x), (float)(y * (double)cloth->size.y), 0.0f};
    }
    for (uint32_t row = 0; row + 1 < yard->rows; row++) {
        for (uint32_t column = 0; column + 1 < yard->columns; column++) {
            cut_quad(yard, column, row);
        }
    }
    return MOTE_OK;
}

// Vertices of a file that are at one place are one vertex of the cloth; their texture coordinates stay with the
// corners.
static MoteResult weld_mesh(ClothYard *yard, const Mesh *mesh)
{
    uint32_t *groups = malloc(mesh->vertex_count * sizeof *groups), count = 0;
    MoteResult result = groups != NULL ? mesh_weld(mesh, groups, &count)
                                       : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for its mesh", yard->what);
    result = result == MOTE_OK ? yard_allocate(yard, count, mesh->triangle_count) : result;
    for (uint32_t v = 0; v < mesh->vertex_count && result == MOTE_OK; v++) {
        yard->positions[groups[v]] = mesh->positions[v];
    }
    for (uint32_t c = 0; c < 3 * mesh->triangle_count && result == MOTE_OK; c++) {
        const uint32_t v = mesh->triangles[c];
        const float *uv = mesh->uvs != NULL ? mesh->uvs + 2 * (size_t)v : (const float[]){0.0f, 0.0f};
        set_corner(yard, c, groups[v], uv[0], uv[1]);
    }
    free(groups);
    return result;
}

static MoteResult make_from_mesh(const MoteScene *scene, ClothYard *yard)
{
    const SceneCloth *cloth = yard->cloth;
    const MeshPlace place = {
        .reference = cloth->mesh, .scale = cloth->scale, .fit_height = cloth->fit_height, .anchor = cloth->anchor};
    Mesh mesh;
    MeshReport report;
    MoteResult result = scene_mesh_place(scene, &place, yard->what, &mesh);
    if (result != MOTE_OK) {
        return result;
    }
    result = mesh_report(&mesh, &report);
    if (result == MOTE_OK && report.non_manifold_edges > 0) {
        result = mote_fail(MOTE_ERROR_INPUT,
                           "%s.mesh: %s has %u edges with more than two triangles, expected a manifold mesh",
                           yard->what, cloth->mesh, report.non_manifold_edges);
    }
    result = result == MOTE_OK && !report.consistently_oriented ? mesh_orient(&mesh) : result;
    result = result == MOTE_OK ? weld_mesh(yard, &mesh) : result;
    mesh_free(&mesh);
    return result;
}

static void place_cloth(ClothYard *yard)
{
    const MoteQuaternion rotation = scene_rotation(yard->cloth->rotation);
    const MoteVec3 at = yard->cloth->position;
    for (uint32_t v = 0; v < yard->vertex_count; v++) {
        const MoteVec3 p = scene_rotate(rotation, yard->positions[v]);
        yard->positions[v] = (MoteVec3){p.x + at.x, p.y + at.y, p.z + at.z};
    }
}

// ---- Masses and pins ---------------------------------------------------------------------------------------

static MoteResult share_mass(ClothYard *yard)
{
    const SceneCloth *cloth = yard->cloth;
    const MoteResult result =
        mote_cloth_areas(yard->positions, yard->vertex_count, yard->triangles, yard->triangle_count, yard->masses);
    double area = 0.0;
    for (uint32_t v = 0; v < yard->vertex_count && result == MOTE_OK; v++) {
        area += (double)yard->masses[v];
    }
    const double density = cloth->mass > 0.0f ? (double)cloth->mass / area : (double)cloth->area_density;
    for (uint32_t v = 0; v < yard->vertex_count && result == MOTE_OK; v++) {
        yard->masses[v] = (float)(density * (double)yard->masses[v]);
    }
    return result;
}

// What part of a grid a word means: columns and rows from the first to the last.
typedef struct GridPart {
    const char *word;
    bool left, right, top, bottom; // edges that it is on: of opposite ones, either
} GridPart;

static bool is_in_part(const ClothYard *yard, const GridPart *part, uint32_t vertex)
{
    const uint32_t column = vertex % yard->columns, row = vertex / yard->columns;
    const bool sides = part->left || part->right, ends = part->top || part->bottom;
    const bool beside = (part->left && column == 0) || (part->right && column + 1 == yard->columns);
    const bool above = (part->top && row == 0) || (part->bottom && row + 1 == yard->rows);
    return (!sides || beside) && (!ends || above);
}

static const GridPart *find_part(const char *word)
{
    static const GridPart parts[] = {
        {"corners", true, true, true, true},        {"top_left", true, false, true, false},
        {"top_right", false, true, true, false},    {"bottom_left", true, false, false, true},
        {"bottom_right", false, true, false, true}, {"top", false, false, true, false},
        {"bottom", false, false, false, true},      {"left", true, false, false, false},
        {"right", false, true, false, false},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(parts[i].word, word) == 0) {
            return &parts[i];
        }
    }
    return NULL;
}

static MoteResult choose_word(const ClothYard *yard, const ClothChoice *choice, const char *word, bool *chosen)
{
    const GridPart *part = yard->columns > 0 ? find_part(word) : NULL;
    char *end = NULL;
    const unsigned long number = strtoul(word, &end, 10);
    if (part == NULL && (!isdigit((unsigned char)word[0]) || *end != '\0' || number >= yard->vertex_count)) {
        return mote_fail(MOTE_ERROR_INPUT, "%s.%s: found \"%s\", expected %snumbers of vertices below %u", choice->what,
                         choice->words_key, word,
                         yard->columns > 0 ? "corners, top_left, top_right, bottom_left, bottom_right, top, bottom, "
                                             "left, right or "
                                           : "",
                         yard->vertex_count);
    }
    if (part == NULL) {
        chosen[number] = true;
    }
    for (uint32_t v = 0; part != NULL && v < yard->vertex_count; v++) {
        chosen[v] = chosen[v] || is_in_part(yard, part, v);
    }
    return MOTE_OK;
}

static MoteResult choose_box(const ClothYard *yard, const ClothChoice *choice, bool *chosen)
{
    const MoteVec3 size = choice->size, at = choice->position;
    if (size.x <= 0.0f && size.y <= 0.0f && size.z <= 0.0f) {
        return MOTE_OK;
    }
    uint32_t found = 0;
    for (uint32_t v = 0; v < yard->vertex_count; v++) {
        const MoteVec3 p = yard->positions[v];
        if (2.0f * fabsf(p.x - at.x) <= size.x && 2.0f * fabsf(p.y - at.y) <= size.y &&
            2.0f * fabsf(p.z - at.z) <= size.z) {
            chosen[v] = true;
            found++;
        }
    }
    return found > 0 ? MOTE_OK
                     : mote_fail(MOTE_ERROR_INPUT, "%s.%s: found no vertex in the box around (%g, %g, %g)",
                                 choice->what, choice->box_key, (double)at.x, (double)at.y, (double)at.z);
}

MoteResult cloth_yard_choose(const ClothYard *yard, const ClothChoice *choice, bool *chosen)
{
    const char *list = choice->words;
    char word[SCENE_NAME_SIZE];
    MoteResult result = MOTE_OK;
    while (result == MOTE_OK && scene_next_name(&list, word)) {
        result = choose_word(yard, choice, word, chosen);
    }
    return result == MOTE_OK ? choose_box(yard, choice, chosen) : result;
}

static MoteResult set_pins(ClothYard *yard)
{
    const SceneCloth *cloth = yard->cloth;
    const ClothChoice choice = {yard->what, "pins", cloth->pins, "pin_size", cloth->pin_position, cloth->pin_size};
    bool *chosen = calloc(yard->vertex_count, sizeof *chosen);
    const MoteResult result = chosen != NULL ? cloth_yard_choose(yard, &choice, chosen)
                                             : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for pins", yard->what);
    for (uint32_t v = 0; v < yard->vertex_count && result == MOTE_OK; v++) {
        yard->masses[v] = chosen[v] ? 0.0f : yard->masses[v];
    }
    free(chosen);
    return result;
}

// ---- Into the world ----------------------------------------------------------------------------------------

static MoteResult add_particles(SceneStart *start, const ClothYard *yard, uint32_t *first_id)
{
    const SceneValues *values = &start->scene->values;
    const SceneMaterial *material = scene_material(values, yard->cloth->material);
    MoteVec3 *velocities = malloc(yard->vertex_count * sizeof *velocities);
    if (velocities == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for %u vertices", yard->what, yard->vertex_count);
    }
    for (uint32_t v = 0; v < yard->vertex_count; v++) {
        velocities[v] = yard->masses[v] > 0.0f ? yard->cloth->velocity : (MoteVec3){0.0f, 0.0f, 0.0f};
    }
    const MoteParticles particles = {
        .count = yard->vertex_count,
        .positions = yard->positions,
        .velocities = velocities,
        .masses = yard->masses,
        .phase = MOTE_PHASE(MOTE_KIND_CLOTH, scene_material_index(values, material) & MOTE_PHASE_GROUP_MASK),
    };
    const MoteResult result = mote_world_add_particles(start->world, &particles, first_id);
    free(velocities);
    return result;
}

static MoteResult add_mesh(SceneStart *start, const ClothYard *yard, uint32_t first_id)
{
    uint32_t *ids = malloc(yard->vertex_count * sizeof *ids);
    MoteParticleHandle *handles = malloc(yard->vertex_count * sizeof *handles);
    MoteVec3 *rests = malloc(yard->vertex_count * sizeof *rests);
    MoteResult result = ids != NULL && handles != NULL && rests != NULL
                            ? MOTE_OK
                            : mote_fail(MOTE_ERROR_MEMORY, "no memory for %u vertices", yard->vertex_count);
    for (uint32_t v = 0; v < yard->vertex_count && result == MOTE_OK; v++) {
        ids[v] = first_id + v;
        rests[v] = vec3_add_scaled(yard->cloth->position, vec3_sub(yard->positions[v], yard->cloth->position),
                                   yard->cloth->rest_scale);
    }
    result = result == MOTE_OK ? mote_world_make_handles(start->world, ids, yard->vertex_count, handles) : result;
    if (result == MOTE_OK) {
        const bool hinges = yard->cloth->bend_model == BEND_HINGES;
        const MoteCloth cloth = {
            .vertex_count = yard->vertex_count,
            .triangle_count = yard->triangle_count,
            .vertices = handles,
            .triangles = yard->triangles,
            .uvs = yard->uvs,
            .rest_positions = yard->cloth->rest_scale != 1.0f ? rests : yard->positions,
            .drag = yard->cloth->drag,
            .lift = yard->cloth->lift,
            .columns = yard->columns,
            .rows = yard->rows,
            .stretch_compliance = yard->cloth->stretch_compliance,
            .shear_compliance = yard->cloth->shear_compliance,
            .bend_compliance = hinges ? INFINITY : yard->cloth->bend_compliance,
            .damping = yard->cloth->damping,
            .tethers = yard->cloth->tethers,
            .thickness = yard->cloth->contact_thickness,
            .inflation = (MoteInflation)yard->cloth->inflation,
            .pressure = scene_cloth_pressure(yard->cloth),
            .volume_compliance = yard->cloth->volume_compliance,
            .atmosphere = yard->cloth->atmosphere,
            .leak = yard->cloth->leak,
            .bend_stiffness = hinges ? yard->cloth->bend_stiffness : 0.0f,
            .crease_yield = yard->cloth->crease_yield * 3.14159265f / 180.0f,
            .crease_creep = yard->cloth->crease_creep,
            .tear_stretch = yard->cloth->tear_stretch,
            .tear_variation = yard->cloth->tear_variation,
            .tear_splits = yard->cloth->tear_splits,
            .tear_room = yard->cloth->tear_room,
            .contacts = (MoteClothContacts)yard->cloth->contacts,
        };
        result = mote_world_add_cloth(start->world, &cloth, NULL);
    }
    free(ids);
    free(handles);
    free(rests);
    return result;
}

static MoteResult add_cloth(SceneStart *start, uint32_t element)
{
    ClothYard yard = {.cloth = SCENE_AT(&start->scene->values, cloth, element)};
    snprintf(yard.what, sizeof yard.what, "%s: cloths[%u]", start->scene->path, element);
    MoteResult result = yard.cloth->mesh[0] != '\0' ? make_from_mesh(start->scene, &yard) : make_grid(&yard);
    result = result == MOTE_OK ? share_mass(&yard) : result;
    uint32_t first_id = 0;
    if (result == MOTE_OK) {
        place_cloth(&yard);
        result = set_pins(&yard);
        result = result == MOTE_OK ? attachments_pin(start, &yard, element) : result;
    }
    if (result == MOTE_OK) {
        result = add_particles(start, &yard, &first_id);
        result = result == MOTE_OK ? add_mesh(start, &yard, first_id) : result;
        result = result == MOTE_OK ? MOTE_OK : mote_fail(result, "%s: %s", yard.what, mote_error_message());
    }
    result = result == MOTE_OK ? scene_start_source(start, SCENE_SECTION_cloth, element, 0, first_id, yard.positions,
                                                    yard.vertex_count)
                               : result;
    result = result == MOTE_OK ? attachments_add(start, &yard, element, first_id) : result;
    yard_free(&yard);
    return result;
}

MoteResult scene_build_cloth(SceneStart *start)
{
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < SCENE_COUNT(&start->scene->values, cloth) && result == MOTE_OK; i++) {
        result = add_cloth(start, i);
    }
    return result;
}

void scene_check_cloth(SceneReader *reader, uint32_t i)
{
    const ScenePath parent = scene_element_path(reader, SCENE_SECTION_cloth, i);
    if (!reader->values_are_right) {
        return;
    }
    if (SCENE_AT(&reader->scene->values, solver, 0)->dimensions == 2) {
        scene_report(reader, &parent, SCENE_AT_VALUE, "found cloth, expected none in 2D: solver.dimensions is 2");
    }
    if (SCENE_AT(&reader->scene->values, cloth, i)->mesh[0] == '\0') {
        scene_check_positive(reader, SCENE_SECTION_cloth, i, "size", 3, "a grid");
    }
    const float stretch = SCENE_AT(&reader->scene->values, cloth, i)->tear_stretch;
    if (stretch > 0.0f && stretch <= 1.0f) {
        const ScenePath path = path_to_key(&parent, "tear_stretch");
        scene_report(reader, &path, SCENE_AT_VALUE, "found %g, expected more than 1, or 0 for cloth that never tears",
                     (double)stretch);
    }
}
