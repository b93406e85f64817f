// SPDX-License-Identifier: MIT
// bodies.c - adds bodies: converts them to the tables that kernels read (members, clusters, entries).
#include "solver/world.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// One body's rows of every table, with indices relative to the body's first row.
typedef struct BodyTables {
    uint32_t member_count, cluster_count, entry_count, chunk_count;
    vec4 *fields;                          // MEMBER_FACES a member
    bool *flat;                            // a member: see find_faces
    uint *member_clusters, *member_starts; // a member; starts has one more
    uint *member_entries;                  // an entry, in the order of members
    uint *entry_members, *entry_clusters;  // an entry, in the order of clusters
    vec4 *rests;                           // an entry
    Cluster *clusters;                     // a cluster
    vec4 *rotations, *centres, *origins;   // a cluster
    uvec2 *chunks;                         // a chunk
    void *zeros;                           // a vec4 a member, a Motion a cluster
} BodyTables;

static void tables_free(BodyTables *t)
{
    void *const arrays[] = {t->fields,         t->flat,          t->member_clusters, t->member_starts,
                            t->member_entries, t->entry_members, t->entry_clusters,  t->rests,
                            t->clusters,       t->rotations,     t->centres,         t->origins,
                            t->chunks,         t->zeros};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        free(arrays[i]);
    }
}

// ---- Checks ------------------------------------------------------------------------------------------------

static bool finite3(MoteVec3 v)
{
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

static MoteResult check_body(const MoteWorld *world, const MoteBody *body)
{
    if (body->count == 0 || body->positions == NULL) {
        return mote_fail(MOTE_ERROR_INPUT, "body has %u positions, expected at least one", body->count);
    }
    if ((body->gradients == NULL) != (body->distances == NULL)) {
        return mote_fail(MOTE_ERROR_INPUT, "body has gradients or distances alone, expected both or none");
    }
    const float numbers[] = {body->stiffness,     body->cluster_spacing, body->cluster_radius,
                             body->plastic_yield, body->plastic_creep,   body->plastic_limit};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (!isfinite(numbers[i]) || numbers[i] < 0.0f) {
            return mote_fail(MOTE_ERROR_INPUT, "body has %g among its numbers, expected numbers not below 0",
                             (double)numbers[i]);
        }
    }
    if (body->stiffness > 1.0f) {
        return mote_fail(MOTE_ERROR_INPUT, "body has stiffness %g, expected 0 to 1", (double)body->stiffness);
    }
    if (body->cluster_spacing > 0.0f && body->cluster_radius < body->cluster_spacing) {
        return mote_fail(MOTE_ERROR_INPUT, "body has cluster_radius %g, expected at least its cluster_spacing of %g",
                         (double)body->cluster_radius, (double)body->cluster_spacing);
    }
    if (!finite3(body->velocity) || !finite3(body->angular_velocity)) {
        return mote_fail(MOTE_ERROR_INPUT, "body has a velocity that is not finite");
    }
    if (world->view.material_count > 0 && body->material >= world->view.material_count) {
        return mote_fail(MOTE_ERROR_INPUT, "body has material %u, expected one of %u", body->material,
                         world->view.material_count);
    }
    for (uint32_t i = 0; i < body->count; i++) {
        const float mass = body->masses != NULL ? body->masses[i] : body->mass;
        if (!isfinite(mass) || mass <= 0.0f || !isfinite(1.0f / mass)) {
            return mote_fail(MOTE_ERROR_INPUT, "particle %u of a body has mass %g, expected a positive number", i,
                             (double)mass);
        }
        if (body->gradients != NULL && (!finite3(body->gradients[i]) || !isfinite(body->distances[i]))) {
            return mote_fail(MOTE_ERROR_INPUT, "particle %u of a body has a distance or gradient that is not finite",
                             i);
        }
    }
    return MOTE_OK;
}

// ---- Clusters ----------------------------------------------------------------------------------------------

// Which members are in which cluster: `starts[c]` to `starts[c + 1]` of `list`.
typedef struct Clustering {
    uint32_t count;
    uint32_t *starts, *list;
} Clustering;

