// SPDX-License-Identifier: MIT
#include "viewer/simulator_private.h"

#include "base/clock.h"
#include "base/error.h"
#include "scene/live.h"
#include "scene/simulation.h"
#include "viewer/thread_priority.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// ---- From other threads ----

static bool is_replaceable(const SimulatorCommand *old, const SimulatorCommand *new)
{
    return old->kind == new->kind &&
           ((new->kind == COMMAND_SET && old->key == new->key && old->element == new->element) ||
            (new->kind == COMMAND_GRAB && old->id == new->id && !old->flag) || new->kind == COMMAND_SPEED);
}

void simulator_send(Simulator *simulator, const SimulatorCommand *command)
{
    if (command->kind == COMMAND_QUIT) {
        atomic_store(&simulator->ending, true);
    }
    mtx_lock(&simulator->mutex);
    if (command->kind == COMMAND_LOAD || command->kind == COMMAND_RESET || command->kind == COMMAND_ADD) {
        simulator->loads_wanted++;
        simulator->status.loading = true;
    }
    if (simulator->queued > 0 && is_replaceable(&simulator->queue[simulator->queued - 1], command)) {
        simulator->queue[simulator->queued - 1] = *command; // a slider or a hand that moves on
    } else if (simulator->queued < QUEUE_SIZE || command->kind == COMMAND_QUIT) {
        if (simulator->queued == QUEUE_SIZE) {
            free(simulator->queue[--simulator->queued].text);
        }
        simulator->queue[simulator->queued++] = *command;
    } else {
        free(command->text);
    }
    cnd_signal(&simulator->called);
    mtx_unlock(&simulator->mutex);
}

void simulator_send_text(Simulator *simulator, CommandKind kind, const char *text)
{
    const size_t size = strlen(text) + 1;
    SimulatorCommand command = {.kind = kind, .text = malloc(size)};
    if (command.text != NULL) {
        memcpy(command.text, text, size);
        simulator_send(simulator, &command);
    }
}

void simulator_status(Simulator *simulator, SimulatorStatus *out)
{
    mtx_lock(&simulator->mutex);
    *out = simulator->status;
    out->idle = simulator->waiting && simulator->queued == 0;
    mtx_unlock(&simulator->mutex);
}

FrameSnapshotPool *simulator_pool(Simulator *simulator)
{
    return &simulator->pool;
}

void simulator_hold_for_drawing(Simulator *simulator, bool on)
{
    mtx_lock(&simulator->mutex);
    simulator->hold = on;
    mtx_unlock(&simulator->mutex);
    mtx_lock(&simulator->pool.mutex);
    cnd_broadcast(&simulator->pool.taken);
    mtx_unlock(&simulator->pool.mutex);
}

// ---- The thread: status ----

static void wake(Simulator *simulator)
{
    if (simulator->options.wake != NULL) {
        simulator->options.wake(simulator->options.wake_data);
    }
}

// `format` NULL: what mote_error_message() says, as an error.
static void say(Simulator *simulator, const char *notice)
{
    mtx_lock(&simulator->mutex);
    SimulatorStatus *status = &simulator->status;
    if (notice == NULL) {
        snprintf(status->error, sizeof status->error, "%s", mote_error_message());
    } else {
        status->error[0] = '\0';
        snprintf(status->notice, sizeof status->notice, "%s", notice);
    }
    status->notices++;
    mtx_unlock(&simulator->mutex);
    wake(simulator);
}

// The world's channels, and the forces, which are recorded as soon as one of them is looked at.
static void list_channels(MoteWorld *world, SimulatorStatus *status)
{
    const uint32_t count = mote_world_channel_count(world);
    status->channel_count = 0;
    for (uint32_t i = 0; i < count && i + MOTE_FORCE_COUNT < SNAPSHOT_CHANNELS; i++) {
        snprintf(status->channels[status->channel_count++], SNAPSHOT_CHANNEL_NAME, "%s",
                 mote_world_channel_name(world, i, NULL));
    }
    for (uint32_t i = 0; i < MOTE_FORCE_COUNT; i++) {
        snprintf(status->channels[status->channel_count++], SNAPSHOT_CHANNEL_NAME, "%s",
                 mote_force_name((MoteForceKind)i));
    }
}

