// SPDX-License-Identifier: MIT
// cloth.c - cloth: checks meshes, fills the tables of vertices and triangles that kernels and renderers read, and adds
// the links, which are springs (springs.c).
#include "mote_cloth.h"

#include "base/error.h"
#include "solver/cloth_parts.h"
#include "solver/cloth_tearing.h"
#include "solver/cloth_tethers.h"
#include "solver/cloth_topology.h"
#include "solver/particle_copy.h"
#include "solver/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

MoteCloth mote_default_cloth(void)
{
    return (MoteCloth){.bend_compliance = 1e-3f,
                       .drag = 1.2f,
                       .lift = 0.6f,
                       .pressure = 1.0f,
                       .atmosphere = 101325.0f,
                       .crease_creep = 100.0f,
                       .tear_splits = 64};
}

uint32_t mote_world_cloth_count(const MoteWorld *world)
{
    return world->view.cloth_count;
}

MoteResult mote_world_cloth_info(const MoteWorld *world, uint32_t index, MoteClothInfo *out)
{
    if (index >= world->view.cloth_count) {
        return mote_fail(MOTE_ERROR_INPUT, "cloth %u is not in the world, expected one below %u", index,
                         world->view.cloth_count);
    }
    *out = world->cloths[index].info;
    if (out->split_room > 0) {
        uint counts[TEAR_COUNT_WORDS];
        world->backend->functions->download(world->backend, counts,
                                            world->view.tear_counts + TEAR_COUNT_WORDS * (size_t)index, sizeof counts);
        out->splits = counts[TEAR_USED];
        out->splits_refused = counts[TEAR_REFUSED];
        out->vertices += out->splits;
    }
    return world_check_backend(world);
}

MoteResult mote_world_read_cloth(MoteWorld *world, uint32_t index, MoteParticleHandle *vertices, uint32_t *triangles)
{
    MoteClothInfo info;
    const MoteResult result = mote_world_cloth_info(world, index, &info);
    if (result != MOTE_OK) {
        return result;
    }
    const WorldCloth *cloth = &world->cloths[index];
    const BackendFunctions *functions = world->backend->functions;
    if (vertices != NULL) {
        functions->download(world->backend, vertices, world->view.cloth_handles + cloth->first_vertex,
                            info.vertices * sizeof *vertices);
        for (uint32_t v = 0; v < info.vertices; v++) {
            vertices[v].value += 1; // a public handle
        }
    }
    const size_t corners = triangles != NULL ? 3 * (size_t)info.triangles : 0;
    if (corners > 0) {
        functions->download(world->backend, triangles, world->view.cloth_corners + 3 * (size_t)cloth->first_triangle,
                            corners * sizeof *triangles);
    }
    for (size_t c = 0; c < corners; c++) {
        triangles[c] = triangles[c] != NONE ? triangles[c] - cloth->first_vertex : MOTE_NONE;
    }
    return world_check_backend(world);
}

MoteResult mote_world_read_cloth_uvs(MoteWorld *world, uint32_t index, float *uvs)
{
    MoteClothInfo info;
    const MoteResult result = mote_world_cloth_info(world, index, &info);
    if (result != MOTE_OK) {
        return result;
    }
    world->backend->functions->download(world->backend, uvs,
                                        world->view.cloth_uvs + 6 * (size_t)world->cloths[index].first_triangle,
                                        6 * (size_t)info.triangles * sizeof *uvs);
    return world_check_backend(world);
}

void world_free_cloths(MoteWorld *world)
{
    for (uint32_t c = 0; world->cloths != NULL && c < world->view.cloth_count; c++) {
        free(world->cloths[c].seams);
        free(world->cloths[c].seam_handles);
    }
    free(world->cloths);
}

// ---- Areas -------------------------------------------------------------------------------------------------

static double triangle_area(const MoteVec3 *positions, const uint32_t *corners)
{
    const MoteVec3 a = positions[corners[0]], b = positions[corners[1]], c = positions[corners[2]];
    const double ux = (double)b.x - a.x, uy = (double)b.y - a.y, uz = (double)b.z - a.z;
    const double vx = (double)c.x - a.x, vy = (double)c.y - a.y, vz = (double)c.z - a.z;
    const double x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    return 0.5 * sqrt(x * x + y * y + z * z);
}

