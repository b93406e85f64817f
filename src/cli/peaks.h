// SPDX-License-Identifier: MIT
// peaks.h - what this machine's CPU reaches at best, measured: the yardstick for `mote bench`.
#ifndef MOTE_CLI_PEAKS_H
#define MOTE_CLI_PEAKS_H

double peak_gflops(int threads);            // single-precision fused multiply-adds, two operations each
double peak_gbytes_per_second(int threads); // triad a = b + s c over arrays larger than the caches, three streams
#endif
