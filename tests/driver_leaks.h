// driver_leaks.h - for programs that load Vulkan drivers: under the sanitizers, the little that drivers and layers leak
// of their own is passed over. They can be told apart only while they are loaded, so something of theirs must stay.
#ifndef MOTE_TESTS_DRIVER_LEAKS_H
#define MOTE_TESTS_DRIVER_LEAKS_H

#if defined(__SANITIZE_ADDRESS__)
#define KEEP_DRIVERS 1
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libVkLayer\nleak:libvulkan\nleak:libLLVM\n";
}
#else
#define KEEP_DRIVERS 0
#endif

#endif
