// SPDX-License-Identifier: MIT
// mesh_shapes.c - shape:NAME?KEY=VALUE: meshes made by a generator. All are about the origin, y up, sizes in metres.
#include "geometry/mesh_internal.h"

#include "base/error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;
enum { PROFILE_POINTS = 2200, PARAMETERS = 6 };

// ---- Parts -----------------------------------------------------------------------------------------------------

void builder_move(MeshBuilder *builder, uint32_t first, DVec3 offset)
{
    for (uint32_t v = first; v < builder->mesh.vertex_count; v++) {
        builder->mesh.positions[v] = dvec3_round(dvec3_add(dvec3_from(builder->mesh.positions[v]), offset));
    }
}

void builder_box(MeshBuilder *builder, DVec3 centre, DVec3 half)
{
    static const uint8_t faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                        {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    uint32_t vertices[8];
    for (uint32_t i = 0; i < 8; i++) {
        const DVec3 offset = {i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z};
        vertices[i] = builder_vertex(builder, dvec3_add(centre, offset));
    }
    for (uint32_t f = 0; f < 6; f++) {
        const uint8_t *face = faces[f];
        builder_triangle(builder, vertices[face[0]], vertices[face[1]], vertices[face[2]]);
        builder_triangle(builder, vertices[face[0]], vertices[face[2]], vertices[face[3]]);
    }
}

void builder_revolve(MeshBuilder *builder, const ProfilePoint *profile, uint32_t count, bool cyclic, uint32_t segments)
{
    const uint32_t first = builder->mesh.vertex_count;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t s = 0; s < segments; s++) {
            // On the axis all of a ring's vertices are equal; they become one when the mesh is finished.
            const double angle = 2.0 * PI * s / segments, radius = profile[i].radius;
            const double cosine = radius > 0.0 ? cos(angle) : 0.0, sine = radius > 0.0 ? sin(angle) : 0.0;
            builder_vertex(builder, dvec3(radius * cosine, profile[i].height, radius * sine));
        }
    }
    for (uint32_t i = 0; i + (cyclic ? 0 : 1) < count; i++) {
        const uint32_t here = first + i * segments, there = first + (i + 1) % count * segments;
        for (uint32_t s = 0; s < segments; s++) {
            const uint32_t t = (s + 1) % segments;
            builder_triangle(builder, here + s, there + s, there + t);
            builder_triangle(builder, here + s, there + t, here + t);
        }
    }
}

// Points on a circle in the profile's plane, from one angle to another (from the radius axis towards up).
static uint32_t append_arc(ProfilePoint *profile, uint32_t count, ProfilePoint centre, double radius, double from,
                           double to, uint32_t steps)
{
    for (uint32_t i = 0; i <= steps; i++) {
        const double angle = from + (to - from) * i / steps;
        const double r = centre.radius + radius * cos(angle);
        profile[count++] = (ProfilePoint){fabs(r) < 1e-9 * radius ? 0.0 : r, centre.height + radius * sin(angle)};
    }
    return count;
}

// ---- Shapes ----------------------------------------------------------------------------------------------------

static void generate_box(MeshBuilder *builder, const double *values)
{
    builder_box(builder, dvec3(0, 0, 0), dvec3(0.5 * values[0], 0.5 * values[1], 0.5 * values[2]));
}

static void generate_sphere(MeshBuilder *builder, const double *values)
{
    static const ProfilePoint origin = {0.0, 0.0};
    const uint32_t segments = (uint32_t)values[1];
    ProfilePoint profile[PROFILE_POINTS];
    const uint32_t count = append_arc(profile, 0, origin, values[0], -0.5 * PI, 0.5 * PI, segments / 2);
    builder_revolve(builder, profile, count, false, segments);
}

static void generate_torus(MeshBuilder *builder, const double *values)
{
    const uint32_t segments = (uint32_t)values[2], around = segments / 2 > 3 ? segments / 2 : 3;
    ProfilePoint profile[PROFILE_POINTS];
    const ProfilePoint centre = {values[0], 0.0};
    append_arc(profile, 0, centre, values[1], 0.0, 2.0 * PI, around); // the last point is the first again
    builder_revolve(builder, profile, around, true, segments);
}

