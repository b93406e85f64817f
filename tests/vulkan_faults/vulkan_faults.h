// SPDX-License-Identifier: MIT
// vulkan_faults.h - what the layer of vulkan_faults.c tells tests in the same process.
#ifndef MOTE_TESTS_VULKAN_FAULTS_H
#define MOTE_TESTS_VULKAN_FAULTS_H

#include <stdint.h>

typedef struct MoteVulkanFaults {
    uint64_t struck;                               // calls that failed
    uint64_t allocations, objects, submits, waits; // calls, of the device that had most and is destroyed
} MoteVulkanFaults;

// Since the last call of this.
MoteVulkanFaults mote_vulkan_faults_record(void);

#endif
