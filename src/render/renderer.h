// SPDX-License-Identifier: MIT
// renderer.h - the definition of MoteRenderer: images, descriptors and the state of the passes.
#ifndef MOTE_RENDERER_H
#define MOTE_RENDERER_H

#include "render/bodies.h"
#include "render/interop.h"
#include "render/primitive_mesh.h"
#include "render/ropes.h"
#include "render_shared.h"

typedef struct Material Material;

// What barriers are for: images first, whose rows are their numbers in MoteRenderer.images, then buffers.
typedef enum Resource {
#define IMAGE_ROW(name, texture, store, glsl_format, format, size, usage) RESOURCE_##name,
#define DEPTH_ROW(name, size)                                             RESOURCE_##name,
#define SAMPLES_ROW(name, format, what)                                   RESOURCE_##name,
#include "render/resources.def"
    IMAGE_COUNT,
    RESOURCE_LAST_IMAGE = IMAGE_COUNT - 1,
#define BUFFER_ROW(type, name) RESOURCE_##name,
#include "render/resources.def"
    RESOURCE_COUNT
} Resource;

typedef enum BlockId {
#define BLOCK_ROW(name, bytes) BLOCK_##name,
#include "render/resources.def"
    BLOCK_COUNT
} BlockId;

typedef enum SamplerId {
#define SAMPLER_ROW(name, filter, mode) SAMPLER_##name,
#include "render/resources.def"
    SAMPLER_COUNT
} SamplerId;

// What is drawn with several samples a pixel, as bits: images for it are as large as the picture, others a texel.
enum { EDGES_SOLIDS = 1, EDGES_BODIES = 2, EDGES_GLASS = 4 };
enum { USUAL_SAMPLES = 4 }; // a pixel: what passes make their pipelines for until a picture wants others
enum { SKY_WIDTH = 512, SKY_HEIGHT = 256 };
enum { SUN_SIZE = 1024, LIQUID_SHADOW_SIZE = 256 }; // texels a side of the sun's maps of solids and of liquid

typedef enum PassId {
#define PASS_ROW(name, work, when, accesses) PASS_##name,
#include "render/passes.def"
    PASS_COUNT
} PassId;

typedef enum ViewId {
#define VIEW_ROW(name, meaning) VIEW_##name,
#include "render/views.def"
    VIEW_COUNT
} ViewId;

// What is being drawn: filled by frame.c before the passes record.
struct Frame {
    MoteWorld *world;      // NULL where the arrays are the caller's own
    MoteRenderView solver; // its arrays
    const MoteRenderScene *scene;
    const MotePicture *picture;
    ViewId view;
    char channel[64]; // of VIEW_channel
    MoteRenderChannel channel_values;
    bool liquid;            // the surface passes run
    bool spheres;           // particles are drawn as spheres of half a spacing, not as the liquid's ellipsoids
    bool grains;            // solid particles are drawn as spheres of the scene
    bool skins;             // some cloth is translucent
    bool needs_index;       // the index of the nearest particle at each pixel is needed
    float solid_reach;      // m, how far solids go beyond the centres of particles
    uint32_t sample;        // that is being drawn, of picture->samples
    uint32_t samples;       // samples per pixel of multisampled images: 1, 2, 4 or 8
    uint32_t edges;         // EDGES_ bits
    uint32_t scene_samples; // the same of the scene: 1 where it has no edges of solids
    FrameConstants constants;
};

struct MoteRenderer {
    Device device;
    Interop interop;
    MoteRendererOptions options;
    bool compute_splat; // else quads

    DeviceImage images[IMAGE_COUNT];
    uint64_t image_sets;    // how many times they were made
    uint32_t width, height; // of the images; 0 before the first picture
    uint32_t samples;       // a pixel of those images that can have several
    uint32_t sampled;       // what has edges in those images: EDGES_ bits

    VkDescriptorSetLayout set_layout;
    VkPipelineLayout pipeline_layout;
    VkDescriptorPool descriptor_pool;
    VkDescriptorSet set;
    VkSampler samplers[SAMPLER_COUNT];
    Buffer blocks[BLOCK_COUNT]; // frame_constants and pass_constants are mapped, sky_light is the environment pass's
    Buffer materials;           // Material, mapped
    Buffer pixels;              // of the finished picture, mapped
    Buffer layers;              // of the last picture that asked for them, mapped

    VkQueryPool queries; // when each pass begins, and when the last has ended
    double milliseconds[PASS_COUNT];
    bool has_picture, has_layers;
    bool drawing;         // the device may still be at the last picture: renderer_finish
    bool ran[PASS_COUNT]; // the passes of the sample that was submitted last
    uint64_t pictures;    // drawn to their end

    PrimitiveBuffers colliders; // of the colliders; the shadow pass's
    MeshSet meshes;             // of mote_renderer_set_meshes
    Bodies bodies;              // the frame's instances of them
    Ropes ropes;                // the frame's; of the ropes pass
    void *states[PASS_COUNT];   // each pass's own
    PassId recording;           // the pass whose constants shaders see
    struct ShaderCode *shaders; // of mote_renderer_set_shaders, in place of those built in
    uint32_t shader_count;
    Frame frame;
};