static void update_status(Simulator *simulator, bool measure)
{
    Model *model = simulator->model;
    MoteStatistics statistics;
    Measures measures = {0};
    MoteTiming timings[STATUS_TIMINGS];
    uint32_t timing_count = 0;
    const uint64_t frame = model != NULL ? mote_simulation_frame(model->simulation) : 0;
    bool measured = false;
    uint64_t timing_frames = 0;
    if (model != NULL && measure) {
        MoteWorld *world = mote_simulation_world(model->simulation);
        measured = mote_world_statistics(world, &statistics) == MOTE_OK;
        if (simulator->pool.published >= 0) { // which only this thread changes
            inspect_all(&simulator->pool.snapshots[simulator->pool.published], &measures);
        }
        timing_count = mote_world_timings(world, timings, STATUS_TIMINGS);
        timing_count = timing_count < STATUS_TIMINGS ? timing_count : STATUS_TIMINGS;
        timing_frames = frame - simulator->timing_start;
        mote_world_reset_timings(world);
        simulator->timing_start = frame;
    }
    mtx_lock(&simulator->mutex);
    SimulatorStatus *status = &simulator->status;
    status->paused = simulator->paused;
    status->failed = simulator->failed;
    status->speed = simulator->speed;
    status->frame_seconds = simulator->frame_seconds;
    status->grabbed = simulator->manipulator.held_count;
    status->grabbed_collider = simulator->manipulator.holds_collider;
    status->held = simulator->manipulator.at;
    status->changes = simulator->change_count;
    status->frame = frame;
    status->snapshot = simulator->pool.numbers; // which only this thread counts up
    if (model != NULL) {
        MoteWorld *world = mote_simulation_world(model->simulation);
        status->model = model->number;
        status->time = mote_simulation_time(model->simulation);
        status->frame_rate = SCENE_AT(&model->scene->values, solver, 0)->frame_rate;
        status->particles = mote_world_particle_count(world);
        status->bodies = mote_world_body_count(world);
        list_channels(world, status);
        snprintf(status->backend, sizeof status->backend, "%s", mote_world_backend(world));
    }
    if (measured) {
        status->has_statistics = true;
        status->measures = measures;
        status->statistics = statistics;
        status->timing_count = timing_frames > 0 ? timing_count : status->timing_count;
        if (timing_frames > 0) {
            memcpy(status->timings, timings, sizeof timings);
            status->timing_frames = timing_frames;
        }
    }
    mtx_unlock(&simulator->mutex);
    wake(simulator);
}

static double frame_interval(const Simulator *simulator)
{
    const double frame_rate = SCENE_AT(&simulator->model->scene->values, solver, 0)->frame_rate;
    const double wanted = 1.0 / (frame_rate * fmax(simulator->speed, 1e-3));
    return fmax(wanted, simulator->frame_seconds);
}

// Waits, if frames must not be lost, until the last snapshot was drawn or something else is wanted.
static void wait_for_drawing(Simulator *simulator)
{
    for (;;) {
        mtx_lock(&simulator->mutex);
        const bool hold = simulator->hold && simulator->queued == 0;
        mtx_unlock(&simulator->mutex);
        mtx_lock(&simulator->pool.mutex);
        const bool waiting = hold && simulator->pool.published_is_new;
        if (waiting) {
            struct timespec until;
            timespec_get(&until, TIME_UTC);
            until.tv_nsec += 20000000;
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            cnd_timedwait(&simulator->pool.taken, &simulator->pool.mutex, &until);
        }
        mtx_unlock(&simulator->pool.mutex);
        if (!waiting) {
            return;
        }
    }
}

static void publish(Simulator *simulator)
{
    if (simulator->model == NULL) {
        return;
    }
    wait_for_drawing(simulator);
    if (snapshot_publish(&simulator->pool, simulator->model, frame_interval(simulator)) != MOTE_OK) {
        simulator->failed = true;
        simulator->paused = true;
        say(simulator, NULL);
    }
    const double now = clock_seconds();
    const bool measure = now - simulator->statistics_time > 0.25;
    simulator->statistics_time = measure ? now : simulator->statistics_time;
    update_status(simulator, measure);
}

