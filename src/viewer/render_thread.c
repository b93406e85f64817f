// SPDX-License-Identifier: MIT
#include "viewer/render_thread.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "image/image.h"
#include "image/picture_file.h"
#include "image/video.h"
#include "viewer/interpolate.h"
#include "viewer/camera.h"
#include "viewer/thread_priority.h"
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SCALE_STEPS = 4, CAPTURES = 8 };

typedef struct Pixels {
    uint8_t *data; // RGBA
    size_t bytes;
} Pixels;

struct RenderThread {
    MoteRendererOptions options;
    Simulator *simulator;
    void (*wake)(void *);
    void *wake_data;
    thrd_t thread;
    mtx_t mutex; // of everything down to the line
    cnd_t called;
    bool quit, called_on;
    atomic_bool leaving; // see render_thread_stop
    void (*leave)(void);
    double leave_time; // s, on the clock
    RenderThreadRequest request;
    uint64_t requests;
    uint64_t lag_request,
        lag_picture; // a request that no picture answers yet, 0 is none; how many there were before it
    RenderThreadStatus status;
    RenderThreadPicture picture;
    Pixels pixels; // of the picture
    RenderThreadPick pick;
    Inspection inspection;
    uint32_t inspected; // id, or MOTE_NONE
    bool pick_wanted;
    float pick_x, pick_y;
    char captures[CAPTURES][RENDER_THREAD_TEXT]; // files to be written
    uint32_t capture_count;
    char record[RENDER_THREAD_TEXT];
    bool record_changes;
    const char *shader_folder;
    char shaders[SHADER_FILES][SHADER_NAME]; // to be compiled
    uint32_t shader_count;
    // ---- of the thread alone
    MoteRenderer *renderer;
    uint64_t meshes_of; // model
    Pixels spare;       // where the next picture comes
    Pixels drawn;       // and before that, while it is smaller than the window
    Interpolation interpolation;
    double cost[SCALE_STEPS], last_cost; // s, of pictures of a size, measured
    uint64_t drawn_count;
    uint64_t drawn_model, drawn_snapshot, drawn_request, drawn_layout;
    double drawn_interpolation, drawn_scale, still_since;
    VideoWriter film;
    uint32_t film_width, film_height;
    uint64_t film_snapshot;
};

// ---- From other threads ----

static void call(RenderThread *render_thread)
{
    render_thread->called_on = true;
    cnd_signal(&render_thread->called);
}

uint64_t render_thread_ask(RenderThread *render_thread, const RenderThreadRequest *request)
{
    mtx_lock(&render_thread->mutex);
    if (render_thread->requests == 0 || memcmp(&render_thread->request, request, sizeof *request) != 0) {
        render_thread->request = *request;
        render_thread->requests++;
        if (render_thread->lag_request == 0) {
            render_thread->lag_request = render_thread->requests;
            render_thread->lag_picture = render_thread->picture.number;
        }
        call(render_thread);
    }
    const uint64_t number = render_thread->requests;
    mtx_unlock(&render_thread->mutex);
    return number;
}

void render_thread_wake(RenderThread *render_thread)
{
    mtx_lock(&render_thread->mutex);
    call(render_thread);
    mtx_unlock(&render_thread->mutex);
}

bool render_thread_picture(RenderThread *render_thread, uint64_t known,
                           void (*use)(void *, const RenderThreadPicture *, const uint8_t *), void *data)
{
    mtx_lock(&render_thread->mutex);
    const bool newer = render_thread->picture.number > known;
    if (newer) {
        use(data, &render_thread->picture, render_thread->pixels.data);
    }
    mtx_unlock(&render_thread->mutex);
    return newer;
}

void render_thread_status(RenderThread *render_thread, RenderThreadStatus *out)
{
    mtx_lock(&render_thread->mutex);
    *out = render_thread->status;
    if (render_thread->record_changes) { // an order that is on its way counts
        out->recording = render_thread->record[0] != '\0';
    }
    mtx_unlock(&render_thread->mutex);
}

