// SPDX-License-Identifier: MIT
// render_shared.h - what C and GLSL both know of a frame. Scalar layout: 8-byte addresses first, then floats and uints,
// so that neither language pads anything. What a single pass needs is in shaders/passes/NAME.h.
#ifndef MOTE_RENDER_SHARED_H
#define MOTE_RENDER_SHARED_H

#ifdef __STDC__
#include <stdint.h>
typedef struct vec2 {
    float x, y;
} vec2;
typedef struct vec4 {
    float x, y, z, w;
} vec4;
typedef struct mat4 {
    float columns[16];
} mat4;
typedef uint32_t uint;
#define ADDRESS(type)       uint64_t
#define SHARED_STRUCT(name) typedef struct name name;
#else
#define ADDRESS(type) type
#define SHARED_STRUCT(name)
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer Vec4Array
{
    vec4 at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer UintArray
{
    uint at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer FloatArray
{
    float at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Vec4Target
{
    vec4 at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer UintTarget
{
    uint at[];
};
#endif

// A row of resources.def has two bindings: this one, and the next, which storage images have. FIRST_ROW() says where
// the lines begin to count.
#define ROW_BINDING (2 * (__LINE__ - FIRST_LINE))

#define PASS_CONSTANTS_BYTES 1024 // of a pass's constants; a multiple of every device's alignment of uniform blocks
#define PUSH_CONSTANTS_BYTES 128  // what every device has

// What a phase's particles are made of, or a collider.
struct Material {
    vec4 color;      // rgb, roughness
    vec4 absorption; // rgb, 1/m; w is how much a grain's brightness varies
};

#ifndef __STDC__
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer MaterialArray
{
    Material at[];
};
#endif

// A vertex of the colliders' meshes (src/render/primitive_mesh.c): at corner * half_size + radius * normal.
struct PrimitiveVertex {
    vec4 corner; // w unused
    vec4 normal; // outwards; w unused
};

// A collider as it is drawn.
struct Collider {
    vec4 rotation;  // unit quaternion
    vec4 position;  // m; w is the radius of a sphere or capsule, 0 of the others
    vec4 half_size; // m, 0 of a sphere; w is how far away from it the ground is a little darker
    uint kind;      // MoteColliderKind
    uint look;      // MoteLook
    uint material;
    uint inside_out;
};

#ifdef __STDC__
typedef struct Collider Collider;
#else
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer PrimitiveVertexArray
{
    PrimitiveVertex at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer ColliderArray
{
    Collider at[];
};
#endif

// A vertex of a mesh that instances are made of (src/render/mesh_set.c).
struct MeshVertex {
    vec4 position; // in the mesh's own frame; w unused
    vec4 normal;   // w: how wet it is, 0 to 1
};

// What a vertex of a skin follows.
struct SkinBinding {
    vec4 offsets[4]; // from each member at rest to the vertex; w is the weight
    uint members[4]; // from the instance's offset on
};

// A mesh as it is drawn.
struct MeshInstance {
    vec4 rotation; // unit quaternion
    vec4 position; // m; w is the scale
    vec4 color;    // rgb, roughness
    uint first;    // of its vertices in body_vertices
    uint member_offset;
    uint wet; // 0: dry; else 1 + the first of its mesh's vertices, which tell
    uint unused;
};

// A vertex of an instance, in the world.
struct BodyVertex {
    float x, y, z; // m; x is infinite where nothing is left to follow
    uint normal;   // octahedral, two 16-bit numbers
};

#ifdef __STDC__
typedef struct MeshVertex MeshVertex;
typedef struct SkinBinding SkinBinding;
typedef struct MeshInstance MeshInstance;
typedef struct BodyVertex BodyVertex;
#else
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer MeshVertexArray
{
    MeshVertex at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer SkinBindingArray
{
    SkinBinding at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer MeshInstanceArray
{
    MeshInstance at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer BodyVertexTarget
{
    BodyVertex at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Vec2Target
{
    vec2 at[];
};
#endif

// What a cloth or a rope looks like.
struct Fabric {
    vec4 color;         // rgb of the front; w is the roughness of its fibres
    vec4 back_color;    // rgb; w is the share of light that goes through
    vec4 pattern_color; // rgb of every other stripe; w is how wide they are, m
    vec2 uv_size;       // m that a unit of u and of v is
    float sheen;
    float weave;      // m between threads; 0: none are seen; of a rope 1: it has strands
    float thickness;  // m; of a rope its radius
    uint pattern;     // FABRIC_
    uint look;        // MoteClothLook
    float absorption; // of a translucent one
};

#define FABRIC_PLAIN       0u // MoteClothPattern
#define FABRIC_STRIPES     1u
#define FABRIC_BANDS       2u
#define FABRIC_CHECKS      3u
#define FABRIC_GINGHAM     4u
#define FABRIC_WOVEN       0u // MoteClothLook
#define FABRIC_TRANSLUCENT 1u
#define FABRIC_HIDDEN      2u

#ifdef __STDC__
typedef struct Fabric Fabric;
#else
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer FabricArray
{
    Fabric at[];
};
#endif

#define SOLID_RECTS   8
#define SKY_HARMONICS 9 // numbers a colour that irradiance from the sky is a polynomial of

// One a picture and sample. View space has x right, y up and z along the view direction; a point of it is at pixel
// (centre.x + focal x / z, centre.y - focal y / z), with pixel centres at halves.
struct FrameConstants {
    ADDRESS(Vec4Array) positions;  // of the particles, as MoteRenderView has them
    ADDRESS(Vec4Array) velocities; // w is density over rest density
    ADDRESS(UintArray) ids;
    ADDRESS(UintArray) phases;
    ADDRESS(UintArray) neighbour_counts;
    ADDRESS(UintArray) neighbour_starts; // blocks of 8
    ADDRESS(UintArray) neighbours;
    ADDRESS(FloatArray) channel; // the one that is shown, channel_components a particle
    ADDRESS(MaterialArray) materials;
    ADDRESS(UintArray) sky_pixels; // of a sky from a file: two uints of halves, sky_width x sky_height
    ADDRESS(PrimitiveVertexArray) primitive_vertices;
    ADDRESS(ColliderArray) colliders;     // colliders
    ADDRESS(UintArray) group_materials;   // group_count of them: rows of materials
    ADDRESS(UintArray) handles;           // of particles, as MoteRenderView has them: below member_count, of bodies
    ADDRESS(UintArray) handle_slots;      // member_count of them, and others
    ADDRESS(UintArray) member_clusters;   // the same
    ADDRESS(Vec4Array) cluster_rotations; // cluster_count of them
    ADDRESS(Vec4Array) diffuse_positions; // of passive particles, as MoteRenderView has them
    ADDRESS(Vec4Array) diffuse_velocities;
    ADDRESS(UintArray) diffuse_ids;
    ADDRESS(Vec4Array) diffuse_smoke;
    ADDRESS(UintArray) diffuse_counts;
    ADDRESS(UintArray) link_ends;     // link_count of them, two handles each
    ADDRESS(Vec4Array) link_laws;     // x is the length at rest, m
    ADDRESS(UintArray) cloth_handles; // cloth_vertex_count of them, as MoteRenderView has them, as those that follow
    ADDRESS(UintArray) cloth_corners; // 3 a triangle
    ADDRESS(UintArray) cloth_of_triangles; // cloth_triangle_count of them
    ADDRESS(FloatArray) cloth_uvs;         // 6 a triangle
    ADDRESS(UintArray) cloth_fan_starts;   // cloth_vertex_count of them, and the end
    ADDRESS(UintArray) cloth_fans;         // 3 a triangle
    ADDRESS(UintArray) cloth_roots;        // cloth_vertex_count of them, or a null address: no cloth tears
    ADDRESS(FabricArray) fabrics;          // of cloths and, behind them, of ropes: fabric_count of them
    ADDRESS(UintArray)
    has_mesh; // not 0 a row of handle_slots that a mesh or rope is drawn for; nobody's if has_mesh_count is 0
    ADDRESS(MeshVertexArray) mesh_vertices; // of all meshes
    ADDRESS(UintArray) mesh_triangles;      // three vertices of their mesh each
    ADDRESS(MeshInstanceArray) instances;
#define BUFFER_ROW(type, name) ADDRESS(type) name;
#include "render/resources.def"

    mat4 view_projection;    // clip z is near_plane, w is view z: reversed, without a far plane
    mat4 sun_projection;     // from the world into the sun's maps: x and y in -1..1, z in 0..1 away from the sun
    vec4 eye;                // w unused
    vec4 right, up, forward; // w unused
    vec4 sun_direction;      // towards the sun; w is the tangent of its angular radius
    vec4 sun_radiance;       // irradiance of a surface that faces it; w unused
    vec4 sun_map;      // metres: half the width, half the height, the depth of the sun's maps; w is a texel's width
    vec4 ground_color; // w is the ground's height
    vec4 solid_rects[SOLID_RECTS]; // what of the sun's maps, -1..1, solids are in: lowest x, y, highest x, y
    vec4 liquid_rect;              // the same of the liquid
    vec4 caustics_map;  // its lowest x, y in the sun's maps, texels for a unit there; w is how strong they are
    vec4 ground_centre; // where it is most opaque; w is the distance at which it has faded away
    vec2 centre;        // pixels, jitter included
    float focal;        // pixels
    float near_plane;   // m
    float spacing, smoothing_radius; // m
    float liquid_shadow;
    float exposure;       // factor
    float sky_turn;       // radians
    float sky_brightness; // in sky_color, too
    float solid_radius;   // m, of a solid particle
    uint width, height;
    uint particle_count;
    uint material_count;
    uint liquid_material;    // row of the first material that a liquid can have
    uint thickness_channels; // 1, or 4 where phases differ: rgb optical depth and metres
    uint sky_kind, ground_visible;
    uint sample_count;
    uint channel_components;
    uint shadow_size; // texels
    uint solid_rect_count;
    uint sky_width, sky_height; // of sky_pixels
    uint has_solids;            // whether there can be solid particles
    uint has_bodies;            // whether grains or meshes are drawn, in scene_normals as in scene_depth
    uint member_count, cluster_count, has_mesh_count, group_count;
    uint cloth_vertex_count, cloth_triangle_count; // 0 where none is drawn
    uint fabric_count;
    uint link_count;
    uint has_smoke;                               // whether smoke_light is there
    uint has_smoke_volume;                        // and smoke
    uint smoke_mode;                              // SMOKE_MODE_ of passes/smoke.h
    uint smoke_columns, smoke_rows, smoke_slices; // cells of the volume that the eye sees
    float smoke_cell;                             // pixels
    float smoke_extinction;                       // 1/m, of SMOKE_MODE_MAP
};
SHARED_STRUCT(FrameConstants)

#define THICKNESS_UNIT   65536.0 // of a metre: sums stay exact, and whatever the order of atomics the same
#define THICKNESS_LEVELS 8u      // of the pyramid that thickness is summed in
#define CAUSTICS_SIZE    512u    // texels a side
#define LAYER_FLOATS     16u
#define NO_DEPTH         0x7f800000u // infinity's bits: nothing there
#define PHASE_KIND       0x07000000u // MOTE_PHASE_KIND_MASK
#define PHASE_BODY       0u          // of MOTE_KIND_BODY
#define PHASE_LIQUID     0x01000000u // of MOTE_KIND_LIQUID
#define PHASE_CLOTH      0x03000000u // of MOTE_KIND_CLOTH
#define PHASE_GAS        0x04000000u // of MOTE_KIND_GAS
#define HANDLE_SINGLE    0x80000000u // MOTE_HANDLE_SINGLE
#define NO_ROW           0xffffffffu // MOTE_NONE

#endif