static float squared_distance(MoteVec3 a, MoteVec3 b)
{
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return x * x + y * y + z * z;
}

// The body's only cluster.
static bool cluster_all(const MoteBody *body, Clustering *out)
{
    *out = (Clustering){.count = 1};
    out->starts = malloc(2 * sizeof *out->starts);
    out->list = malloc(body->count * sizeof *out->list);
    if (out->starts == NULL || out->list == NULL) {
        return false;
    }
    out->starts[0] = 0;
    out->starts[1] = body->count;
    for (uint32_t i = 0; i < body->count; i++) {
        out->list[i] = i;
    }
    return true;
}

// Centres are members, each farther than cluster_spacing from those before it; every member is then nearer than that to
// one of them, and clusters of cluster_radius overlap.
static bool cluster_by_distance(const MoteBody *body, Clustering *out)
{
    *out = (Clustering){0};
    const float apart = body->cluster_spacing * body->cluster_spacing,
                reach = body->cluster_radius * body->cluster_radius;
    uint32_t *centres = malloc(body->count * sizeof *centres);
    out->starts = malloc((body->count + (size_t)1) * sizeof *out->starts);
    uint64_t room = 0, used = 0;
    bool complete = centres != NULL && out->starts != NULL;
    for (uint32_t i = 0; i < body->count && complete; i++) {
        bool covered = false;
        for (uint32_t c = 0; c < out->count && !covered; c++) {
            covered = squared_distance(body->positions[i], body->positions[centres[c]]) <= apart;
        }
        if (!covered) {
            centres[out->count++] = i;
        }
    }
    for (uint32_t c = 0; c < out->count && complete; c++) {
        out->starts[c] = (uint32_t)used;
        for (uint32_t i = 0; i < body->count && complete; i++) {
            if (squared_distance(body->positions[i], body->positions[centres[c]]) > reach) {
                continue;
            }
            if (used == room) {
                room = room > 0 ? 2 * room : 4 * (uint64_t)body->count;
                uint32_t *grown = realloc(out->list, room * sizeof *grown);
                complete = grown != NULL && room < UINT32_MAX;
                out->list = grown != NULL ? grown : out->list;
            }
            if (complete) {
                out->list[used++] = i;
            }
        }
    }
    if (complete) {
        out->starts[out->count] = (uint32_t)used;
    }
    free(centres);
    return complete;
}

// Eigenvalues and vectors of a symmetric matrix by Jacobi's rotations; vectors are columns.
static void eigen(double a[3][3], double vectors[3][3])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            vectors[i][j] = i == j;
        }
    }
    for (int sweep = 0; sweep < 32; sweep++) {
        for (int p = 0; p < 2; p++) {
            for (int q = p + 1; q < 3; q++) {
                if (a[p][q] == 0.0) {
                    continue;
                }
                const double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                const double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
                const double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (int k = 0; k < 3; k++) {
                    const double kp = a[k][p], kq = a[k][q];
                    a[k][p] = c * kp - s * kq;
                    a[k][q] = s * kp + c * kq;
                }
                for (int k = 0; k < 3; k++) {
                    const double pk = a[p][k], qk = a[q][k];
                    a[p][k] = c * pk - s * qk;
                    a[q][k] = s * pk + c * qk;
                }
                for (int k = 0; k < 3; k++) {
                    const double kp = vectors[k][p], kq = vectors[k][q];
                    vectors[k][p] = c * kp - s * kq;
                    vectors[k][q] = s * kp + c * kq;
                }
            }
        }
    }
}

// A line of particles has no inertia about itself, a single one none at all: there the inverse is 0.
void pseudo_inverse(const double matrix[3][3], double inverse[3][3])
{
    double values[3][3], vectors[3][3];
    memcpy(values, matrix, sizeof values);
    eigen(values, vectors);
    const double largest = fmax(values[0][0], fmax(values[1][1], values[2][2]));
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            inverse[i][j] = 0.0;
            for (int k = 0; k < 3; k++) {
                if (values[k][k] > 1e-6 * largest && values[k][k] > 0.0) {
                    inverse[i][j] += vectors[i][k] * vectors[j][k] / values[k][k];
                }
            }
        }
    }
}