MoteResult mote_cloth_areas(const MoteVec3 *positions, uint32_t vertex_count, const uint32_t *triangles,
                            uint32_t triangle_count, float *areas)
{
    double *sums = calloc((size_t)vertex_count + 1, sizeof *sums);
    if (sums == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the areas of %u vertices", vertex_count);
    }
    MoteResult result = MOTE_OK;
    for (uint32_t t = 0; t < triangle_count && result == MOTE_OK; t++) {
        const uint32_t *corners = triangles + 3 * (size_t)t;
        if (corners[0] >= vertex_count || corners[1] >= vertex_count || corners[2] >= vertex_count) {
            result = mote_fail(MOTE_ERROR_INPUT, "triangle %u has a vertex that is not below %u", t, vertex_count);
        }
        const double third = result == MOTE_OK ? triangle_area(positions, corners) / 3.0 : 0.0;
        for (uint32_t c = 0; c < 3 && result == MOTE_OK; c++) {
            sums[corners[c]] += third;
        }
    }
    for (uint32_t v = 0; v < vertex_count; v++) {
        areas[v] = (float)sums[v];
    }
    free(sums);
    return result;
}

// ---- Checks ------------------------------------------------------------------------------------------------

// A cloth on its way into the world.
typedef struct NewCloth {
    const MoteCloth *cloth;
    uint32_t *handles; // as kernels have them, a vertex
    bool *pinned;      // a vertex
    uint32_t *pins;    // 2 a vertex: vertices that it is tethered to, or MOTE_NONE
    float *lengths;    // m, of these tethers
    MoteVec3 *rest;    // m, a vertex
    float *masses;     // kg, a vertex; 0 of a pin
    ClothTopology topology;
    ClothLinks links;
    MoteSpring *springs;
    MoteClothInfo info;
    WorldCloth record; // its pressure
    ClothHinges hinges;
    uint32_t room, rows;         // copies of vertices there is room for; all its rows
    ClothSeams seams;            // of a cloth that tears,
    uint32_t *anchors;           // as link_anchors has them, SEAM_CORNERS a spring,
    uint32_t *ends;              // handles as kernels have them, 2 a spring,
    uint32_t seam_count, nobody; // springs; a handle that is nobody's
} NewCloth;

static void new_cloth_free(NewCloth *new)
{
    free(new->handles);
    free(new->rest);
    free(new->masses);
    free(new->pinned);
    free(new->pins);
    free(new->lengths);
    free(new->springs);
    free(new->anchors);
    free(new->ends);
    cloth_seams_free(&new->seams);
    cloth_topology_free(&new->topology);
    cloth_links_free(&new->links);
    cloth_hinges_free(&new->hinges);
}

static MoteResult check_numbers(const MoteWorld *world, const MoteCloth *cloth)
{
    const float numbers[] = {cloth->stretch_compliance, cloth->shear_compliance, cloth->bend_compliance};
    for (int i = 0; i < 3; i++) {
        if (!(numbers[i] >= 0.0f) || (numbers[i] > 0.0f && isinf(1.0f / numbers[i]))) {
            return mote_fail(MOTE_ERROR_INPUT, "the cloth has a compliance of %g m/N, expected 0 or more",
                             (double)numbers[i]);
        }
    }
    if (!(cloth->drag >= 0.0f) || !(cloth->lift >= 0.0f) || !isfinite(cloth->drag) || !isfinite(cloth->lift)) {
        return mote_fail(MOTE_ERROR_INPUT, "the cloth has drag %g and lift %g, expected numbers not below 0",
                         (double)cloth->drag, (double)cloth->lift);
    }
    const float h = world->settings.spacing * world->settings.smoothing_radius_ratio;
    if (!(cloth->thickness >= 0.0f) || cloth->thickness > h) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "the cloth has a thickness of %g m, expected 0 to the smoothing radius, which is %g m",
                         (double)cloth->thickness, (double)h);
    }
    if ((uint32_t)cloth->contacts > MOTE_CLOTH_CONTACTS_ALL) {
        return mote_fail(MOTE_ERROR_INPUT, "the cloth has contacts of kind %u, expected MOTE_CLOTH_CONTACTS_*",
                         (uint32_t)cloth->contacts);
    }
    if (cloth->tethers > 2) {
        return mote_fail(MOTE_ERROR_INPUT, "the cloth has %u tethers a vertex, expected at most 2", cloth->tethers);
    }
    const MoteResult tearing = cloth_check_tearing(cloth);
    if (tearing != MOTE_OK) {
        return tearing;
    }
    if (!isfinite(cloth->damping) || cloth->damping < 0.0f) {
        return mote_fail(MOTE_ERROR_INPUT, "the cloth has a damping of %g N s/m, expected a number not below 0",
                         (double)cloth->damping);
    }
    if (cloth->vertex_count < 3 || cloth->triangle_count == 0 || cloth->vertices == NULL || cloth->triangles == NULL) {
        return mote_fail(MOTE_ERROR_INPUT, "the cloth has %u vertices and %u triangles, expected a triangle at least",
                         cloth->vertex_count, cloth->triangle_count);
    }
    if ((uint64_t)cloth->columns * cloth->rows != (cloth->columns + cloth->rows > 0 ? cloth->vertex_count : 0)) {
        return mote_fail(MOTE_ERROR_INPUT, "the cloth is a grid of %u columns and %u rows, but has %u vertices",
                         cloth->columns, cloth->rows, cloth->vertex_count);
    }
    if ((uint64_t)world->view.cloth_vertex_count + cloth->vertex_count + cloth_tear_room(cloth) > UINT32_MAX / 8 ||
        (uint64_t)world->view.cloth_triangle_count + cloth->triangle_count > UINT32_MAX / 8) {
        return mote_fail(MOTE_ERROR_INPUT, "cloth of more than 2^29 vertices or triangles");
    }
    if (world->settings.dimensions != 3) {
        return mote_fail(MOTE_ERROR_INPUT, "cloth in a world of 2 dimensions, expected 3");
    }
    return MOTE_OK;
}

