// SPDX-License-Identifier: MIT
// mote_render.h - the public interface of Mote's Vulkan renderer: pictures of a world, without a window.
//
// A renderer owns a Vulkan device. It reads a world's memory in place where the two can share it, and draws it as the
// scene's look says: liquid as a smooth surface, particles as spheres, or any buffer on the way. A renderer belongs to
// one thread at a time. Colours are linear RGB, angles degrees where a scene file has degrees.
#ifndef MOTE_RENDER_H
#define MOTE_RENDER_H

#include "mote_interop.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Devices -----------------------------------------------------------------------------------------------

#define MOTE_DEVICE_LACKS_SIZE 512

typedef struct MoteDeviceInfo {
    char name[256];                     // as the driver gives it
    char driver[256];                   // name and version
    char api[32];                       // "1.3.255"
    bool software;                      // runs on the CPU
    bool usable;                        // lacks nothing that the renderer needs
    bool computes;                      // shaderInt64: nor anything that the vulkan backend needs
    bool imports_host_memory;           // VK_EXT_external_memory_host: the CPU backend's arrays are read in place
    bool exports_memory;                // VK_KHR_external_memory_fd: the CUDA backend's arrays are read in place
    bool exports_semaphores;            // timeline semaphores as file descriptors
    uint64_t memory_bytes;              // of the device's own heap
    char lacks[MOTE_DEVICE_LACKS_SIZE]; // what is needed and missing, separated by ", "
} MoteDeviceInfo;

// Fills at most `capacity` rows and returns how many devices there are; 0 also where there is no Vulkan at all, and
// then mote_error_message() says what to install. A row's index is what `device` below means.
MOTE_API uint32_t mote_render_devices(MoteDeviceInfo *rows, uint32_t capacity);

// ---- The renderer ------------------------------------------------------------------------------------------

typedef struct MoteRenderer MoteRenderer;

#define MOTE_DEVICE_AUTO UINT32_MAX // a discrete GPU before an integrated one before software

typedef enum MoteSplatMethod {
    MOTE_SPLAT_AUTO,    // compute on software devices, quads elsewhere
    MOTE_SPLAT_COMPUTE, // an invocation a particle, integer atomics
    MOTE_SPLAT_QUADS,   // a rasterised quad a particle
} MoteSplatMethod;

typedef struct MoteRendererOptions {
    uint32_t device; // index into mote_render_devices, or MOTE_DEVICE_AUTO
    bool validate;   // validation layers with synchronization checks; an error if they are not installed
    MoteSplatMethod splat;
    bool force_staging; // copy the world's arrays even where they could be shared
} MoteRendererOptions;
// The best device, without validation.
MOTE_API MoteRendererOptions mote_default_renderer_options(void);

MOTE_API MoteResult mote_renderer_create(const MoteRendererOptions *options, MoteRenderer **out);
MOTE_API void mote_renderer_destroy(MoteRenderer *renderer); // NULL is allowed

MOTE_API const MoteDeviceInfo *mote_renderer_device(const MoteRenderer *renderer);

// How many samples a pixel edges are drawn with where MotePictureLook.multisampling is `wanted`: 1, 2, 4 or 8, as many
// as the device has at most.
#define MOTE_MULTISAMPLING_MOST 8
MOTE_API uint32_t mote_renderer_multisampling(const MoteRenderer *renderer, uint32_t wanted);
// Messages of the validation layers since creation; each was also printed to stderr. NULL: of all renderers that there
// ever were in this process, also while they were destroyed.
MOTE_API uint32_t mote_renderer_validation_messages(const MoteRenderer *renderer);

// For MoteBackendOptions: a world on a GPU of the same machine that is made with it keeps its arrays in memory of this
// renderer's device. The renderer must outlive the world. The vulkan backend then works on the
// renderer's device itself. NULL where copies were asked for.
MOTE_API MoteSharedMemory *mote_renderer_shared_memory(MoteRenderer *renderer);