void render_thread_pick(RenderThread *render_thread, float x, float y)
{
    mtx_lock(&render_thread->mutex);
    render_thread->pick_wanted = true;
    render_thread->pick_x = x;
    render_thread->pick_y = y;
    call(render_thread);
    mtx_unlock(&render_thread->mutex);
}

RenderThreadPick render_thread_pick_result(RenderThread *render_thread)
{
    mtx_lock(&render_thread->mutex);
    const RenderThreadPick pick = render_thread->pick;
    mtx_unlock(&render_thread->mutex);
    return pick;
}

void render_thread_inspect(RenderThread *render_thread, uint32_t id)
{
    mtx_lock(&render_thread->mutex);
    render_thread->inspected = id;
    render_thread->inspection.snapshot = 0;
    call(render_thread);
    mtx_unlock(&render_thread->mutex);
}

bool render_thread_inspection(RenderThread *render_thread, Inspection *out)
{
    mtx_lock(&render_thread->mutex);
    const bool known = render_thread->inspected != MOTE_NONE && render_thread->inspection.snapshot != 0;
    if (known) {
        *out = render_thread->inspection;
    }
    mtx_unlock(&render_thread->mutex);
    return known;
}

void render_thread_capture(RenderThread *render_thread, const char *path)
{
    mtx_lock(&render_thread->mutex);
    if (render_thread->capture_count < CAPTURES) {
        snprintf(render_thread->captures[render_thread->capture_count++], RENDER_THREAD_TEXT, "%s", path);
    }
    call(render_thread);
    mtx_unlock(&render_thread->mutex);
}

void render_thread_record(RenderThread *render_thread, const char *path)
{
    mtx_lock(&render_thread->mutex);
    snprintf(render_thread->record, sizeof render_thread->record, "%s", path != NULL ? path : "");
    render_thread->record_changes = true;
    call(render_thread);
    mtx_unlock(&render_thread->mutex);
}

void render_thread_reload(RenderThread *render_thread, const char *folder, char (*names)[SHADER_NAME], uint32_t count)
{
    mtx_lock(&render_thread->mutex);
    render_thread->shader_folder = folder;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = 0;
        while (k < render_thread->shader_count && strcmp(render_thread->shaders[k], names[i]) != 0) {
            k++;
        }
        if (k == render_thread->shader_count && k < SHADER_FILES) {
            memcpy(render_thread->shaders[render_thread->shader_count++], names[i], SHADER_NAME);
        }
    }
    call(render_thread);
    mtx_unlock(&render_thread->mutex);
}

// ---- The thread: status ----

static void say(RenderThread *render_thread, MoteResult result, const char *notice)
{
    mtx_lock(&render_thread->mutex);
    if (result != MOTE_OK) {
        snprintf(render_thread->status.error, sizeof render_thread->status.error, "%s", mote_error_message());
    } else {
        render_thread->status.error[0] = '\0';
        snprintf(render_thread->status.notice, sizeof render_thread->status.notice, "%s", notice);
    }
    render_thread->status.notices++;
    mtx_unlock(&render_thread->mutex);
    render_thread->wake(render_thread->wake_data);
}

// ---- The thread: a picture ----

static MoteResult draw(RenderThread *render_thread, const FrameSnapshot *snapshot, float t,
                       const RenderThreadRequest *request, MotePicture picture, MoteCamera *camera)
{
    FrameSnapshotPool *pool = simulator_pool(render_thread->simulator);
    MoteRenderView view = snapshot->view;
    MoteRenderScene look = snapshot->look;
    MoteResult result = MOTE_OK;
    if (t < 1.0f && snapshot->has_before) {
        result = interpolate_snapshots(&render_thread->interpolation, pool, snapshot, t, &view, &look);
    }
    if (result == MOTE_OK && render_thread->meshes_of != snapshot->model->number) {
        result =
            mote_renderer_set_meshes(render_thread->renderer, snapshot->model->meshes, snapshot->model->mesh_count);
        render_thread->meshes_of = result == MOTE_OK ? snapshot->model->number : 0;
    }
    if (result != MOTE_OK) {
        return result;
    }
    mtx_lock(&pool->mutex);
    view.layout = pool->layout; // after the blocks above
    mtx_unlock(&pool->mutex);
    render_thread->drawn_layout = view.layout;
    look.camera = request->own_camera ? request->camera : look.camera;
    *camera = look.camera;
    picture.samples = picture.samples > 0 ? picture.samples : 1;
    picture.view = request->view[0] != '\0' ? request->view : NULL;
    MoteRenderChannel values = {0};
    if (strncmp(request->view, "channel:", 8) == 0) { // one that the scene does not have, or not yet, is no mistake
        const FrameSnapshotChannel *channel = snapshot_channel(snapshot, request->view + 8);
        if (channel != NULL) {
            const size_t bytes = (size_t)channel->components * sizeof(float) * view.particle_count;
            values = (MoteRenderChannel){{channel->values.data, bytes, channel->values.bytes}, channel->components};
        }
        picture.view = channel != NULL ? request->view : "particles";
    }
    return mote_renderer_draw_arrays(render_thread->renderer, &view, values.components > 0 ? &values : NULL, &look,
                                     &picture);
}

