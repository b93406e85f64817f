// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "base/progress.h"

#include "base/clock.h"
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static const double BAR_INTERVAL = 0.1;       // s between redrawings of the bar
static const double LINE_INTERVAL = 5.0;      // s between plain lines, at least,
static const double LINE_PART = 0.1;          // which also wait for this part of the work to be done
static const double LINE_LONGEST_WAIT = 60.0; // s, or for this long
enum { BAR_CELLS = 20, LINE_SIZE = 256 };

void progress_begin(Progress *progress, FILE *stream, const char *unit, uint64_t first, uint64_t last, bool silent)
{
    const double now = clock_seconds();
    *progress = (Progress){
        .stream = stream,
        .unit = unit,
        .first = first,
        .last = last,
        .done = first,
        .silent = silent,
        .terminal = isatty(fileno(stream)) != 0,
        .update_time = now,
        .shown_time = now,
        .shown_done = first,
    };
}

// "1:02:03", "2:03" or "4 s"
static void format_duration(double seconds, char *out, size_t size)
{
    const uint64_t whole = seconds < 1e9 ? (uint64_t)(seconds + 0.5) : 1000000000u;
    if (whole >= 3600) {
        snprintf(out, size, "%llu:%02u:%02u", (unsigned long long)(whole / 3600), (unsigned)(whole / 60 % 60),
                 (unsigned)(whole % 60));
    } else if (whole >= 60) {
        snprintf(out, size, "%u:%02u", (unsigned)(whole / 60), (unsigned)(whole % 60));
    } else {
        snprintf(out, size, "%u s", (unsigned)whole);
    }
}

static double part_done(const Progress *progress)
{
    const uint64_t total = progress->last - progress->first;
    return total == 0 ? 1.0 : (double)(progress->done - progress->first) / (double)total;
}

// The bar shows the part that is done, and shares one row with the text: there it is short.
static void format_line(const Progress *progress, const char *note, bool brief, char *out, size_t size)
{
    char left[32], part[32];
    format_duration(progress->unit_time * (double)(progress->last - progress->done), left, sizeof left);
    snprintf(part, sizeof part, " (%.0f %%)", 100.0 * part_done(progress));
    snprintf(out, size, "%s %llu%s%llu%s, %.4g ms%s%s, %s left%s%s", progress->unit, (unsigned long long)progress->done,
             brief ? "/" : " of ", (unsigned long long)progress->last, brief ? "" : part, 1e3 * progress->unit_time,
             brief ? "" : " a ", brief ? "" : progress->unit, left, note[0] != '\0' ? ", " : "", note);
}

