// SPDX-License-Identifier: MIT
// cloth_fixture.h - sheets of cloth and chains of particles for the renderer's tests, in arrays of the test's own: no
// solver takes part.
#ifndef MOTE_TESTS_CLOTH_FIXTURE_H
#define MOTE_TESTS_CLOTH_FIXTURE_H

#include "ray_fixture.h"

// Vertex v of the sheet is particle `count - 1 - v`, and its handle is neither: whoever mixes them up is found out.
typedef struct Sheet {
    uint32_t columns, rows, count, triangles;
    float *positions; // 4 a particle
    uint32_t *handles, *slots, *corners;
    MoteRenderView view;
    void *pages[16];
    uint32_t page_count;
} Sheet;

static inline MoteArray sheet_array(Sheet *sheet, size_t bytes)
{
    const size_t capacity = (bytes + 4096) / 4096 * 4096;
    void *pages = aligned_alloc(4096, capacity);
    assert_non_null(pages);
    memset(pages, 0, capacity);
    assert_true(sheet->page_count < 16);
    sheet->pages[sheet->page_count++] = pages;
    return (MoteArray){pages, bytes, capacity};
}

static inline void *sheet_data(MoteArray array)
{
    return (void *)(uintptr_t)array.address;
}

static inline uint32_t sheet_slot(const Sheet *sheet, uint32_t vertex)
{
    return sheet->count - 1 - vertex;
}

static inline void sheet_move(Sheet *sheet, uint32_t vertex, MoteVec3 to)
{
    const float values[3] = {to.x, to.y, to.z};
    memcpy(sheet->positions + 4 * (size_t)sheet_slot(sheet, vertex), values, sizeof values);
}

// Takes the bounding box anew. Also a new layout: the renderer forgets what it knew of the arrays.
static inline void sheet_changed(Sheet *sheet)
{
    static uint64_t layouts = UINT64_MAX / 4; // none that a world has
    MoteVec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    for (uint32_t i = 0; i < sheet->count; i++) {
        const float *p = sheet->positions + 4 * (size_t)i;
        low = (MoteVec3){fminf(low.x, p[0]), fminf(low.y, p[1]), fminf(low.z, p[2])};
        high = (MoteVec3){fmaxf(high.x, p[0]), fmaxf(high.y, p[1]), fmaxf(high.z, p[2])};
    }
    sheet->view.bounds_min = low;
    sheet->view.bounds_max = high;
    sheet->view.layout = layouts++;
}

static inline void sheet_connect(Sheet *sheet, float *uvs)
{
    static const uint32_t right[] = {0, 0, 1, 0, 1, 1}, down[] = {0, 1, 1, 0, 1, 0};
    for (uint32_t k = 0; k < 3 * sheet->triangles; k++) {
        const uint32_t quad = k / 6, column = quad % (sheet->columns - 1) + right[k % 6];
        const uint32_t row = quad / (sheet->columns - 1) + down[k % 6];
        sheet->corners[k] = row * sheet->columns + column;
        uvs[2 * k] = (float)column / (float)(sheet->columns - 1);
        uvs[2 * k + 1] = (float)row / (float)(sheet->rows - 1);
    }
    uint32_t *starts = sheet_data(sheet->view.cloth_fan_starts), *fans = sheet_data(sheet->view.cloth_fans), used = 0;
    for (uint32_t v = 0; v < sheet->count; v++) {
        starts[v] = used;
        for (uint32_t k = 0; k < 3 * sheet->triangles; k++) {
            if (sheet->corners[k] == v) {
                fans[used++] = k;
            }
        }
    }
    starts[sheet->count] = used;
}

