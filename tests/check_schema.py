#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Holds scenes/schema.json against the scenes, with an independent validator.

Every scene must be valid; malformed ones whose mistake a schema can tell must not be.
check_schema.py SOURCE_DIR
"""
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

# Mistakes that no schema tells: names that must exist, pairs in order, sizes that only some shapes need, particle
# counts, the order of keyframes, characters that C strings cannot hold, files that are missing, cameras that look at
# themselves.
BEYOND_A_SCHEMA = {
    "bodies_in_2d", "body_cluster_radius", "body_copies_fraction", "body_mesh_missing", "bounds_crossed", "bounds_flat", "box_without_depth", "camera_on_target", "capsule_without_radius",
    "collider_mesh_inside_out", "collider_mesh_not_given",
    "disc_without_radius", "emitter_stops_first", "fluid_block_without_size", "fluid_sphere_without_radius",
    "grains_mesh_not_given",
    "keyframes_backwards", "keyframes_same_time", "keyframes_zero_size", "material_unknown", "nozzle_without_size",
    "sky_image_missing", "sky_image_not_given", "sphere_without_radius", "surrogate_alone", "too_many_particles",
    "too_many_particles_in_all", "zero_escape",
}


def refuse_duplicates(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        raise ValueError("duplicate key")
    return dict(pairs)


def refuse_constant(word):
    raise ValueError(word)


def parse(path):
    """The file's JSON, or None where it is not JSON at all."""
    try:
        text = path.read_bytes().decode("utf-8")
        return json.loads(text, object_pairs_hook=refuse_duplicates, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return None


def main(source):
    schema = json.loads((source / "scenes/schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    wrong = []

    scenes = [path for path in sorted(source.glob("scenes/**/*.json")) if path.name != "schema.json"]
    for path in scenes:
        for error in validator.iter_errors(json.loads(path.read_text(encoding="utf-8"))):
            wrong.append(f"{path}: {error.json_path}: {error.message}")

    refused = 0
    for path in sorted(source.glob("tests/malformed_scenes/*.json")):
        value = parse(path)
        if value is None:
            continue
        if path.stem in BEYOND_A_SCHEMA:
            if not validator.is_valid(value):
                wrong.append(f"{path}: the schema refuses it: take it off the list of what a schema cannot tell")
        elif validator.is_valid(value):
            wrong.append(f"{path}: the schema accepts it")
        else:
            refused += 1

    if len(scenes) < 16 or refused < 30:
        wrong.append(f"only {len(scenes)} scenes and {refused} malformed ones were found under {source}")
    for line in wrong:
        print(f"check_schema: {line}", file=sys.stderr)
    if not wrong:
        print(f"{len(scenes)} scenes follow the schema, {refused} malformed ones do not")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: check_schema.py SOURCE_DIR")
    sys.exit(main(pathlib.Path(sys.argv[1])))