// The particles' handles, each of a cloth vertex and of no other one.
static MoteResult find_handles(MoteWorld *world, NewCloth *new, bool *taken)
{
    const MoteCloth *cloth = new->cloth;
    const uint32_t before = world->view.cloth_vertex_count;
    uint32_t *others = malloc(before * sizeof *others + 1);
    if (others == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a cloth of %u vertices", cloth->vertex_count);
    }
    if (before > 0) {
        world->backend->functions->download(world->backend, others, world->view.cloth_handles, before * sizeof *others);
    }
    for (uint32_t v = 0; v < before; v++) {
        taken[world_handle_row(world, others[v])] = true;
    }
    free(others);
    MoteResult result = MOTE_OK;
    for (uint32_t v = 0; v < cloth->vertex_count && result == MOTE_OK; v++) {
        result = world_check_handle(world, cloth->vertices[v], &new->handles[v]);
        bool *row = result == MOTE_OK ? &taken[world_handle_row(world, new->handles[v])] : NULL;
        if (result != MOTE_OK) {
            result = mote_fail(result, "vertex %u of the cloth: %s", v, mote_error_message());
        } else if (*row) {
            result = mote_fail(MOTE_ERROR_INPUT, "vertex %u of the cloth is a particle that is one already", v);
        } else {
            *row = true;
        }
    }
    return result;
}

// Where the particles are, which must be of the right kind.
static MoteResult find_particles(MoteWorld *world, NewCloth *new, const uint32_t *slots)
{
    MoteParticleView host;
    MoteResult result = particle_copy_read(world, COPY_POSITIONS | COPY_PHASES, &host);
    for (uint32_t v = 0; v < new->cloth->vertex_count &&result == MOTE_OK; v++) {
        const uint32_t slot = slots[world_handle_row(world, new->handles[v])];
        if (slot >= host.count) {
            result = mote_fail(MOTE_ERROR_INPUT, "vertex %u of the cloth is a particle that was removed", v);
        } else if (mote_phase_kind(host.phases[slot]) != MOTE_KIND_CLOTH) {
            result =
                mote_fail(MOTE_ERROR_INPUT, "vertex %u of the cloth is a particle of kind %u, expected MOTE_KIND_CLOTH",
                          v, (uint32_t)mote_phase_kind(host.phases[slot]));
        } else {
            const float *p = host.positions + 4 * (size_t)slot;
            new->rest[v] = (MoteVec3){p[0], p[1], p[2]};
            new->masses[v] = p[3] > 0.0f ? 1.0f / p[3] : 0.0f;
            new->pinned[v] = p[3] <= 0.0f;
        }
    }
    particle_copy_free(&host);
    if (result == MOTE_OK && new->cloth->rest_positions != NULL) {
        memcpy(new->rest, new->cloth->rest_positions, new->cloth->vertex_count * sizeof *new->rest);
    }
    return result;
}

static MoteResult check_areas(const NewCloth *new)
{
    const MoteCloth *cloth = new->cloth;
    for (uint32_t t = 0; t < cloth->triangle_count; t++) {
        const double area = triangle_area(new->rest, cloth->triangles + 3 * (size_t)t);
        if (!(area > 0.0) || !isfinite(area)) {
            return mote_fail(MOTE_ERROR_INPUT, "triangle %u of the cloth has an area of %g m^2 at rest, expected more",
                             t, area);
        }
    }
    for (size_t k = 0; cloth->uvs != NULL && k < 6 * (size_t)cloth->triangle_count; k++) {
        if (!isfinite(cloth->uvs[k])) {
            return mote_fail(MOTE_ERROR_INPUT, "triangle %zu of the cloth has a uv that is not finite", k / 6);
        }
    }
    return MOTE_OK;
}

