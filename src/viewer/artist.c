// SPDX-License-Identifier: MIT
#include "viewer/artist.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "image/image.h"
#include "image/picture_file.h"
#include "image/video.h"
#include "viewer/between.h"
#include "viewer/camera.h"
#include "viewer/give_way.h"
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

struct Artist {
    MoteRendererOptions options;
    Simulator *simulator;
    void (*wake)(void *);
    void *wake_data;
    thrd_t thread;
    mtx_t mutex; // of everything down to the line
    cnd_t called;
    bool quit, called_on;
    atomic_bool leaving; // see artist_stop
    void (*leave)(void);
    double leave_time; // s, on the clock
    ArtistRequest request;
    uint64_t requests;
    uint64_t lag_request,
        lag_picture; // a request that no picture answers yet, 0 is none; how many there were before it
    ArtistStatus status;
    ArtistPicture picture;
    Pixels pixels; // of the picture
    ArtistPick pick;
    Inspection inspection;
    uint32_t inspected; // id, or MOTE_NONE
    bool pick_wanted;
    float pick_x, pick_y;
    char captures[CAPTURES][ARTIST_TEXT]; // files to be written
    uint32_t capture_count;
    char record[ARTIST_TEXT];
    bool record_changes;
    const char *shader_folder;
    char shaders[SHADER_FILES][SHADER_NAME]; // to be compiled
    uint32_t shader_count;
    // ---- of the thread alone
    MoteRenderer *renderer;
    uint64_t meshes_of; // model
    Pixels spare;       // where the next picture comes
    Pixels drawn;       // and before that, while it is smaller than the window
    Between between;
    double cost[SCALE_STEPS], last_cost; // s, of pictures of a size, measured
    uint64_t drawn_count;
    uint64_t drawn_model, drawn_moment, drawn_request, drawn_layout;
    double drawn_between, drawn_scale, still_since;
    VideoWriter film;
    uint32_t film_width, film_height;
    uint64_t film_moment;
};

// ---- From other threads ----

static void call(Artist *artist)
{
    artist->called_on = true;
    cnd_signal(&artist->called);
}

uint64_t artist_ask(Artist *artist, const ArtistRequest *request)
{
    mtx_lock(&artist->mutex);
    if (artist->requests == 0 || memcmp(&artist->request, request, sizeof *request) != 0) {
        artist->request = *request;
        artist->requests++;
        if (artist->lag_request == 0) {
            artist->lag_request = artist->requests;
            artist->lag_picture = artist->picture.number;
        }
        call(artist);
    }
    const uint64_t number = artist->requests;
    mtx_unlock(&artist->mutex);
    return number;
}

void artist_wake(Artist *artist)
{
    mtx_lock(&artist->mutex);
    call(artist);
    mtx_unlock(&artist->mutex);
}

bool artist_picture(Artist *artist, uint64_t known, void (*use)(void *, const ArtistPicture *, const uint8_t *),
                    void *data)
{
    mtx_lock(&artist->mutex);
    const bool newer = artist->picture.number > known;
    if (newer) {
        use(data, &artist->picture, artist->pixels.data);
    }
    mtx_unlock(&artist->mutex);
    return newer;
}

void artist_status(Artist *artist, ArtistStatus *out)
{
    mtx_lock(&artist->mutex);
    *out = artist->status;
    if (artist->record_changes) { // an order that is on its way counts
        out->recording = artist->record[0] != '\0';
    }
    mtx_unlock(&artist->mutex);
}

void artist_pick(Artist *artist, float x, float y)
{
    mtx_lock(&artist->mutex);
    artist->pick_wanted = true;
    artist->pick_x = x;
    artist->pick_y = y;
    call(artist);
    mtx_unlock(&artist->mutex);
}

ArtistPick artist_pick_result(Artist *artist)
{
    mtx_lock(&artist->mutex);
    const ArtistPick pick = artist->pick;
    mtx_unlock(&artist->mutex);
    return pick;
}

