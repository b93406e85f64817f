// SPDX-License-Identifier: MIT
// device_memory.cpp - memory that only device code may touch: pages without access, which are opened while a stream's
// work runs. They lie in one reservation of address space and an address is never used twice, so that what has been
// freed stays closed. The bytes between a buffer and the pages around it hold a pattern that is looked at whenever work
// has ended. MOTE_CUDA_GUARD=1 leaves a closed page after each buffer, too, so that reading behind it is found; opening
// that many pieces takes longer than most steps. Imported memory has no pattern: all of it is the exporter's.
#include "emulator.h"

#include <map>
#include <sys/mman.h>
#include <unistd.h>

namespace
{

const size_t PAGE = 4096, ALIGNMENT = 256; // cudaMalloc's
const size_t SPACE = (size_t)1 << 36;      // of addresses
const size_t DEVICE_BYTES = (size_t)8 << 30;
const unsigned char FRESH = 0xa5, BORDER = 0xc9;
const size_t BORDER_SEEN = 256; // bytes of it that are looked at

struct DeviceBuffer {
    size_t bytes;
    unsigned char *mapping;        // NULL: of imported memory
    cudaExternalMemory_t external; // or NULL
};

struct Range {
    unsigned char *begin, *end;
};

std::recursive_mutex memory_lock;
unsigned char *space, *space_next;
size_t bytes_in_use;
std::map<unsigned char *, size_t> mappings; // bytes of each
std::map<unsigned char *, DeviceBuffer> buffers;
std::map<unsigned char *, size_t> pinned;
std::vector<Range> ranges; // of all mappings, neighbours as one
bool ranges_are_current;
int open_count;

size_t guard_bytes()
{
    static const char *said = getenv("MOTE_CUDA_GUARD");
    static const size_t bytes = said != nullptr && said[0] == '1' ? PAGE : 0;
    return bytes;
}

size_t rounded(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

void protect_all(int protection)
{
    if (!ranges_are_current) {
        ranges.clear();
        for (const auto &row : mappings) {
            if (!ranges.empty() && ranges.back().end == row.first) {
                ranges.back().end += row.second;
            } else {
                ranges.push_back({row.first, row.first + row.second});
            }
        }
        ranges_are_current = true;
    }
    for (const Range &range : ranges) {
        if (mprotect(range.begin, (size_t)(range.end - range.begin), protection) != 0) {
            emulated_complain("mprotect fails at", range.begin);
        }
    }
}

void expect_border(const unsigned char *from, const unsigned char *to, const void *buffer)
{
    for (; from < to; from++) {
        if (*from != BORDER) {
            emulated_complain("device code wrote beside the buffer at", buffer);
        }
    }
}

void check_borders(unsigned char *address, const DeviceBuffer &buffer)
{
    if (buffer.mapping == nullptr || emulated_lost()) {
        return;
    }
    unsigned char *const end = address + buffer.bytes, *const mapping = buffer.mapping;
    unsigned char *const last = mapping + mappings[mapping];
    expect_border(address - mapping > (ptrdiff_t)BORDER_SEEN ? address - BORDER_SEEN : mapping, address, address);
    expect_border(end, last - end > (ptrdiff_t)BORDER_SEEN ? end + BORDER_SEEN : last, address);
}

} // namespace

OpenMemory::OpenMemory()
{
    const std::lock_guard<std::recursive_mutex> guard(memory_lock);
    if (open_count++ == 0) {
        protect_all(PROT_READ | PROT_WRITE);
    }
}

OpenMemory::~OpenMemory()
{
    const std::lock_guard<std::recursive_mutex> guard(memory_lock);
    if (open_count == 1) {
        for (const auto &row : buffers) {
            check_borders(row.first, row.second);
        }
        protect_all(PROT_NONE);
    }
    open_count--;
}

unsigned char *memory_map(size_t bytes, int file)
{
    const std::lock_guard<std::recursive_mutex> guard(memory_lock);
    if (space == nullptr) {
        void *reserved = mmap(nullptr, SPACE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (reserved == MAP_FAILED) {
            return nullptr;
        }
        space = space_next = static_cast<unsigned char *>(reserved);
    }
    const size_t pages = rounded(bytes, PAGE);
    if (bytes > DEVICE_BYTES - bytes_in_use || pages + PAGE > (size_t)(space + SPACE - space_next)) {
        return nullptr;
    }
    const int kind = file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    if (mmap(space_next, pages, PROT_READ | PROT_WRITE, kind | MAP_FIXED, file, 0) == MAP_FAILED) {
        return nullptr;
    }
    unsigned char *const at = space_next;
    space_next += pages + guard_bytes();
    bytes_in_use += pages;
    mappings[at] = pages;
    ranges_are_current = false;
    return at;
}

void memory_close(unsigned char *mapping)
{
    const std::lock_guard<std::recursive_mutex> guard(memory_lock);
    if (open_count == 0) {
        mprotect(mapping, mappings[mapping], PROT_NONE);
    }
}

void memory_unmap(unsigned char *mapping)
{
    const std::lock_guard<std::recursive_mutex> guard(memory_lock);
    const size_t bytes = mappings[mapping];
    mappings.erase(mapping);
    bytes_in_use -= bytes;
    ranges_are_current = false;
    mmap(mapping, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

bool memory_add_mapping(void *address, size_t bytes, cudaExternalMemory_t external)
{
    const std::lock_guard<std::recursive_mutex> guard(memory_lock);
    return buffers.insert({static_cast<unsigned char *>(address), DeviceBuffer{bytes, nullptr, external}}).second;
}

bool memory_is_device(const void *address, size_t bytes)
{
    const std::lock_guard<std::recursive_mutex> guard(memory_lock);
    unsigned char *const at = static_cast<unsigned char *>(const_cast<void *>(address));
    auto next = buffers.upper_bound(at);
    if (next == buffers.begin()) {
        return false;
    }
    --next;
    return bytes <= next->second.bytes && (size_t)(at - next->first) <= next->second.bytes - bytes;
}

bool memory_is_pinned(const void *address, size_t bytes)
{
    const std::lock_guard<std::recursive_mutex> guard(memory_lock);
    unsigned char *const at = static_cast<unsigned char *>(const_cast<void *>(address));
    auto next = pinned.upper_bound(at);
    if (next == pinned.begin()) {
        return false;
    }
    --next;
    return bytes <= next->second && (size_t)(at - next->first) <= next->second - bytes;
}

// ---- The runtime's functions ----

cudaError_t cudaMalloc(void **address, size_t bytes)
{
    CALL(CUDA_CALL_ALLOCATE);
    const std::lock_guard<std::recursive_mutex> guard(memory_lock);
    const size_t whole = bytes > DEVICE_BYTES ? bytes : rounded(bytes, ALIGNMENT);
    const size_t room = guard_bytes() > 0 ? whole : whole + ALIGNMENT;
    unsigned char *const mapping = bytes > 0 && bytes <= DEVICE_BYTES ? memory_map(room, -1) : nullptr;
    if (mapping == nullptr) {
        return emulated_fail(bytes > 0 ? cudaErrorMemoryAllocation : cudaErrorInvalidValue);
    }
    const size_t mapped = mappings[mapping];
    unsigned char *const at = guard_bytes() > 0 ? mapping + mapped - whole : mapping;
    std::memset(mapping, BORDER, (size_t)(at - mapping));
    std::memset(at, FRESH, bytes);
    std::memset(at + bytes, BORDER, (size_t)(mapping + mapped - at) - bytes);
    memory_close(mapping);
    buffers[at] = DeviceBuffer{bytes, mapping, nullptr};
    emulated_live++;
    *address = at;
    return cudaSuccess;
}

// Waits for all work of the device, as the real one does.
cudaError_t cudaFree(void *address)
{
    if (address == nullptr) {
        return cudaSuccess;
    }
    if (streams_run_all()) {
        emulated_note_stall();
    }
    const std::lock_guard<std::recursive_mutex> guard(memory_lock);
    const auto found = buffers.find(static_cast<unsigned char *>(address));
    if (found == buffers.end()) {
        emulated_complain("cudaFree of what is no buffer, or no longer:", address);
    }
    if (found->second.external != nullptr) {
        external_unmapped(found->second.external);
    } else {
        const OpenMemory open;
        check_borders(found->first, found->second);
    }
    if (found->second.mapping != nullptr) {
        memory_unmap(found->second.mapping);
    }
    buffers.erase(found);
    emulated_live--;
    return emulated_lost() ? emulated_fail(cudaErrorLaunchFailure) : cudaSuccess;
}

cudaError_t cudaMallocHost(void **address, size_t bytes)
{
    CALL(CUDA_CALL_ALLOCATE);
    *address = std::malloc(bytes);
    if (*address == nullptr) {
        return emulated_fail(cudaErrorMemoryAllocation);
    }
    std::memset(*address, FRESH, bytes);
    const std::lock_guard<std::recursive_mutex> guard(memory_lock);
    pinned[static_cast<unsigned char *>(*address)] = bytes;
    emulated_live++;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *address)
{
    if (address == nullptr) {
        return cudaSuccess;
    }
    if (streams_run_all()) {
        emulated_note_stall();
    }
    const std::lock_guard<std::recursive_mutex> guard(memory_lock);
    if (pinned.erase(static_cast<unsigned char *>(address)) == 0) {
        emulated_complain("cudaFreeHost of what is no pinned memory, or no longer:", address);
    }
    std::free(address);
    emulated_live--;
    return emulated_lost() ? emulated_fail(cudaErrorLaunchFailure) : cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *address, int value, size_t bytes, cudaStream_t stream)
{
    CALL(CUDA_CALL_SUBMIT);
    if (!memory_is_device(address, bytes)) {
        return emulated_fail(cudaErrorInvalidValue);
    }
    return stream_add(stream, {"memset",
                               [=] {
                                   std::memset(address, value, bytes);
                                   return cudaSuccess;
                               },
                               true, true});
}

// Reads and writes host memory as late as it can, pinned or not. A driver may do so at once where it is not, and then
// waits: that is a stall.
cudaError_t cudaMemcpyAsync(void *target, const void *source, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    CALL(CUDA_CALL_SUBMIT);
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (memory_is_device(target, bytes) != to_device || memory_is_device(source, bytes) != from_device) {
        return emulated_fail(cudaErrorInvalidValue);
    }
    if ((!to_device && !memory_is_pinned(target, bytes)) || (!from_device && !memory_is_pinned(source, bytes))) {
        emulated_note_stall();
    }
    return stream_add(stream, {"copy",
                               [=] {
                                   std::memmove(target, source, bytes);
                                   return cudaSuccess;
                               },
                               true, true});
}
