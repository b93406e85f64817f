// view.h - what a kernel can see, with one memory layout in every language. The rows are in view.def.
#ifndef MOTE_VIEW_H
#define MOTE_VIEW_H

#include "kernel_language.h"

#define KEY_REMOVED     0xffffffffffffffffUL // sorts after every cell
#define HASH_EMPTY      0xffffffffu
#define CELL_RUN_LIMIT  14u         // runs of a 3x3x3 neighbourhood in Z-order, see link_cells
#define NEIGHBOUR_BLOCK 8u          // entries; a 32-byte sector of a GPU, an AVX2 register
#define PHASE_FLUID     0x01000000u // MOTE_PHASE_FLUID
#define PHASE_REMOVED   0x80000000u // MOTE_PHASE_REMOVED

#define COUNTER_REMOVED        0u // particles that got KEY_REMOVED
#define COUNTER_UNHEALTHY      1u // particles whose position was not finite after the solve
#define COUNTER_UNHEALTHY_ID   2u // the largest id among them, plus one
#define COUNTER_NEIGHBOURS_MAX 3u
#define COUNTER_LIMIT          4u

#define SHAPE_PLANE   0u // MOTE_SHAPE_*
#define SHAPE_BOX     1u
#define SHAPE_SPHERE  2u
#define SHAPE_CAPSULE 3u

// A MoteShape as kernels read it. Each vec4 starts at a multiple of 16 bytes: scalar layout and C agree.
STRUCT(Shape)
{
    vec4 rotation;       // at the end of the step
    vec3 position;       // m
    uint kind;           // SHAPE_*
    vec4 start_rotation; // at its beginning
    vec3 start_position; // m
    uint inside_out;     // 1: a container
    vec3 half_size;      // m
    float radius;        // m
    float static_friction;
    float kinetic_friction;
    float restitution;
    float bounding_radius; // m, around position; solid boxes, spheres and capsules only
};

#if defined(VULKAN)

#define ELEMENT(type, size)                                                                                            \
    layout(buffer_reference, scalar, buffer_reference_align = 16) buffer type##_buffer                                 \
    {                                                                                                                  \
        type data[];                                                                                                   \
    };
#include "view.def"

layout(set = 0, binding = 0, scalar) uniform MoteView
{
#define BUFFER(type, name, capacity) type##_buffer name;
#define EXTERNAL(type, name)         type##_buffer name;
#define PARAMETER_ROW(type, name)    type name;
#include "view.def"
}
view;

#else

typedef struct MoteView {
#define BUFFER(type, name, capacity) type *name;
#define EXTERNAL(type, name)         type *name;
#define PARAMETER_ROW(type, name)    type name;
#include "view.def"
} MoteView;

#endif
#endif
