// SPDX-License-Identifier: MIT
// replay.c - runs a fuzz target without libFuzzer: every file of its corpus, then mutations of them, always the same
// ones in the same order, until the time is over.
// TARGET [--seconds S] [--seed N] [--words FILE] [--crash FILE] FILE|FOLDER...
// Files named refused_... must end with an error: what a fuzzer found and is now turned away.
// An input that crashes or takes longer than PATIENCE (SIGALRM ends it) is left in the file named by --crash.
#define FUZZ_WITHOUT_TARGET
#include "fuzz.h"
#include "base/clock.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { LARGEST = 1 << 20, LARGEST_MUTATED = 1 << 14, PATIENCE = 60 }; // bytes; s

typedef struct Bytes {
    uint8_t *data;
    size_t size;
    bool refused; // must be
    char name[64];
} Bytes;

typedef struct List {
    Bytes *items;
    size_t count;
} List;

static List corpus, words;
static const char *crash_path;
static int crash_file = -1;

// ---- The input under way ----

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1"; // readers must live without memory, too
}

static void open_crash_file(const char *path)
{
    crash_path = path;
    crash_file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (crash_file < 0) {
        perror(path);
        exit(2);
    }
    printf("If this crashes, the input is in %s\n", path);
    fflush(stdout);
}

// Before it is run: whatever then ends the process, the file is there.
static void keep_input(const Bytes *input)
{
    if (crash_file >= 0 &&
        (ftruncate(crash_file, 0) != 0 || pwrite(crash_file, input->data, input->size, 0) != (ssize_t)input->size)) {
        perror(crash_path);
        exit(2);
    }
}

// ---- Files ----

static void append(List *list, const uint8_t *data, size_t size)
{
    Bytes *grown = realloc(list->items, (list->count + 1) * sizeof *grown);
    uint8_t *copy = malloc(size + 1);
    FUZZ_CHECK(grown != NULL && copy != NULL);
    memcpy(copy, data, size);
    list->items = grown;
    list->items[list->count++] = (Bytes){copy, size, false, ""};
}

static void read_file(const char *path)
{
    static uint8_t data[LARGEST];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    append(&corpus, data, fread(data, 1, sizeof data, file));
    fclose(file);
    const char *slash = strrchr(path, '/');
    Bytes *added = &corpus.items[corpus.count - 1];
    snprintf(added->name, sizeof added->name, "%s", slash != NULL ? slash + 1 : path);
    added->refused = strncmp(added->name, "refused_", 8) == 0;
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void read_path(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode)) {
        read_file(path);
        return;
    }
    struct dirent **names;
    const int count = scandir(path, &names, visible, alphasort);
    for (int i = 0; i < count; i++) {
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, names[i]->d_name);
        if (stat(inner, &status) == 0 && S_ISREG(status.st_mode)) {
            read_file(inner);
        }
        free(names[i]);
    }
    free(names);
}

// Lines of the form "WORD", as libFuzzer's dictionaries have them.
static void read_words(const char *path)
{
    char line[256];
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    while (fgets(line, sizeof line, file) != NULL) {
        char *first = strchr(line, '"'), *last = strrchr(line, '"');
        if (line[0] != '#' && first != NULL && last > first) {
            append(&words, (uint8_t *)first + 1, (size_t)(last - first - 1));
        }
    }
    fclose(file);
}

// ---- Mutation ----

static uint64_t random_state;

