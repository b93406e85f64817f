// SPDX-License-Identifier: MIT
#include "base/vertices.h"

#include <stdlib.h>
#include <string.h>

typedef struct Place {
    float values[6]; // position, and the normal where it tells vertices apart
    uint32_t vertex;
} Place;

static int compare_places(const void *a, const void *b)
{
    const Place *p = a, *q = b;
    for (int k = 0; k < 6; k++) {
        if (p->values[k] != q->values[k]) {
            return p->values[k] < q->values[k] ? -1 : 1;
        }
    }
    return p->vertex < q->vertex ? -1 : p->vertex > q->vertex ? 1 : 0; // the first of them stands for all
}

bool vertices_find_first(const MoteVec3 *positions, const MoteVec3 *normals, uint32_t count, uint32_t *first)
{
    Place *places = malloc(((size_t)count + 1) * sizeof *places);
    if (places == NULL) {
        return false;
    }
    for (uint32_t v = 0; v < count; v++) {
        const MoteVec3 p = positions[v], n = normals != NULL ? normals[v] : (MoteVec3){0};
        places[v] = (Place){{p.x + 0.0f, p.y + 0.0f, p.z + 0.0f, n.x + 0.0f, n.y + 0.0f, n.z + 0.0f}, v}; // no -0
    }
    qsort(places, count, sizeof *places, compare_places);
    for (uint32_t i = 0; i < count; i++) {
        const bool same = i > 0 && memcmp(places[i].values, places[i - 1].values, sizeof places[i].values) == 0;
        first[places[i].vertex] = same ? first[places[i - 1].vertex] : places[i].vertex;
    }
    free(places);
    return true;
}