// The newest warning of the simulation, once.
static void say_warnings(Simulator *simulator)
{
    const MoteNotice *rows;
    Model *model = simulator->model;
    const uint32_t count = mote_simulation_notices(model->simulation, &rows);
    for (; model->notices < count; model->notices++) {
        const MoteNotice *notice = &rows[model->notices];
        char text[512];
        if (notice->warning) {
            snprintf(text, sizeof text, "Warning: %s", notice->text);
            say(simulator, text);
        }
    }
}

// ---- The thread: scenes ----

static MoteResult build(Simulator *simulator, const char *path, Model **out)
{
    *out = NULL;
    Model *model = calloc(1, sizeof *model);
    mtx_lock(&simulator->mutex);
    uint32_t count = 0;
    const char **texts = simulator_overrides(simulator, &count);
    mtx_unlock(&simulator->mutex);
    if (model == NULL || texts == NULL) {
        free(model);
        free(texts);
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to load it", path);
    }
    atomic_init(&model->references, 1);
    MoteResult result = mote_scene_load(path, texts, count, &model->scene);
    if (result == MOTE_OK) {
        result = mote_simulation_create(model->scene, &simulator->options.backend, &model->simulation);
    }
    if (result == MOTE_OK) {
        result = mote_simulation_render_meshes(model->simulation, &model->meshes, &model->mesh_count);
    }
    free(texts);
    if (result != MOTE_OK) {
        model_release(model);
        return result;
    }
    model->number = ++simulator->models;
    *out = model;
    return MOTE_OK;
}

static void forget_changes(Simulator *simulator)
{
    mtx_lock(&simulator->mutex);
    simulator->change_count = 0;
    mtx_unlock(&simulator->mutex);
}

// Loads `path` and continues with it; on an error the present scene stays.
static void load(Simulator *simulator, const char *path, bool fresh)
{
    mtx_lock(&simulator->mutex);
    char before[sizeof simulator->status.path];
    memcpy(before, simulator->status.path, sizeof before);
    snprintf(simulator->status.path, sizeof simulator->status.path, "%s", path);
    mtx_unlock(&simulator->mutex);
    wake(simulator);
    Model *model;
    const MoteResult result = build(simulator, path, &model);
    mtx_lock(&simulator->mutex);
    Model *old = NULL;
    if (result == MOTE_OK) {
        old = simulator->model;
        simulator->model = model;
        snprintf(simulator->status.name, sizeof simulator->status.name, "%s", model->scene->name);
        simulator->status.has_statistics = false;
    } else if (simulator->model != NULL && !fresh) {
        memcpy(simulator->status.path, before, sizeof before);
    }
    mtx_unlock(&simulator->mutex);
    if (result != MOTE_OK) {
        say(simulator, NULL);
        update_status(simulator, false);
        return;
    }
    model_release(old);
    manipulator_let_go(&simulator->manipulator);
    simulator->pool.forces = false;
    if (simulator->forces_wanted &&
        mote_world_record_forces(mote_simulation_world(model->simulation), true) != MOTE_OK) {
        simulator->forces_wanted = false;
        say(simulator, NULL);
    }
    simulator->failed = false;
    simulator->paused = fresh ? simulator->options.paused : simulator->paused;
    simulator->frame_seconds = 0.0;
    simulator->statistics_time = 0.0;
    simulator->timing_start = 0;
    simulator->next_frame = clock_seconds();
    simulator->unseen = true;
    say(simulator, "");
    publish(simulator);
}

// ---- The thread: commands ----

// The row for a change of that key: the one before, or a new one; NULL where there is no room.
static Change *change_row(Simulator *simulator, uint32_t key, uint32_t element)
{
    Change *change = simulator_change(simulator, key, element);
    if (change == NULL && simulator->change_count < CHANGE_LIMIT) {
        change = &simulator->changes[simulator->change_count++];
        *change = (Change){.key = key, .element = element};
    }
    return change;
}

