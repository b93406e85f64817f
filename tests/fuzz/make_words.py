#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the words of a scene file, from its schema, as a dictionary of libFuzzer. make_words.py SCHEMA OUTPUT"""
import json
import sys

words = {"keyframes", "interpolation", "shape:", "shape:box?x=1&", "package:", "true", "false", "null", "1e308", "--set "}


def collect(node):
    if isinstance(node, dict):
        words.update(node.get("properties", {}))
        words.update(str(choice) for choice in node.get("enum", []))
        for value in node.values():
            collect(value)
    elif isinstance(node, list):
        for value in node:
            collect(value)


collect(json.load(open(sys.argv[1])))
with open(sys.argv[2], "w") as output:
    output.writelines('"%s"\n' % word for word in sorted(words))
