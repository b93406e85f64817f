// SPDX-License-Identifier: MIT
// running.h - what the commands that run a simulation share.
#ifndef MOTE_CLI_RUNNING_H
#define MOTE_CLI_RUNNING_H

#include "cli/options.h"
#include "mote.h"

// From now on Ctrl-C, or a polite kill, only asks to stop; a second one ends the program at once.
void catch_stop_signals(void);
int stop_signal(void); // the signal that asked to stop; 0 is none
// Whether this thread's long calls of Mote end with MOTE_ERROR_STOPPED after such a signal.
void stop_long_calls(bool stop);
// A call that has not returned a second after it was told to stop is waiting for a device. `close` then closes what is
// open, as far as it can without the device, and the program ends there with status_of_run. NULL: the device is waited
// for.
void stop_late_calls(void (*close)(void *context), void *context);
// mote_simulation_create, while no output is open. OpenVDB asks seldom whether to stop: if it is not done a second
// after the signal, the program ends there with status_of_run.
MoteResult create_or_leave(const MoteScene *scene, const MoteBackendOptions *backend, MoteSimulation **out);
// Ends the program here and now, without waiting for other threads or devices.
_Noreturn void leave_program(void);
// The next frame. One that was stopped leaves the simulation at the last whole one.
MoteResult advance_or_stop(MoteSimulation *simulation);

// The exit status of a run that did what it could: STATUS_FINE, or 128 and the signal that stopped it, as shells count.
int status_of_run(void);
// That of a run that failed, which it also has if it was stopped before it could begin.
int status_of_failure(MoteResult result);

// What the table of options cannot say of --set. Returns STATUS_FINE or STATUS_USAGE.
int check_overrides(const char *command, const OptionList *overrides);

// With --quiet: Mesa's drivers say on standard error, each time, that they cannot use the user's cache folder. Where
// that is so, they are told to do without. To be called before anything asks for Vulkan, and before there are threads.
void quiet_drivers(void);

// Says in one line that the CPU backend, where it is what runs, is to use more threads than there are cores.
void report_threads(const MoteBackendOptions *asked);
// Says that, and in one line what "auto" chose, if that is not the first choice, and what of those before it is not
// here.
void report_backend(MoteSimulation *simulation, const MoteBackendOptions *asked);

#endif
