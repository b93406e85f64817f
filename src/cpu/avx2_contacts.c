// SPDX-License-Identifier: MIT
// avx2_contacts.c - AVX2 forms of stabilize_contacts and solve_contacts. Few particles touch a collider: eight at a
// time are tested with a little slack, and only those that may be in contact go through the portable kernel. Results
// are the portable kernels' to the bit.
#if defined(__x86_64__)
#include "cpu/avx2_colliders.h"
#include "cpu/avx2_idle.h"
#include "cpu/avx2_kernels.h"
#include "kernels/kernels.h"

static inline __m256 distances(vec4x8 a, vec4x8 b)
{
    return _mm256_sqrt_ps(dot_x8(_mm256_sub_ps(a.x, b.x), _mm256_sub_ps(a.y, b.y), _mm256_sub_ps(a.z, b.z)));
}

void avx2_stabilize_contacts(const SolverData *view, uint begin, uint end)
{
    RangeFunction *const kernel = cpu_kernels[KERNEL_ID_stabilize_contacts];
    uint i = begin;
    for (; i + 8 <= end; i += 8) {
        const vec4x8 p = load_consecutive(view->positions + i);
        __m256 marks = _mm256_setzero_ps();
        for (uint s = 0; s < view->collider_count; s++) {
            const Collider *collider = &view->colliders[s];
            const __m256 reach =
                _mm256_add_ps(_mm256_set1_ps(view->margin * 1.001f), rounding(p, collider->start_position));
            marks =
                _mm256_or_ps(marks, may_touch(collider, collider->start_rotation, collider->start_position, p, reach));
        }
        run_marked(kernel, view, i, _mm256_movemask_ps(marks));
    }
    kernel(view, i, end);
}

// ---- Liquid in tanks ----

// A box container that stands upright and has no friction: what most liquids are in.
static bool is_plain_tank(const Collider *collider)
{
    const vec4 q = collider->rotation;
    return collider->kind == COLLIDER_BOX && collider->inside_out != 0u && q.x == 0.0f && q.y == 0.0f && q.z == 0.0f &&
           q.w == 1.0f && collider->static_friction <= 0.0f && collider->kinetic_friction <= 0.0f;
}

static bool only_plain_tanks(const SolverData *view)
{
    bool plain = view->has_solids == 0u && view->adhesion_range <= 0.0f && view->colliders_move == 0u;
    for (uint s = 0; s < view->collider_count; s++) {
        plain = plain && is_plain_tank(&view->colliders[s]);
    }
    return plain;
}

// The way from a coordinate back into the room between two walls, 0 inside of it.
static inline __m256 way_back(__m256 local, float half_size, float margin)
{
    const __m256 room = _mm256_set1_ps(max_f32(half_size - margin, 0.0f));
    const __m256 low = _mm256_sub_ps(_mm256_setzero_ps(), room);
    return _mm256_sub_ps(_mm256_min_ps(_mm256_max_ps(local, low), room), local);
}

// Pushes eight particles into a tank, as solve_contacts does with one; true for those that were pushed.
static inline __m256 move_into_tank(const Collider *tank, float margin, vec4x8 *p)
{
    const __m256 zero = _mm256_setzero_ps();
    const __m256 x = way_back(_mm256_sub_ps(p->x, _mm256_set1_ps(tank->position.x)), tank->half_size.x, margin);
    const __m256 y = way_back(_mm256_sub_ps(p->y, _mm256_set1_ps(tank->position.y)), tank->half_size.y, margin);
    const __m256 z = way_back(_mm256_sub_ps(p->z, _mm256_set1_ps(tank->position.z)), tank->half_size.z, margin);
    const __m256 squared = _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(x, x), _mm256_mul_ps(y, y)), _mm256_mul_ps(z, z));
    const __m256 pushed = _mm256_cmp_ps(squared, zero, _CMP_GT_OQ);
    const __m256 depth = _mm256_sqrt_ps(squared);
    // The unit normal and then its multiple, rounded as there; lanes that are inside get 0.
    const __m256 inverse = _mm256_and_ps(pushed, _mm256_div_ps(_mm256_set1_ps(1.0f), depth));
    p->x = _mm256_add_ps(p->x, _mm256_mul_ps(_mm256_mul_ps(x, inverse), depth));
    p->y = _mm256_add_ps(p->y, _mm256_mul_ps(_mm256_mul_ps(y, inverse), depth));
    p->z = _mm256_add_ps(p->z, _mm256_mul_ps(_mm256_mul_ps(z, inverse), depth));
    return pushed;
}