static MoteResult new_cloth_make(MoteWorld *world, const MoteCloth *cloth, NewCloth *new)
{
    *new = (NewCloth){.cloth = cloth};
    MoteResult result = check_numbers(world, cloth);
    if (result != MOTE_OK) {
        return result;
    }
    new->room = cloth_tear_room(cloth);
    new->rows = cloth->vertex_count + new->room;
    const size_t vertices = cloth->vertex_count, handles = world->view.handle_count;
    bool *taken = calloc(handles + 1, sizeof *taken);
    uint32_t *slots = malloc(handles * sizeof *slots + 1);
    new->handles = malloc((size_t) new->rows * sizeof *new->handles);
    new->rest = malloc(vertices * sizeof *new->rest);
    new->masses = malloc(vertices * sizeof *new->masses);
    new->pinned = calloc(vertices, sizeof *new->pinned);
    new->pins = malloc(2 * (size_t) new->rows * sizeof *new->pins);
    new->lengths = calloc(2 * (size_t) new->rows, sizeof *new->lengths);
    if (taken == NULL || slots == NULL || new->handles == NULL || new->rest == NULL || new->masses == NULL ||
        new->pinned == NULL || new->pins == NULL || new->lengths == NULL) {
        result = mote_fail(MOTE_ERROR_MEMORY, "no memory for a cloth of %u vertices", cloth->vertex_count);
    }
    result = result == MOTE_OK ? find_handles(world, new, taken) : result;
    result = result == MOTE_OK ? world_read_slots(world, slots) : result;
    result = result == MOTE_OK ? find_particles(world, new, slots) : result;
    result = result == MOTE_OK ? cloth_topology_make(cloth, &new->topology) : result;
    result = result == MOTE_OK ? check_areas(new) : result;
    result = result == MOTE_OK ? cloth_links_make(cloth, &new->topology, &new->links) : result;
    result = result == MOTE_OK ? cloth_pressure_check(cloth, &new->topology, new->rest, &new->record) : result;
    result = result == MOTE_OK ? cloth_hinges_make(world, cloth, &new->topology, new->rest, &new->hinges) : result;
    const ClothTethers tethers = {new->pinned, new->rest, cloth->vertex_count, cloth->tethers, new->pins, new->lengths};
    result = result == MOTE_OK ? cloth_tethers_make(&new->links, &tethers, &new->info.tethers) : result;
    result = result == MOTE_OK ? cloth_seams_make(cloth, &new->topology, &new->links, &new->seams) : result;
    free(taken);
    free(slots);
    return result;
}

// ---- Links -------------------------------------------------------------------------------------------------

static float distance_between(MoteVec3 a, MoteVec3 b)
{
    const double x = (double)a.x - b.x, y = (double)a.y - b.y, z = (double)a.z - b.z;
    return (float)sqrt(x * x + y * y + z * z);
}

// Springs of cloth that tears are attached to corners of the triangles that the world has.
static void attach_spring(NewCloth *new, const uint32_t *seam, uint32_t at, uint32_t first_corner)
{
    if (new->cloth->tear_stretch <= 0.0f) {
        return;
    }
    for (uint32_t k = 0; k < SEAM_CORNERS; k++) {
        new->anchors[SEAM_CORNERS * (size_t)at + k] = seam[k] != MOTE_NONE ? seam[k] + first_corner : MOTE_NONE;
    }
    for (uint32_t k = 0; k < 2; k++) {
        new->ends[2 * (size_t)at + k] = new->springs[at].ends[k].value - 1; // a public handle is one more
    }
    new->seam_count = at + 1;
}

// Springs for `count` links from `first` on; none where the compliance is infinite. Returns how many.
static uint32_t make_springs(NewCloth *new, uint32_t first, uint32_t count, float compliance, uint32_t at,
                             uint32_t first_corner)
{
    if (isinf(compliance)) {
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *ends = new->links.ends + 2 * (size_t)(first + i);
        new->springs[at + i] = (MoteSpring){
            .ends = {new->cloth->vertices[ends[0]], new->cloth->vertices[ends[1]]},
            .rest_length = distance_between(new->rest[ends[0]], new->rest[ends[1]]),
            .stiffness = compliance > 0.0f ? 1.0f / compliance : INFINITY,
            .damping = compliance > 0.0f ? new->cloth->damping : 0.0f,
        };
        attach_spring(new, new->seams.links + SEAM_CORNERS *(size_t)(first + i), at + i, first_corner);
    }
    return count;
}

