// SPDX-License-Identifier: MIT
// steps.c - runs steps in batches, with one host wait per batch (speculation.c).
#include "solver/batch.h"
#include "solver/world.h"

#include "base/clock.h"
#include "base/error.h"
#include <math.h>
#include <string.h>

static MoteResult read_counters(MoteWorld *world, uint counters[COUNTER_ALL])
{
    const BackendFunctions *functions = world->backend->functions;
    memset(counters, 0, COUNTER_ALL * sizeof *counters);
    const char *failure = functions->failure(world->backend);
    const bool counted = world->speculating || world->view.particle_count > 0 || world->view.dynamic_count > 0;
    if (failure == NULL && counted) {
        functions->download(world->backend, counters, world->view.counters, COUNTER_ALL * sizeof *counters);
        failure = functions->failure(world->backend);
    }
    return failure == NULL ? MOTE_OK
                           : mote_fail(MOTE_ERROR_UNAVAILABLE, "backend %s failed in step %llu: %s", functions->name,
                                       (unsigned long long)world->steps, failure);
}

static MoteResult check_health(const MoteWorld *world, const uint counters[COUNTER_ALL])
{
    const unsigned long long step = world->steps;
    if (counters[COUNTER_UNHEALTHY] != 0) {
        return mote_fail(MOTE_ERROR_UNSTABLE,
                         "step %llu: %u particles, among them id %u, got a position that is not finite; they were left "
                         "where they were healthy, at step %llu",
                         step, counters[COUNTER_UNHEALTHY], counters[COUNTER_UNHEALTHY_ID] - 1u, step);
    }
    if (counters[COUNTER_UNHEALTHY_COLLIDER] != 0) {
        return mote_fail(MOTE_ERROR_UNSTABLE,
                         "step %llu: collider %u got a pose that is not finite; it was left where it was", step,
                         counters[COUNTER_UNHEALTHY_COLLIDER] - 1u);
    }
    return MOTE_OK;
}

// ---- Callbacks ---------------------------------------------------------------------------------------------

void mote_world_set_step_callbacks(MoteWorld *world, MoteStepCallback *before, MoteStepCallback *after, void *context)
{
    world->callbacks = (StepCallbacks){before, after, context};
}

static MoteResult call_user(MoteWorld *world, MoteStepCallback *callback, float time_step, uint64_t step,
                            const char *when)
{
    const BackendFunctions *functions = world->backend->functions;
    const SolverData *view = &world->view;
    const bool cuda = strcmp(functions->name, "cuda") == 0; // whose stream keeps the order by itself
    void *native = functions->native_handle != NULL ? functions->native_handle(world->backend) : NULL;
    const char *why;
    const MoteStepArrays arrays = {
        .backend = functions->name,
        .memory = (MoteMemoryKind)functions->memory_kind(world->backend, &why),
        .device = cuda ? NULL : native,
        .stream = cuda ? native : NULL,
        .step = step,
        .time_step = time_step,
        .particle_count = view->particle_count,
        .positions = (float *)view->positions,
        .velocities = (float *)view->velocities,
        .predicted = (float *)view->predicted,
        .ids = view->ids,
        .phases = view->phases,
    };
    if (!cuda) {
        functions->wait(world->backend);
    }
    const MoteResult result = callback(world->callbacks.context, world, &arrays);
    if (result != MOTE_OK) {
        return mote_fail(result, "the callback %s step %llu said so: result %d", when, (unsigned long long)step,
                         (int)result);
    }
    return world_check_backend(world);
}

// ---- Batches -----------------------------------------------------------------------------------------------

typedef struct Preparation {
    StepPreparation *prepare; // or NULL
    void *context;
    uint64_t begin; // the world's steps when it was asked for more
} Preparation;

// Step `s` of a batch. A step that is repeated after a failed speculation is prepared again, because the preparations
// of later steps have overwritten its settings.
static MoteResult run_step(MoteWorld *world, const Preparation *preparation, float time_step, StepPoint from,
                           uint32_t s)
{
    if (preparation->prepare != NULL) {
        const uint32_t before = (uint32_t)(world->steps - preparation->begin) + s;
        world->view.emission_count = 0; // a step that is prepared again
        world->preparing = true;
        world->replays = from != STEP_START;
        const MoteResult prepared = preparation->prepare(preparation->context, before);
        world->preparing = world->replays = false;
        if (prepared != MOTE_OK) {
            return prepared;
        }
    }
    if (world->callbacks.before != NULL && from == STEP_START) {
        const MoteResult result = call_user(world, world->callbacks.before, time_step, world->steps, "before");
        if (result != MOTE_OK) {
            return result;
        }
    }
    world->marks[s].tally = world->tally;
    world->view.step_number = (uint32_t)(world->steps + s);
    return world_run_step(world, time_step, from, s == 0, &world->marks[s]);
}

