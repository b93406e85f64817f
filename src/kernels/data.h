// SPDX-License-Identifier: MIT
// data.h - the structs and arrays that kernels access, with one memory layout in every language. The rows are in
// data.def.
#ifndef MOTE_DATA_H
#define MOTE_DATA_H

#include "language.h"
#include "kinds.h"

#define KEY_REMOVED     0xffffffffffffffffUL // sorts after every cell
#define HASH_EMPTY      0xffffffffu
#define CELL_RUN_LIMIT  14u         // runs of a 3x3x3 neighbourhood in Z-order, see link_cells
#define NEIGHBOUR_BLOCK 8u          // entries; a 32-byte sector of a GPU, an AVX2 register
#define NONE            0xffffffffu // no member, no cluster, no particle
#define REMOVED_MASS    -1.0f       // inverse mass of a place whose particle is gone, until the host knows

#define HANDLE_SINGLE 0x80000000u // of a handle: its particle is in no body

#define MEMBER_CHUNK  64u   // entries of a cluster that one invocation sums up
#define CHUNK_SUMS    6u    // vec4s of a chunk's sums
#define MEMBER_FACES  4u    // what a particle knows of its body's surface: the distance, and up to three planes
#define CLUSTER_RIGID 1u    // flag: the only cluster of a body that keeps its shape exactly
#define NO_FIELD      1e30f // signed distance of a particle that is a plain sphere
#define FAR_AWAY      1e30f // m, from the nearest of no colliders

// The kinds of forces, and how many there are.
#if defined(VULKAN)
#define FORCE(name, number, label) const uint FORCE_##name = number;
#include "constraints.def"
#define FORCE(name, number, label) +1u
const uint FORCE_KINDS = 0u
#include "constraints.def"
    ;
#else
enum {
#define FORCE(name, number, label) FORCE_##name = number,
#include "constraints.def"
#define FORCE(name, number, label) +1u
    FORCE_KINDS = 0u
#include "constraints.def"
};
#endif

#define COUNTER_REMOVED            0u // particles that got KEY_REMOVED, and dead slots
#define COUNTER_UNHEALTHY          1u // particles whose position was not finite after the solve
#define COUNTER_UNHEALTHY_ID       2u // the largest id among them, plus one
#define COUNTER_NEIGHBOURS_MAX     3u
#define COUNTER_UNHEALTHY_COLLIDER 4u // the last dynamic collider with a pose that is not finite, plus one
#define COUNTER_ABORTED            5u // why kernels do nothing: 1 and the SPECULATION_* that was wrong; 0: they do
#define COUNTER_STEPS              6u // steps begun since the host last looked, without the first
#define COUNTER_CELLS              7u
#define COUNTER_BLOCKS             8u  // of all neighbour lists
#define COUNTER_ESCAPED            9u  // particles outside the bounds after the last step
#define COUNTER_ESCAPED_ID         10u // the largest id among them, plus one
#define COUNTER_SQUEEZED           11u // particles that colliders pushed to and fro in the last step: between two that overlap
#define COUNTER_SQUEEZED_ID        12u // the largest id among them, plus one
#define COUNTER_SPAWNED            13u // particles made since the host last looked
#define COUNTER_SPAWNS             14u // particles that the last step was to make
#define COUNTER_TOUCHES            15u // pairs of a particle and a triangle of cloth
#define COUNTER_LIMIT              16u
// Behind the counters, and not cleared with them; all but the last are floats, J.
#define WATCH_DEFICIT 16u // lost in the last second or so, and may come back
#define WATCH_GAINED  17u // gained beyond that in the last second or so
#define WATCH_ENERGY  18u // of all particles: what gains are compared with
#define WATCH_GAINER  19u // id of the fastest particle where energy was gained last; NONE: by dynamic colliders
#define COUNTER_ALL   20u
#define WATCH_CHUNK   256u // particles, or sums of them, that one invocation sums up

// The quantities that a speculative step assumes, and the device validates.
#define SPECULATION_CELLS   0u // that there are cells, and no more than cell_count,
#define SPECULATION_BLOCKS  1u // that there are no more than block_limit blocks of lists,
#define SPECULATION_HEALTH  2u // that nothing went wrong in the step before,
#define SPECULATION_SPAWNS  3u // that there are dead slots for all new particles,
#define SPECULATION_TOUCHES 4u // and that there are no more than touch_limit touches