// Of cloth that tears: springs for the second sides of edges, like those of the first.
static uint32_t make_twins(NewCloth *new, uint32_t at, uint32_t first_corner)
{
    const MoteClothInfo *info = &new->info;
    const uint32_t stretch = new->links.stretch;
    const uint32_t before = at;
    for (uint32_t t = 0; t < new->seams.twin_count; t++) {
        const uint32_t link = new->seams.twinned[t];
        const bool against_shear = link >= stretch;
        if ((against_shear ? info->shear_springs : info->stretch_springs) > 0) { // or their compliance is infinite
            const uint32_t like = against_shear ? info->stretch_springs + link - stretch : link;
            new->springs[at] = new->springs[like];
            attach_spring(new, new->seams.twins + SEAM_CORNERS *(size_t)t, at++, first_corner);
        }
    }
    return at - before;
}

static MoteResult list_springs(MoteWorld *world, NewCloth *new)
{
    const ClothLinks *links = &new->links;
    const MoteCloth *cloth = new->cloth;
    const size_t most = (size_t)links->stretch + links->shear + links->bend + new->seams.twin_count;
    const size_t seams = cloth->tear_stretch > 0.0f ? most : 0;
    new->springs = malloc(most * sizeof *new->springs + 1);
    new->anchors = malloc(SEAM_CORNERS * seams * sizeof *new->anchors + 1);
    new->ends = malloc(2 * seams * sizeof *new->ends + 1);
    if (new->springs == NULL || new->anchors == NULL || new->ends == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the links of a cloth");
    }
    MoteClothInfo *info = &new->info;
    *info = (MoteClothInfo){.tethers = info->tethers,
                            .vertices = cloth->vertex_count,
                            .triangles = cloth->triangle_count,
                            .edges = new->topology.edge_count,
                            .split_room = new->room,
                            .first_spring = world->view.link_count};
    const uint32_t corner = 3 * world->view.cloth_triangle_count;
    info->stretch_springs = make_springs(new, 0, links->stretch, cloth->stretch_compliance, 0, corner);
    uint32_t made = info->stretch_springs;
    made += info->shear_springs =
        make_springs(new, links->stretch, links->shear, cloth->shear_compliance, made, corner);
    made += info->bend_springs =
        make_springs(new, links->stretch + links->shear, links->bend, cloth->bend_compliance, made, corner);
    info->seam_springs = make_twins(new, made, corner);
    return MOTE_OK;
}

// ---- Tables ------------------------------------------------------------------------------------------------

// Tethers of the new vertices, and none for those of cloths before, if they had none.
static MoteResult add_tethers(MoteWorld *world, const NewCloth *new)
{
    SolverData *view = &world->view;
    const bool had = view->has_tethers != 0u;
    if (new->info.tethers == 0 && !had) {
        return MOTE_OK;
    }
    if (new->cloth->tear_stretch > 0.0f) {
        cloth_drop_loose_tethers(new->cloth, new->pinned, new->pins, new->lengths);
    }
    const uint64_t before = 2 * (uint64_t)view->cloth_vertex_count, added = 2 * (uint64_t) new->rows;
    uint32_t *handles = malloc((before + added) * sizeof *handles);
    MoteResult result = handles != NULL ? world_reserve(world, CAPACITY_TETHERS, before + added, had ? before : 0)
                                        : mote_fail(MOTE_ERROR_MEMORY, "no memory for the tethers of a cloth");
    if (result == MOTE_OK) {
        Backend *backend = world->backend;
        memset(handles, 0xff, (before + added) * sizeof *handles);
        for (uint64_t t = 0; t < 2 * (uint64_t) new->cloth->vertex_count; t++) {
            handles[before + t] = new->pins[t] != MOTE_NONE ? new->handles[new->pins[t]] : NONE;
        }
        const uint64_t first = had ? before : 0;
        backend->functions->upload(backend, view->tether_handles + first, handles + first,
                                   (before + added - first) * sizeof *handles);
        backend->functions->upload(backend, view->tether_lengths + before, new->lengths, added * sizeof *new->lengths);
        view->has_tethers = 1;
    }
    free(handles);
    return result;
}

