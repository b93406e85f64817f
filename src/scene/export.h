// SPDX-License-Identifier: MIT
// export.h - particles as a table of attributes, and the file formats that write it.
#ifndef MOTE_SCENE_EXPORT_H
#define MOTE_SCENE_EXPORT_H

#include "mote.h"
#include <stdio.h>

#define EXPORT_CHANNEL_LIMIT 64 // more than a world can have
#define EXPORT_NAME_SIZE     64

typedef enum ExportRole {
    EXPORT_POSITION,
    EXPORT_VELOCITY,
    EXPORT_ID,
    EXPORT_PHASE,   // group
    EXPORT_DENSITY, // over rest density
    EXPORT_MASS,    // kg; 0 is pinned
    EXPORT_CHANNEL, // one an attribute from here on, under its own name
    EXPORT_ATTRIBUTE_LIMIT = EXPORT_CHANNEL + EXPORT_CHANNEL_LIMIT
} ExportRole;

typedef struct ExportAttribute {
    uint32_t components;
    uint32_t stride;    // four-byte values from one particle to the next
    bool integer;       // uint32_t, else float
    const void *values; // the first particle's
} ExportAttribute;

// The attributes of `particle_count` particles; attribute i has ExportRole i, or is a channel.
typedef struct ExportTable {
    uint32_t particle_count, attribute_count;
    double time; // s
    ExportAttribute attributes[EXPORT_ATTRIBUTE_LIMIT];
    char channel_names[EXPORT_CHANNEL_LIMIT][EXPORT_NAME_SIZE];
} ExportTable;

typedef char ExportName[EXPORT_NAME_SIZE];

// Names for all attributes: the format's own for the built-in ones (`names` has EXPORT_CHANNEL of them), the
// channels' with only letters, digits and underscores, all different.
void export_names(const ExportTable *table, const char *const *builtin, ExportName *names);
// Changes the last of `count` names until it differs from those before it.
void export_make_unique(ExportName *names, uint32_t count);

// Copies the attribute of particles first to first + count - 1 to `values`, `stride` values from one to the next.
void export_gather(const ExportAttribute *attribute, uint32_t first, uint32_t count, uint32_t *values, uint32_t stride);

// Rows of four-byte values, all attributes' components one after the other; `pad` inserts one float 1 after the
// position, `swap` turns every value's bytes round.
MoteResult export_write_rows(const ExportTable *table, FILE *stream, bool pad, bool swap);

// The formats. Errors of the stream are the caller's to notice.
MoteResult export_ply(const ExportTable *table, FILE *stream);
MoteResult export_vtk(const ExportTable *table, FILE *stream);
MoteResult export_bgeo(const ExportTable *table, FILE *stream);

// The meshes of all cloths to PATH_cloth.obj or .ply (export_cloth.c).
MoteResult export_cloths(MoteWorld *world, double time, bool as_obj, const char *path);

// The extension, without a dot, of a format's files: "vtu" for "vtk". NULL where there is no such format.
const char *export_extension(const char *format);

// A ParaView collection (.pvd) that gives each file its time in seconds. Names are relative to the collection.
MoteResult export_write_collection(const char *path, const char *const *names, const double *times, uint32_t count);

#endif