static float member_mass(const MoteBody *body, uint32_t i)
{
    return body->masses != NULL ? body->masses[i] : body->mass;
}

// Centre of mass, offsets from it, inertia and reach of one cluster. A member's mass is shared by its clusters.
static void measure_cluster(const MoteBody *body, BodyTables *t, uint32_t index, uint32_t begin, uint32_t end)
{
    double mass = 0.0, centre[3] = {0}, inertia[3][3] = {{0}}, inverse[3][3], radius = 0.0;
    for (uint32_t e = begin; e < end; e++) {
        const uint32_t member = t->entry_members[e];
        const uint32_t shares = t->member_starts[member + 1] - t->member_starts[member];
        const MoteVec3 p = body->positions[member];
        const double m = (double)member_mass(body, member) / shares;
        mass += m;
        centre[0] += m * p.x;
        centre[1] += m * p.y;
        centre[2] += m * p.z;
        t->rests[e].w = (float)m;
    }
    for (int axis = 0; axis < 3; axis++) {
        centre[axis] /= mass;
    }
    for (uint32_t e = begin; e < end; e++) {
        const MoteVec3 p = body->positions[t->entry_members[e]];
        const double m = t->rests[e].w, r[3] = {p.x - centre[0], p.y - centre[1], p.z - centre[2]};
        const double squared = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                inertia[i][j] += m * ((i == j ? squared : 0.0) - r[i] * r[j]);
            }
        }
        radius = fmax(radius, sqrt(squared));
        t->rests[e] = v4((float)r[0], (float)r[1], (float)r[2], t->rests[e].w);
    }
    pseudo_inverse((const double(*)[3])inertia, inverse);
    Cluster *cluster = &t->clusters[index];
    cluster->mass = (float)mass;
    cluster->radius = (float)radius;
    cluster->inertia_diagonal = v3((float)inertia[0][0], (float)inertia[1][1], (float)inertia[2][2]);
    cluster->inertia_offdiagonal = v3((float)inertia[0][1], (float)inertia[0][2], (float)inertia[1][2]);
    cluster->inverse_diagonal = v3((float)inverse[0][0], (float)inverse[1][1], (float)inverse[2][2]);
    cluster->inverse_offdiagonal = v3((float)inverse[0][1], (float)inverse[0][2], (float)inverse[1][2]);
    cluster->first_entry = begin;
    cluster->entry_count = end - begin;
    t->rotations[index] = v4(0.0f, 0.0f, 0.0f, 1.0f);
    t->centres[index] = v4((float)centre[0], (float)centre[1], (float)centre[2], 1.0f);
    t->origins[index] = v4(0.0f, 0.0f, 0.0f, 0.0f);
}

// Transposes the lists of members by cluster to lists of entries by member.
static void link_members(BodyTables *t)
{
    for (uint32_t e = 0; e < t->entry_count; e++) {
        t->member_starts[t->entry_members[e] + 1]++;
    }
    for (uint32_t m = 0; m < t->member_count; m++) {
        t->member_starts[m + 1] += t->member_starts[m];
    }
    for (uint32_t e = t->entry_count; e-- > 0;) { // downwards, so that each member's entries ascend
        const uint32_t member = t->entry_members[e];
        t->member_entries[--t->member_starts[member + 1]] = e;
    }
    // Each start was counted down to where it begins, one row too high.
    memmove(t->member_starts, t->member_starts + 1, t->member_count * sizeof *t->member_starts);
    t->member_starts[t->member_count] = t->entry_count;
}

// ---- Faces -------------------------------------------------------------------------------------------------

