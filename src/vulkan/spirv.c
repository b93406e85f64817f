// SPDX-License-Identifier: MIT
#include "vulkan/spirv.h"

#include <stdlib.h>
#include <string.h>

// Numbers of the SPIR-V specification.
enum {
    MAGIC = 0x07230203,
    HEADER_WORDS = 5,
    OP_NAME = 5,
    OP_DECORATE = 71,
    OP_MEMBER_DECORATE = 72,
    OP_TYPE_VOID = 19, // the first of the types, which follow the annotations
    OP_TYPE_STRUCT = 30,
    OP_TYPE_FORWARD = 39, // the last
    OP_F_NEGATE = 127,
    OP_F_ADD = 129,
    OP_F_SUB = 131,
    OP_F_MUL = 133,
    OP_F_DIV = 136,
    OP_VECTOR_TIMES_SCALAR = 142,
    OP_DOT = 148,
    DECORATION_ARRAY_STRIDE = 6,
    DECORATION_OFFSET = 35,
    DECORATION_NO_CONTRACTION = 42,
};

// Goes from instruction to instruction; false at the end or where a length makes no sense.
static bool next_instruction(const uint32_t *words, size_t count, size_t *at, uint32_t *operation, uint32_t *length)
{
    if (*at >= count) {
        return false;
    }
    *operation = words[*at] & 0xffffu;
    *length = words[*at] >> 16;
    return *length > 0 && *length <= count - *at;
}

static bool is_module(const uint32_t *words, size_t count)
{
    return count > HEADER_WORDS && words[0] == MAGIC;
}

static bool may_contract(uint32_t operation, uint32_t length)
{
    switch (operation) {
    case OP_F_NEGATE:
    case OP_F_ADD:
    case OP_F_SUB:
    case OP_F_MUL:
    case OP_F_DIV:
    case OP_VECTOR_TIMES_SCALAR:
    case OP_DOT:
        return length >= 4; // type, result, operands
    default:
        return false;
    }
}

uint32_t *spirv_without_contraction(const uint32_t *words, size_t count, size_t *out_count)
{
    size_t marks = 0, types = 0;
    uint32_t operation, length;
    if (!is_module(words, count)) {
        return NULL;
    }
    for (size_t at = HEADER_WORDS; next_instruction(words, count, &at, &operation, &length); at += length) {
        marks += may_contract(operation, length);
        if (types == 0 && operation >= OP_TYPE_VOID && operation <= OP_TYPE_FORWARD) {
            types = at;
        }
    }
    uint32_t *out = types > 0 ? malloc((count + 3 * marks) * sizeof *out) : NULL;
    if (out == NULL) {
        return NULL;
    }
    memcpy(out, words, types * sizeof *out);
    size_t end = types;
    for (size_t at = HEADER_WORDS; next_instruction(words, count, &at, &operation, &length); at += length) {
        if (may_contract(operation, length)) {
            out[end++] = 3u << 16 | OP_DECORATE;
            out[end++] = words[at + 2];
            out[end++] = DECORATION_NO_CONTRACTION;
        }
    }
    memcpy(out + end, words + types, (count - types) * sizeof *out);
    *out_count = end + count - types;
    return out;
}

static bool is_name_of(const uint32_t *instruction, uint32_t operation, uint32_t length, const char *name)
{
    const size_t room = length > 2 ? (length - 2) * sizeof *instruction : 0;
    return operation == OP_NAME && room > strlen(name) && memcmp(&instruction[2], name, strlen(name) + 1) == 0;
}

bool spirv_array_stride(const uint32_t *words, size_t count, const char *name, uint32_t *stride)
{
    uint32_t operation, length, structure = 0, array = 0;
    for (size_t at = HEADER_WORDS; next_instruction(words, count, &at, &operation, &length); at += length) {
        if (is_name_of(&words[at], operation, length, name)) {
            structure = words[at + 1];
        }
        if (operation == OP_TYPE_STRUCT && length > 2 && structure != 0 && words[at + 1] == structure) {
            array = words[at + 2];
        }
    }
    for (size_t at = HEADER_WORDS; next_instruction(words, count, &at, &operation, &length); at += length) {
        if (operation == OP_DECORATE && length == 4 && array != 0 && words[at + 1] == array &&
            words[at + 2] == DECORATION_ARRAY_STRIDE) {
            *stride = words[at + 3];
            return true;
        }
    }
    return false;
}

bool spirv_member_offset(const uint32_t *words, size_t count, const char *name, uint32_t member, uint32_t *offset)
{
    uint32_t operation, length, structure = 0;
    for (size_t at = HEADER_WORDS; next_instruction(words, count, &at, &operation, &length); at += length) {
        if (is_name_of(&words[at], operation, length, name)) {
            structure = words[at + 1];
        }
        if (operation == OP_MEMBER_DECORATE && length == 5 && structure != 0 && words[at + 1] == structure &&
            words[at + 2] == member && words[at + 3] == DECORATION_OFFSET) {
            *offset = words[at + 4];
            return true;
        }
    }
    return false;
}