static MoteResult reserve_pixels(Pixels *pixels, uint32_t width, uint32_t height)
{
    const size_t bytes = (size_t)width * height * 4;
    if (pixels->bytes < bytes) {
        free(pixels->data);
        *pixels = (Pixels){malloc(bytes), bytes};
        if (pixels->data == NULL) {
            pixels->bytes = 0;
            return mote_fail(MOTE_ERROR_MEMORY, "no memory for a picture of %u x %u pixels", width, height);
        }
    }
    return MOTE_OK;
}

static void examine(const uint8_t *pixels, RenderThreadPicture *about)
{
    const size_t count = (size_t)about->width * about->height;
    uint64_t sums[3] = {0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < 3; k++) {
            sums[k] += pixels[4 * i + k];
        }
    }
    for (int k = 0; k < 3; k++) {
        about->mean[k] = (double)sums[k] / (double)count;
    }
    about->hash = hash_bytes(HASH_START, pixels, 4 * count);
}

// Reads the picture back into the spare pixels. Where the window is drawn by the CPU, too, a smaller picture is
// stretched to its size here and once: the window would do so with every frame, and could not answer meanwhile.
static MoteResult read_picture(RenderThread *render_thread, const RenderThreadRequest *request,
                               RenderThreadPicture *about)
{
    const bool stretched = mote_renderer_device(render_thread->renderer)->software && about->width <= request->width &&
                           about->height <= request->height &&
                           (about->width != request->width || about->height != request->height);
    about->shown_width = stretched ? request->width : about->width;
    about->shown_height = stretched ? request->height : about->height;
    Pixels *drawn = stretched ? &render_thread->drawn : &render_thread->spare;
    MoteResult result = reserve_pixels(drawn, about->width, about->height);
    result = result == MOTE_OK ? mote_renderer_read_rgba8(render_thread->renderer, drawn->data) : result;
    if (result == MOTE_OK && request->examined) {
        examine(drawn->data, about);
    }
    if (result != MOTE_OK || !stretched) {
        return result;
    }
    result = reserve_pixels(&render_thread->spare, request->width, request->height);
    return result == MOTE_OK ? image_stretch(about->width, about->height, drawn->data, request->width, request->height,
                                             render_thread->spare.data)
                             : result;
}

// Makes a picture that was read the one that is shown.
static void show(RenderThread *render_thread, const FrameSnapshot *snapshot, const RenderThreadPicture *about)
{
    mtx_lock(&render_thread->mutex);
    const Pixels pixels = render_thread->pixels;
    render_thread->pixels = render_thread->spare;
    render_thread->spare = pixels;
    const uint64_t number = render_thread->picture.number + 1;
    render_thread->picture = *about;
    render_thread->picture.number = number;
    if (render_thread->lag_request > 0 && about->request >= render_thread->lag_request) {
        const uint64_t lag = number - render_thread->lag_picture;
        render_thread->status.worst_lag = lag > render_thread->status.worst_lag ? lag : render_thread->status.worst_lag;
        render_thread->lag_request = 0;
    }
    render_thread->picture.snapshot = snapshot->number;
    render_thread->picture.frame = snapshot->frame;
    render_thread->picture.model = snapshot->model->number;
    render_thread->picture.time = snapshot->time;
    render_thread->picture.bounds_min = snapshot->view.bounds_min;
    render_thread->picture.bounds_max = snapshot->view.bounds_max;
    render_thread->status.interop = mote_renderer_interop(render_thread->renderer);
    render_thread->status.pass_count =
        mote_renderer_timings(render_thread->renderer, render_thread->status.passes, RENDER_THREAD_PASSES);
    render_thread->status.validation_messages = mote_renderer_validation_messages(render_thread->renderer);
    mtx_unlock(&render_thread->mutex);
    render_thread->wake(render_thread->wake_data);
}