// Replaces shaders: SPIR-V in place of files of shaders/render. If the device rejects one, it is an error, and the
// previous shaders stay. Shaders that are not named do not change.
typedef struct MoteShader {
    const char *name;      // of the file, as "tonemap.comp"
    const uint32_t *words; // the caller's; NULL goes back to the one that was built in
    size_t bytes;
} MoteShader;
MOTE_API MoteResult mote_renderer_set_shaders(MoteRenderer *renderer, const MoteShader *shaders, uint32_t count);

// ---- What is drawn -----------------------------------------------------------------------------------------

typedef struct MoteCamera {
    MoteVec3 position, target; // m; the camera's up is y, turned by roll
    float field_of_view;       // degrees, vertical
    float roll;                // degrees, clockwise as seen by the viewer
    float near_plane;          // m, nothing nearer is drawn; there is no far plane
} MoteCamera;

typedef enum MoteSmoothing {
    MOTE_SMOOTHING_NARROW_RANGE, // Truong and Yuksel 2018
    MOTE_SMOOTHING_CURVATURE,    // curvature flow: van der Laan, Green and Sainz 2009
    MOTE_SMOOTHING_BILATERAL,
    MOTE_SMOOTHING_NONE,
} MoteSmoothing;

// The `liquid` section of a scene file.
typedef struct MoteLiquidLook {
    bool visible;
    float radius;            // spacings, of a particle deep inside the liquid, as it is drawn
    bool anisotropy;         // ellipsoids after Yu and Turk 2013; false draws spheres
    float centre_smoothing;  // 0 to 1, lambda of Yu and Turk eq. 6
    float stretch;           // largest ratio of an ellipsoid's radii, k_r
    float isolated_radius;   // spacings, of a particle with few neighbours
    uint32_t isolated_below; // neighbours, N_epsilon
    MoteSmoothing smoothing;
    float smoothing_radius;    // spacings, one sigma of the narrow-range and bilateral filters
    float smoothing_depth;     // spacings, depth differences beyond this are edges; for narrow_range beyond twice this
    uint32_t smoothing_passes; // of the narrow-range or bilateral filter; iterations of curvature flow
    float curvature_step;      // dt of curvature flow, as a fraction of what is stable
    float refraction;          // index of refraction
    float shadow;              // 0 to 1, strength of the liquid's shadow on the scene
    float caustics;            // 0 to 1: sunlight that the surface refracts, in place of a plain shadow
    float scattering;          // times the light that the liquid scatters back: 1 is murky, 0 is clear
} MoteLiquidLook;

// The `sky` section.
typedef enum MoteSkyKind {
    MOTE_SKY_ANALYTIC,
    MOTE_SKY_IMAGE,
    MOTE_SKY_COLOR,
    MOTE_SKY_CLOUDS, // a day with clouds above a line of trees
    MOTE_SKY_EVENING,
    MOTE_SKY_STUDIO, // a dark room with softboxes
} MoteSkyKind;
typedef struct MoteSkyLook {
    MoteSkyKind kind;
    const char *image;    // file of an equirectangular sky, .hdr, .exr or .png; NULL or "" without one
    float image_rotation; // degrees about y
    MoteVec3 color;       // of a sky of one colour
    float brightness;     // times the sky's radiance
    float sun_elevation;  // degrees above the horizon
    float sun_azimuth;    // degrees about y, 0 from +z, 90 from +x
    MoteVec3 sun_color;
    float sun_brightness; // irradiance on a surface that faces it, before sun_color
    float sun_size;       // degrees, its diameter, which also softens shadows
    float haze;           // 0 to 1, of the analytic sky
} MoteSkyLook;

// How spray, foam and bubbles are drawn: of the `foam` section.
typedef struct MoteFoamLook {
    float radius;        // spacings, median
    float radius_spread; // standard deviation of its logarithm
    float density;       // optical depth through the middle of one; 0 draws none
    MoteVec3 color;
    float shutter;  // s
    uint32_t drops; // that an isolated particle of liquid is drawn as; 0: it is part of the surface, as without foam
} MoteFoamLook;

