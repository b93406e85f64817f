// SPDX-License-Identifier: MIT
// allocation.cpp - operator new for the worker (worker.c). The address sanitizer's ends the program where memory lacks,
// and importers that are told so go on: it throws, as everywhere else. Large blocks are kept for the next input: assimp
// fills 16 MB for each OBJ file, and new pages for them would take most of the time.
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t LARGE = std::size_t{1} << 20;
constexpr std::size_t LARGEST = std::size_t{256} << 20; // as an importer's limit
constexpr int KEPT = 8;

struct Block {
    void *at;
    std::size_t size;
    bool free;
};

Block blocks[KEPT]; // of one thread: imports have no other

void *allocate_large(std::size_t size)
{
    for (Block &block : blocks) {
        if (block.free && block.size == size) {
            block.free = false;
            return block.at;
        }
    }
    void *const at = std::malloc(size);
    for (Block &block : blocks) {
        if (at != nullptr && (block.at == nullptr || block.free)) {
            std::free(block.at);
            block = {at, size, false};
            break;
        }
    }
    return at;
}

} // namespace

void *operator new(std::size_t size, const std::nothrow_t &) noexcept
{
    return size > LARGEST ? nullptr : size >= LARGE ? allocate_large(size) : std::malloc(size > 0 ? size : 1);
}

void *operator new(std::size_t size)
{
    void *const at = operator new(size, std::nothrow);
    if (at == nullptr) {
        throw std::bad_alloc();
    }
    return at;
}

void operator delete(void *at) noexcept
{
    for (Block &block : blocks) {
        if (at != nullptr && block.at == at) {
            block.free = true;
            return;
        }
    }
    std::free(at);
}

void operator delete(void *at, std::size_t) noexcept
{
    operator delete(at);
}

void *operator new[](std::size_t size, const std::nothrow_t &) noexcept
{
    return operator new(size, std::nothrow);
}

void *operator new[](std::size_t size)
{
    return operator new(size);
}

void operator delete[](void *at) noexcept
{
    operator delete(at);
}

void operator delete[](void *at, std::size_t) noexcept
{
    operator delete(at);
}