static const double scale_steps[SCALE_STEPS] = {1.0, 0.75, 0.5, 0.35};

// As large as twenty pictures a second allow, where smaller ones are faster; where nothing moves, as large as the
// window. What a size costs is found by drawing it.
static double choose_scale(RenderThread *render_thread, const RenderThreadRequest *request, bool still, bool first)
{
    const double target = 0.05;
    const double *cost = render_thread->cost;
    if (request->scale > 0.0f) {
        return (double)request->scale;
    }
    if (first && render_thread->film.process == 0) {
        return scale_steps[SCALE_STEPS - 2]; // of a scene: something to look at, soon
    }
    if (still || render_thread->film.process != 0) {
        return 1.0;
    }
    uint32_t i = 0;
    while (i + 1 < SCALE_STEPS && cost[i] > target && cost[i + 1] < 0.8 * cost[i]) { // 0: not tried yet
        i++;
    }
    return scale_steps[i];
}

static void learn_cost(RenderThread *render_thread, double seconds, double scale)
{
    render_thread->last_cost = seconds;
    if (++render_thread->drawn_count <= 2) { // the first ones compile shaders
        return;
    }
    for (uint32_t i = 0; i < SCALE_STEPS; i++) {
        if (scale_steps[i] == scale) {
            render_thread->cost[i] += (render_thread->cost[i] > 0.0 ? 0.3 : 1.0) * (seconds - render_thread->cost[i]);
        } else if (render_thread->drawn_count % 64 == 0) {
            render_thread->cost[i] *= 0.5; // scenes change: worth another try
        }
    }
}

static void draw_and_show(RenderThread *render_thread, const FrameSnapshot *snapshot, double interpolation,
                          double scale, const RenderThreadRequest *request, uint64_t number)
{
    RenderThreadPicture about = {.request = number, .interpolation = interpolation};
    about.width = (uint32_t)fmax(1.0, round((double)request->width * scale));
    about.height = (uint32_t)fmax(1.0, round((double)request->height * scale));
    const double start = clock_seconds();
    const MotePicture picture = {.width = about.width, .height = about.height};
    MoteResult result = draw(render_thread, snapshot, (float)interpolation, request, picture, &about.camera);
    about.seconds = clock_seconds() - start;
    result = result == MOTE_OK ? read_picture(render_thread, request, &about) : result;
    if (result == MOTE_OK) {
        show(render_thread, snapshot, &about);
        learn_cost(render_thread, about.seconds, scale);
    } else {
        say(render_thread, result, NULL);
    }
}

// ---- The thread: other pictures ----

// The particle that is nearest to a point, within reach.
static uint32_t nearest_particle(const FrameSnapshot *snapshot, MoteVec3 point, bool *found)
{
    const float *positions = snapshot->blocks[SNAPSHOT_positions].data;
    uint32_t nearest = MOTE_NONE;
    float least = 4.0f * snapshot->view.smoothing_radius * snapshot->view.smoothing_radius;
    for (uint32_t i = 0; i < snapshot->view.particle_count; i++) {
        const float *p = positions + 4 * (size_t)i;
        const float dx = p[0] - point.x, dy = p[1] - point.y, dz = p[2] - point.z;
        const float square = dx * dx + dy * dy + dz * dz;
        if (square < least) {
            least = square;
            nearest = i;
        }
    }
    *found = nearest != MOTE_NONE;
    return *found ? ((const uint32_t *)snapshot->blocks[SNAPSHOT_ids].data)[nearest] : MOTE_NONE;
}

