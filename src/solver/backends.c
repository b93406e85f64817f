// SPDX-License-Identifier: MIT
// backends.c - the list of backends this library was built with, and the choice among them.
#include "solver/backend.h"

#include "base/error.h"
#include <stdio.h>
#include <string.h>

const BackendRow backend_rows[] = {
#if defined(MOTE_WITH_CUDA)
    {"cuda", cuda_backend_probe, NULL, cuda_backend_create},
#endif
    {"vulkan", vulkan_backend_probe, vulkan_backend_is_hardware, vulkan_backend_create},
    {"cpu", cpu_backend_probe, NULL, cpu_backend_create},
};
const uint32_t backend_row_count = sizeof backend_rows / sizeof backend_rows[0];

uint32_t kernel_invocations(KernelId kernel, const MoteView *view)
{
    switch (kernel) {
#define KERNEL_ROW(name, stage, count)                                                                                 \
    case KERNEL_ID_##name:                                                                                             \
        return view->count;
#include "kernels/kernels.def"
    default:
        MOTE_ASSERT(!"a kernel of the table");
        return 0;
    }
}

static bool is_automatic(const BackendRow *row)
{
    return row->automatic == NULL || row->automatic();
}

uint32_t mote_backends(MoteBackendInfo *rows, uint32_t capacity)
{
    for (uint32_t i = 0; i < backend_row_count && i < capacity; i++) {
        rows[i].name = backend_rows[i].name;
        rows[i].available = backend_rows[i].probe(rows[i].device, sizeof rows[i].device);
        rows[i].automatic = rows[i].available && is_automatic(&backend_rows[i]);
    }
    return backend_row_count;
}

MoteResult backend_create(const MoteBackendOptions *options, Backend **out)
{
    *out = NULL;
    const MoteBackendOptions standard = mote_default_backend_options();
    if (options == NULL) {
        options = &standard;
    }
    const char *wanted = options->backend != NULL ? options->backend : "auto";
    char names[128] = "auto";
    for (uint32_t i = 0; i < backend_row_count; i++) {
        const BackendRow *row = &backend_rows[i];
        char device[128] = "";
        if (strcmp(wanted, "auto") == 0) {
            if (row->probe(device, sizeof device) && is_automatic(row)) {
                return row->create(options, out);
            }
        } else if (strcmp(wanted, row->name) == 0) {
            if (!row->probe(device, sizeof device)) {
                return mote_fail(MOTE_ERROR_UNAVAILABLE, "backend %s: %s; try backend cpu", row->name, device);
            }
            return row->create(options, out);
        }
        const size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, ", %s", row->name);
    }
    return mote_fail(MOTE_ERROR_UNAVAILABLE, "backend %s: not in this build, expected one of %s", wanted, names);
}
