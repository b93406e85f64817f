#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows of passes.def against compiled shaders: whatever of resources.def a pass's shaders use, its row must name.

Barriers come from these rows, and validation does not see what goes through addresses. check_passes.py SOURCE_DIR
BINARY_DIR; prints what is missing and fails.
"""
import pathlib
import re
import subprocess
import sys

# What a pass's shader can do and its specialisation constants leave out.
NOT_RUN = {("classify_grains", "grain_splats"), ("grains", "grain_map"), ("far_glass", "smooth_depth"),
           ("far_skins", "smooth_depth")}


def read_rows(source):
    """The accesses of each pass: {pass: {resource: "READ" or "WRITE" or "MODIFY"}}."""
    text = re.sub(r"//.*", "", (source / "src/render/passes.def").read_text())
    rows = {}
    for name, accesses in re.findall(r"PASS_ROW\((\w+), \w+, \w+,(.*?)\)\s*(?=PASS_ROW|#undef)", text, re.S):
        rows[name] = {resource: kind for kind, resource in re.findall(r"(READ|WRITE|MODIFY)\((\w+)\)", accesses)}
    return rows


def read_resources(source):
    text = (source / "src/render/resources.def").read_text()
    images = re.findall(r"^(?:IMAGE|DEPTH|SAMPLES)_ROW\((\w+)", text, re.M)
    buffers = re.findall(r"^BUFFER_ROW\(\w+, (\w+)\)", text, re.M)
    return set(images), set(buffers)


def shaders_of(source, name, passes):
    """Names of shaders in the pass's file, and in the files that it shares with others."""
    folder = source / "src/render/passes"
    text = (folder / f"{name}.c").read_text()
    for other in re.findall(r'#include "render/passes/(\w+)\.h"', text):
        shared = folder / f"{other}.c"
        if other not in passes and shared.exists():
            text += shared.read_text()
    return sorted(set(re.findall(r'"(\w+\.(?:comp|vert|frag))"', text)))


def frame_block(text, names):
    """Ids of the variable that FrameConstants is in, and what its members are called by their constants' ids."""
    members = {}
    for struct, index, member in re.findall(r'OpMemberName (%\d+) (\d+) "([^"]*)"', text):
        if names.get(struct) == "FrameConstants":
            members[int(index)] = member
    pointers = {pointer: names.get(struct) for pointer, struct in
                re.findall(r"(%\d+) = OpTypePointer Uniform (%\d+)", text)}
    variables = {variable for variable, pointer in re.findall(r"(%\d+) = OpVariable (%\d+) Uniform", text)
                 if pointers.get(pointer) == "FrameBlock"}
    by_constant = {constant: members.get(int(value)) for constant, value in
                   re.findall(r"(%\d+) = OpConstant %\d+ (\d+)$", text, re.M)}
    return variables, by_constant


def uses_of(spirv, images, buffers):
    """What a shader does: {resource: set of "READ" and "WRITE"}. Buffers count as read: what follows is not looked at."""
    text = subprocess.run(["spirv-dis", "--raw-id", spirv], check=True, capture_output=True, text=True).stdout
    names = dict(re.findall(r'OpName (%\d+) "([^"]*)"', text))
    frame, members = frame_block(text, names)
    uses, loaded = {}, {}

    def note(resource, kind):
        if resource in images or resource in buffers:
            uses.setdefault(resource, set()).add(kind)

    for line in text[text.index("OpFunction "):].splitlines():
        words = line.split()
        if len(words) > 4 and words[1] == "=":
            result, operation, operands = words[0], words[2], words[4:]
        else:
            result, operation, operands = None, (words or [""])[0], words[1:]
        if operation == "OpLoad":
            loaded[result] = re.sub("_(image|store)$", "", names.get(operands[0], ""))
        elif operation == "OpImageTexelPointer":
            note(re.sub("_store$", "", names.get(operands[0], "")), "WRITE")
        elif operation == "OpImageWrite":
            note(loaded.get(operands[0]), "WRITE")
        elif operation in ("OpImageFetch", "OpImageRead", "OpSampledImage"):
            note(loaded.get(operands[0]), "READ")
        elif operation == "OpAccessChain" and operands[0] in frame and len(operands) > 2:
            note(members.get(operands[2]), "READ")
    return uses


def main():
    source, binary = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    rows = read_rows(source)
    images, buffers = read_resources(source)
    wrong, checked = 0, 0
    for name, row in rows.items():
        for resource in set(row) - images - buffers:
            print(f"passes.def: {name} names {resource}, which is no row of resources.def", file=sys.stderr)
            wrong += 1
        for shader in shaders_of(source, name, rows):
            for resource, kinds in uses_of(binary / "shaders/render" / f"{shader}.spv", images, buffers).items():
                checked += 1
                kind = row.get(resource)
                if (name, resource) in NOT_RUN or (kind is not None and (kind != "READ" or "WRITE" not in kinds)):
                    continue
                print(f"passes.def: {name} has {kind} of {resource}, which {shader} uses: {kinds}", file=sys.stderr)
                wrong += 1
    if wrong or checked < 50:
        sys.exit(f"check_passes: {wrong} of {checked} uses are wrong")
    print(f"{checked} uses of resources are named by the rows of {len(rows)} passes")


main()