static void set_value(Simulator *simulator, const SimulatorCommand *command)
{
    Model *model = simulator->model;
    const SceneKey *key = &scene_keys[command->key];
    if (model == NULL || command->element >= model->scene->values.sections[key->section].count) {
        return;
    }
    mtx_lock(&simulator->mutex);
    Change *change = change_row(simulator, command->key, command->element);
    if (change != NULL) {
        memcpy(change->numbers, command->numbers, sizeof change->numbers);
        scene_override_text(model->scene, key, command->element, command->numbers, change->text, sizeof change->text);
    }
    const bool live = scene_key_is_live(model->scene, key, command->element);
    if (live) {
        simulation_set_live(model->scene, model->simulation, key, command->element, command->numbers);
    }
    mtx_unlock(&simulator->mutex);
    if (live && simulator->paused) {
        publish(simulator); // with the new look
    }
    update_status(simulator, false);
}

// Words take effect with the next reset.
static void set_words(Simulator *simulator, const SimulatorCommand *command)
{
    Model *model = simulator->model;
    const SceneKey *key = &scene_keys[command->key];
    char text[OVERRIDE_SIZE];
    if (model == NULL || command->element >= model->scene->values.sections[key->section].count ||
        !scene_override_words(model->scene, key, command->element, command->text, text, sizeof text)) {
        return;
    }
    mtx_lock(&simulator->mutex);
    Change *change = change_row(simulator, command->key, command->element);
    if (change != NULL) {
        memcpy(change->text, text, sizeof text);
        snprintf(change->words, sizeof change->words, "%s", command->text);
    }
    mtx_unlock(&simulator->mutex);
    update_status(simulator, false);
}

static void state_file(Simulator *simulator, const SimulatorCommand *command)
{
    char notice[512];
    const bool saving = command->kind == COMMAND_SAVE_STATE;
    if (simulator->model == NULL) {
        return;
    }
    const MoteResult result = saving ? mote_simulation_save(simulator->model->simulation, command->text)
                                     : mote_simulation_load(simulator->model->simulation, command->text);
    if (result != MOTE_OK) {
        say(simulator, NULL);
        return;
    }
    snprintf(notice, sizeof notice, "%s %.400s", saving ? "Saved the state to" : "Loaded the state of", command->text);
    say(simulator, notice);
    if (!saving) {
        simulator->failed = false;
        manipulator_let_go(&simulator->manipulator);
        simulator->pool.forces = false; // they were of other particles
        publish(simulator);
    }
}

// What touches the world between two frames.
static void act(Simulator *simulator, const SimulatorCommand *command)
{
    Model *model = simulator->model;
    if (model == NULL || simulator->failed) {
        return;
    }
    const MoteVec3 at = {(float)command->numbers[0], (float)command->numbers[1], (float)command->numbers[2]};
    const MoteVec3 along = {(float)command->vector[0], (float)command->vector[1], (float)command->vector[2]};
    MoteResult result = MOTE_OK;
    switch (command->kind) {
    case COMMAND_GRAB:
        if (command->flag && !simulator->manipulator.holds_collider && simulator->manipulator.held_count == 0) {
            result = manipulator_grab_collider(&simulator->manipulator, model, along);
        }
        result = result != MOTE_OK ? result : manipulator_grab(&simulator->manipulator, model, command->id, at);
        break;
    case COMMAND_RELEASE:
        manipulator_let_go(&simulator->manipulator);
        break;
    case COMMAND_THROW:
        result = manipulator_throw(&simulator->manipulator, model, at, along);
        break;
    case COMMAND_POUR:
        result = manipulator_pour(model, at);
        break;
    case COMMAND_FORCES:
        simulator->pool.forces = false; // until a step has recorded some
        result = mote_world_record_forces(mote_simulation_world(model->simulation), command->flag);
        break;
    default:
        result = manipulator_gust(model, along);
        break;
    }
    if (result != MOTE_OK) {
        say(simulator, NULL);
    }
    if (simulator->paused && (command->kind == COMMAND_THROW || command->kind == COMMAND_POUR)) {
        simulator->pool.forces = false; // they are of fewer particles
        publish(simulator);
    }
    update_status(simulator, false);
}

static void begin_anew(Simulator *simulator)
{
    char path[sizeof simulator->status.path];
    snprintf(path, sizeof path, "%s", simulator->status.path);
    if (path[0] != '\0') {
        load(simulator, path, false);
    }
}