void artist_inspect(Artist *artist, uint32_t id)
{
    mtx_lock(&artist->mutex);
    artist->inspected = id;
    artist->inspection.moment = 0;
    call(artist);
    mtx_unlock(&artist->mutex);
}

bool artist_inspection(Artist *artist, Inspection *out)
{
    mtx_lock(&artist->mutex);
    const bool known = artist->inspected != MOTE_NONE && artist->inspection.moment != 0;
    if (known) {
        *out = artist->inspection;
    }
    mtx_unlock(&artist->mutex);
    return known;
}

void artist_capture(Artist *artist, const char *path)
{
    mtx_lock(&artist->mutex);
    if (artist->capture_count < CAPTURES) {
        snprintf(artist->captures[artist->capture_count++], ARTIST_TEXT, "%s", path);
    }
    call(artist);
    mtx_unlock(&artist->mutex);
}

void artist_record(Artist *artist, const char *path)
{
    mtx_lock(&artist->mutex);
    snprintf(artist->record, sizeof artist->record, "%s", path != NULL ? path : "");
    artist->record_changes = true;
    call(artist);
    mtx_unlock(&artist->mutex);
}

void artist_reload(Artist *artist, const char *folder, char (*names)[SHADER_NAME], uint32_t count)
{
    mtx_lock(&artist->mutex);
    artist->shader_folder = folder;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = 0;
        while (k < artist->shader_count && strcmp(artist->shaders[k], names[i]) != 0) {
            k++;
        }
        if (k == artist->shader_count && k < SHADER_FILES) {
            memcpy(artist->shaders[artist->shader_count++], names[i], SHADER_NAME);
        }
    }
    call(artist);
    mtx_unlock(&artist->mutex);
}

// ---- The thread: saying what is ----

static void say(Artist *artist, MoteResult result, const char *notice)
{
    mtx_lock(&artist->mutex);
    if (result != MOTE_OK) {
        snprintf(artist->status.error, sizeof artist->status.error, "%s", mote_error_message());
    } else {
        artist->status.error[0] = '\0';
        snprintf(artist->status.notice, sizeof artist->status.notice, "%s", notice);
    }
    artist->status.notices++;
    mtx_unlock(&artist->mutex);
    artist->wake(artist->wake_data);
}

// ---- The thread: a picture ----