static float dot3(MoteVec3 a, vec4 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

#define FACE_NEIGHBOURS 1.5f  // spacings: whose planes a particle is compared with
#define FACE_EDGE       0.5f  // cosine of what two faces of an edge make at least
#define FACE_LEAN       0.9f  // cosine of what one face makes at most
#define FACE_OFF        0.15f // spacings, likewise
#define FACE_ALIKE      2     // neighbours that make a face with it

// The sampling distance of the body: the distance to the nearest particle, averaged over a few.
static float sampling_of(const MoteBody *body)
{
    float nearest = INFINITY;
    for (uint32_t i = 1; i < body->count && i < 1000; i++) {
        nearest = fminf(nearest, squared_distance(body->positions[i], body->positions[i - 1]));
    }
    return sqrtf(nearest);
}

// Signed distance of member m from the plane that member n is nearest to.
static float plane_distance(const MoteBody *body, const vec4 *fields, uint32_t m, uint32_t n)
{
    const MoteVec3 p = body->positions[m], q = body->positions[n];
    const vec4 plane = fields[MEMBER_FACES * (size_t)n];
    return plane.w + dot3((MoteVec3){p.x - q.x, p.y - q.y, p.z - q.z}, plane);
}

// On a curved surface, a plane is only valid near its particle: contacts with it would appear and disappear suddenly.
// The surface is flat if no neighbour's plane is slightly tilted against this one, or slightly offset from it; planes
// beyond an edge are strongly tilted.
static bool is_flat(const MoteBody *body, const vec4 *fields, float sampling, uint32_t m)
{
    const float reach = FACE_NEIGHBOURS * sampling;
    const vec4 own = fields[MEMBER_FACES * (size_t)m];
    bool flat = own.w < NO_FIELD;
    uint32_t alike = 0;
    for (uint32_t n = 0; n < body->count && flat; n++) {
        const vec4 other = fields[MEMBER_FACES * (size_t)n];
        if (n != m && other.w < NO_FIELD && squared_distance(body->positions[m], body->positions[n]) < reach * reach) {
            const float along = dot3((MoteVec3){own.x, own.y, own.z}, other);
            const bool same =
                along > FACE_LEAN && fabsf(plane_distance(body, fields, m, n) - own.w) < FACE_OFF * sampling;
            flat = along < FACE_EDGE || same;
            alike += same;
        }
    }
    return flat && alike >= FACE_ALIKE;
}

// The planes of the surface at a particle: its own, and near an edge or corner also those of neighbours that face
// another way and are as near, so that it can be in contact on either side of the edge.
static void find_faces(const MoteBody *body, float contact_distance, vec4 *fields, bool *flat)
{
    const vec4 none = v4(0.0f, 0.0f, 0.0f, NO_FIELD);
    for (uint32_t m = 0; m < body->count; m++) {
        const MoteVec3 g = body->gradients != NULL ? body->gradients[m] : (MoteVec3){0, 0, 0};
        const float length = sqrtf(g.x * g.x + g.y * g.y + g.z * g.z);
        fields[MEMBER_FACES * (size_t)m] =
            length > 0.0f ? v4(g.x / length, g.y / length, g.z / length, body->distances[m]) : none;
        for (uint32_t face = 1; face < MEMBER_FACES; face++) {
            fields[MEMBER_FACES * (size_t)m + face] = none;
        }
    }
    if (body->gradients == NULL) {
        return;
    }
    const float sampling = sampling_of(body), reach = FACE_NEIGHBOURS * sampling;
    for (uint32_t m = 0; m < body->count; m++) {
        flat[m] = is_flat(body, fields, fmaxf(sampling, contact_distance), m);
    }
    for (uint32_t m = 0; m < body->count; m++) {
        vec4 *own = fields + MEMBER_FACES * (size_t)m;
        uint32_t count = 1;
        if (flat[m]) {
            own[count++] = own[0];
        }
        for (uint32_t n = 0; n < body->count && count < MEMBER_FACES && own[0].w < NO_FIELD; n++) {
            const vec4 other = fields[MEMBER_FACES * (size_t)n];
            if (n == m || !flat[n] || squared_distance(body->positions[m], body->positions[n]) > reach * reach) {
                continue;
            }
            const float distance = plane_distance(body, fields, m, n);
            bool elsewhere = fabsf(distance - own[0].w) < 0.25f * sampling;
            for (uint32_t face = 0; face < count; face++) {
                elsewhere &= dot3((MoteVec3){own[face].x, own[face].y, own[face].z}, other) < FACE_EDGE;
            }
            if (elsewhere) {
                own[count++] = v4(other.x, other.y, other.z, distance);
            }
        }
    }
}

static bool tables_allocate(BodyTables *t)
{
    const size_t m = t->member_count, c = t->cluster_count, e = t->entry_count, k = t->chunk_count;
    t->fields = malloc(MEMBER_FACES * m * sizeof *t->fields);
    t->flat = malloc(m * sizeof *t->flat);
    t->member_clusters = malloc(m * sizeof *t->member_clusters);
    t->member_starts = calloc(m + 1, sizeof *t->member_starts);
    t->member_entries = malloc(e * sizeof *t->member_entries);
    t->entry_members = malloc(e * sizeof *t->entry_members);
    t->entry_clusters = malloc(e * sizeof *t->entry_clusters);
    t->rests = calloc(e, sizeof *t->rests);
    t->clusters = calloc(c, sizeof *t->clusters);
    t->rotations = malloc(c * sizeof *t->rotations);
    t->centres = malloc(c * sizeof *t->centres);
    t->origins = malloc(c * sizeof *t->origins);
    t->chunks = malloc(k * sizeof *t->chunks);
    t->zeros = calloc(m > c ? m : c, sizeof(Motion) > sizeof(vec4) ? sizeof(Motion) : sizeof(vec4));
    return t->fields && t->flat && t->member_clusters && t->member_starts && t->member_entries && t->entry_members &&
           t->entry_clusters && t->rests && t->clusters && t->rotations && t->centres && t->origins && t->chunks &&
           t->zeros;
}

static MoteResult tables_make(const MoteWorld *world, const MoteBody *body, BodyTables *t)
{
    *t = (BodyTables){.member_count = body->count};
    Clustering clustering;
    bool complete =
        body->cluster_spacing > 0.0f ? cluster_by_distance(body, &clustering) : cluster_all(body, &clustering);
    if (complete) {
        t->cluster_count = clustering.count;
        t->entry_count = clustering.starts[clustering.count];
        for (uint32_t c = 0; c < clustering.count; c++) {
            t->chunk_count += (clustering.starts[c + 1] - clustering.starts[c] + MEMBER_CHUNK - 1) / MEMBER_CHUNK;
        }
        complete = tables_allocate(t);
    }
    if (complete) {
        memcpy(t->entry_members, clustering.list, t->entry_count * sizeof *t->entry_members);
        link_members(t);
        uint32_t chunk = 0;
        const bool rigid = clustering.count == 1 && body->stiffness >= 1.0f && body->plastic_yield <= 0.0f;
        for (uint32_t c = 0; c < clustering.count; c++) {
            const uint32_t begin = clustering.starts[c], end = clustering.starts[c + 1];
            measure_cluster(body, t, c, begin, end);
            Cluster *cluster = &t->clusters[c];
            cluster->yield = body->plastic_yield * cluster->radius;
            cluster->creep = body->plastic_creep;
            cluster->limit = body->plastic_limit > 0.0f
                                 ? body->plastic_limit * world->settings.solid_distance * world->settings.spacing
                                 : 1e30f;
            cluster->first_chunk = chunk;
            cluster->flags = rigid ? CLUSTER_RIGID : 0;
            for (uint32_t e = begin; e < end; e++) {
                t->entry_clusters[e] = c;
                if ((e - begin) % MEMBER_CHUNK == 0) {
                    const uint32_t stop = e + MEMBER_CHUNK < end ? e + MEMBER_CHUNK : end;
                    t->chunks[chunk++] = uv2(e, stop);
                }
            }
            cluster->chunk_count = chunk - cluster->first_chunk;
        }
        find_faces(body, world->settings.solid_distance * world->settings.spacing, t->fields, t->flat);
        for (uint32_t m = 0; m < t->member_count; m++) {
            t->member_clusters[m] = t->entry_clusters[t->member_entries[t->member_starts[m]]];
        }
    }
    free(clustering.starts);
    free(clustering.list);
    return complete ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "no memory for a body of %u particles", body->count);
}