// Features that a world does not have, so that kernels can be compiled without them (HAS_FEATURE).
#define LACKS_SOLIDS    1u   // particles that are not liquid
#define LACKS_DYNAMICS  2u   // dynamic colliders
#define LACKS_FIELDS    4u   // colliders that are fields,
#define LACKS_HULLS     8u   // hulls,
#define LACKS_OBSTACLES 16u  // or anything else than planes and containers
#define LACKS_BOUNCES   32u  // speed that is given back, or taken by friction, where particles meet colliders
#define LACKS_MIXTURES  64u  // particles that are lighter than some liquid
#define LACKS_LIQUIDS   128u // liquids with parameters of their own
#define LACKS_ISOTROPY  256u // isotropic pressure

#define TOUCH_BY_VERTICES 0u // the contacts of a cloth: its vertices have them;
#define TOUCH_OTHERS      1u // its triangles have them, with what is not of the cloth;
#define TOUCH_ALL         2u // and with its own vertices, too

#define DIFFUSE_SPRAY  0.0f // classes of passive particles
#define DIFFUSE_FOAM   1.0f
#define DIFFUSE_BUBBLE 2.0f
#define DIFFUSE_SMOKE  3.0f // exactly: it never becomes another, nor do they become smoke

#define DIFFUSE_EXTENT    0u // one more than the last slot in use
#define DIFFUSE_SPAWNED   1u // since the world was made
#define DIFFUSE_DEAD      2u // of those
#define DIFFUSE_DROPPED   3u // were to be made, but no slot was free
#define DIFFUSE_FASTEST   4u // bits of the running maximum of speeds, m/s
#define DIFFUSE_FAST      5u // bits of the largest speed in this step
#define DIFFUSE_COUNT_ALL 6u

#define TEAR_FIRST         0u // words of a cloth in tear_rows: its first vertex,
#define TEAR_SPARE         1u // the first that there is room for,
#define TEAR_ROOM          2u // how many,
#define TEAR_BOUND         3u // how many a step,
#define TEAR_COLUMNS       4u // and of a grid its columns
#define TEAR_WORDS         5u
#define TEAR_USED          0u // of a cloth in tear_counts: copies that were made,
#define TEAR_REFUSED       1u // and that there was no room for, a step;
#define TEAR_NEXT          2u // the first with those of this step,
#define TEAR_REFUSED_NOW   3u // the second of this step alone
#define TEAR_COUNT_WORDS   4u
#define TEAR_FLAG_STRAINED 0u // something is strained in this step
#define TEAR_FLAG_TORN     1u // something has torn
#define TEAR_FLAG_ALL      2u
#define TEAR_TWIN          0x80000000u // flag of link_anchors: the link is that of the other side of an edge

#define IMPULSE_SLOTS 2u   // dynamic colliders that can push one particle in an iteration, and get momentum from it
#define IMPULSE_CHUNK 256u // particles whose impulses one invocation sums up

#define COLLIDER_PLANE   0u // MOTE_COLLIDER_*
#define COLLIDER_BOX     1u
#define COLLIDER_SPHERE  2u
#define COLLIDER_CAPSULE 3u
#define COLLIDER_HULL    4u
#define COLLIDER_FIELD   5u

// A MoteCollider as kernels read it. Each vec4 starts at a multiple of 16 bytes: scalar layout and C agree.
STRUCT(Collider)
{
    vec4 rotation;       // at the end of the step
    vec3 position;       // m
    uint kind;           // COLLIDER_*
    vec4 start_rotation; // at its beginning
    vec3 start_position; // m
    uint inside_out;     // 1: a container
    vec3 half_size;      // m
    float radius;        // m
    float static_friction;
    float kinetic_friction;
    float restitution;
    float bounding_radius; // m, around position; of all kinds but planes, as solids
    uint data;             // of a hull its first row, of a field its number
    uint data_count;       // of a hull its triangles
    float adhesion;        // m/s^2
    uint combine;          // COMBINE_*
};

#define COMBINE_AVERAGE  0u // MOTE_COMBINE_*
#define COMBINE_MINIMUM  1u
#define COMBINE_MULTIPLY 2u
#define COMBINE_MAXIMUM  3u

#define ROLLING_NEVER 1e20f

