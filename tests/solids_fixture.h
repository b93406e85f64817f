// SPDX-License-Identifier: MIT
// solids_fixture.h - what the tests of drawn solids share: a box as a mesh, and bodies whose members are put by hand
// into the arrays that a world would show.
#ifndef MOTE_TESTS_SOLIDS_FIXTURE_H
#define MOTE_TESTS_SOLIDS_FIXTURE_H

#include "ray_fixture.h"
#include "render/frame.h"

#define HALF_SIZE ((MoteVec3){0.3f, 0.2f, 0.45f}) // of the box, as solid() in ray_fixture.h has it

// ---- A box, four vertices a side ----

enum { BOX_VERTICES = 24, BOX_TRIANGLES = 12 };

typedef struct Box {
    MoteVec3 positions[BOX_VERTICES], normals[BOX_VERTICES];
    uint32_t triangles[3 * BOX_TRIANGLES];
} Box;

static inline Box make_box(void)
{
    Box box = {0};
    const float h[3] = {HALF_SIZE.x, HALF_SIZE.y, HALF_SIZE.z};
    for (int side = 0; side < 6; side++) {
        const int axis = side / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
        const float sign = side % 2 == 0 ? 1.0f : -1.0f;
        for (int corner = 0; corner < 4; corner++) {
            float p[3], n[3] = {0};
            p[axis] = sign * h[axis];
            p[u] = (corner == 1 || corner == 2 ? 1.0f : -1.0f) * h[u] * sign; // counter-clockwise from outside
            p[v] = (corner >= 2 ? 1.0f : -1.0f) * h[v];
            n[axis] = sign;
            box.positions[4 * side + corner] = (MoteVec3){p[0], p[1], p[2]};
            box.normals[4 * side + corner] = (MoteVec3){n[0], n[1], n[2]};
        }
        const uint32_t first = 4u * (uint32_t)side, corners[6] = {0, 1, 2, 0, 2, 3};
        for (int k = 0; k < 6; k++) {
            box.triangles[6 * side + k] = first + corners[k];
        }
    }
    return box;
}

static inline MoteRenderMesh box_mesh(const Box *box)
{
    return (MoteRenderMesh){.vertex_count = BOX_VERTICES,
                            .triangle_count = BOX_TRIANGLES,
                            .positions = box->positions,
                            .normals = box->normals,
                            .triangles = box->triangles,
                            .color = {0.8f, 0.2f, 0.1f},
                            .roughness = 1.0f};
}

static inline MoteRenderInstance upright_instance(MoteVec3 position)
{
    return (MoteRenderInstance){.tint = {1, 1, 1}, .pose = {position, UPRIGHT}, .scale = 1.0f};
}

// ---- Bodies by hand ----

// A world of `count` members, each in its own cluster, all solid; the arrays belong to the test.
typedef struct HandMade {
    MoteWorld *world;
    uint32_t count;
    uint32_t *members, *slots, *clusters;
    float *rotations; // 4 a cluster
    size_t bytes;     // of each array
    uint64_t layout;
} HandMade;

static inline void *whole_pages(size_t bytes)
{
    void *pages = aligned_alloc(4096, bytes);
    assert_non_null(pages);
    memset(pages, 0, bytes);
    return pages;
}

static inline HandMade make_bodies(const MoteVec3 *points, uint32_t count, float spacing)
{
    static uint64_t layouts = UINT64_MAX / 2; // none that a world has
    HandMade made = {.count = count, .bytes = (count * 16 + 4095) / 4096 * 4096, .layout = layouts++};
    MoteSettings settings = mote_default_settings();
    settings.spacing = spacing;
    MUST(mote_world_create(&settings, &(MoteBackendOptions){.backend = "cpu"}, &made.world));
    MUST(mote_world_add_particles(
        made.world, &(MoteParticles){.count = count, .positions = points, .mass = 1.0f, .phase = 1}, NULL));
    made.members = whole_pages(made.bytes);
    made.slots = whole_pages(made.bytes);
    made.clusters = whole_pages(made.bytes);
    made.rotations = whole_pages(made.bytes);
    for (uint32_t i = 0; i < count; i++) {
        made.members[i] = made.slots[i] = made.clusters[i] = i;
        made.rotations[4 * i + 3] = 1.0f;
    }
    return made;
}

static inline void end_bodies(HandMade *made)
{
    mote_world_destroy(made->world);
    free(made->members);
    free(made->slots);
    free(made->clusters);
    free(made->rotations);
}

static inline MoteResult draw_bodies(MoteRenderer *renderer, const HandMade *made, const MoteRenderScene *scene,
                                     const MotePicture *picture)
{
    MoteRenderView view;
    MUST(mote_world_render_view(made->world, &view));
    const size_t used = made->count * sizeof(uint32_t);
    view.layout = made->layout;
    view.member_count = view.cluster_count = made->count;
    view.handles = (MoteArray){made->members, used, made->bytes};
    view.handle_slots = (MoteArray){made->slots, used, made->bytes};
    view.member_clusters = (MoteArray){made->clusters, used, made->bytes};
    view.cluster_rotations = (MoteArray){made->rotations, 4 * used, made->bytes};
    return renderer_draw_view(renderer, made->world, &view, scene, picture);
}

static inline float *draw_bodies_layer(MoteRenderer *renderer, const HandMade *made, const MoteRenderScene *scene,
                                       const char *layer)
{
    MUST(draw_bodies(renderer, made, scene,
                     &(MotePicture){.width = WIDTH, .height = HEIGHT, .samples = 1, .layers = true}));
    return read_layer(renderer, layer, WIDTH, HEIGHT);
}

#endif