// Particles with handles, all at the origin.
static inline Sheet make_points(uint32_t count, float spacing, MoteParticleKind kind)
{
    assert_true(count % 7 != 0);
    Sheet sheet = {.count = count};
    const size_t n = count;
    sheet.view = (MoteRenderView){.memory = MOTE_MEMORY_HOST,
                                  .why = "",
                                  .particle_count = count,
                                  .dimensions = 3,
                                  .spacing = spacing,
                                  .smoothing_radius = 2.0f * spacing,
                                  .has_solids = true,
                                  .solid_radius = 0.5f * spacing};
    MoteRenderView *view = &sheet.view;
    view->positions = sheet_array(&sheet, 16 * n);
    view->velocities = sheet_array(&sheet, 16 * n);
    view->ids = sheet_array(&sheet, 4 * n);
    view->phases = sheet_array(&sheet, 4 * n);
    view->neighbour_counts = sheet_array(&sheet, 4 * n);
    view->neighbour_starts = sheet_array(&sheet, 4 * n);
    view->handles = sheet_array(&sheet, 4 * n);
    view->handle_slots = sheet_array(&sheet, 4 * n);
    view->cloth_handles = sheet_array(&sheet, 4 * n);
    sheet.positions = sheet_data(view->positions);
    sheet.handles = sheet_data(view->cloth_handles);
    sheet.slots = sheet_data(view->handle_slots);
    uint32_t *phases = sheet_data(view->phases), *ids = sheet_data(view->ids), *own = sheet_data(view->handles);
    for (uint32_t v = 0; v < count; v++) {
        const uint32_t single = (7 * v + 3) % count;
        phases[v] = MOTE_PHASE(kind, 0);
        ids[v] = v;
        own[sheet_slot(&sheet, v)] = sheet.handles[v] = MOTE_HANDLE_SINGLE + single;
        sheet.slots[single] = sheet_slot(&sheet, v);
    }
    return sheet;
}

// A flat grid, `width` by `height` metres around the origin in the plane z = 0, seen from its front, rows from the top
// down.
static inline Sheet make_sheet(uint32_t columns, uint32_t rows, float width, float height)
{
    Sheet sheet = make_points(columns * rows, width / (float)(columns - 1), MOTE_KIND_CLOTH);
    sheet.columns = columns;
    sheet.rows = rows;
    sheet.triangles = 2 * (columns - 1) * (rows - 1);
    MoteRenderView *view = &sheet.view;
    const size_t t = sheet.triangles;
    view->cloth_count = 1;
    view->cloth_vertex_count = sheet.count;
    view->cloth_triangle_count = sheet.triangles;
    view->cloth_corners = sheet_array(&sheet, 12 * t);
    view->cloth_of_triangles = sheet_array(&sheet, 4 * t);
    view->cloth_uvs = sheet_array(&sheet, 24 * t);
    view->cloth_fan_starts = sheet_array(&sheet, 4 * ((size_t)sheet.count + 1));
    view->cloth_fans = sheet_array(&sheet, 12 * t);
    sheet.corners = sheet_data(view->cloth_corners);
    for (uint32_t v = 0; v < sheet.count; v++) {
        sheet_move(&sheet, v,
                   (MoteVec3){width * ((float)(v % columns) / (float)(columns - 1) - 0.5f),
                              height * (0.5f - (float)(v / columns) / (float)(rows - 1)), 0.0f});
    }
    sheet_connect(&sheet, sheet_data(view->cloth_uvs));
    sheet_changed(&sheet);
    return sheet;
}

static inline void end_sheet(Sheet *sheet)
{
    for (uint32_t i = 0; i < sheet->page_count; i++) {
        free(sheet->pages[i]);
    }
}

// Thin, smooth and without sheen, so that its light has a closed form.
static inline MoteRenderCloth plain_cloth(void)
{
    MoteRenderCloth cloth = mote_default_render_cloth();
    cloth.weave = cloth.sheen = cloth.thickness = cloth.transmission = 0.0f;
    return cloth;
}

static inline float *draw_sheet(MoteRenderer *renderer, const Sheet *sheet, const MoteRenderScene *scene,
                                const char *layer)
{
    MUST(mote_renderer_draw_arrays(renderer, &sheet->view, NULL, scene,
                                   &(MotePicture){.width = WIDTH, .height = HEIGHT, .samples = 1, .layers = true}));
    return read_layer(renderer, layer, WIDTH, HEIGHT);
}

#endif