// What the ground is made of. All patterns are filtered over a pixel's footprint.
typedef enum MoteGroundPattern {
    MOTE_GROUND_LINES,
    MOTE_GROUND_TILES,
    MOTE_GROUND_CHECKER,
    MOTE_GROUND_PLANKS,
    MOTE_GROUND_PEBBLES,
    MOTE_GROUND_SAND,
} MoteGroundPattern;

// How smoke and fire are drawn: the `smoke` section.
typedef enum MoteSmokeMode {
    MOTE_SMOKE_VOLUME,     // marched through a volume of cells, in any order of particles
    MOTE_SMOKE_SHADOW_MAP, // sorted sprites, in the shadow of the first smoke that the sun meets (UPP 7.2.4)
    MOTE_SMOKE_SPLATS,     // sorted sprites, lit as the volume is: for close-ups
} MoteSmokeMode;
typedef struct MoteSmokeLook {
    MoteSmokeMode mode;
    float density;             // optical depth through the middle of a new particle; 0 draws none
    float radius;              // spacings, of a new particle
    float growth;              // 1/s, of the radius, in new ones'; the optical depth falls with its square
    float fade;                // share of its life, at the end, in which a particle thins away
    MoteVec3 color, hot_color; // albedo where it is cold, and where it is hot
    float hot;                 // K above the environment: what is hot
    float asymmetry;           // -1 to 1, of Henyey and Greenstein's phase function: above 0 scatters forward
    uint32_t octaves;          // of light scattered several times; 1 is light scattered once
    float fire;                // radiance of red of a black body of 1800 K; 0: nothing glows
    float cell;                // pixels, width of a cell of the volume
    uint32_t slices;           // cells along the line of sight
    float extinction;          // 1/m, of MOTE_SMOKE_SHADOW_MAP
} MoteSmokeLook;

// The `ground` section.
typedef struct MoteGroundLook {
    bool visible;
    float height; // m
    MoteVec3 color;
    float grid; // m between lines, or the size of a tile, square, plank or pebble; 0 is none
    MoteVec3 grid_color;
    float fade; // m from the camera's target at which the ground has faded into the horizon
    MoteGroundPattern pattern;
} MoteGroundLook;

// How linear light becomes a picture of limited range.
typedef enum MoteToneCurve {
    MOTE_TONE_FILMIC,
    MOTE_TONE_AGX, // Sobotka's: strong colours bleach as they get brighter, and keep their hue
} MoteToneCurve;

// The `picture` section.
typedef struct MotePictureLook {
    float exposure;         // stops
    bool antialias;         // smooth the edges of a picture of one sample
    uint32_t multisampling; // samples a pixel that the edges of solids and glass are drawn with, 1 to 8: the next power
                            // of two that the device has is used. Pictures of many samples have no need of it.
    float saturation;       // 1 leaves colours as they are
    float bloom;            // share of the light that is spread around what is bright, 0 to 1
    bool occlusion;         // less light from the sky where grains and bodies are close to each other, or to anything
    float outline;          // pixels, width of dark lines around liquid and solids and along creases; 0 is none
    MoteToneCurve tone;
    float contrast; // exponent of luminance over mid-grey, before the curve; 1 leaves it
} MotePictureLook;

// What a phase's particles, or a collider, are made of: a `materials` entry.
typedef struct MoteRenderMaterial {
    MoteVec3 color;        // what is seen of a thick layer of liquid, or of a solid's surface
    float absorption;      // 1/m; light of colour c is left by exp(-(1 - c) absorption d) after d metres
    float roughness;       // 0 to 1, of solids
    float color_variation; // 0 to 1, how much brighter or darker a grain may be than the others, by its id
    bool solid_only;       // no liquid has it: where all liquids absorb alike, they are drawn quicker
} MoteRenderMaterial;
// A scene file's material: water.
MOTE_API MoteRenderMaterial mote_default_render_material(void);

