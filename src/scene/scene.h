// SPDX-License-Identifier: MIT
// scene.h - the values of a scene file, before a world is built from them.
#ifndef MOTE_SCENE_H
#define MOTE_SCENE_H

#include "mote_forces.h"
#include "mote_render.h"
#include "scene/notices.h"

#define SCENE_NAME_SIZE 64 // bytes of a material's or camera's name, the final zero included

// One struct a section of keys.def, whose rows name these fields; sections that are not here have a struct of the
// public headers. CHOICE fields are uint32_t, VEC3 are MoteVec3, STRING are char[SCENE_NAME_SIZE], PATH and MESH are
// const char *, MESHES const SceneSequence *; these belong to the scene and are shared by all copies of its values.
typedef struct SceneMaterial {
    char name[SCENE_NAME_SIZE];
    float density, static_friction, kinetic_friction, restitution, rolling_friction, adhesion;
    uint32_t combine; // MoteCombine
    char ignores[SCENE_NAME_SIZE];
    float viscosity, vorticity, max_tension, artificial_pressure; // below 0: as the solver's keys say
    MoteVec3 color;
    float absorption, roughness, color_variation;
} SceneMaterial;

typedef enum SceneFluidShape { SCENE_FLUID_BLOCK, SCENE_FLUID_SPHERE } SceneFluidShape;
typedef struct SceneFluid {
    char material[SCENE_NAME_SIZE];
    uint32_t shape; // SceneFluidShape
    MoteVec3 position, size, velocity;
    float radius;
    bool keep_inside_colliders;
} SceneFluid;

typedef enum SceneAnchor { SCENE_ANCHOR_CENTRE, SCENE_ANCHOR_BASE, SCENE_ANCHOR_ORIGIN } SceneAnchor;
typedef enum SceneBodyLook { SCENE_BODY_MESH, SCENE_BODY_PARTICLES, SCENE_BODY_HIDDEN } SceneBodyLook;
typedef struct SceneBody {
    char material[SCENE_NAME_SIZE];
    const char *mesh;
    float scale, fit_height;
    uint32_t anchor; // SceneAnchor
    MoteVec3 position, rotation, velocity, angular_velocity;
    float spacing, inset;
    bool surface_only, use_field;
    float stiffness, cluster_spacing, cluster_radius, plastic_yield, plastic_creep, plastic_limit;
    MoteVec3 copies, copies_spacing;
    bool copies_turn;
    float copies_jitter;
    uint32_t seed;
    uint32_t look; // SceneBodyLook
    float tint_variation;
} SceneBody;

typedef enum SceneGrainShape {
    SCENE_GRAINS_BLOCK,
    SCENE_GRAINS_SPHERE,
    SCENE_GRAINS_CYLINDER,
    SCENE_GRAINS_MESH
} SceneGrainShape;
typedef enum ScenePacking { SCENE_PACKING_CUBIC, SCENE_PACKING_DENSE } ScenePacking;
typedef struct SceneGrains {
    char material[SCENE_NAME_SIZE];
    uint32_t shape; // SceneGrainShape
    const char *mesh;
    float scale, fit_height;
    uint32_t anchor; // SceneAnchor
    MoteVec3 position, rotation, size, velocity;
    float radius, height;
    uint32_t packing; // ScenePacking
    float distance, jitter;
    uint32_t seed;
    bool keep_inside_colliders;
} SceneGrains;

typedef struct SceneSpring {
    char material[SCENE_NAME_SIZE];
    MoteVec3 from, to;
    bool from_fixed, to_fixed, slack;
    float stiffness, rest_length, damping;
    uint32_t segments;
} SceneSpring;

typedef struct SceneSequence SceneSequence; // meshes.h

typedef enum SceneSequenceEnd { SCENE_SEQUENCE_HOLDS, SCENE_SEQUENCE_LOOPS } SceneSequenceEnd;
typedef enum SceneUv { SCENE_UV_MESH, SCENE_UV_ABOVE } SceneUv;
typedef struct SceneCollider {
    char material[SCENE_NAME_SIZE];
    uint32_t shape; // MoteColliderKind
    bool inside_out;
    MoteVec3 position, rotation, size;
    float radius, height;
    const char *mesh;
    const SceneSequence *mesh_sequence; // or NULL
    float sequence_rate, sequence_start;
    uint32_t sequence_end; // SceneSequenceEnd
    float scale, fit_height;
    uint32_t anchor;     // SceneAnchor
    uint32_t field_mode; // MoteFieldMode
    float cell_size, offset;
    uint32_t band;
    const char *friction_texture;
    uint32_t wet_map; // texels along a side
    float wet_time;
    uint32_t uv; // SceneUv
    float mass, density;
    MoteVec3 velocity, angular_velocity; // m/s, degrees/s
    uint32_t look;                       // MoteLook
} SceneCollider;

typedef enum SceneEmitterShape { SCENE_EMITTER_DISC, SCENE_EMITTER_BOX } SceneEmitterShape;
typedef enum SceneEmitterKind { SCENE_EMITS_LIQUID, SCENE_EMITS_GRAINS } SceneEmitterKind;
typedef struct SceneEmitter {
    char material[SCENE_NAME_SIZE];
    uint32_t kind;  // SceneEmitterKind
    uint32_t shape; // SceneEmitterShape
    MoteVec3 position, rotation, size;
    float radius, speed, start, stop;
    uint32_t max_particles;
    float jitter;
} SceneEmitter;

typedef struct SceneKillVolume {
    uint32_t shape; // MoteColliderKind
    bool inside_out;
    MoteVec3 position, rotation, size;
    float radius, height;
} SceneKillVolume;