static MoteResult draw(Artist *artist, const Moment *moment, float t, const ArtistRequest *request, MotePicture picture,
                       MoteCamera *camera)
{
    MomentPool *pool = simulator_pool(artist->simulator);
    MoteRenderView view = moment->view;
    MoteRenderScene look = moment->look;
    MoteResult result = MOTE_OK;
    if (t < 1.0f && moment->has_before) {
        result = between_moments(&artist->between, pool, moment, t, &view, &look);
    }
    if (result == MOTE_OK && artist->meshes_of != moment->model->number) {
        result = mote_renderer_set_meshes(artist->renderer, moment->model->meshes, moment->model->mesh_count);
        artist->meshes_of = result == MOTE_OK ? moment->model->number : 0;
    }
    if (result != MOTE_OK) {
        return result;
    }
    mtx_lock(&pool->mutex);
    view.layout = pool->layout; // after the blocks above
    mtx_unlock(&pool->mutex);
    artist->drawn_layout = view.layout;
    look.camera = request->own_camera ? request->camera : look.camera;
    *camera = look.camera;
    picture.samples = picture.samples > 0 ? picture.samples : 1;
    picture.view = request->view[0] != '\0' ? request->view : NULL;
    MoteRenderChannel values = {0};
    if (strncmp(request->view, "channel:", 8) == 0) { // one that the scene does not have, or not yet, is no mistake
        const MomentChannel *channel = moment_channel(moment, request->view + 8);
        if (channel != NULL) {
            const size_t bytes = (size_t)channel->components * sizeof(float) * view.particle_count;
            values = (MoteRenderChannel){{channel->values.data, bytes, channel->values.bytes}, channel->components};
        }
        picture.view = channel != NULL ? request->view : "particles";
    }
    return mote_renderer_draw_arrays(artist->renderer, &view, values.components > 0 ? &values : NULL, &look, &picture);
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

static void examine(const uint8_t *pixels, ArtistPicture *about)
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
static MoteResult read_picture(Artist *artist, const ArtistRequest *request, ArtistPicture *about)
{
    const bool stretched = mote_renderer_device(artist->renderer)->software && about->width <= request->width &&
                           about->height <= request->height &&
                           (about->width != request->width || about->height != request->height);
    about->shown_width = stretched ? request->width : about->width;
    about->shown_height = stretched ? request->height : about->height;
    Pixels *drawn = stretched ? &artist->drawn : &artist->spare;
    MoteResult result = reserve_pixels(drawn, about->width, about->height);
    result = result == MOTE_OK ? mote_renderer_read_rgba8(artist->renderer, drawn->data) : result;
    if (result == MOTE_OK && request->examined) {
        examine(drawn->data, about);
    }
    if (result != MOTE_OK || !stretched) {
        return result;
    }
    result = reserve_pixels(&artist->spare, request->width, request->height);
    return result == MOTE_OK ? image_stretch(about->width, about->height, drawn->data, request->width, request->height,
                                             artist->spare.data)
                             : result;
}

// Makes a picture that was read the one that is shown.
static void show(Artist *artist, const Moment *moment, const ArtistPicture *about)
{
    mtx_lock(&artist->mutex);
    const Pixels pixels = artist->pixels;
    artist->pixels = artist->spare;
    artist->spare = pixels;
    const uint64_t number = artist->picture.number + 1;
    artist->picture = *about;
    artist->picture.number = number;
    if (artist->lag_request > 0 && about->request >= artist->lag_request) {
        const uint64_t lag = number - artist->lag_picture;
        artist->status.worst_lag = lag > artist->status.worst_lag ? lag : artist->status.worst_lag;
        artist->lag_request = 0;
    }
    artist->picture.moment = moment->number;
    artist->picture.frame = moment->frame;
    artist->picture.model = moment->model->number;
    artist->picture.time = moment->time;
    artist->picture.lowest = moment->view.lowest;
    artist->picture.highest = moment->view.highest;
    artist->status.interop = mote_renderer_interop(artist->renderer);
    artist->status.pass_count = mote_renderer_timings(artist->renderer, artist->status.passes, ARTIST_PASSES);
    artist->status.validation_messages = mote_renderer_validation_messages(artist->renderer);
    mtx_unlock(&artist->mutex);
    artist->wake(artist->wake_data);
}

static const double scale_steps[SCALE_STEPS] = {1.0, 0.75, 0.5, 0.35};

// As large as twenty pictures a second allow, where smaller ones are faster; where nothing moves, as large as the
// window. What a size costs is found by drawing it.
static double choose_scale(Artist *artist, const ArtistRequest *request, bool still, bool first)
{
    const double target = 0.05;
    const double *cost = artist->cost;
    if (request->scale > 0.0f) {
        return (double)request->scale;
    }
    if (first && artist->film.process == 0) {
        return scale_steps[SCALE_STEPS - 2]; // of a scene: something to look at, soon
    }
    if (still || artist->film.process != 0) {
        return 1.0;
    }
    uint32_t i = 0;
    while (i + 1 < SCALE_STEPS && cost[i] > target && cost[i + 1] < 0.8 * cost[i]) { // 0: not tried yet
        i++;
    }
    return scale_steps[i];
}

static void learn_cost(Artist *artist, double seconds, double scale)
{
    artist->last_cost = seconds;
    if (++artist->drawn_count <= 2) { // the first ones compile shaders
        return;
    }
    for (uint32_t i = 0; i < SCALE_STEPS; i++) {
        if (scale_steps[i] == scale) {
            artist->cost[i] += (artist->cost[i] > 0.0 ? 0.3 : 1.0) * (seconds - artist->cost[i]);
        } else if (artist->drawn_count % 64 == 0) {
            artist->cost[i] *= 0.5; // scenes change: worth another try
        }
    }
}

static void draw_and_show(Artist *artist, const Moment *moment, double between, double scale,
                          const ArtistRequest *request, uint64_t number)
{
    ArtistPicture about = {.request = number, .between = between};
    about.width = (uint32_t)fmax(1.0, round((double)request->width * scale));
    about.height = (uint32_t)fmax(1.0, round((double)request->height * scale));
    const double start = clock_seconds();
    const MotePicture picture = {.width = about.width, .height = about.height};
    MoteResult result = draw(artist, moment, (float)between, request, picture, &about.camera);
    about.seconds = clock_seconds() - start;
    result = result == MOTE_OK ? read_picture(artist, request, &about) : result;
    if (result == MOTE_OK) {
        show(artist, moment, &about);
        learn_cost(artist, about.seconds, scale);
    } else {
        say(artist, result, NULL);
    }
}

// ---- The thread: other pictures ----

// The particle that is nearest to a point, within reach.
static uint32_t nearest_particle(const Moment *moment, MoteVec3 point, bool *found)
{
    const float *positions = moment->blocks[MOMENT_positions].data;
    uint32_t nearest = MOTE_NONE;
    float least = 4.0f * moment->view.support * moment->view.support;
    for (uint32_t i = 0; i < moment->view.particle_count; i++) {
        const float *p = positions + 4 * (size_t)i;
        const float dx = p[0] - point.x, dy = p[1] - point.y, dz = p[2] - point.z;
        const float square = dx * dx + dy * dy + dz * dz;
        if (square < least) {
            least = square;
            nearest = i;
        }
    }
    *found = nearest != MOTE_NONE;
    return *found ? ((const uint32_t *)moment->blocks[MOMENT_ids].data)[nearest] : MOTE_NONE;
}

static void look_at_inspected(Artist *artist, const Moment *moment)
{
    mtx_lock(&artist->mutex);
    const uint32_t id = artist->inspected;
    const bool known = id == MOTE_NONE || artist->inspection.moment == moment->number;
    mtx_unlock(&artist->mutex);
    if (known) {
        return;
    }
    Inspection inspection;
    inspect_particle(moment, id, &inspection);
    mtx_lock(&artist->mutex);
    if (artist->inspected == id) {
        artist->inspection = inspection;
    }
    mtx_unlock(&artist->mutex);
    artist->wake(artist->wake_data);
}

// The particle at a pixel of the id buffer; of a mesh, the particle that is nearest to the point that is seen.
static void answer_pick(Artist *artist, const Moment *moment, const ArtistRequest *request, float x, float y)
{
    const MotePicture picture = {.width = request->width, .height = request->height, .layers = true};
    MoteCamera camera;
    ArtistPick pick = {0};
    const size_t pixels = (size_t)request->width * request->height;
    float *values = malloc(pixels * sizeof *values);
    MoteResult result = values != NULL ? draw(artist, moment, 1.0f, request, picture, &camera)
                                       : mote_fail(MOTE_ERROR_MEMORY, "no memory to pick from a picture");
    const bool inside = x >= 0.0f && y >= 0.0f && x < (float)request->width && y < (float)request->height;
    const size_t pixel = inside ? (size_t)y * request->width + (size_t)x : 0;
    result = result == MOTE_OK ? mote_renderer_read_layer(artist->renderer, "depth", values) : result;
    if (result == MOTE_OK && inside && isfinite(values[pixel])) {
        const CameraRay ray = camera_ray(&camera, floorf(x), floorf(y), (float)request->width, (float)request->height);
        const MoteVec3 forward = camera_forward(&camera);
        const float along =
            values[pixel] / (ray.direction.x * forward.x + ray.direction.y * forward.y + ray.direction.z * forward.z);
        pick.point = (MoteVec3){ray.origin.x + along * ray.direction.x, ray.origin.y + along * ray.direction.y,
                                ray.origin.z + along * ray.direction.z};
        result = mote_renderer_read_layer(artist->renderer, "id", values);
        uint32_t id = 0;
        memcpy(&id, &values[pixel], sizeof id);
        pick.hit = true;
        pick.found = pick.seen = result == MOTE_OK && id > 0;
        pick.id = pick.seen ? id - 1 : nearest_particle(moment, pick.point, &pick.found);
    }
    free(values);
    if (result != MOTE_OK) {
        say(artist, result, NULL);
    }
    mtx_lock(&artist->mutex);
    pick.number = artist->pick.number + 1;
    artist->pick = pick;
    mtx_unlock(&artist->mutex);
    artist->wake(artist->wake_data);
}

static void answer_capture(Artist *artist, const Moment *moment, const ArtistRequest *request, const char *path)
{
    const MotePicture picture = {
        .width = request->width, .height = request->height, .samples = 4, .layers = picture_file_is_exr(path)};
    MoteCamera camera;
    MoteResult result = draw(artist, moment, 1.0f, request, picture, &camera);
    if (result == MOTE_OK) {
        result = picture_file_write(artist->renderer, path, request->width, request->height, moment->frame,
                                    request->view[0] != '\0' ? request->view : NULL);
    }
    char notice[ARTIST_TEXT];
    snprintf(notice, sizeof notice, "Wrote %.1000s", path);
    say(artist, result, notice);
}

// ---- The thread: shaders ----

static void answer_reload(Artist *artist)
{
    char names[SHADER_FILES][SHADER_NAME];
    MoteShader shaders[SHADER_FILES];
    mtx_lock(&artist->mutex);
    const uint32_t count = artist->shader_count;
    const char *folder = artist->shader_folder;
    memcpy(names, artist->shaders, sizeof names);
    artist->shader_count = 0;
    mtx_unlock(&artist->mutex);
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
    result = result == MOTE_OK ? mote_renderer_set_shaders(artist->renderer, shaders, count) : result;
    for (uint32_t i = 0; i < compiled; i++) {
        free((void *)(uintptr_t)shaders[i].words);
    }
    char notice[ARTIST_TEXT];
    snprintf(notice, sizeof notice, "Compiled %s%s", names[0], count > 1 ? " and others" : "");
    say(artist, result, notice);
    mtx_lock(&artist->mutex);
    artist->status.reloads++;
    mtx_unlock(&artist->mutex);
    artist->drawn_request = 0; // what is shown is of the shader before
}

// ---- The thread: films ----

static void end_film(Artist *artist)
{
    if (artist->film.process == 0) {
        return;
    }
    const uint64_t frames = artist->film.frame_count;
    mtx_lock(&artist->mutex);
    artist->status.recording = false;
    mtx_unlock(&artist->mutex);
    char notice[ARTIST_TEXT];
    snprintf(notice, sizeof notice, "Wrote a film of %llu frames", (unsigned long long)frames);
    if (frames > 0) {
        say(artist, video_writer_commit(&artist->film), notice);
    } else {
        video_writer_discard(&artist->film);
    }
    simulator_hold_for_drawing(artist->simulator, false);
}

static void begin_film(Artist *artist, const Moment *moment, const ArtistRequest *request, const char *path)
{
    end_film(artist);
    const double frame_rate = SCENE_AT(&moment->model->scene->values, solver, 0)->frame_rate;
    const VideoSettings settings = {
        .width = request->width, .height = request->height, .channels = 4, .frames_per_second = frame_rate};
    MoteResult result = video_available(path);
    result = result == MOTE_OK ? video_writer_open(&artist->film, path, &settings) : result;
    if (result != MOTE_OK) {
        artist->film.process = 0;
        say(artist, result, NULL);
        return;
    }
    artist->film_width = request->width;
    artist->film_height = request->height;
    artist->film_moment = 0;
    simulator_hold_for_drawing(artist->simulator, true);
    mtx_lock(&artist->mutex);
    artist->status.recording = true;
    artist->status.recorded = 0;
    mtx_unlock(&artist->mutex);
    char notice[ARTIST_TEXT];
    snprintf(notice, sizeof notice, "Recording %.1000s", path);
    say(artist, MOTE_OK, notice);
}

// The moment as a frame of the film, once, in the film's size, whatever became of the window's.
static void add_to_film(Artist *artist, const Moment *moment, const ArtistRequest *request)
{
    if (artist->film.process == 0 || artist->film_moment == moment->number) {
        return;
    }
    artist->film_moment = moment->number;
    const MotePicture picture = {.width = artist->film_width, .height = artist->film_height};
    MoteCamera camera;
    uint8_t *pixels = malloc((size_t)artist->film_width * artist->film_height * 4);
    MoteResult result = pixels != NULL ? draw(artist, moment, 1.0f, request, picture, &camera)
                                       : mote_fail(MOTE_ERROR_MEMORY, "no memory for a frame of the film");
    result = result == MOTE_OK ? mote_renderer_read_rgba8(artist->renderer, pixels) : result;
    result = result == MOTE_OK ? video_writer_add(&artist->film, pixels, 0) : result;
    free(pixels);
    mtx_lock(&artist->mutex);
    artist->status.recorded = artist->film.frame_count;
    mtx_unlock(&artist->mutex);
    if (result != MOTE_OK) {
        say(artist, result, NULL);
        end_film(artist);
    }
}

// ---- The thread ----

// What the others want now.
typedef struct Orders {
    ArtistRequest request;
    uint64_t requests;
    bool quit, pick, record_changes;
    float pick_x, pick_y;
    char captures[CAPTURES][ARTIST_TEXT], record[ARTIST_TEXT];
    uint32_t capture_count;
} Orders;

// Waits until there is something to do, for at most `seconds` (forever if negative).
static void take_orders(Artist *artist, double seconds, Orders *out)
{
    mtx_lock(&artist->mutex);
    if (!artist->called_on && seconds < 0.0) {
        cnd_wait(&artist->called, &artist->mutex);
    } else if (!artist->called_on && seconds > 0.0) {
        struct timespec until;
        timespec_get(&until, TIME_UTC);
        const double nanoseconds = (double)until.tv_nsec + 1e9 * seconds;
        until.tv_sec += (time_t)(nanoseconds / 1e9);
        until.tv_nsec = (long)fmod(nanoseconds, 1e9);
        cnd_timedwait(&artist->called, &artist->mutex, &until);
    }
    artist->called_on = false;
    out->request = artist->request;
    out->requests = artist->requests;
    out->quit = artist->quit;
    out->pick = artist->pick_wanted;
    out->pick_x = artist->pick_x;
    out->pick_y = artist->pick_y;
    out->record_changes = artist->record_changes;
    memcpy(out->captures, artist->captures, sizeof out->captures);
    out->capture_count = artist->capture_count;
    artist->capture_count = 0;
    memcpy(out->record, artist->record, sizeof out->record);
    artist->pick_wanted = artist->record_changes = false;
    mtx_unlock(&artist->mutex);
}

static void run_errands(Artist *artist, const Moment *moment, const Orders *orders)
{
    if (orders->record_changes && orders->record[0] != '\0') {
        begin_film(artist, moment, &orders->request, orders->record);
    } else if (orders->record_changes) {
        end_film(artist);
    }
    answer_reload(artist);
    if (orders->pick) {
        answer_pick(artist, moment, &orders->request, orders->pick_x, orders->pick_y);
    }
    for (uint32_t i = 0; i < orders->capture_count; i++) {
        answer_capture(artist, moment, &orders->request, orders->captures[i]);
    }
    add_to_film(artist, moment, &orders->request);
}

// Draws if anything is to be seen that is not. Returns how long there is nothing to do; negative is until called.
static double work(Artist *artist, const Orders *orders)
{
    MomentPool *pool = simulator_pool(artist->simulator);
    const Moment *moment = moment_take(pool);
    if (moment == NULL || orders->requests == 0 || orders->request.width == 0 || orders->request.height == 0) {
        if (moment != NULL) {
            moment_done(pool, artist->drawn_layout);
        }
        return -1.0;
    }
    const double now = clock_seconds();
    run_errands(artist, moment, orders);
    look_at_inspected(artist, moment);
    // Pictures in between are worth drawing where several of them fit.
    double between = moment->interval > 0.0 ? (now - moment->published) / moment->interval : 1.0;
    const bool too_slow =
        artist->film.process != 0 || !moment->has_before || 2.0 * artist->last_cost > moment->interval;
    between = too_slow || !(between < 1.0) ? 1.0 : between;
    const bool changed = moment->number != artist->drawn_moment || orders->requests != artist->drawn_request ||
                         between != artist->drawn_between;
    artist->still_since = changed ? now : artist->still_since;
    const bool still = now - artist->still_since > 0.25;
    const double scale = choose_scale(artist, &orders->request, still, moment->model->number != artist->drawn_model);
    if (changed || (still && scale > artist->drawn_scale)) {
        draw_and_show(artist, moment, between, scale, &orders->request, orders->requests);
        artist->drawn_model = moment->model->number;
        artist->drawn_moment = moment->number;
        artist->drawn_request = orders->requests;
        artist->drawn_between = between;
        artist->drawn_scale = scale;
    }
    moment_done(pool, artist->drawn_layout);
    if (artist->drawn_between < 1.0) {
        return 1.0 / 120.0;
    }
    return artist->drawn_scale < 1.0 && orders->request.scale == 0.0f ? 0.1 : -1.0;
}

// For mote_stop_when, which asks while the device is busy. No picture is stopped: the last of a film is waited for.
static bool leave_if_late(void *data)
{
    Artist *artist = data;
    if (atomic_load(&artist->leaving) && clock_seconds() > artist->leave_time) {
        end_film(artist);
        artist->leave();
    }
    return false;
}

static int run(void *data)
{
    Artist *artist = data;
    thread_give_way();
    mote_stop_when(leave_if_late, artist);
    const MoteResult result = mote_renderer_create(&artist->options, &artist->renderer);
    mtx_lock(&artist->mutex);
    artist->status.ready = result == MOTE_OK;
    artist->status.failed = result != MOTE_OK;
    if (result == MOTE_OK) {
        artist->status.device = *mote_renderer_device(artist->renderer);
    } else {
        snprintf(artist->status.error, sizeof artist->status.error, "%s", mote_error_message());
    }
    mtx_unlock(&artist->mutex);
    artist->wake(artist->wake_data);
    double wait = 0.0;
    Orders orders = {0};
    for (; result == MOTE_OK && !orders.quit; wait = work(artist, &orders)) { // once more after the call to quit: a
        take_orders(artist, wait, &orders);                                   // film's last frame may be waiting
    }
    end_film(artist);
    if (artist->renderer != NULL) {
        mote_renderer_destroy(artist->renderer);
    }
    return 0;
}

MoteResult artist_start(const MoteRendererOptions *options, Simulator *simulator, void (*wake)(void *), void *wake_data,
                        Artist **out)
{
    *out = NULL;
    Artist *artist = calloc(1, sizeof *artist);
    if (artist == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the drawing thread");
    }
    artist->options = *options;
    artist->simulator = simulator;
    artist->wake = wake;
    artist->wake_data = wake_data;
    artist->inspected = MOTE_NONE;
    atomic_init(&artist->leaving, false);
    if (mtx_init(&artist->mutex, mtx_plain) != thrd_success || cnd_init(&artist->called) != thrd_success ||
        thrd_create(&artist->thread, run, artist) != thrd_success) {
        free(artist);
        return mote_fail(MOTE_ERROR_MEMORY, "no thread to draw with");
    }
    *out = artist;
    return MOTE_OK;
}

void artist_stop(Artist *artist, void (*leave)(void))
{
    const double patience = 1.0; // s
    if (artist == NULL) {
        return;
    }
    artist->leave = leave;
    artist->leave_time = clock_seconds() + patience;
    atomic_store(&artist->leaving, leave != NULL);
    mtx_lock(&artist->mutex);
    artist->quit = true;
    call(artist);
    mtx_unlock(&artist->mutex);
    thrd_join(artist->thread, NULL);
    between_free(&artist->between);
    free(artist->pixels.data);
    free(artist->spare.data);
    free(artist->drawn.data);
    mtx_destroy(&artist->mutex);
    cnd_destroy(&artist->called);
    free(artist);
}
