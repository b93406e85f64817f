// SPDX-License-Identifier: MIT
// keep_loaded.c - preloaded into a program under the sanitizers, keeps its libraries loaded until the end: leaks of
// Vulkan drivers and layers can be told from Mote's own (known_leaks.h) only while they are.
int dlclose(void *library);
int dlclose(void *library)
{
    (void)library;
    return 0;
}