typedef enum SceneAffects {
    SCENE_AFFECTS_EVERYTHING,
    SCENE_AFFECTS_LIQUID,
    SCENE_AFFECTS_GRAINS,
    SCENE_AFFECTS_BODIES,
    SCENE_AFFECTS_COLLIDERS
} SceneAffects;
typedef struct SceneForce {
    uint32_t kind, mode, falloff; // MoteForceFieldKind, MoteForceMode, MoteFalloff
    uint32_t affects;             // SceneAffects
    char materials[SCENE_NAME_SIZE];
    MoteVec3 position, rotation, size;
    float radius, height, border, softening, strength, swirl;
    MoteVec3 direction, angular, velocity; // angular in degrees/s^2
    float drag;
} SceneForce;

typedef struct SceneBounds {
    MoteVec3 lower, upper;
} SceneBounds;

typedef struct SceneCamera {
    char name[SCENE_NAME_SIZE]; // "" for `camera`
    MoteVec3 position, target;
    float field_of_view, roll, near, orbit;
} SceneCamera;

typedef struct SceneOutput {
    uint32_t frames, every;
} SceneOutput;

typedef enum SceneSection {
#define SECTION(section, type, json_key, kind, use, meaning) SCENE_SECTION_##section,
#include "keys.def"
    SCENE_SECTION_COUNT
} SceneSection;

// The elements of one section: `count` structs of the section's type, one after the other. OBJECT sections
// always have exactly one.
typedef struct SceneElements {
    void *data;
    uint32_t count;
} SceneElements;

// All values of a scene at one time.
typedef struct SceneValues {
    SceneElements sections[SCENE_SECTION_COUNT];
} SceneValues;

// SCENE_AT(values, fluid, i) is the i-th SceneFluid, SCENE_COUNT(values, fluid) how many there are.
#define SECTION(section, type, json_key, kind, use, meaning)                                                           \
    typedef type scene_type_##section;                                                                                 \
    static inline type *scene_at_##section(const SceneValues *values, uint32_t i)                                      \
    {                                                                                                                  \
        return (type *)values->sections[SCENE_SECTION_##section].data + i;                                             \
    }
#include "keys.def"
#define SCENE_AT(values, section, i) scene_at_##section(values, i)
#define SCENE_COUNT(values, section) ((values)->sections[SCENE_SECTION_##section].count)

// ---- The table as data (keys.c) ----

typedef enum SceneType {
    SCENE_UINT,
    SCENE_FLOAT,
    SCENE_VEC3,
    SCENE_BOOL,
    SCENE_STRING,
    SCENE_PATH,
    SCENE_MESH,
    SCENE_MESHES,
    SCENE_CHOICE
} SceneType;
typedef enum SceneAnimation { SCENE_ANIMATED, SCENE_FIXED, SCENE_REQUIRED } SceneAnimation;
typedef enum SceneSectionKind { SCENE_OBJECT, SCENE_ARRAY, SCENE_MAP } SceneSectionKind;
typedef enum SceneUse { SCENE_PHYSICS, SCENE_OUTPUT } SceneUse;

typedef struct SceneSectionInfo {
    const char *name, *json_key, *meaning;
    SceneSectionKind kind;
    SceneUse use;
    size_t element_size;
} SceneSectionInfo;

typedef struct SceneKey {
    SceneSection section;
    const char *name;
    SceneType type;
    const char *unit;
    double minimum, maximum;
    const char *standard; // the default, as JSON
    SceneAnimation animation;
    const char *choices; // separated by '|'
    const char *meaning;
    size_t offset; // of the field in the section's struct
    bool look;     // a LOOK_KEY
} SceneKey;

extern const SceneSectionInfo scene_sections[SCENE_SECTION_COUNT];
extern const SceneKey scene_keys[];
extern const uint32_t scene_key_count;

// ---- Keyframes (tracks.c) ----

typedef enum SceneInterpolation { SCENE_LINEAR, SCENE_STEP, SCENE_SMOOTH } SceneInterpolation;

// One animated number or vector: key `key` of element `element` of its section.
typedef struct SceneTrack {
    uint32_t key, element;
    uint32_t components; // 1 or 3
    SceneInterpolation interpolation;
    uint32_t count;
    double *times; // s, strictly increasing
    float *values; // components a keyframe
} SceneTrack;

// A string of the scene's own; the scene frees all of them.
typedef struct SceneText SceneText;
struct SceneText {
    SceneText *next;
    char text[];
};

typedef struct SceneMesh SceneMesh; // meshes.h

struct MoteScene {
    char *path;         // as given
    char *name;         // "name" in the file, or the file's name without folder and extension
    SceneValues values; // at time 0, animated values included
    SceneTrack *tracks;
    uint32_t track_count;
    SceneText *texts;         // what the values of PATH keys point to
    SceneMesh *meshes;        // what those of MESH keys name, each once
    SceneSequence *sequences; // what those of MESHES keys point to
    Notices notices;          // warnings about the file
    uint64_t hash; // of the file's physics with its overrides applied: states remember which scene they belong to
};

// A deep copy of the scene's values, to be evaluated at other times; free with scene_values_free.
MoteResult scene_values_copy(const MoteScene *scene, SceneValues *out);
void scene_values_free(SceneValues *values);

// Overwrites the animated values with those at `time`; before the first keyframe and after the last, theirs hold.
void scene_values_at(const MoteScene *scene, double time, SceneValues *values);

// The material of that name; every name in a loaded scene has one.
const SceneMaterial *scene_material(const SceneValues *values, const char *name);

// ---- Documents made from the table (schema.c) ----

MoteResult scene_write_schema(const char *path);          // JSON Schema
MoteResult scene_write_format_document(const char *path); // Markdown

#endif