// ---- Adding ------------------------------------------------------------------------------------------------

// Makes indices relative to the first row of the tables.
static void tables_offset(const BodyRow *row, uint32_t body, BodyTables *t)
{
    for (uint32_t m = 0; m < t->member_count; m++) {
        t->member_clusters[m] += row->first_cluster;
    }
    for (uint32_t m = 0; m <= t->member_count; m++) {
        t->member_starts[m] += row->first_entry;
    }
    for (uint32_t e = 0; e < t->entry_count; e++) {
        t->member_entries[e] += row->first_entry;
        t->entry_members[e] += row->first_member;
        t->entry_clusters[e] += row->first_cluster;
    }
    for (uint32_t c = 0; c < t->cluster_count; c++) {
        t->clusters[c].first_chunk += row->first_chunk;
        t->clusters[c].first_entry += row->first_entry;
        t->clusters[c].body = body;
    }
    for (uint32_t k = 0; k < t->chunk_count; k++) {
        t->chunks[k] = uv2(t->chunks[k].x + row->first_entry, t->chunks[k].y + row->first_entry);
    }
}

// Allocates rows at the end of the tables.
static MoteResult reserve_tables(MoteWorld *world, const BodyTables *t)
{
    const SolverData *view = &world->view;
    const uint64_t members = (uint64_t)view->member_count + t->member_count;
    const uint64_t chunks = (uint64_t)view->chunk_count + t->chunk_count;
    MoteResult result = world_reserve(world, CAPACITY_HANDLE_SLOTS, (uint64_t)view->handle_count + t->member_count, 0);
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_MEMBERS, members, view->member_count) : result;
    if (result == MOTE_OK) {
        const uint64_t keep = view->member_count > 0 ? view->member_count + (uint64_t)1 : 0;
        result = world_reserve(world, CAPACITY_MEMBERS_AND_ONE, members + 1, keep);
    }
    if (result == MOTE_OK) {
        const uint64_t entries = (uint64_t)world->entry_count + t->entry_count;
        result = world_reserve(world, CAPACITY_ENTRIES, entries, world->entry_count);
    }
    if (result == MOTE_OK) {
        const uint64_t clusters = (uint64_t)view->cluster_count + t->cluster_count;
        Cluster *rows = realloc(world->cluster_rows, clusters * sizeof *rows + 1);
        world->cluster_rows = rows != NULL ? rows : world->cluster_rows;
        result = rows != NULL ? world_reserve(world, CAPACITY_CLUSTERS, clusters, view->cluster_count)
                              : mote_fail(MOTE_ERROR_MEMORY, "no memory for %u clusters", (unsigned)clusters);
    }
    if (result == MOTE_OK) {
        result = world_reserve(world, CAPACITY_MEMBER_FIELDS, MEMBER_FACES * members,
                               MEMBER_FACES * (uint64_t)view->member_count);
    }
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_CHUNKS, chunks, view->chunk_count) : result;
    return result == MOTE_OK ? world_reserve(world, CAPACITY_CHUNK_SUMS, chunks * CHUNK_SUMS, 0) : result;
}