// How the cloth touches others: TOUCH_*.
static uint32_t touches_of(const MoteWorld *world, const NewCloth *new)
{
    const MoteCloth *cloth = new->cloth;
    if (cloth->contacts != MOTE_CLOTH_CONTACTS_AUTO) {
        return cloth->contacts == MOTE_CLOTH_CONTACTS_ALL         ? TOUCH_ALL
               : cloth->contacts == MOTE_CLOTH_CONTACTS_TRIANGLES ? TOUCH_OTHERS
                                                                  : TOUCH_BY_VERTICES;
    }
    const float contact = world->settings.solid_distance * world->settings.spacing;
    const float kept = cloth->thickness > 0.0f ? cloth->thickness : contact;
    float longest = 0.0f;
    for (size_t c = 0; c < 3 * (size_t)cloth->triangle_count; c++) {
        const size_t next = c % 3 == 2 ? c - 2 : c + 1;
        longest = fmaxf(longest, distance_between(new->rest[cloth->triangles[c]], new->rest[cloth->triangles[next]]));
    }
    return longest > 1.5f * kept ? TOUCH_OTHERS : TOUCH_BY_VERTICES; // diagonals of squares that are as wide
}

// The modes of all cloths, of the new one too, once one of them has contacts by triangles.
static MoteResult add_touches(MoteWorld *world, const NewCloth *new, uint32_t mode)
{
    const uint32_t count = world->view.cloth_count + 1;
    const bool had = world->has_touches;
    if (!had && mode == TOUCH_BY_VERTICES) {
        return MOTE_OK;
    }
    const uint64_t vertices = (uint64_t)world->view.cloth_vertex_count + new->rows;
    const uint64_t triangles = (uint64_t)world->view.cloth_triangle_count + new->cloth->triangle_count;
    uint32_t *modes = malloc(count * sizeof *modes);
    MoteResult result = modes != NULL ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "no memory for a cloth");
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_TOUCH_CLOTHS, count, 0) : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_TOUCH_BOUNDS, 2, 0) : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_TOUCH_VERTICES, vertices, 0) : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_TOUCH_TRIANGLES, triangles + 1, 0) : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_TOUCH_CORNERS, 3 * triangles, 0) : result;
    if (result == MOTE_OK) {
        for (uint32_t c = 0; c < count; c++) {
            modes[c] = c + 1 == count ? mode : world->cloths[c].touches;
        }
        world->backend->functions->upload(world->backend, world->view.touch_modes, modes, count * sizeof *modes);
        world->has_touches = true;
        result = world_reserve_particles(world, world->capacities[CAPACITY_PARTICLES]);
        world->has_touches = result == MOTE_OK || had;
    }
    free(modes);
    return result;
}

static MoteResult reserve_tables(MoteWorld *world, const NewCloth *new)
{
    const SolverData *view = &world->view;
    const uint64_t vertices = view->cloth_vertex_count, triangles = view->cloth_triangle_count;
    const uint64_t v = vertices + new->rows, t = triangles + new->cloth->triangle_count;
    MoteResult result = world_reserve(world, CAPACITY_CLOTH_VERTICES, v, vertices);
    const uint64_t cloths = view->cloth_count;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_CLOTHS, cloths + 1, cloths) : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_CLOTH_VERTICES_AND_ONE, v + 1, vertices) : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_CLOTH_TRIANGLES, t, triangles) : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_CLOTH_CORNERS, 3 * t, 3 * triangles) : result;
    return result == MOTE_OK ? world_reserve(world, CAPACITY_CLOTH_UVS, 6 * t, 6 * triangles) : result;
}

// Arrays over particles that worlds with cloth have.
static MoteResult reserve_slots(MoteWorld *world, const NewCloth *new)
{
    const uint32_t before = world->view.cloth_vertex_count;
    world->view.cloth_vertex_count = before + new->rows;
    const MoteResult result = world_reserve_particles(world, world->capacities[CAPACITY_PARTICLES]);
    world->view.cloth_vertex_count = before;
    return result;
}

// Mass (kg) per area (m^2) of the vertices that are not pinned.
static MoteResult area_mass(const NewCloth *new, float *out)
{
    const MoteCloth *cloth = new->cloth;
    float *areas = malloc(cloth->vertex_count * sizeof *areas);
    MoteResult result =
        areas != NULL ? mote_cloth_areas(new->rest, cloth->vertex_count, cloth->triangles, cloth->triangle_count, areas)
                      : mote_fail(MOTE_ERROR_MEMORY, "no memory for a cloth");
    double mass = 0.0, area = 0.0;
    for (uint32_t v = 0; v < cloth->vertex_count && result == MOTE_OK; v++) {
        mass += (double)new->masses[v];
        area += new->masses[v] > 0.0f ? (double)areas[v] : 0.0;
    }
    *out = mass > 0.0 && area > 0.0 ? (float)(mass / area) : 1.0f; // where all is pinned it does not matter
    free(areas);
    return result;
}