// ---- The interface of a pass (passes/NAME.c) ----

// Every hook but `record` may be NULL. `state` belongs to the pass: state_bytes of zeros before `create`. Without state
// it is NULL, and create and destroy are not called. destroy is also called after create has failed.
//   create   creates pipelines and everything that does not depend on the picture.
//   prepare  is called once per picture, before the frame's images are made: the pass declares that it will draw into
//   the
//            scene (has_bodies, edges and solid_reach of the frame; camera, sun and addresses are not set yet).
//   record   is called outside of rendering, after the frame's barriers; it may create what depends on the frame's
//            size. It may record nothing.
typedef struct Pass {
    size_t state_bytes;
    MoteResult (*create)(MoteRenderer *renderer, void *state);
    MoteResult (*prepare)(MoteRenderer *renderer, void *state);
    MoteResult (*record)(MoteRenderer *renderer, void *state, VkCommandBuffer commands);
    void (*destroy)(MoteRenderer *renderer, void *state);
} Pass;

#define PASS_ROW(name, work, when, accesses) extern const Pass name##_pass;
#include "render/passes.def"

// ---- Tools for passes (pipelines.c) ----

// A compute pipeline of shaders/render/NAME with specialisation constants 0, 1, ... = values.
MoteResult pipeline_create_compute(MoteRenderer *renderer, const char *shader, const uint32_t *values,
                                   uint32_t value_count, VkPipeline *out);

// OVER: source is premultiplied by its alpha. MULTIPLY: what is there times the source, and its alpha stays.
typedef enum Blending { BLEND_NONE, BLEND_ADD, BLEND_OVER, BLEND_MULTIPLY } Blending;

// Formats VK_FORMAT_UNDEFINED are attachments that are not there. Depth is reversed: nearer is greater.
typedef struct GraphicsPipeline {
    const char *vertex, *fragment; // fragment NULL: depth only
    VkPrimitiveTopology topology;
    VkCullModeFlags cull; // counter-clockwise is the front
    Blending blending;
    VkFormat color_format, color_format2, depth_format;
    bool depth_test, depth_write;
    VkCompareOp depth_compare; // if depth_test
    float depth_bias_slope;
    uint32_t samples;   // a pixel; 0 is 1
    uint32_t values[3]; // specialisation constants of the fragment shader
} GraphicsPipeline;
// Opaque triangles in front of what is farther away, into the scene's images.
GraphicsPipeline pipeline_opaque(const char *vertex, const char *fragment, uint32_t samples);
// Vertices are fetched by address, not by attribute.
MoteResult pipeline_create_graphics(MoteRenderer *renderer, const GraphicsPipeline *info, VkPipeline *out);

// Sets the constants that all shaders of the current pass see as `pass`, a struct of shaders/passes: at most
// PASS_CONSTANTS_BYTES. There is one set per pass: the last call applies to everything that the pass records.
void pass_constants(MoteRenderer *renderer, const void *constants, size_t bytes);
// Binds pipeline and descriptors, and sets the push constants, which the shader sees as `push`: at most
// PUSH_CONSTANTS_BYTES; may be NULL.
void pass_bind(MoteRenderer *renderer, VkCommandBuffer commands, VkPipelineBindPoint point, VkPipeline pipeline,
               const void *push, uint32_t bytes);
// One invocation per element, in groups of `group`; invocation_index() in GLSL is its index.
void pass_dispatch(VkCommandBuffer commands, uint32_t count, uint32_t group);
void pass_dispatch_pixels(VkCommandBuffer commands, uint32_t width, uint32_t height); // groups of 8 x 8
// Between two dispatches of one pass, if the second uses images or buffers that the first writes.
void pass_compute_barrier(VkCommandBuffer commands);
// Between a fill and a dispatch of one pass.
void pass_transfer_barrier(VkCommandBuffer commands);
// Between a dispatch and a copy of one pass.
void pass_before_transfer_barrier(VkCommandBuffer commands);
// Between two renderings of one pass, if the second reads or blends over the result of the first.
void pass_attachment_barrier(VkCommandBuffer commands);
// Begins rendering to these images; any may be NULL. Clear values NULL: the previous contents are loaded.
typedef struct RenderTargets {
    const DeviceImage *color, *color2, *depth;
    const VkClearColorValue *clear_color; // of both
    const float *clear_depth;
    const VkRect2D *area; // that is drawn to; NULL: all. Clearing always applies to the whole image
} RenderTargets;
void pass_begin_rendering(VkCommandBuffer commands, const RenderTargets *targets);

// Most passes are a few compute pipelines and perhaps a buffer: this is their state, whose create and destroy are here.
enum { SIMPLE_PIPELINES = 16 };
typedef struct SimplePass {
    VkPipeline pipelines[SIMPLE_PIPELINES];
    Buffer buffer;
} SimplePass;
typedef struct SimpleShader {
    const char *shader;
    uint32_t values[4]; // specialisation constants
} SimpleShader;
// Keeps pipelines that are there: `record` may call it where most pictures do without the pass.
MoteResult simple_pass_create(MoteRenderer *renderer, SimplePass *pass, const SimpleShader *shaders, uint32_t count);
void simple_pass_destroy(MoteRenderer *renderer, void *state);

#endif