static void upload_tables(MoteWorld *world, const BodyRow *row, const BodyTables *t)
{
    const SolverData *view = &world->view;
    Backend *backend = world->backend;
    const uint32_t m = row->first_member, c = row->first_cluster, e = row->first_entry, k = row->first_chunk;
    void (*const upload)(Backend *, void *, const void *, size_t) = backend->functions->upload;
    upload(backend, view->member_fields + (size_t)MEMBER_FACES * m, t->fields,
           (size_t)MEMBER_FACES * t->member_count * sizeof *t->fields);
    upload(backend, view->member_clusters + m, t->member_clusters, t->member_count * sizeof *t->member_clusters);
    upload(backend, view->member_starts + m, t->member_starts,
           (t->member_count + (size_t)1) * sizeof *t->member_starts);
    upload(backend, view->member_entries + e, t->member_entries, t->entry_count * sizeof *t->member_entries);
    upload(backend, view->entry_members + e, t->entry_members, t->entry_count * sizeof *t->entry_members);
    upload(backend, view->entry_clusters + e, t->entry_clusters, t->entry_count * sizeof *t->entry_clusters);
    upload(backend, view->entry_rests + e, t->rests, t->entry_count * sizeof *t->rests);
    upload(backend, view->entry_initial_rests + e, t->rests, t->entry_count * sizeof *t->rests);
    memcpy(world->cluster_rows + c, t->clusters, t->cluster_count * sizeof *t->clusters);
    upload(backend, view->clusters + c, t->clusters, t->cluster_count * sizeof *t->clusters);
    upload(backend, view->cluster_rotations + c, t->rotations, t->cluster_count * sizeof *t->rotations);
    upload(backend, view->cluster_centres + c, t->centres, t->cluster_count * sizeof *t->centres);
    upload(backend, view->cluster_origins + c, t->origins, t->cluster_count * sizeof *t->origins);
    upload(backend, view->chunks + k, t->chunks, t->chunk_count * sizeof *t->chunks);
    // Clears the data of a removed body.
    upload(backend, view->contact_impulses + m, t->zeros, t->member_count * sizeof(vec4));
    upload(backend, view->contact_impulse_colliders + m, t->zeros, t->member_count * sizeof(uint));
    upload(backend, view->motions + c, t->zeros, t->cluster_count * sizeof(Motion));
}