// An override that did not work is not kept: the scene must load again.
static void add_override(Simulator *simulator, const char *text)
{
    mtx_lock(&simulator->mutex);
    const bool fits = simulator->change_count < CHANGE_LIMIT && strlen(text) < OVERRIDE_SIZE;
    if (fits) {
        Change *change = &simulator->changes[simulator->change_count++];
        *change = (Change){.key = MOTE_NONE};
        snprintf(change->text, sizeof change->text, "%s", text);
    }
    const uint64_t models = simulator->models;
    mtx_unlock(&simulator->mutex);
    if (!fits) {
        mote_fail(MOTE_ERROR_INPUT, "there is no room for more changes: save the scene, and open it");
        say(simulator, NULL);
        return;
    }
    begin_anew(simulator);
    if (simulator->models == models) {
        mtx_lock(&simulator->mutex);
        simulator->change_count--;
        mtx_unlock(&simulator->mutex);
    }
}

static void note_load(Simulator *simulator)
{
    mtx_lock(&simulator->mutex);
    simulator->loads_done++;
    simulator->status.loading = simulator->loads_wanted > simulator->loads_done;
    mtx_unlock(&simulator->mutex);
    wake(simulator);
}

// Returns false when the thread is to end.
static bool obey(Simulator *simulator, SimulatorCommand *command)
{
    switch (command->kind) {
    case COMMAND_QUIT:
        return false;
    case COMMAND_LOAD:
        forget_changes(simulator);
        load(simulator, command->text, true);
        note_load(simulator);
        break;
    case COMMAND_FORGET:
        forget_changes(simulator);
        break;
    case COMMAND_RESET:
        begin_anew(simulator);
        note_load(simulator);
        break;
    case COMMAND_ADD:
        add_override(simulator, command->text);
        note_load(simulator);
        break;
    case COMMAND_PAUSE:
        simulator->paused = command->flag || simulator->failed;
        simulator->steps_wanted = 0;
        simulator->next_frame = clock_seconds();
        update_status(simulator, false);
        break;
    case COMMAND_STEP:
        simulator->paused = true;
        simulator->steps_wanted += simulator->failed ? 0 : 1;
        update_status(simulator, false);
        break;
    case COMMAND_SPEED:
        simulator->speed = command->numbers[0];
        simulator->next_frame = clock_seconds();
        update_status(simulator, false);
        break;
    case COMMAND_SET:
        set_value(simulator, command);
        break;
    case COMMAND_SET_WORDS:
        set_words(simulator, command);
        break;
    case COMMAND_SAVE_STATE:
    case COMMAND_LOAD_STATE:
        state_file(simulator, command);
        break;
    case COMMAND_FORCES:
        simulator->forces_wanted = command->flag;
        act(simulator, command);
        break;
    default:
        act(simulator, command);
        break;
    }
    return true;
}

// ---- The thread: time ----

static void advance(Simulator *simulator)
{
    const double start = clock_seconds();
    MoteResult result = manipulator_pull(&simulator->manipulator, simulator->model);
    result = result == MOTE_OK ? mote_simulation_advance_frame(simulator->model->simulation) : result;
    simulator->pool.forces = simulator->forces_wanted;
    const double seconds = clock_seconds() - start;
    simulator->frame_seconds += (simulator->frame_seconds > 0.0 ? 0.2 : 1.0) * (seconds - simulator->frame_seconds);
    if (result == MOTE_ERROR_STOPPED) {
        return; // the window is closed
    }
    if (result != MOTE_OK) {
        simulator->failed = true;
        simulator->paused = true;
        say(simulator, NULL);
        update_status(simulator, false);
        return;
    }
    say_warnings(simulator);
    publish(simulator);
}

