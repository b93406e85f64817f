// SPDX-License-Identifier: MIT
// kernels.h - all kernels of the table, for a backend to expand.
#ifndef MOTE_KERNELS_H
#define MOTE_KERNELS_H

#include "data.h"

#define KERNEL_HEADERS
#include "kernels.def"

#endif