static void look_at_inspected(RenderThread *render_thread, const FrameSnapshot *snapshot)
{
    mtx_lock(&render_thread->mutex);
    const uint32_t id = render_thread->inspected;
    const bool known = id == MOTE_NONE || render_thread->inspection.snapshot == snapshot->number;
    mtx_unlock(&render_thread->mutex);
    if (known) {
        return;
    }
    Inspection inspection;
    inspect_particle(snapshot, id, &inspection);
    mtx_lock(&render_thread->mutex);
    if (render_thread->inspected == id) {
        render_thread->inspection = inspection;
    }
    mtx_unlock(&render_thread->mutex);
    render_thread->wake(render_thread->wake_data);
}

// The particle at a pixel of the id buffer; of a mesh, the particle that is nearest to the point that is seen.
static void answer_pick(RenderThread *render_thread, const FrameSnapshot *snapshot, const RenderThreadRequest *request,
                        float x, float y)
{
    const MotePicture picture = {.width = request->width, .height = request->height, .layers = true};
    MoteCamera camera;
    RenderThreadPick pick = {0};
    const size_t pixels = (size_t)request->width * request->height;
    float *values = malloc(pixels * sizeof *values);
    MoteResult result = values != NULL ? draw(render_thread, snapshot, 1.0f, request, picture, &camera)
                                       : mote_fail(MOTE_ERROR_MEMORY, "no memory to pick from a picture");
    const bool inside = x >= 0.0f && y >= 0.0f && x < (float)request->width && y < (float)request->height;
    const size_t pixel = inside ? (size_t)y * request->width + (size_t)x : 0;
    result = result == MOTE_OK ? mote_renderer_read_layer(render_thread->renderer, "depth", values) : result;
    if (result == MOTE_OK && inside && isfinite(values[pixel])) {
        const CameraRay ray = camera_ray(&camera, floorf(x), floorf(y), (float)request->width, (float)request->height);
        const MoteVec3 forward = camera_forward(&camera);
        const float along =
            values[pixel] / (ray.direction.x * forward.x + ray.direction.y * forward.y + ray.direction.z * forward.z);
        pick.point = (MoteVec3){ray.origin.x + along * ray.direction.x, ray.origin.y + along * ray.direction.y,
                                ray.origin.z + along * ray.direction.z};
        result = mote_renderer_read_layer(render_thread->renderer, "id", values);
        uint32_t id = 0;
        memcpy(&id, &values[pixel], sizeof id);
        pick.hit = true;
        pick.found = pick.seen = result == MOTE_OK && id > 0;
        pick.id = pick.seen ? id - 1 : nearest_particle(snapshot, pick.point, &pick.found);
    }
    free(values);
    if (result != MOTE_OK) {
        say(render_thread, result, NULL);
    }
    mtx_lock(&render_thread->mutex);
    pick.number = render_thread->pick.number + 1;
    render_thread->pick = pick;
    mtx_unlock(&render_thread->mutex);
    render_thread->wake(render_thread->wake_data);
}

static void answer_capture(RenderThread *render_thread, const FrameSnapshot *snapshot,
                           const RenderThreadRequest *request, const char *path)
{
    const MotePicture picture = {
        .width = request->width, .height = request->height, .samples = 4, .layers = picture_file_is_exr(path)};
    MoteCamera camera;
    MoteResult result = draw(render_thread, snapshot, 1.0f, request, picture, &camera);
    if (result == MOTE_OK) {
        result = picture_file_write(render_thread->renderer, path, request->width, request->height, snapshot->frame,
                                    request->view[0] != '\0' ? request->view : NULL);
    }
    char notice[RENDER_THREAD_TEXT];
    snprintf(notice, sizeof notice, "Wrote %.1000s", path);
    say(render_thread, result, notice);
}

// ---- The thread: shaders ----

