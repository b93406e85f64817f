// SPDX-License-Identifier: MIT
#define _XOPEN_SOURCE 700
#include "viewer/shader_compile.h"

#include "base/error.h"
#include "base/file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// ---- Watching ----

static bool is_stage(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && (strcmp(dot, ".comp") == 0 || strcmp(dot, ".vert") == 0 || strcmp(dot, ".frag") == 0);
}

static bool is_included(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && strcmp(dot, ".glsl") == 0;
}

// Notes the file's time; whether it is another than before.
static bool note_file(ShaderWatch *watch, const char *name, const struct stat *status)
{
    uint32_t i = 0;
    while (i < watch->count && strcmp(watch->files[i].name, name) != 0) {
        i++;
    }
    const size_t length = strlen(name);
    if (i == SHADER_FILES || length >= SHADER_NAME) {
        return false; // no shader of the renderer has such a name
    }
    const bool is_new = i == watch->count;
    const bool changed = is_new || watch->files[i].seconds != status->st_mtim.tv_sec ||
                         watch->files[i].nanoseconds != status->st_mtim.tv_nsec;
    if (is_new) {
        memcpy(watch->files[watch->count++].name, name, length + 1);
    }
    watch->files[i].seconds = status->st_mtim.tv_sec;
    watch->files[i].nanoseconds = status->st_mtim.tv_nsec;
    return changed;
}

uint32_t shader_watch_changes(ShaderWatch *watch, char changed[SHADER_FILES][SHADER_NAME])
{
    char path[1200];
    snprintf(path, sizeof path, "%.1000s/render", watch->folder != NULL ? watch->folder : "");
    DIR *entries = watch->folder != NULL ? opendir(path) : NULL;
    if (entries == NULL) {
        return 0;
    }
    uint32_t count = 0;
    bool all = false;
    const struct dirent *entry;
    while ((entry = readdir(entries)) != NULL) {
        struct stat status;
        char file[1600];
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        const bool known = is_stage(entry->d_name) || is_included(entry->d_name);
        if (known && strlen(entry->d_name) < SHADER_NAME && stat(file, &status) == 0 &&
            note_file(watch, entry->d_name, &status)) {
            all = all || is_included(entry->d_name);
            if (is_stage(entry->d_name) && count < SHADER_FILES) {
                snprintf(changed[count++], SHADER_NAME, "%.63s", entry->d_name);
            }
        }
    }
    closedir(entries);
    if (all) {
        count = 0;
        for (uint32_t i = 0; i < watch->count; i++) {
            if (is_stage(watch->files[i].name)) {
                snprintf(changed[count++], SHADER_NAME, "%s", watch->files[i].name);
            }
        }
    }
    const bool first = !watch->filled;
    watch->filled = true;
    return first ? 0 : count;
}

// ---- Compiling ----

// Runs the compiler with what it prints in the file `log`. Returns its exit status, or -1.
static int run_compiler(char *const arguments[], const char *log)
{
    posix_spawn_file_actions_t actions;
    pid_t process;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    const int failed = posix_spawnp(&process, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        return -1;
    }
    int status;
    while (waitpid(process, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

MoteResult shader_compile(const char *folder, const char *name, uint32_t **words, size_t *bytes)
{
    *words = NULL;
    *bytes = 0;
    char place[] = "/tmp/mote_shader_XXXXXX";
    if (mkdtemp(place) == NULL) {
        return mote_fail(MOTE_ERROR_IO, "no temporary folder for %s", name);
    }
    char source[1200], spirv[64], log[64], shaders[1100], tables[1100];
    snprintf(source, sizeof source, "%.1000s/render/%s", folder, name);
    snprintf(spirv, sizeof spirv, "%s/spirv", place);
    snprintf(log, sizeof log, "%s/log", place);
    snprintf(shaders, sizeof shaders, "-I%.1000s", folder);
    snprintf(tables, sizeof tables, "-I%.1000s/../src", folder);
    char program[] = "glslangValidator", quiet[] = "--quiet", vulkan[] = "-V", target[] = "--target-env";
    char version[] = "vulkan1.3", output[] = "-o";
    char *const arguments[] = {program, quiet, vulkan, target, version, shaders, tables, output, spirv, source, NULL};
    const int status = run_compiler(arguments, log);
    char *text = NULL;
    size_t size;
    MoteResult result;
    if (status == 0) {
        result = file_read(spirv, (size_t)1 << 26, (char **)words, bytes);
    } else if (status < 0) {
        result = mote_fail(MOTE_ERROR_UNAVAILABLE, "glslangValidator cannot be run: install glslang-tools");
    } else if (file_read(log, (size_t)1 << 20, &text, &size) == MOTE_OK) {
        result = mote_fail(MOTE_ERROR_INPUT, "%s: the shader before stays\n%.900s", name, text);
    } else {
        result = mote_fail(MOTE_ERROR_INPUT, "%s: the compiler failed with status %d", name, status);
    }
    free(text);
    unlink(spirv);
    unlink(log);
    rmdir(place);
    return result;
}