// A removed body whose table rows have the same sizes and can be reused; NONE if there is none.
static uint32_t find_free_row(const MoteWorld *world, const BodyTables *t)
{
    for (uint32_t b = 0; b < world->body_count; b++) {
        const BodyRow *row = &world->bodies[b];
        if (row->removed && !row->named && row->member_count == t->member_count &&
            row->cluster_count == t->cluster_count && row->entry_count == t->entry_count &&
            row->chunk_count == t->chunk_count) {
            return b;
        }
    }
    return NONE;
}

// Frees the rows of removed bodies at the end of the tables.
static void drop_free_rows(MoteWorld *world)
{
    while (world->body_count > 0) {
        const BodyRow *row = &world->bodies[world->body_count - 1];
        if (!row->removed || row->named) {
            break;
        }
        world->body_count--;
        world->view.handle_count -= world->view.member_count - row->first_member;
        world->view.member_count = row->first_member;
        world->view.cluster_count = row->first_cluster;
        world->view.chunk_count = row->first_chunk;
        world->entry_count = row->first_entry;
    }
}

// Stiffness per iteration such that a step has `stiffness`, whatever the number of iterations.
static float iteration_stiffness(const MoteWorld *world, float stiffness)
{
    const MoteSettings *settings = &world->settings;
    const uint32_t passes = settings->small_steps > 1 ? settings->small_steps : settings->iterations;
    const uint32_t iterations = passes > 0 ? passes : 1;
    return (float)(1.0 - pow(1.0 - (double)stiffness, 1.0 / iterations));
}

void world_set_cluster_stiffness(MoteWorld *world)
{
    const uint32_t count = world->view.cluster_count;
    for (uint32_t c = 0; c < count; c++) {
        world->cluster_rows[c].stiffness =
            iteration_stiffness(world, world->bodies[world->cluster_rows[c].body].stiffness);
    }
    if (count > 0) {
        world->backend->functions->upload(world->backend, world->view.clusters, world->cluster_rows,
                                          count * sizeof *world->cluster_rows);
    }
}

static MoteResult reserve_row(MoteWorld *world)
{
    if (world->body_count < world->body_capacity) {
        return MOTE_OK;
    }
    const uint32_t capacity = world->body_capacity > 0 ? 2 * world->body_capacity : 16;
    BodyRow *grown = realloc(world->bodies, capacity * sizeof *grown);
    if (grown == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for %u bodies", capacity);
    }
    world->bodies = grown;
    world->body_capacity = capacity;
    return MOTE_OK;
}

