// SPDX-License-Identifier: MIT
// cpu_kernels.c - the kernel table expanded into loops.
#include "cpu/cpu_backend.h"
#include "kernels/kernels.h"

#include <assert.h>
#include <stddef.h>

#define KERNEL_ROW(name, stage, count)                                                                                 \
    static void name##_range(const SolverData *view, uint begin, uint end)                                             \
    {                                                                                                                  \
        for (uint i = begin; i < end; i++) {                                                                           \
            name(view, i);                                                                                             \
        }                                                                                                              \
    }
#include "kernels/kernels.def"

RangeFunction *const cpu_kernels[KERNEL_COUNT] = {
#define KERNEL_ROW(name, stage, count) name##_range,
#include "kernels/kernels.def"
};

// GLSL reads the view in scalar layout. Without padding that is the C layout: no field may need any.
struct __attribute__((packed)) PackedView {
#define BUFFER(type, name, capacity, order, keep, render) type *name;
#define EXTERNAL(type, name)                              type *name;
#define PARAMETER_ROW(type, name)                         type name;
#include "kernels/data.def"
};
#define BUFFER(type, name, capacity, order, keep, render)                                                              \
    static_assert(offsetof(SolverData, name) == offsetof(struct PackedView, name), "padding before " #name);
#define EXTERNAL(type, name)                                                                                           \
    static_assert(offsetof(SolverData, name) == offsetof(struct PackedView, name), "padding before " #name);
#define PARAMETER_ROW(type, name)                                                                                      \
    static_assert(offsetof(SolverData, name) == offsetof(struct PackedView, name), "padding before " #name);
#define ELEMENT(type, alignment) static_assert(sizeof(type) % (alignment) == 0, "size of " #type);
#include "kernels/data.def"
static_assert(sizeof(Collider) == 112 && offsetof(Collider, start_rotation) == 32 &&
                  offsetof(Collider, half_size) == 64,
              "layout of Collider");

static_assert(sizeof(Material) == 32 && sizeof(Cluster) == 96 && sizeof(Motion) == 112, "layout of solids");
static_assert(offsetof(Cluster, creep) == 64 && offsetof(Motion, start_centre) == 32, "layout of solids");

static_assert(MOTE_PHASE_REMOVED == PHASE_REMOVED && MOTE_PHASE_KIND_MASK == PHASE_KIND &&
                  MOTE_PHASE_GROUP_MASK == PHASE_GROUP && MOTE_NONE == NONE,
              "phases");
#define FORCE(name, number, label) static_assert((unsigned)MOTE_FORCE_##name == (number), "the number of " #label);
#include "kernels/constraints.def"
static_assert((unsigned)MOTE_FORCE_COUNT == (unsigned)FORCE_KINDS, "kinds of forces");
#define KIND(name, number, traits) static_assert(MOTE_KIND_##name == (number), "the number of " #name);
#include "kernels/kinds.def"
static_assert(MOTE_COMBINE_MINIMUM == COMBINE_MINIMUM && MOTE_COMBINE_MULTIPLY == COMBINE_MULTIPLY &&
                  MOTE_COMBINE_MAXIMUM == COMBINE_MAXIMUM,
              "rules of combination");
static_assert(MOTE_COLLIDER_PLANE == COLLIDER_PLANE && MOTE_COLLIDER_BOX == COLLIDER_BOX &&
                  MOTE_COLLIDER_SPHERE == COLLIDER_SPHERE && MOTE_COLLIDER_CAPSULE == COLLIDER_CAPSULE &&
                  MOTE_COLLIDER_HULL == COLLIDER_HULL && MOTE_COLLIDER_FIELD == COLLIDER_FIELD,
              "shape kinds");