typedef enum MoteLook {
    MOTE_LOOK_AUTO, // of scene files: glass for containers, solid for the rest, nothing for planes where the ground is
    MOTE_LOOK_SOLID,
    MOTE_LOOK_GLASS,
    MOTE_LOOK_WIREFRAME,
    MOTE_LOOK_HIDDEN,
} MoteLook;

typedef struct MoteRenderCollider {
    MoteCollider collider; // drawn at its pose `to`
    MoteLook look;
    uint32_t material; // row of MoteRenderScene.materials
} MoteRenderCollider;
// mote_default_collider(), solid, of the first material.
MOTE_API MoteRenderCollider mote_default_render_collider(void);

// A surface to be seen, given to the renderer once (mote_renderer_set_meshes) and drawn by as many instances as there
// are of it. Arrays belong to the caller, and may go after the call.
typedef struct MoteRenderMesh {
    uint32_t vertex_count, triangle_count;
    const MoteVec3 *positions; // m, in the mesh's own frame
    const MoteVec3 *normals;   // NULL: made smooth, weighted by area, also across vertices at one place
    const uint32_t *triangles; // 3 vertices a triangle, counter-clockwise as seen from outside
    // The skin of a body, if members is not NULL: each vertex follows four of its members, those of weight 0 aside,
    //   x = sum_k w_k (x_member + R_member R_start (position - rest_member)),
    // with R_member the rotation of the member's cluster and R_start the instance's. Members that are gone are left
    // out, and their weight with them; where none is left, so is what of the surface is there.
    const uint32_t *members; // 4 a vertex: 0 .. member_count - 1, rows of the member table from an instance's offset on
    const float *weights;    // 4 a vertex, not negative, sum 1
    const MoteVec3 *rests;   // m, 4 a vertex: rest_member in the mesh's own frame
    uint32_t member_count;   // of the body: those that are not drawn as spheres where an instance is
    bool deforms;            // normals follow the bent surface (soft bodies); else they turn with the members
    bool moves;              // its vertices come anew with each picture (MoteRenderScene.poses); not with members
    MoteVec3 color;
    float roughness; // 0 to 1
} MoteRenderMesh;
// Light grey, half rough, without a skin; vertices and triangles are still to be given.
MOTE_API MoteRenderMesh mote_default_render_mesh(void);

// Where the vertices of a mesh that moves are now, in its own frame. Without one, they stay where they were.
typedef struct MoteRenderPose {
    uint32_t mesh;                       // row of what mote_renderer_set_meshes was given
    const MoteVec3 *positions, *normals; // m, unit; one a vertex
    const float *wetness;                // 0 to 1 a vertex: wet is darker and shines; NULL is dry
} MoteRenderPose;

// Many instances of one mesh and look are drawn at once, whatever their order.
typedef struct MoteRenderInstance {
    uint32_t mesh;      // row of what mote_renderer_set_meshes was given
    MoteLook look;      // MOTE_LOOK_AUTO is solid
    MoteVec3 tint;      // times the mesh's colour; 1, 1, 1 leaves it as it is
    MoteTransform pose; // m, of a mesh without members; of one with members only the rotation, from the mesh's frame
                        // to the pose that its body was added in (all zeros: none)
    float scale;        // of a mesh without members, above 0
    uint32_t member_offset; // of a mesh with members: row of the member table that its member 0 is
} MoteRenderInstance;
// The first mesh as it is, at the origin.
MOTE_API MoteRenderInstance mote_default_render_instance(void);