// Initial velocities of the particles, from the body's linear and angular velocity.
static MoteVec3 *make_velocities(const MoteBody *body)
{
    MoteVec3 *velocities = malloc(body->count * sizeof *velocities);
    double mass = 0.0, centre[3] = {0};
    for (uint32_t i = 0; i < body->count; i++) {
        const double m = member_mass(body, i);
        mass += m;
        centre[0] += m * body->positions[i].x;
        centre[1] += m * body->positions[i].y;
        centre[2] += m * body->positions[i].z;
    }
    for (uint32_t i = 0; i < body->count && velocities != NULL; i++) {
        const MoteVec3 p = body->positions[i], w = body->angular_velocity, v = body->velocity;
        const float x = (float)(p.x - centre[0] / mass), y = (float)(p.y - centre[1] / mass),
                    z = (float)(p.z - centre[2] / mass);
        velocities[i] = (MoteVec3){v.x + w.y * z - w.z * y, v.y + w.z * x - w.x * z, v.z + w.x * y - w.y * x};
    }
    return velocities;
}

// Adds the body's record, for table rows at the end.
static void append_row(MoteWorld *world, BodyRow *row, const BodyTables *t)
{
    SolverData *view = &world->view;
    *row = (BodyRow){
        .first_member = view->member_count,
        .member_count = t->member_count,
        .first_cluster = view->cluster_count,
        .cluster_count = t->cluster_count,
        .first_entry = world->entry_count,
        .entry_count = t->entry_count,
        .first_chunk = view->chunk_count,
        .chunk_count = t->chunk_count,
    };
    view->member_count += t->member_count;
    view->handle_count += t->member_count;
    view->cluster_count += t->cluster_count;
    view->chunk_count += t->chunk_count;
    world->entry_count += t->entry_count;
    world->body_count++;
}

// Everything that can fail comes before any change of the world.
MoteResult mote_world_add_body(MoteWorld *world, const MoteBody *body, uint32_t *first_id, MoteBodyId *id)
{
    MoteResult result = check_body(world, body);
    if (result != MOTE_OK) {
        return result;
    }
    if (world->tally.next_group > MOTE_PHASE_GROUP_MASK) {
        return mote_fail(MOTE_ERROR_INPUT, "all groups are used: %u", world->tally.next_group);
    }
    BodyTables tables;
    result = tables_make(world, body, &tables);
    uint32_t index = result == MOTE_OK ? find_free_row(world, &tables) : NONE;
    const bool appended = index == NONE;
    if (appended) {
        drop_free_rows(world);
        index = world->body_count;
    }
    MoteVec3 *velocities = make_velocities(body);
    uint *members = malloc(body->count * sizeof *members);
    if (result == MOTE_OK && (velocities == NULL || members == NULL)) {
        result = mote_fail(MOTE_ERROR_MEMORY, "no memory for a body of %u particles", body->count);
    }
    const uint32_t group = world->tally.next_group, before = world->view.particle_count;
    const MoteParticles particles = {
        .count = body->count,
        .positions = body->positions,
        .velocities = velocities,
        .masses = body->masses,
        .mass = body->mass,
        .phase = group,
    };
    result = result == MOTE_OK ? reserve_row(world) : result;
    result = result == MOTE_OK && appended ? reserve_tables(world, &tables) : result;
    if (result == MOTE_OK && world->view.material_count > 0) {
        result = mote_world_set_group_material(world, group, body->material);
    }
    result = result == MOTE_OK ? mote_world_add_particles(world, &particles, first_id) : result;
    if (result == MOTE_OK) {
        BodyRow *row = &world->bodies[index];
        if (appended) {
            append_row(world, row, &tables);
        }
        row->group = group;
        row->stiffness = body->stiffness;
        row->generation = ++world->last_generation;
        row->removed = false;
        for (uint32_t i = 0; i < body->count; i++) {
            members[i] = row->first_member + i;
        }
        world->backend->functions->upload(world->backend, world->view.handles + before, members,
                                          body->count * sizeof *members);
        for (uint32_t c = 0; c < tables.cluster_count; c++) {
            tables.clusters[c].stiffness = iteration_stiffness(world, body->stiffness);
        }
        tables_offset(row, index, &tables);
        upload_tables(world, row, &tables);
    }
    if (id != NULL) {
        *id = result == MOTE_OK ? (MoteBodyId){index, world->last_generation} : (MoteBodyId){0};
    }
    free(velocities);
    free(members);
    tables_free(&tables);
    return result;
}