// A copy of `count` numbers with `offset` added to each.
static uint32_t *shifted(const uint32_t *numbers, size_t count, uint32_t offset)
{
    uint32_t *copy = malloc(count * sizeof *copy + 1);
    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i] = numbers[i] + offset;
    }
    return copy;
}

// What is behind the rows of the cloths before.
static MoteResult upload_tables(MoteWorld *world, const NewCloth *new, float per_area)
{
    const SolverData *view = &world->view;
    const MoteCloth *cloth = new->cloth;
    const uint32_t vertex = view->cloth_vertex_count, triangle = view->cloth_triangle_count;
    const size_t triangles = cloth->triangle_count, corners = 3 * triangles;
    uint32_t *rows = shifted(cloth->triangles, corners, vertex);
    uint32_t *fans = shifted(new->topology.fans, corners, 3 * triangle);
    uint32_t *starts = shifted(new->topology.fan_starts, (size_t)cloth->vertex_count + 1, 3 * triangle);
    uint32_t *spare_starts = malloc(new->room * sizeof *spare_starts + 1); // empty rows for copies
    uint32_t *owners = malloc(triangles * sizeof *owners);
    float *uvs = calloc(6 * triangles, sizeof *uvs);
    uint32_t *of_vertices = malloc(new->rows * sizeof *of_vertices);
    vec4 *rests = calloc(new->rows, sizeof *rests);
    const bool complete = rows != NULL && fans != NULL && starts != NULL && spare_starts != NULL && owners != NULL &&
                          uvs != NULL && of_vertices != NULL && rests != NULL;
    if (complete) {
        Backend *backend = world->backend;
        void (*const upload)(Backend *, void *, const void *, size_t) = backend->functions->upload;
        for (size_t t = 0; t < triangles; t++) {
            owners[t] = view->cloth_count;
        }
        if (cloth->uvs != NULL) {
            memcpy(uvs, cloth->uvs, 6 * triangles * sizeof *uvs);
        }
        for (size_t v = 0; v < new->rows; v++) {
            of_vertices[v] = view->cloth_count;
        }
        for (size_t v = 0; v < new->room; v++) {
            spare_starts[v] = 3 * triangle + (uint32_t)corners;
        }
        for (size_t v = 0; v < cloth->vertex_count; v++) {
            rests[v] = v4(new->rest[v].x, new->rest[v].y, new->rest[v].z, 0.0f);
        }
        upload(backend, view->cloth_of_vertices + vertex, of_vertices, new->rows * sizeof *of_vertices);
        upload(backend, view->cloth_rests + vertex, rests, new->rows * sizeof *rests);
        const vec4 law = v4(cloth->drag, cloth->lift, per_area, cloth->thickness);
        upload(backend, view->cloth_laws + view->cloth_count, &law, sizeof law);
        upload(backend, view->cloth_handles + vertex, new->handles, new->rows * sizeof *new->handles);
        upload(backend, view->cloth_corners + 3 * (size_t)triangle, rows, corners * sizeof *rows);
        upload(backend, view->cloth_fans + 3 * (size_t)triangle, fans, corners * sizeof *fans);
        upload(backend, view->cloth_fan_starts + vertex, starts, ((size_t)cloth->vertex_count + 1) * sizeof *starts);
        upload(backend, view->cloth_fan_starts + vertex + cloth->vertex_count + 1, spare_starts,
               new->room * sizeof *spare_starts);
        upload(backend, view->cloth_of_triangles + triangle, owners, triangles * sizeof *owners);
        upload(backend, view->cloth_uvs + 6 * (size_t)triangle, uvs, 6 * triangles * sizeof *uvs);
    }
    free(rows);
    free(fans);
    free(starts);
    free(spare_starts);
    free(owners);
    free(uvs);
    free(of_vertices);
    free(rests);
    return complete ? world_check_backend(world) : mote_fail(MOTE_ERROR_MEMORY, "no memory for a cloth");
}