static void show_bar(Progress *progress, const char *note)
{
    char line[LINE_SIZE], bar[BAR_CELLS + 1];
    format_line(progress, note, true, line, sizeof line);
    const int full = (int)(part_done(progress) * BAR_CELLS);
    memset(bar, '-', BAR_CELLS);
    memset(bar, '#', (size_t)full);
    bar[BAR_CELLS] = '\0';
    // A bar that wraps would leave its beginning behind at each redrawing.
    struct winsize window = {0};
    int columns = 80;
    if (ioctl(fileno(progress->stream), TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
        columns = window.ws_col;
    }
    const int room = columns - BAR_CELLS - 4;
    if (room > 0) {
        fprintf(progress->stream, "\r\033[K[%s] %.*s", bar, room, line);
    } else {
        fprintf(progress->stream, "\r\033[K%.*s", columns - 1, line);
    }
    fflush(progress->stream);
    progress->bar_shown = true;
}

static bool line_is_due(const Progress *progress, double now)
{
    const double waited = now - progress->shown_time;
    const uint64_t total = progress->last - progress->first;
    const double part = (double)(progress->done - progress->shown_done) / (double)(total > 0 ? total : 1);
    return (waited >= LINE_INTERVAL && part >= LINE_PART) || waited >= LINE_LONGEST_WAIT;
}

static void show_line(Progress *progress, const char *note)
{
    char line[LINE_SIZE];
    format_line(progress, note, false, line, sizeof line);
    fprintf(progress->stream, "%s\n", line);
    fflush(progress->stream);
}

static void update(Progress *progress, uint64_t done, const char *note)
{
    const double now = clock_seconds();
    if (done > progress->done) {
        const double each = (now - progress->update_time) / (double)(done - progress->done);
        // The first unit stands alone; then the last ten or so count, because emitters make frames slower.
        const bool first = progress->done == progress->first;
        progress->unit_time = first ? each : 0.9 * progress->unit_time + 0.1 * each;
        progress->update_time = now;
        progress->done = done < progress->last ? done : progress->last;
    }
    if (progress->silent) {
        return;
    }
    if (progress->terminal) {
        if (progress->bar_shown && now - progress->shown_time < BAR_INTERVAL && done < progress->last) {
            return;
        }
        show_bar(progress, note);
    } else {
        if (!line_is_due(progress, now)) {
            return;
        }
        show_line(progress, note);
    }
    progress->shown_time = now;
    progress->shown_done = progress->done;
}

void progress_update(Progress *progress, uint64_t done, const char *note)
{
    if (progress->watch.running) {
        pthread_mutex_lock(&progress->watch.lock);
    }
    update(progress, done, note);
    if (progress->watch.running) {
        pthread_mutex_unlock(&progress->watch.lock);
    }
}

// ---- Where one unit takes long ----

// How far it was when the last unit ended, and for how long the next has been under way.
static void show_wait(Progress *progress, double now)
{
    char duration[32], note[96];
    format_duration(now - progress->update_time, duration, sizeof duration);
    snprintf(note, sizeof note, "%s %llu takes %s so far", progress->unit, (unsigned long long)progress->done + 1,
             duration);
    if (progress->last == progress->first) { // one thing, not a number of them
        fprintf(progress->stream, "%s%s takes %s so far%s", progress->terminal ? "\r\033[K" : "", progress->unit,
                duration, progress->terminal ? "" : "\n");
        fflush(progress->stream);
        progress->bar_shown = progress->terminal;
    } else if (progress->terminal) {
        show_bar(progress, note);
    } else if (progress->unit_time > 0.0) {
        show_line(progress, note);
    } else { // no unit is done: nothing is known of the time left
        fprintf(progress->stream, "%s %llu of %llu, %s\n", progress->unit, (unsigned long long)progress->done,
                (unsigned long long)progress->last, note);
        fflush(progress->stream);
    }
    progress->shown_time = now;
}

static void *watch(void *context)
{
    Progress *progress = context;
    ProgressWatch *w = &progress->watch;
    pthread_mutex_lock(&w->lock);
    while (!w->ended) {
        const double due = progress->shown_time + w->interval, now = clock_seconds();
        if (now >= due) {
            show_wait(progress, now);
            continue;
        }
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        const double left = due - now + (double)until.tv_nsec * 1e-9;
        until.tv_sec += (time_t)left;
        until.tv_nsec = (long)((left - (double)(time_t)left) * 1e9);
        pthread_cond_timedwait(&w->wake, &w->lock, &until);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

void progress_watch(Progress *progress, double interval)
{
    ProgressWatch *w = &progress->watch;
    if (progress->silent) {
        return;
    }
    *w = (ProgressWatch){.interval = interval, .running = true};
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&w->thread, NULL, watch, progress) != 0) {
        w->running = false;
        pthread_cond_destroy(&w->wake);
        pthread_mutex_destroy(&w->lock);
    }
}

static void end_watch(ProgressWatch *w)
{
    pthread_mutex_lock(&w->lock);
    w->ended = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    w->running = false;
}

static void clear_bar(Progress *progress)
{
    if (progress->bar_shown) {
        fputs("\r\033[K", progress->stream);
        fflush(progress->stream);
        progress->bar_shown = false;
    }
}

void progress_clear(Progress *progress)
{
    if (progress->watch.running) {
        pthread_mutex_lock(&progress->watch.lock);
    }
    clear_bar(progress);
    if (progress->watch.running) {
        pthread_mutex_unlock(&progress->watch.lock);
    }
}

void progress_end(Progress *progress)
{
    if (progress->watch.running) {
        end_watch(&progress->watch);
    }
    clear_bar(progress);
}
