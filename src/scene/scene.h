// SPDX-License-Identifier: MIT
// scene.h - the values of a scene file, before a world is built from them.
#ifndef MOTE_SCENE_H
#define MOTE_SCENE_H

#include "mote_forces.h"
#include "mote_render.h"
#include "scene/notices.h"

#define SCENE_NAME_SIZE 64 // bytes of a material's or camera's name, the final zero included

typedef char SceneName[SCENE_NAME_SIZE];
typedef struct SceneSequence SceneSequence; // meshes.h
typedef struct ScenePoints ScenePoints;

// One struct a section of keys.def, with a field for each of its keys; those of MAP sections begin with their name.
// What PATH, MESH, MESHES and POINTS fields point to belongs to the scene and is shared by all copies of its values.
#define SCENE_STRUCTS
#define SCENE_FIELD_UINT   uint32_t
#define SCENE_FIELD_FLOAT  float
#define SCENE_FIELD_VEC3   MoteVec3
#define SCENE_FIELD_BOOL   bool
#define SCENE_FIELD_STRING SceneName
#define SCENE_FIELD_PATH   const char *
#define SCENE_FIELD_MESH   const char *
#define SCENE_FIELD_MESHES const SceneSequence * // or NULL
#define SCENE_FIELD_POINTS const ScenePoints *   // or NULL
#define SCENE_FIELD_CHOICE uint32_t              // of one of the enums below, or of the public headers
#define SCENE_NAMED_OBJECT
#define SCENE_NAMED_ARRAY
#define SCENE_NAMED_MAP SceneName name;
#define SECTION(section, type, json_key, kind, use, meaning)                                                           \
    typedef struct type {                                                                                              \
        SCENE_NAMED_##kind
#define KEY(section, field, type, unit, minimum, maximum, standard, animation, choices, meaning)                       \
    SCENE_FIELD_##type field;
#define END_SECTION(type)                                                                                              \
    }                                                                                                                  \
    type;
#include "keys.def"
#undef SCENE_STRUCTS

// Those of the public headers, and this one, are written by hand.
typedef struct SceneCamera {
    char name[SCENE_NAME_SIZE]; // "" for `camera`
    MoteVec3 position, target;
    float field_of_view, roll, near, orbit;
} SceneCamera;

// What CHOICE keys say, where it is not an enum of the public headers.
typedef enum SceneFluidShape { SCENE_FLUID_BLOCK, SCENE_FLUID_SPHERE } SceneFluidShape;
typedef enum SceneFluidKind { SCENE_FLUID_LIQUID, SCENE_FLUID_GAS } SceneFluidKind;
typedef enum SceneAnchor { SCENE_ANCHOR_CENTRE, SCENE_ANCHOR_BASE, SCENE_ANCHOR_ORIGIN } SceneAnchor;
typedef enum SceneSpringLook { SCENE_SPRING_AUTO, SCENE_SPRING_ROPE, SCENE_SPRING_PARTICLES } SceneSpringLook;
typedef enum SceneBodyLook { SCENE_BODY_MESH, SCENE_BODY_PARTICLES, SCENE_BODY_HIDDEN } SceneBodyLook;
typedef enum SceneGrainShape {
    SCENE_GRAINS_BLOCK,
    SCENE_GRAINS_SPHERE,
    SCENE_GRAINS_CYLINDER,
    SCENE_GRAINS_MESH
} SceneGrainShape;
typedef enum ScenePacking { SCENE_PACKING_CUBIC, SCENE_PACKING_DENSE } ScenePacking;
typedef enum SceneSequenceEnd { SCENE_SEQUENCE_HOLDS, SCENE_SEQUENCE_LOOPS } SceneSequenceEnd;
typedef enum SceneUv { SCENE_UV_MESH, SCENE_UV_ABOVE } SceneUv;
typedef enum SceneRodLook { SCENE_ROD_TUBE, SCENE_ROD_PARTICLES } SceneRodLook;
typedef enum SceneEmitterShape { SCENE_EMITTER_DISC, SCENE_EMITTER_BOX } SceneEmitterShape;
typedef enum SceneEmitterKind { SCENE_EMITS_LIQUID, SCENE_EMITS_GRAINS, SCENE_EMITS_GAS } SceneEmitterKind;
typedef enum SceneAffects {
    SCENE_AFFECTS_EVERYTHING,
    SCENE_AFFECTS_LIQUID,
    SCENE_AFFECTS_GRAINS,
    SCENE_AFFECTS_BODIES,
    SCENE_AFFECTS_COLLIDERS,
    SCENE_AFFECTS_CLOTH,
    SCENE_AFFECTS_GAS
} SceneAffects;

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
    SCENE_POINTS,
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

// A list of points of the scene's own; the scene frees all of them.
struct ScenePoints {
    ScenePoints *next;
    uint32_t count;
    MoteVec3 at[];
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
    ScenePoints *points;      // what those of POINTS keys point to
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