// Handles for copies of vertices, and one that is nobody's; and tables, also where only a cloth before tears.
static MoteResult add_tearing(MoteWorld *world, NewCloth *new, uint32_t springs)
{
    const bool tears = new->cloth->tear_stretch > 0.0f, first = world->view.tears == 0u;
    const TearTables tables = {.cloth = new->cloth, .room = new->room, .first = first};
    uint32_t spare = 0;
    if (!tears && first) {
        return MOTE_OK;
    }
    MoteResult result = world_make_spare_handles(world, new->room + (first ? 1 : 0), &spare);
    for (uint32_t k = 0; k < new->room &&result == MOTE_OK; k++) {
        new->handles[new->cloth->vertex_count + k] = spare + k;
    }
    new->nobody = first ? spare + new->room : world->view.tear_nobody;
    result = result == MOTE_OK ? world_reserve_tearing(world, &tables, world->view.link_count + springs) : result;
    return result == MOTE_OK ? world_fill_tearing(world, &tables) : result;
}

// The cloth is in all tables: from now on they have it.
static MoteResult count_cloth(MoteWorld *world, NewCloth *new, float gap)
{
    SolverData *view = &world->view;
    const bool tears = new->cloth->tear_stretch > 0.0f;
    world->cloths[view->cloth_count] = (WorldCloth){
        .info = new->info,
        .first_vertex = view->cloth_vertex_count,
        .first_triangle = view->cloth_triangle_count,
        .thickness = new->cloth->thickness,
        .rest_gap = tears ? 0.0f : gap, // copies of a vertex are at one place at rest
        .pressure_input = new->record.pressure_input,
        .seam_count = new->seam_count,
        .seams = new->anchors,
        .seam_handles = new->ends,
    };
    memcpy(world->cloths[view->cloth_count].pressure_law, new->record.pressure_law, sizeof new->record.pressure_law);
    new->anchors = new->ends = NULL;
    view->cloth_count++;
    view->cloth_vertex_count += new->rows;
    view->cloth_triangle_count += new->cloth->triangle_count;
    view->cloth_corner_count = 3 * view->cloth_triangle_count;
    cloth_hinges_add(world, &new->hinges);
    cloth_pressure_add(world);
    if (tears) {
        const float lightest = cloth_torn_inverse_mass(new->cloth, &new->topology, new->rest, new->masses);
        world->torn_inverse_mass = fmaxf(world->torn_inverse_mass, lightest);
        world_tally_mass(&world->tally, lightest, MOTE_PHASE(MOTE_KIND_CLOTH, 0));
        view->tears = 1;
        view->tear_nobody = new->nobody;
    }
    return world_anchor_links(world);
}

// What is uploaded behind the tables' ends does not count before the counts do.
static MoteResult add_tables(MoteWorld *world, NewCloth *new)
{
    const uint32_t index = world->view.cloth_count;
    WorldCloth *grown = realloc(world->cloths, ((size_t)index + 1) * sizeof *grown);
    if (grown == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a cloth");
    }
    world->cloths = grown;
    const MoteClothInfo *info = &new->info;
    const uint32_t springs = info->stretch_springs + info->shear_springs + info->bend_springs + info->seam_springs;
    MoteResult result = reserve_tables(world, new);
    float per_area = 0.0f, gap = 0.0f;
    result = result == MOTE_OK ? cloth_rest_gap(new->rest, new->cloth->vertex_count, &gap) : result;
    result = result == MOTE_OK ? reserve_slots(world, new) : result;
    result = result == MOTE_OK ? area_mass(new, &per_area) : result;
    result = result == MOTE_OK ? add_tearing(world, new, springs) : result;
    result = result == MOTE_OK ? upload_tables(world, new, per_area) : result;
    result = result == MOTE_OK ? add_tethers(world, new) : result;
    result = result == MOTE_OK ? cloth_pressure_reserve(world, &new->record, new->rows) : result;
    result = result == MOTE_OK ? cloth_hinges_reserve(world, &new->hinges) : result;
    result = result == MOTE_OK ? mote_world_add_springs(world, new->springs, springs, NULL) : result;
    const uint32_t mode = touches_of(world, new);
    result = result == MOTE_OK ? add_touches(world, new, mode) : result;
    result = result == MOTE_OK ? count_cloth(world, new, gap) : result;
    if (result == MOTE_OK) {
        world->cloths[world->view.cloth_count - 1].touches = mode;
        world->touches_itself = world->touches_itself || mode == TOUCH_ALL;
    }
    return result;
}

MoteResult mote_world_add_cloth(MoteWorld *world, const MoteCloth *cloth, uint32_t *index)
{
    NewCloth new;
    MoteResult result = new_cloth_make(world, cloth, &new);
    result = result == MOTE_OK ? list_springs(world, &new) : result;
    if (index != NULL) {
        *index = world->view.cloth_count;
    }
    result = result == MOTE_OK ? add_tables(world, &new) : result;
    new_cloth_free(&new);
    return result;
}