// A MoteMaterial.
STRUCT(Material)
{
    float static_friction;
    float kinetic_friction;
    float restitution;
    float adhesion;     // m/s^2
    float rolling_rate; // 1/s, at which rolling friction takes spin; ROLLING_NEVER: it never rolls
    uint combine;       // COMBINE_*
    uint ignored;       // a bit for each of the first 32 materials whose particles this one's pass through
    uint unused;
};

// Particles that are matched to a shape (UPP section 5). Symmetric matrices are diagonal (xx, yy, zz) and rest (xy,
// xz, yz), in the frame of the rest pose.
STRUCT(Cluster)
{
    vec3 inertia_diagonal; // kg m^2
    float mass;            // kg
    vec3 inertia_offdiagonal;
    float radius;          // m, of its farthest particle
    vec3 inverse_diagonal; // pseudo-inverse of the inertia: no response about an axis that has none
    float stiffness;       // share of the deformation that an iteration takes back
    vec3 inverse_offdiagonal;
    float yield;      // m, deformation that does not stay; 0 is no plasticity
    float creep;      // 1/s
    float limit;      // m, deformation that ends a particle's distance field
    uint first_chunk; // of its sums
    uint chunk_count;
    uint first_entry;
    uint entry_count;
    uint flags; // CLUSTER_*
    uint body;
};

// The motion of a rigid cluster or a dynamic collider through the step.
STRUCT(Motion)
{
    vec4 start_rotation;
    vec4 predicted_rotation; // where it would go without constraints
    vec3 start_centre;       // m
    uint asleep;             // 1: it stays at its start
    vec3 predicted_centre;   // m
    float in_contact;        // of a dynamic collider, 1: it touched another collider in the step
    vec3 velocity;           // m/s
    float energy;            // of a dynamic collider: J, kinetic, when the step began
    vec3 angular_momentum;   // kg m^2/s
    float work;              // of a dynamic collider: J, what colliders that users move have put into it in the step
    vec3 angular_velocity;   // rad/s, at the end of the step
    float unused_3;
};

#define FIELD_NONE 0xffffffffu // a field does not have this part
#define WET_UNIT   1e-5f       // particle-seconds of contact that a count of a wet map stands for
#define WET_LIMIT  0x7fffffffu // counts; more are not told apart

// A MoteField as kernels read it; its parts begin at these words of field_words.
STRUCT(Field)
{
    vec3 bounds_min;       // m, box of known distances in the field's frame
    float cells_per_metre; // 1/m
    vec3 bounds_max;       // m
    float outside;         // m, distance felt beyond the box
    vec3 origin;           // m, of voxel (0, 0, 0)
    float slope;           // of the distance away from the box: 1, or -1 for a container
    uint distances;        // root of the grid of distances
    uint closest;          // root of the grid of nearest triangles, or FIELD_NONE, as each part below
    uint vertices;
    uint triangles;
    uint velocities;
    uint uvs;
    uint friction;
    uint friction_width;
    uint friction_height;
    uint wet; // first texel in wet_texels
    uint wet_width;
    uint wet_height;
};

#define FORCE_FIELD_POINT   0u // MOTE_FORCE_FIELD_*
#define FORCE_FIELD_RADIAL  1u
#define FORCE_FIELD_BOX     2u
#define FORCE_FIELD_UNIFORM 3u

#define FALLOFF_CONSTANT       0u // MOTE_FALLOFF_*
#define FALLOFF_LINEAR         1u
#define FALLOFF_QUADRATIC      2u
#define FALLOFF_INVERSE_SQUARE 3u

#define FORCE_MODE_ACCELERATION    0u // MOTE_MODE_*
#define FORCE_MODE_FORCE           1u
#define FORCE_MODE_IMPULSE         2u
#define FORCE_MODE_VELOCITY_CHANGE 3u

// A MoteForceField as kernels read it.
STRUCT(ForceField)
{
    vec4 rotation;
    vec3 position;     // m
    uint kind;         // FORCE_FIELD_*
    vec3 uniform_part; // of a box or a uniform field: strength along its direction
    uint mode;         // FORCE_MODE_*
    vec3 angular;
    uint falloff;    // FALLOFF_*
    vec3 velocity;   // m/s
    float drag;      // 1/s
    vec3 half_size;  // m
    float radius;    // m; 0: endless
    float border;    // m
    float softening; // m
    float strength;
    float swirl;
    uint kinds;            // a bit for each kind of particle it acts on
    uint materials;        // a bit for each of the first 32 materials; 0: all
    uint group;            // or NONE: all
    uint id;               // or NONE: all
    uint spares_colliders; // 1: dynamic colliders do not feel it
    uint unused_1;
    uint unused_2;
    uint unused_3;
};