static void generate_cylinder(MeshBuilder *builder, const double *values)
{
    const double radius = values[0], half = 0.5 * values[1];
    const ProfilePoint profile[] = {{0.0, -half}, {radius, -half}, {radius, half}, {0.0, half}};
    builder_revolve(builder, profile, 4, false, (uint32_t)values[2]);
}

static void generate_cone(MeshBuilder *builder, const double *values)
{
    const double radius = values[0], half = 0.5 * values[1];
    const ProfilePoint profile[] = {{0.0, -half}, {radius, -half}, {0.0, half}};
    builder_revolve(builder, profile, 3, false, (uint32_t)values[2]);
}

// The lower half of a sphere about the origin, open at the top.
static void generate_bowl(MeshBuilder *builder, const double *values)
{
    static const ProfilePoint origin = {0.0, 0.0};
    const uint32_t segments = (uint32_t)values[2];
    const double radius = values[0], inner = radius - fmin(values[1], 0.9 * radius);
    ProfilePoint profile[PROFILE_POINTS];
    uint32_t count = append_arc(profile, 0, origin, radius, -0.5 * PI, 0.0, segments / 4);
    count = append_arc(profile, count, origin, inner, 0.0, -0.5 * PI, segments / 4);
    builder_revolve(builder, profile, count, false, segments);
}

static void generate_bowl_shell(MeshBuilder *builder, const double *values)
{
    static const ProfilePoint origin = {0.0, 0.0};
    const uint32_t segments = (uint32_t)values[1];
    ProfilePoint profile[PROFILE_POINTS];
    const uint32_t count = append_arc(profile, 0, origin, values[0], -0.5 * PI, 0.0, segments / 4);
    builder_revolve(builder, profile, count, false, segments);
}

// One wall of an hourglass, from the bottom's middle to the top's, `offset` outwards of the inner one.
static uint32_t hourglass_profile(ProfilePoint *profile, const double *values, double offset)
{
    const double radius = values[0] + offset, half = 0.5 * values[1], neck = values[2] + offset;
    const uint32_t steps = (uint32_t)values[4] / 2 * 2;
    uint32_t count = 0;
    profile[count++] = (ProfilePoint){0.0, -half - offset};
    for (uint32_t i = 0; i <= steps; i++) {
        const double height = -1.0 + 2.0 * i / steps; // of the half height
        // A funnel of 45 degrees or so about the neck that rounds into a cylinder.
        const double share = fmin(1.0, fabs(height) / 0.75);
        const double wide = 0.5 * PI * share;
        profile[count++] = (ProfilePoint){neck + (radius - neck) * sin(wide) * sin(wide) * (1.0 - 0.15 * (1.0 - share)),
                                          height * (half + offset)};
    }
    profile[count++] = (ProfilePoint){0.0, half + offset};
    return count;
}

// Without thickness: the inner surface as a solid, to be used inside-out. With it: glass around a cavity.
static void generate_hourglass(MeshBuilder *builder, const double *values)
{
    ProfilePoint profile[PROFILE_POINTS];
    uint32_t count = hourglass_profile(profile, values, 0.0);
    if (values[3] > 0.0) {
        for (uint32_t i = 0; i < count / 2; i++) { // the cavity faces inwards
            const ProfilePoint other = profile[i];
            profile[i] = profile[count - 1 - i];
            profile[count - 1 - i] = other;
        }
        builder_revolve(builder, profile, count, false, (uint32_t)values[4]);
        count = hourglass_profile(profile, values, values[3]);
    }
    builder_revolve(builder, profile, count, false, (uint32_t)values[4]);
}

// ---- The table -------------------------------------------------------------------------------------------------

typedef struct Parameter {
    const char *name;
    double value, bounds_min, bounds_max;
    bool whole;
} Parameter;

typedef struct Shape {
    const char *name;
    void (*generate)(MeshBuilder *builder, const double *values);
    Parameter parameters[PARAMETERS];
} Shape;

#define LENGTH(name, value)                                                                                            \
    {                                                                                                                  \
        name, value, 1e-6, 1e6, false                                                                                  \
    }
#define SEGMENTS(value)                                                                                                \
    {                                                                                                                  \
        "segments", value, 4, 2048, true                                                                               \
    }

