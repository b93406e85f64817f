// SPDX-License-Identifier: MIT
// known_leaks.h - under the sanitizers, the little that other libraries leak of their own is passed over: Vulkan
// drivers and layers, which can be told apart only while they are loaded, so that something of theirs must stay;
// OpenVDB the nodes it had read when a file ends in the middle of them; Assimp some of what it allocated when it gives
// a damaged file up; D-Bus, which SDL asks about the desktop.
#ifndef MOTE_TESTS_KNOWN_LEAKS_H
#define MOTE_TESTS_KNOWN_LEAKS_H

#if defined(__has_feature) // clang's way to say it
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
#define KEEP_DRIVERS 1
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libVkLayer\nleak:libvulkan\nleak:libLLVM\nleak:readTopology\nleak:libassimp\nleak:libdbus\n";
}
#else
#define KEEP_DRIVERS 0
#endif

#endif
