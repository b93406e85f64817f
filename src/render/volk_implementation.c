// SPDX-License-Identifier: MIT
// volk_implementation.c - volk is a header; this is the one file that holds its functions.
#define VK_NO_PROTOTYPES
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpedantic"
#endif
#define VOLK_IMPLEMENTATION
#include <volk.h>