static void answer_reload(RenderThread *render_thread)
{
    char names[SHADER_FILES][SHADER_NAME];
    MoteShader shaders[SHADER_FILES];
    mtx_lock(&render_thread->mutex);
    const uint32_t count = render_thread->shader_count;
    const char *folder = render_thread->shader_folder;
    memcpy(names, render_thread->shaders, sizeof names);
    render_thread->shader_count = 0;
    mtx_unlock(&render_thread->mutex);
    if (count == 0) {
        return;
    }
    MoteResult result = MOTE_OK;
    uint32_t compiled = 0;
    while (compiled < count && result == MOTE_OK) {
        uint32_t *words;
        size_t bytes;
        result = shader_compile(folder, names[compiled], &words, &bytes);
        if (result == MOTE_OK) {
            shaders[compiled] = (MoteShader){names[compiled], words, bytes};
            compiled++;
        }
    }
    result = result == MOTE_OK ? mote_renderer_set_shaders(render_thread->renderer, shaders, count) : result;
    for (uint32_t i = 0; i < compiled; i++) {
        free((void *)(uintptr_t)shaders[i].words);
    }
    char notice[RENDER_THREAD_TEXT];
    snprintf(notice, sizeof notice, "Compiled %s%s", names[0], count > 1 ? " and others" : "");
    say(render_thread, result, notice);
    mtx_lock(&render_thread->mutex);
    render_thread->status.reloads++;
    mtx_unlock(&render_thread->mutex);
    render_thread->drawn_request = 0; // what is shown is of the shader before
}

// ---- The thread: films ----

static void end_film(RenderThread *render_thread)
{
    if (render_thread->film.process == 0) {
        return;
    }
    const uint64_t frames = render_thread->film.frame_count;
    mtx_lock(&render_thread->mutex);
    render_thread->status.recording = false;
    mtx_unlock(&render_thread->mutex);
    char notice[RENDER_THREAD_TEXT];
    snprintf(notice, sizeof notice, "Wrote a film of %llu frames", (unsigned long long)frames);
    if (frames > 0) {
        say(render_thread, video_writer_commit(&render_thread->film), notice);
    } else {
        video_writer_discard(&render_thread->film);
    }
    simulator_hold_for_drawing(render_thread->simulator, false);
}

static void begin_film(RenderThread *render_thread, const FrameSnapshot *snapshot, const RenderThreadRequest *request,
                       const char *path)
{
    end_film(render_thread);
    const double frame_rate = SCENE_AT(&snapshot->model->scene->values, solver, 0)->frame_rate;
    const VideoSettings settings = {
        .width = request->width, .height = request->height, .channels = 4, .frames_per_second = frame_rate};
    MoteResult result = video_available(path);
    result = result == MOTE_OK ? video_writer_open(&render_thread->film, path, &settings) : result;
    if (result != MOTE_OK) {
        render_thread->film.process = 0;
        say(render_thread, result, NULL);
        return;
    }
    render_thread->film_width = request->width;
    render_thread->film_height = request->height;
    render_thread->film_snapshot = 0;
    simulator_hold_for_drawing(render_thread->simulator, true);
    mtx_lock(&render_thread->mutex);
    render_thread->status.recording = true;
    render_thread->status.recorded = 0;
    mtx_unlock(&render_thread->mutex);
    char notice[RENDER_THREAD_TEXT];
    snprintf(notice, sizeof notice, "Recording %.1000s", path);
    say(render_thread, MOTE_OK, notice);
}

// Draws the snapshot as a frame of the film, once, in the film's size, independent of the window's.
static void add_to_film(RenderThread *render_thread, const FrameSnapshot *snapshot, const RenderThreadRequest *request)
{
    if (render_thread->film.process == 0 || render_thread->film_snapshot == snapshot->number) {
        return;
    }
    render_thread->film_snapshot = snapshot->number;
    const MotePicture picture = {.width = render_thread->film_width, .height = render_thread->film_height};
    MoteCamera camera;
    uint8_t *pixels = malloc((size_t)render_thread->film_width * render_thread->film_height * 4);
    MoteResult result = pixels != NULL ? draw(render_thread, snapshot, 1.0f, request, picture, &camera)
                                       : mote_fail(MOTE_ERROR_MEMORY, "no memory for a frame of the film");
    result = result == MOTE_OK ? mote_renderer_read_rgba8(render_thread->renderer, pixels) : result;
    result = result == MOTE_OK ? video_writer_add(&render_thread->film, pixels, 0) : result;
    free(pixels);
    mtx_lock(&render_thread->mutex);
    render_thread->status.recorded = render_thread->film.frame_count;
    mtx_unlock(&render_thread->mutex);
    if (result != MOTE_OK) {
        say(render_thread, result, NULL);
        end_film(render_thread);
    }
}