// Runs up to `count` steps; fewer on an error, or if spawned particles had too few slots.
static MoteResult run_batch(MoteWorld *world, const Preparation *preparation, float time_step, uint32_t count)
{
    uint counters[COUNTER_ALL];
    StepPoint from = STEP_START;
    MoteResult fits = world_reserve_particles(world, world_most_particles(world)); // fewer may be left now
    memset(counters, 0, sizeof counters);
    fits = fits == MOTE_OK ? world_add_dead_slots(world, counters, world_spawn_room(world, count)) : fits;
    if (fits != MOTE_OK) {
        return fits;
    }
    for (uint32_t first = 0;;) {
        for (uint32_t s = first; s < count; s++) {
            const StepPoint point = s == first ? from : STEP_START;
            const MoteResult result = run_step(world, preparation, time_step, point, s);
            if (result != MOTE_OK) {
                return result;
            }
            world->last_time_step = time_step;
        }
        if (world->hands_over && world->view.particle_count > 0) {
            world_measure_bounds(world); // with the wait that comes now anyway
        }
        const MoteResult read = read_counters(world, counters);
        if (read != MOTE_OK) {
            return read;
        }
        const uint32_t at = first + counters[COUNTER_STEPS];
        MOTE_ASSERT(at < count);
        if (counters[COUNTER_ABORTED] == 0 || counters[COUNTER_ABORTED] == 1u + SPECULATION_HEALTH) {
            if (counters[COUNTER_ABORTED] != 0) {
                world_roll_back(world, &world->marks[at].ended);
                world->tally = world->marks[at].tally;
                world->corners_are_current = false;
            }
            world_commit(world, counters);
            world_note_watch(world, counters);
            world->steps += at;
            const MoteResult healthy = check_health(world, counters);
            world->steps += healthy == MOTE_OK;
            return healthy;
        }
        first = at;
        if (counters[COUNTER_ABORTED] == 1u + SPECULATION_SPAWNS) {
            const MoteResult made = world_correct_room(world, counters, at);
            if (made != MOTE_OK) {
                return made;
            }
            from = STEP_ENDED;
            count = at + 1; // steps after it would sort where there may be no room
        } else {
            world_correct_misspeculation(world, counters, at);
            from = STEP_ORDERED;
        }
    }
}

MoteResult world_prepared_steps(MoteWorld *world, float time_step, uint32_t count, StepPreparation *prepare,
                                void *context, uint32_t *done)
{
    const Preparation preparation = {prepare, context, world->steps};
    const uint64_t begin = world->steps;
    MoteResult result = MOTE_OK;
    if (!(time_step > 0.0f) || !isfinite(time_step) || !isfinite(1.0f / time_step)) {
        result = mote_fail(MOTE_ERROR_INPUT, "time step is %g s, expected a positive number that has an inverse",
                           (double)time_step);
    }
    world->watched = stop_is_watched();
    while (world->steps - begin < count && result == MOTE_OK) {
        const float last_time_step = world->last_time_step;
        const uint64_t steps = world->steps;
        const double start = world->watched ? clock_seconds() : 0.0;
        result =
            run_batch(world, &preparation, time_step, world_choose_batch(world, count - (uint32_t)(steps - begin)));
        world->speculating = false;
        world->view.speculating = 0;
        world->view.lacked_features = 0; // anything may come before the next launch
        if (world->steps == steps) {     // not one went well
            world->last_time_step = last_time_step;
        } else if (world->watched) {
            world->step_seconds = (clock_seconds() - start) / (double)(world->steps - steps);
        }
        if (result == MOTE_OK && world->callbacks.after != NULL) {
            result = call_user(world, world->callbacks.after, time_step, world->steps - 1, "after");
        }
    }
    world->watched = world->stopped = false;
    world->expected = 0;
    if (done != NULL) {
        *done = (uint32_t)(world->steps - begin);
    }
    return result;
}

bool world_expect_particles(MoteWorld *world, uint32_t more, uint32_t phase)
{
    const uint64_t count = (uint64_t)world_most_particles(world) + more;
    const bool solid = !has_density(phase);
    if ((solid && world->view.has_solids == 0u) || (is_gas(phase) && !world->has_gas) || count > UINT32_MAX ||
        world_makes_particles(world)) {
        return false; // the first solids bring buffers that steps before them do without; sources give ids, too
    }
    if (world_reserve_particles(world, count) != MOTE_OK) {
        return false; // adding them says so
    }
    world->expected = (uint32_t)count;
    return true;
}

MoteResult mote_world_steps(MoteWorld *world, float time_step, uint32_t count, uint32_t *done)
{
    return world_prepared_steps(world, time_step, count, NULL, NULL, done);
}

MoteResult mote_world_step(MoteWorld *world, float time_step)
{
    return mote_world_steps(world, time_step, 1, NULL);
}