#define QUERY_CHUNK 256u // particles, or chunks of them, that one invocation of a query goes through
#define RAY_WORDS   4u   // what a ray hits (RAY_*), nearest first

#if defined(VULKAN)

#define ELEMENT(type, alignment)                                                                                       \
    layout(buffer_reference, scalar, buffer_reference_align = 16) buffer type##_buffer                                 \
    {                                                                                                                  \
        type data[];                                                                                                   \
    };
#include "data.def"

layout(set = 0, binding = 0, scalar) uniform SolverData
{
#define BUFFER(type, name, capacity, order, keep, render) type##_buffer name;
#define EXTERNAL(type, name)                              type##_buffer name;
#define PARAMETER_ROW(type, name)                         type name;
#include "data.def"
}
view;

// A vec4 is loaded and stored as two words of 64 bits. Mesa's software driver loads one invocation and component after
// the other, and this takes half as long there.
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer vec4_halves
{
    u64vec2 data[];
};

vec4 load_one_vec4(vec4_buffer elements, uint index)
{
    const u64vec2 halves = vec4_halves(elements).data[index];
    return uintBitsToFloat(uvec4(unpackUint2x32(halves.x), unpackUint2x32(halves.y)));
}

void store_one_vec4(vec4_buffer elements, uint index, vec4 value)
{
    const uvec4 bits = floatBitsToUint(value);
    vec4_halves(elements).data[index] = u64vec2(packUint2x32(bits.xy), packUint2x32(bits.zw));
}

layout(buffer_reference, scalar, buffer_reference_align = 16) buffer uint_pairs
{
    uint64_t data[];
};

uvec2 load_pair(uint_buffer elements, uint index)
{
    return unpackUint2x32(uint_pairs(elements).data[index >> 1]);
}

uvec2 load_one_uvec2(uvec2_buffer elements, uint index)
{
    return unpackUint2x32(uint_pairs(elements).data[index]);
}

void store_one_uvec2(uvec2_buffer elements, uint index, uvec2 value)
{
    elements.data[index] = value;
}

// LOAD and STORE by the type of element: of packed ones the functions above, of all others these.
#define ELEMENT(type, alignment)                                                                                       \
    type load_one_##type(type##_buffer elements, uint index)                                                           \
    {                                                                                                                  \
        return elements.data[index];                                                                                   \
    }                                                                                                                  \
    void store_one_##type(type##_buffer elements, uint index, type value)                                              \
    {                                                                                                                  \
        elements.data[index] = value;                                                                                  \
    }
#define PACKED_ELEMENT(type, alignment)
#include "data.def"

#define EXTERNAL(type, name) BUFFER(type, name, , , , )
#define ALIAS(type, name, storage)                                                                                     \
    type load_##name(uint index)                                                                                       \
    {                                                                                                                  \
        return load_one_##type(type##_buffer(view.storage), index);                                                    \
    }                                                                                                                  \
    void store_##name(uint index, type value)                                                                          \
    {                                                                                                                  \
        store_one_##type(type##_buffer(view.storage), index, value);                                                   \
    }
#define BUFFER(type, name, capacity, order, keep, render)                                                              \
    type load_##name(uint index)                                                                                       \
    {                                                                                                                  \
        return load_one_##type(view.name, index);                                                                      \
    }                                                                                                                  \
    void store_##name(uint index, type value)                                                                          \
    {                                                                                                                  \
        store_one_##type(view.name, index, value);                                                                     \
    }
#include "data.def"

#else

typedef struct SolverData {
#define SHARED_BEGIN union {
#define SHARED_END                                                                                                     \
    }                                                                                                                  \
    ;
#define ALIAS(type, name, storage)                        type *name;
#define BUFFER(type, name, capacity, order, keep, render) type *name;
#define EXTERNAL(type, name)                              type *name;
#define PARAMETER_ROW(type, name)                         type name;
#include "data.def"
} SolverData;

#endif

#endif