// ---- The thread ----

// What the others want now.
typedef struct Orders {
    RenderThreadRequest request;
    uint64_t requests;
    bool quit, pick, record_changes;
    float pick_x, pick_y;
    char captures[CAPTURES][RENDER_THREAD_TEXT], record[RENDER_THREAD_TEXT];
    uint32_t capture_count;
} Orders;

// Waits until there is something to do, for at most `seconds` (forever if negative).
static void take_orders(RenderThread *render_thread, double seconds, Orders *out)
{
    mtx_lock(&render_thread->mutex);
    if (!render_thread->called_on && seconds < 0.0) {
        cnd_wait(&render_thread->called, &render_thread->mutex);
    } else if (!render_thread->called_on && seconds > 0.0) {
        struct timespec until;
        timespec_get(&until, TIME_UTC);
        const double nanoseconds = (double)until.tv_nsec + 1e9 * seconds;
        until.tv_sec += (time_t)(nanoseconds / 1e9);
        until.tv_nsec = (long)fmod(nanoseconds, 1e9);
        cnd_timedwait(&render_thread->called, &render_thread->mutex, &until);
    }
    render_thread->called_on = false;
    out->request = render_thread->request;
    out->requests = render_thread->requests;
    out->quit = render_thread->quit;
    out->pick = render_thread->pick_wanted;
    out->pick_x = render_thread->pick_x;
    out->pick_y = render_thread->pick_y;
    out->record_changes = render_thread->record_changes;
    memcpy(out->captures, render_thread->captures, sizeof out->captures);
    out->capture_count = render_thread->capture_count;
    render_thread->capture_count = 0;
    memcpy(out->record, render_thread->record, sizeof out->record);
    render_thread->pick_wanted = render_thread->record_changes = false;
    mtx_unlock(&render_thread->mutex);
}

static void run_errands(RenderThread *render_thread, const FrameSnapshot *snapshot, const Orders *orders)
{
    if (orders->record_changes && orders->record[0] != '\0') {
        begin_film(render_thread, snapshot, &orders->request, orders->record);
    } else if (orders->record_changes) {
        end_film(render_thread);
    }
    answer_reload(render_thread);
    if (orders->pick) {
        answer_pick(render_thread, snapshot, &orders->request, orders->pick_x, orders->pick_y);
    }
    for (uint32_t i = 0; i < orders->capture_count; i++) {
        answer_capture(render_thread, snapshot, &orders->request, orders->captures[i]);
    }
    add_to_film(render_thread, snapshot, &orders->request);
}

// Draws if anything is to be seen that is not. Returns how long there is nothing to do; negative is until called.
static double work(RenderThread *render_thread, const Orders *orders)
{
    FrameSnapshotPool *pool = simulator_pool(render_thread->simulator);
    const FrameSnapshot *snapshot = snapshot_take(pool);
    if (snapshot == NULL || orders->requests == 0 || orders->request.width == 0 || orders->request.height == 0) {
        if (snapshot != NULL) {
            snapshot_done(pool, render_thread->drawn_layout);
        }
        return -1.0;
    }
    const double now = clock_seconds();
    run_errands(render_thread, snapshot, orders);
    look_at_inspected(render_thread, snapshot);
    // Pictures in between are worth drawing where several of them fit.
    double interpolation = snapshot->interval > 0.0 ? (now - snapshot->published) / snapshot->interval : 1.0;
    const bool too_slow = render_thread->film.process != 0 || !snapshot->has_before ||
                          2.0 * render_thread->last_cost > snapshot->interval;
    interpolation = too_slow || !(interpolation < 1.0) ? 1.0 : interpolation;
    const bool changed = snapshot->number != render_thread->drawn_snapshot ||
                         orders->requests != render_thread->drawn_request ||
                         interpolation != render_thread->drawn_interpolation;
    render_thread->still_since = changed ? now : render_thread->still_since;
    const bool still = now - render_thread->still_since > 0.25;
    const double scale =
        choose_scale(render_thread, &orders->request, still, snapshot->model->number != render_thread->drawn_model);
    if (changed || (still && scale > render_thread->drawn_scale)) {
        draw_and_show(render_thread, snapshot, interpolation, scale, &orders->request, orders->requests);
        render_thread->drawn_model = snapshot->model->number;
        render_thread->drawn_snapshot = snapshot->number;
        render_thread->drawn_request = orders->requests;
        render_thread->drawn_interpolation = interpolation;
        render_thread->drawn_scale = scale;
    }
    snapshot_done(pool, render_thread->drawn_layout);
    if (render_thread->drawn_interpolation < 1.0) {
        return 1.0 / 120.0;
    }
    return render_thread->drawn_scale < 1.0 && orders->request.scale == 0.0f ? 0.1 : -1.0;
}