// Takes the next command; waits for one for at most `seconds` (forever if negative).
static bool next_command(Simulator *simulator, double seconds, SimulatorCommand *out)
{
    mtx_lock(&simulator->mutex);
    if (simulator->queued == 0 && seconds < 0.0) {
        simulator->waiting = true;
        cnd_wait(&simulator->called, &simulator->mutex);
        simulator->waiting = false;
    } else if (simulator->queued == 0 && seconds > 0.0) {
        struct timespec until;
        timespec_get(&until, TIME_UTC);
        const double nanoseconds = (double)until.tv_nsec + 1e9 * fmin(seconds, 1.0);
        until.tv_sec += (time_t)(nanoseconds / 1e9);
        until.tv_nsec = (long)fmod(nanoseconds, 1e9);
        cnd_timedwait(&simulator->called, &simulator->mutex, &until);
    }
    const bool found = simulator->queued > 0;
    if (found) {
        *out = simulator->queue[0];
        simulator->queued--;
        memmove(simulator->queue, simulator->queue + 1, simulator->queued * sizeof *simulator->queue);
    }
    mtx_unlock(&simulator->mutex);
    return found;
}

// A scene begins when its first picture is there: until then the cores are the picture's.
static bool is_unseen(Simulator *simulator)
{
    if (simulator->unseen) {
        mtx_lock(&simulator->pool.mutex);
        simulator->unseen = simulator->pool.published_is_new;
        mtx_unlock(&simulator->pool.mutex);
        simulator->next_frame = clock_seconds();
    }
    return simulator->unseen;
}

static bool is_ending(void *data)
{
    return atomic_load(&((Simulator *)data)->ending);
}

static int run(void *data)
{
    Simulator *simulator = data;
    mote_stop_when(is_ending, simulator);
    thread_lower_priority();
    for (;;) {
        const bool stepping = simulator->steps_wanted > 0;
        const bool running = simulator->model != NULL && (!simulator->paused || stepping);
        const bool unseen = running && is_unseen(simulator);
        const double left = unseen ? 0.005 : stepping ? 0.0 : simulator->next_frame - clock_seconds();
        SimulatorCommand command;
        if (next_command(simulator, running ? fmax(left, 0.0) : -1.0, &command)) {
            const bool going_on = obey(simulator, &command);
            free(command.text);
            if (!going_on) {
                return 0;
            }
            continue;
        }
        if (!running || unseen || (!stepping && simulator->next_frame > clock_seconds())) {
            continue;
        }
        simulator->steps_wanted -= stepping ? 1 : 0;
        const double now = clock_seconds();
        const double frame_rate = SCENE_AT(&simulator->model->scene->values, solver, 0)->frame_rate;
        simulator->next_frame += 1.0 / (frame_rate * fmax(simulator->speed, 1e-3));
        simulator->next_frame = fmax(simulator->next_frame, now - 0.1); // what is late stays late
        advance(simulator);
    }
}

MoteResult simulator_start(const SimulatorOptions *options, Simulator **out)
{
    *out = NULL;
    Simulator *simulator = calloc(1, sizeof *simulator);
    if (simulator == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the simulation's thread");
    }
    simulator->options = *options;
    simulator->paused = options->paused;
    simulator->speed = 1.0;
    simulator->status.speed = 1.0;
    simulator->status.paused = options->paused;
    MoteResult result = snapshot_pool_create(&simulator->pool);
    if (result != MOTE_OK || mtx_init(&simulator->mutex, mtx_plain) != thrd_success ||
        cnd_init(&simulator->called) != thrd_success ||
        thrd_create(&simulator->thread, run, simulator) != thrd_success) {
        free(simulator);
        return result != MOTE_OK ? result : mote_fail(MOTE_ERROR_MEMORY, "no thread for the simulation");
    }
    simulator->started = true;
    *out = simulator;
    return MOTE_OK;
}

void simulator_stop(Simulator *simulator)
{
    if (!simulator->started) {
        return;
    }
    simulator_hold_for_drawing(simulator, false);
    mtx_lock(&simulator->mutex); // what is queued is no longer wanted
    for (; simulator->queued > 0; simulator->queued--) {
        free(simulator->queue[simulator->queued - 1].text);
    }
    mtx_unlock(&simulator->mutex);
    simulator_send(simulator, &(SimulatorCommand){.kind = COMMAND_QUIT});
    thrd_join(simulator->thread, NULL);
    simulator->started = false;
}

void simulator_destroy(Simulator *simulator)
{
    if (simulator == NULL) {
        return;
    }
    simulator_stop(simulator);
    snapshot_pool_destroy(&simulator->pool);
    model_release(simulator->model);
    mtx_destroy(&simulator->mutex);
    cnd_destroy(&simulator->called);
    free(simulator);
}