static inline __m256 along_mask(__m256 start, __m256 p, float mask)
{
    return _mm256_add_ps(start, _mm256_mul_ps(_mm256_sub_ps(p, start), _mm256_set1_ps(mask)));
}

// solve_contacts of eight particles among plain tanks.
static void solve_in_tanks(const SolverData *view, uint i, vec4x8 p)
{
    const __m256 free = _mm256_cmp_ps(p.w, _mm256_setzero_ps(), _CMP_GT_OQ); // what is pinned stays
    const vec4x8 start = load_consecutive(view->positions + i);
    __m256 touched = free, moved = _mm256_setzero_ps();
    for (uint pass = 0; pass < CONTACT_PASSES && _mm256_movemask_ps(touched) != 0; pass++) {
        vec4x8 next = p;
        __m256 pushed = _mm256_setzero_ps();
        for (uint s = 0; s < view->collider_count; s++) {
            pushed = _mm256_or_ps(pushed, move_into_tank(&view->colliders[s], view->margin, &next));
        }
        p = select_vec4x8(p, next, touched); // a particle that no wall touched in a pass is done
        touched = _mm256_and_ps(touched, pushed);
        moved = _mm256_or_ps(moved, touched);
    }
    const vec3 mask = view->motion_mask;
    const vec4x8 end = {along_mask(start.x, p.x, mask.x), along_mask(start.y, p.y, mask.y),
                        along_mask(start.z, p.z, mask.z), p.w};
    if (_mm256_movemask_ps(moved) != 0) {
        const vec4x8 before = load_consecutive(view->predicted + i);
        store_consecutive(view->predicted + i, select_vec4x8(before, end, moved));
    }
}

void avx2_solve_contacts(const SolverData *view, uint begin, uint end)
{
    RangeFunction *const kernel = cpu_kernels[KERNEL_ID_solve_contacts];
    if (view->dynamic_count > 0 && view->impulses_begun == 0u &&
        begin < end) { // what is left out gives colliders nothing
        memset(view->impulse_rows + (size_t)IMPULSE_SLOTS * begin, 0xff,
               (size_t)IMPULSE_SLOTS * (end - begin) * sizeof(uint));
    }
    const bool tanks = only_plain_tanks(view);
    bool sweeps = false;
    for (uint s = 0; s < view->collider_count; s++) {
        sweeps |= collider_is_solid(view->colliders[s]);
    }
    uint i = begin;
    for (; i + 8 <= end; i += 8) {
        const vec4x8 p = load_consecutive(view->predicted + i);
        const __m256 travelled = sweeps ? distances(p, load_consecutive(view->positions + i)) : _mm256_setzero_ps();
        __m256 marks = _mm256_setzero_ps();
        for (uint s = 0; s < view->collider_count; s++) {
            const Collider *collider = &view->colliders[s];
            const bool swept = collider_is_solid(*collider);
            const float near = view->margin * 1.001f + view->adhesion_range;
            __m256 reach = _mm256_add_ps(_mm256_set1_ps(near), rounding(p, collider->position));
            reach = swept ? _mm256_add_ps(reach, travelled) : reach; // a sweep looks back that far
            marks = _mm256_or_ps(marks, may_touch(collider, collider->rotation, collider->position, p, reach));
        }
        const int touching = _mm256_movemask_ps(marks);
        if (touching != 0 && tanks) {
            solve_in_tanks(view, i, p);
        } else {
            run_marked(kernel, view, i, touching);
        }
        if (touching != 0 && idle_possible(view)) {
            idle_set(view, NOTE_MOVED, i, true);
        }
    }
    kernel(view, i, end);
    if (i < end && idle_possible(view)) {
        idle_set(view, NOTE_MOVED, i, true);
    }
}
#else
typedef int avx2_contacts_needs_x86_64;
#endif