// SplitMix64 (Steele, Lea, Flood 2014).
static uint64_t random_bits(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static size_t random_below(size_t limit)
{
    return limit > 0 ? (size_t)(random_bits() % limit) : 0;
}

// Puts bytes in place of `removed` bytes at `at`.
static void replace(Bytes *input, size_t at, size_t removed, const uint8_t *data, size_t size)
{
    if (input->size - removed + size > LARGEST_MUTATED) {
        return;
    }
    memmove(input->data + at + size, input->data + at + removed, input->size - at - removed);
    memcpy(input->data + at, data, size);
    input->size += size - removed;
}

static void overwrite_number(Bytes *input, size_t at)
{
    static const uint64_t numbers[] = {0,          1,      0x7f,       0x80,       0xff,       0x7fff,
                                       0x8000,     0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fc00000,
                                       0x7f800000, 100000, UINT64_MAX, INT64_MAX,  1ull << 32};
    const uint64_t number = numbers[random_below(sizeof numbers / sizeof numbers[0])];
    const size_t size = (size_t)1 << random_below(4);
    uint8_t bytes[8];
    const bool big = random_below(4) == 0;
    for (size_t i = 0; i < size; i++) {
        bytes[big ? size - 1 - i : i] = (uint8_t)(number >> 8 * i);
    }
    replace(input, at, size < input->size - at ? size : input->size - at, bytes, size);
}

static void replace_digits(Bytes *input, size_t at)
{
    static const char *const numbers[] = {"0",     "-1",   "1e38", "-1e38",      "1e-38", "1e308",
                                          "65536", "1000", "0.5",  "4294967296", "1e999", "-9223372036854775808"};
    size_t end;
    while (at < input->size && (input->data[at] < '0' || input->data[at] > '9')) {
        at++;
    }
    for (end = at; end < input->size && input->data[end] >= '0' && input->data[end] <= '9'; end++) {}
    const char *number = numbers[random_below(sizeof numbers / sizeof numbers[0])];
    replace(input, at, end - at, (const uint8_t *)number, strlen(number));
}

static void mutate_once(Bytes *input)
{
    const size_t at = random_below(input->size + 1), rest = input->size - at;
    const size_t some = random_below(random_below(2) == 0 ? 8 : 256);
    const size_t length = some < rest ? some : rest;
    const Bytes *other = &corpus.items[random_below(corpus.count)];
    const size_t from = random_below(other->size + 1);
    uint8_t copy[256];
    switch (random_below(words.count > 0 ? 9 : 8)) {
    case 0:
    case 1:
        if (rest > 0) {
            input->data[at] ^= (uint8_t)(1u << random_below(8));
        }
        break;
    case 2:
        if (rest > 0) {
            input->data[at] = (uint8_t)random_bits();
        }
        break;
    case 3:
        overwrite_number(input, at);
        break;
    case 4:
        replace_digits(input, at);
        break;
    case 5:
        replace(input, at, length, copy, 0);
        break;
    case 6: // once more what is there
        memcpy(copy, input->data + at, length);
        replace(input, random_below(input->size + 1), 0, copy, length);
        break;
    case 7: // a piece of another
        replace(input, at, 0, other->data + from, some < other->size - from ? some : other->size - from);
        break;
    default: {
        const Bytes *word = &words.items[random_below(words.count)];
        replace(input, at, random_below(2) * length, word->data, word->size);
    }
    }
}

static void mutate(Bytes *input)
{
    const Bytes *seed = &corpus.items[random_below(corpus.count)];
    input->size = seed->size < LARGEST_MUTATED ? seed->size : LARGEST_MUTATED;
    memcpy(input->data, seed->data, input->size);
    for (size_t count = (size_t)1 << random_below(4); count > 0; count--) {
        mutate_once(input);
    }
}

// ---- Running ----

static bool run(Bytes input)
{
    // At its exact size, so that reading behind its end is noticed.
    uint8_t *exact = malloc(input.size > 0 ? input.size : 1);
    FUZZ_CHECK(exact != NULL);
    memcpy(exact, input.data, input.size);
    keep_input(&input);
    alarm(PATIENCE);
    const bool taken = fuzz_target(exact, input.size);
    alarm(0);
    free(exact);
    return taken;
}

static void free_list(List *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].data);
    }
    free(list->items);
}

int main(int count, char **arguments)
{
    double seconds = 1.0;
    for (int i = 1; i < count; i++) {
        const char *next = i + 1 < count ? arguments[i + 1] : "";
        if (strcmp(arguments[i], "--seconds") == 0) {
            seconds = strtod(next, NULL);
        } else if (strcmp(arguments[i], "--seed") == 0) {
            random_state = strtoull(next, NULL, 10);
        } else if (strcmp(arguments[i], "--words") == 0) {
            read_words(next);
        } else if (strcmp(arguments[i], "--crash") == 0) {
            open_crash_file(next);
        } else {
            read_path(arguments[i]);
            continue;
        }
        i++;
    }
    if (corpus.count == 0) {
        fprintf(stderr, "fuzz: expected files or folders to begin with\n");
        return 2;
    }
    size_t taken = 0, taken_mutated = 0, runs = 0;
    for (size_t i = 0; i < corpus.count; i++) {
        const bool is_taken = run(corpus.items[i]);
        taken += is_taken;
        if (is_taken && corpus.items[i].refused) {
            fprintf(stderr, "fuzz: %s was taken, expected an error\n", corpus.items[i].name);
            return 1;
        }
    }
    Bytes input = {.data = malloc(LARGEST_MUTATED + 256)};
    FUZZ_CHECK(input.data != NULL);
    for (const double end = clock_seconds() + seconds; clock_seconds() < end; runs++) {
        mutate(&input);
        taken_mutated += run(input);
    }
    printf("%zu files, %zu of them taken; %zu mutations, %zu of them taken\n", corpus.count, taken, runs,
           taken_mutated);
    free(input.data);
    free_list(&corpus);
    free_list(&words);
    if (crash_file >= 0) {
        close(crash_file);
        unlink(crash_path);
    }
    if (taken == 0) {
        fprintf(stderr, "fuzz: no file of the corpus is valid any more: it tests little\n");
        return 1;
    }
    return 0;
}