// For mote_stop_when, which asks while the device is busy. No picture is stopped: the last of a film is waited for.
static bool leave_if_late(void *data)
{
    RenderThread *render_thread = data;
    if (atomic_load(&render_thread->leaving) && clock_seconds() > render_thread->leave_time) {
        end_film(render_thread);
        render_thread->leave();
    }
    return false;
}

static int run(void *data)
{
    RenderThread *render_thread = data;
    thread_lower_priority();
    mote_stop_when(leave_if_late, render_thread);
    const MoteResult result = mote_renderer_create(&render_thread->options, &render_thread->renderer);
    mtx_lock(&render_thread->mutex);
    render_thread->status.ready = result == MOTE_OK;
    render_thread->status.failed = result != MOTE_OK;
    if (result == MOTE_OK) {
        render_thread->status.device = *mote_renderer_device(render_thread->renderer);
    } else {
        snprintf(render_thread->status.error, sizeof render_thread->status.error, "%s", mote_error_message());
    }
    mtx_unlock(&render_thread->mutex);
    render_thread->wake(render_thread->wake_data);
    double wait = 0.0;
    Orders orders = {0};
    for (; result == MOTE_OK && !orders.quit;
         wait = work(render_thread, &orders)) {    // once more after the call to quit: a
        take_orders(render_thread, wait, &orders); // film's last frame may be waiting
    }
    end_film(render_thread);
    if (render_thread->renderer != NULL) {
        mote_renderer_destroy(render_thread->renderer);
    }
    return 0;
}

MoteResult render_thread_start(const MoteRendererOptions *options, Simulator *simulator, void (*wake)(void *),
                               void *wake_data, RenderThread **out)
{
    *out = NULL;
    RenderThread *render_thread = calloc(1, sizeof *render_thread);
    if (render_thread == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the drawing thread");
    }
    render_thread->options = *options;
    render_thread->simulator = simulator;
    render_thread->wake = wake;
    render_thread->wake_data = wake_data;
    render_thread->inspected = MOTE_NONE;
    atomic_init(&render_thread->leaving, false);
    if (mtx_init(&render_thread->mutex, mtx_plain) != thrd_success ||
        cnd_init(&render_thread->called) != thrd_success ||
        thrd_create(&render_thread->thread, run, render_thread) != thrd_success) {
        free(render_thread);
        return mote_fail(MOTE_ERROR_MEMORY, "no thread to draw with");
    }
    *out = render_thread;
    return MOTE_OK;
}

void render_thread_stop(RenderThread *render_thread, void (*leave)(void))
{
    const double patience = 1.0; // s
    if (render_thread == NULL) {
        return;
    }
    render_thread->leave = leave;
    render_thread->leave_time = clock_seconds() + patience;
    atomic_store(&render_thread->leaving, leave != NULL);
    mtx_lock(&render_thread->mutex);
    render_thread->quit = true;
    call(render_thread);
    mtx_unlock(&render_thread->mutex);
    thrd_join(render_thread->thread, NULL);
    interpolation_free(&render_thread->interpolation);
    free(render_thread->pixels.data);
    free(render_thread->spare.data);
    free(render_thread->drawn.data);
    mtx_destroy(&render_thread->mutex);
    cnd_destroy(&render_thread->called);
    free(render_thread);
}