static const Shape shapes[] = {
    {"box", generate_box, {LENGTH("x", 1), LENGTH("y", 1), LENGTH("z", 1)}},
    {"sphere", generate_sphere, {LENGTH("radius", 0.5), SEGMENTS(48)}},
    {"torus", generate_torus, {LENGTH("major", 0.5), LENGTH("minor", 0.2), SEGMENTS(64)}},
    {"cylinder", generate_cylinder, {LENGTH("radius", 0.5), LENGTH("height", 1), SEGMENTS(48)}},
    {"cone", generate_cone, {LENGTH("radius", 0.5), LENGTH("height", 1), SEGMENTS(48)}},
    {"bowl", generate_bowl, {LENGTH("radius", 0.5), LENGTH("thickness", 0.05), SEGMENTS(64)}},
    {"bowl_shell", generate_bowl_shell, {LENGTH("radius", 0.5), SEGMENTS(64)}},
    {"hourglass",
     generate_hourglass,
     {LENGTH("radius", 0.3), LENGTH("height", 1), LENGTH("neck", 0.03), {"thickness", 0, 0, 1e6, false}, SEGMENTS(64)}},
    {"rocks",
     generate_rocks,
     {LENGTH("size", 2), LENGTH("depth", 0.4), {"rocks", 28, 0, 400, true}, {"seed", 1, 0, 1e9, true}, SEGMENTS(128)}},
    {"castle", generate_castle, {LENGTH("size", 1), SEGMENTS(32)}},
    {"broken", generate_broken, {LENGTH("size", 1), SEGMENTS(24)}},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void append(char *text, size_t size, const char *word)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", word);
}

static MoteResult read_parameter(const char *reference, const Shape *shape, const char *text, size_t size,
                                 double *values)
{
    char known[256] = "";
    const char *equals = memchr(text, '=', size);
    for (uint32_t i = 0; i < PARAMETERS && shape->parameters[i].name != NULL; i++) {
        const Parameter *parameter = &shape->parameters[i];
        append(known, sizeof known, parameter->name);
        if (equals == NULL || strlen(parameter->name) != (size_t)(equals - text) ||
            strncmp(parameter->name, text, (size_t)(equals - text)) != 0) {
            continue;
        }
        char number[64] = "", *end = number;
        const size_t digits = size - (size_t)(equals - text) - 1;
        double value = 0.0;
        if (digits > 0 && digits < sizeof number) {
            memcpy(number, equals + 1, digits);
            value = strtod(number, &end);
        }
        if (end == number || *end != '\0' || !(value >= parameter->bounds_min && value <= parameter->bounds_max) ||
            (parameter->whole && value != floor(value))) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: %s is \"%.*s\", expected a %snumber from %g to %g", reference,
                             parameter->name, (int)(digits < 64 ? digits : 64), equals + 1,
                             parameter->whole ? "whole " : "", parameter->bounds_min, parameter->bounds_max);
        }
        values[i] = value;
        return MOTE_OK;
    }
    return mote_fail(MOTE_ERROR_INPUT, "%s: found the parameter \"%.*s\", expected KEY=VALUE with one of: %s",
                     reference, (int)(size < 64 ? size : 64), text, known);
}

MoteResult mesh_generate(const char *reference, const char *text, bool plain, Mesh *out)
{
    const size_t length_of_name = strcspn(text, "?");
    const Shape *shape = NULL;
    char known[256] = "";
    for (uint32_t i = 0; i < SHAPES; i++) {
        append(known, sizeof known, shapes[i].name);
        if (strlen(shapes[i].name) == length_of_name && strncmp(shapes[i].name, text, length_of_name) == 0) {
            shape = &shapes[i];
        }
    }
    if (shape == NULL) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: there is no such shape, expected one of: %s", reference, known);
    }
    double values[PARAMETERS];
    for (uint32_t i = 0; i < PARAMETERS; i++) {
        values[i] = shape->parameters[i].value;
    }
    const char *rest = text + length_of_name + (text[length_of_name] == '?' ? 1 : 0);
    while (*rest != '\0') {
        const size_t size = strcspn(rest, "&");
        const MoteResult result = read_parameter(reference, shape, rest, size, values);
        if (result != MOTE_OK) {
            return result;
        }
        rest += size + (rest[size] == '&' ? 1 : 0);
    }
    if (shape->generate == generate_torus && values[1] >= values[0]) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: minor is %g, expected less than major, %g", reference, values[1],
                         values[0]);
    }
    MeshBuilder builder = {.plain = plain};
    shape->generate(&builder, values);
    return builder_finish(&builder, reference, out);
}
