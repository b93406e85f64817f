// SPDX-License-Identifier: MIT
#include "cli/warnings.h"

#include "base/error.h"
#include <stdio.h>

void warnings_print(const MoteNotice *notice)
{
    fprintf(stderr, "mote: %s", notice->warning ? "warning: " : "");
    if (notice->time > 0.0) {
        fprintf(stderr, "at %.6g s: ", notice->time);
    }
    fprintf(stderr, "%s\n", notice->text);
}

MoteResult warnings_report(Warnings *warnings, const MoteSimulation *simulation, Progress *progress)
{
    const MoteNotice *rows;
    const uint32_t count = mote_simulation_notices(simulation, &rows);
    for (; warnings->seen < count; warnings->seen++) {
        const MoteNotice *notice = &rows[warnings->seen];
        if (notice->warning && warnings->strict) {
            return mote_fail(notice->time > 0.0 ? MOTE_ERROR_UNSTABLE : MOTE_ERROR_INPUT, "at %.6g s: %s (--strict)",
                             notice->time, notice->text);
        }
        if (!warnings->quiet) {
            progress_clear(progress);
            warnings_print(notice);
        }
    }
    return MOTE_OK;
}