// A cloth of the world (mote_cloth.h): its triangles (MoteRenderView.cloth_corners) are drawn from both sides, and its
// particles not as spheres. Patterns and threads follow its texture coordinates.
typedef enum MoteClothLook {
    MOTE_CLOTH_WOVEN,
    MOTE_CLOTH_TRANSLUCENT, // a smooth skin, as balloons have: what is inside is seen through it
    MOTE_CLOTH_HIDDEN,
} MoteClothLook;
typedef enum MoteClothPattern {
    MOTE_PATTERN_PLAIN,
    MOTE_PATTERN_STRIPES, // one beside the other along u
    MOTE_PATTERN_BANDS,   // along v
    MOTE_PATTERN_CHECKS,
    MOTE_PATTERN_GINGHAM, // stripes along u woven with stripes along v
} MoteClothPattern;
typedef struct MoteRenderCloth {
    MoteClothLook look;
    MoteVec3 color, back_color; // of the front, where triangles wind counter-clockwise, and behind
    MoteClothPattern pattern;
    MoteVec3 pattern_color; // of every other stripe, on both sides
    float pattern_size;     // m, width of a stripe
    float roughness;        // 0 to 1, of the fibres: how wide the sheen is
    float sheen;            // 0 to 1, light that fibres scatter at grazing angles (Estevez and Kulla 2017)
    float transmission;     // 0 to 1, share of the light that goes through and is scattered
    float weave;            // m between threads; 0 is smooth
    float thickness;        // times the distance that contacts keep: 1 is as thick as it collides
    float absorption;       // of a translucent one: exp(-(1 - c) absorption) of colour c is left, seen along its normal
    float uv_size[2];       // m that a unit of u and of v is
} MoteRenderCloth;
// Undyed linen.
MOTE_API MoteRenderCloth mote_default_render_cloth(void);

// A rope through particles: a tube along a smooth curve, round at its ends. Where a particle is gone, so are the
// segments beside it. Particles of MOTE_KIND_BODY that are in no body are not drawn as spheres where a rope goes
// through them.
typedef struct MoteRenderRope {
    uint32_t first_node, node_count; // of MoteRenderScene.rope_nodes; at least 2
    float radius;                    // m; 0: half the distance that contacts keep
    float length;                    // m, at rest, which its strands follow
    bool smooth;                     // no strands
    MoteVec3 color;
    float roughness, sheen; // as a cloth's
} MoteRenderRope;
// Hemp, without nodes yet.
MOTE_API MoteRenderRope mote_default_render_rope(void);

// Everything about a picture but the particles. Arrays belong to the caller.
typedef struct MoteRenderScene {
    MoteCamera camera;
    MoteLiquidLook liquid;
    MoteSkyLook sky;
    MoteGroundLook ground;
    MoteFoamLook foam;
    MoteSmokeLook smoke;
    MotePictureLook picture;
    const MoteRenderMaterial *materials; // by phase group, or by group_materials; beyond them is the last one
    uint32_t material_count;
    const MoteRenderCollider *colliders;
    uint32_t collider_count;
    const uint32_t *group_materials; // row of `materials` a phase group; NULL: a group is its own row
    uint32_t group_count;            // a group beyond them has the last one's
    const MoteRenderInstance *instances;
    uint32_t instance_count;
    const MoteRenderPose *poses;
    uint32_t pose_count;
    const MoteRenderCloth *cloths; // by the index of a cloth; beyond them is mote_default_render_cloth()
    uint32_t cloth_count;
    const MoteRenderRope *ropes;
    uint32_t rope_count;
    const MoteParticleHandle *rope_nodes; // of all ropes
    uint32_t rope_node_count;
} MoteRenderScene;

// The defaults of every section above, camera included; no colliders, one material (water).
MOTE_API MoteRenderScene mote_default_render_scene(void);

// Replaces the meshes that instances name. A mesh that cannot be drawn is an error that says why, and then the renderer
// keeps those it had.
MOTE_API MoteResult mote_renderer_set_meshes(MoteRenderer *renderer, const MoteRenderMesh *meshes, uint32_t count);

// ---- Views -------------------------------------------------------------------------------------------------

// What a picture shows. Rows of src/render/views.def; mote_render_view_name(i) is NULL beyond the last.
MOTE_API const char *mote_render_view_name(uint32_t index);
MOTE_API const char *mote_render_view_meaning(uint32_t index);

typedef struct MotePicture {
    uint32_t width, height; // pixels
    uint32_t samples;       // jittered pictures averaged; 1 is one, with edges smoothed afterwards
    const char *view;       // NULL is "liquid", the finished picture; "channel:NAME" colours by a channel
    bool layers;            // also keep depth, normal, thickness and id for mote_renderer_read_layer
} MotePicture;
// 1280 by 720 pixels of one sample, finished.
MOTE_API MotePicture mote_default_picture(void);

// Draws and waits until the picture is there.
MOTE_API MoteResult mote_renderer_draw(MoteRenderer *renderer, MoteWorld *world, const MoteRenderScene *scene,
                                       const MotePicture *picture);

// The same of arrays that are the caller's own, as a program has them that draws one moment while it simulates the
// next: `arrays` are host memory (MOTE_MEMORY_HOST), read in place where they begin at a page and fill whole pages, and
// must stay as they are until the call returns. Under one `layout` an address must always be the same memory. `channel`
// is what "channel:NAME" shows, whatever the name; NULL without one.
typedef struct MoteRenderChannel {
    MoteArray values; // floats, `components` a particle
    uint32_t components;
} MoteRenderChannel;
MOTE_API MoteResult mote_renderer_draw_arrays(MoteRenderer *renderer, const MoteRenderView *arrays,
                                              const MoteRenderChannel *channel, const MoteRenderScene *scene,
                                              const MotePicture *picture);

// The finished picture, display-referred (sRGB), 4 values a pixel, top row first.
MOTE_API MoteResult mote_renderer_read_rgba8(MoteRenderer *renderer, uint8_t *pixels);
MOTE_API MoteResult mote_renderer_read_rgba16(MoteRenderer *renderer, uint16_t *pixels);

// A named layer of the last picture as floats, `components` a pixel: "color" (linear, 4), "depth" (m along the view
// direction, infinite where nothing is, 1), "normal" (world space, 3), "thickness" (m, 1), "id" (of the particle in
// front + 1, 0 where there is none, 1: the float's bits are a uint32_t), "foam" (optical depth of
// white water before and behind the liquid's surface, 2), "smoke" (its linear light and the share that it leaves of
// what is behind it, 4).
MOTE_API MoteResult mote_renderer_read_layer(MoteRenderer *renderer, const char *layer, float *values);
MOTE_API const char *mote_render_layer_name(uint32_t index, uint32_t *components); // NULL beyond the last

// ---- Timings and memory ------------------------------------------------------------------------------------

typedef struct MotePassTiming {
    const char *name;    // of the pass
    double milliseconds; // on the device, of the last picture (all its samples)
} MotePassTiming;
MOTE_API uint32_t mote_renderer_timings(const MoteRenderer *renderer, MotePassTiming *rows, uint32_t capacity);

typedef struct MoteInteropReport {
    const char *path;      // "host import", "shared memory", "same device" or "staging"
    const char *why;       // why not a better one; "" if there is none
    uint64_t bytes_copied; // of the world's arrays for the last picture; 0 where they are shared
    uint64_t bytes_shared; // of the world's arrays read in place for the last picture
    const char *order;     // how solver and renderer wait for each other: "host" or "timeline semaphore"
    uint64_t device_bytes; // all memory of the renderer's own on the device
} MoteInteropReport;
MOTE_API MoteInteropReport mote_renderer_interop(const MoteRenderer *renderer);

// ---- Scenes ------------------------------------------------------------------------------------------------

// A simulation's look at its current time. `camera` names one of the scene's `cameras`; NULL or "" is `camera`. The
// arrays in *out belong to the simulation and hold until the next call with it.
MOTE_API MoteResult mote_simulation_render_scene(MoteSimulation *simulation, const char *camera, MoteRenderScene *out);
// The meshes of its instances, for mote_renderer_set_meshes before the first picture; they stay, and
// those that move are moved by the poses of mote_simulation_render_scene. The arrays
// belong to the simulation.
MOTE_API MoteResult mote_simulation_render_meshes(MoteSimulation *simulation, const MoteRenderMesh **meshes,
                                                  uint32_t *count);

#ifdef __cplusplus
}
#endif
#endif
