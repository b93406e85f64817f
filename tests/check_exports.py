#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Reads what `mote simulate` exports back with independent readers, and holds them against each other.

PLY and VTK go through meshio; bgeo and the saved state, which no Debian package reads, through parsers written here
from their descriptions. All four must hold the same particles, bit for bit, and as many as the summary says. Meshes of
cloth go through meshio, too.
check_exports.py SOURCE_DIR BINARY_DIR
"""
import base64
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

try:
    import meshio
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SCENE = {
    "solver": {"spacing": 0.05, "substeps": 2},
    "materials": {"oil": {"density": 800}},
    "fluids": [
        {"size": [0.4, 0.3, 0.4], "position": [0, 0.2, 0]},
        {"size": [0.1, 0.1, 0.1], "position": [0, 0.6, 0], "material": "oil", "velocity": [0, 0, 1]},
    ],
    "colliders": [{"shape": "plane"}],
    "emitters": [{"position": [0, 1, 0], "rotation": [180, 0, 0], "radius": 0.1, "speed": 3}],
    "kill_volumes": [{"shape": "sphere", "radius": 0.1, "position": [0, 0.1, 0]}],
    "output": {"frames": 6, "every": 3},
}
FRAMES = (0, 3, 6)

# A sheet that a ball tears, and a mesh of a file whose texture coordinates meet at a seam.
CLOTHS = {
    "solver": {"spacing": 0.05, "substeps": 1, "small_steps": 8, "max_displacement": 0},
    "materials": {"linen": {"density": 500}, "iron": {}},
    "cloths": [
        {"material": "linen", "columns": 21, "rows": 16, "size": [1, 0.75, 0], "position": [0, 1.5, 0],
         "area_density": 0.25, "pins": "top, bottom", "tear_stretch": 1.2},
        {"material": "linen", "mesh": "canopy.obj", "anchor": "origin", "position": [3, 1, 0]},
    ],
    "colliders": [
        {"shape": "sphere", "material": "iron", "radius": 0.2,
         "position": {"keyframes": [[0, [0, 1.5, -0.4]], [0.3, [0, 1.5, 0.5]]]}},
    ],
    "output": {"frames": 20, "every": 20},
}


def expect(condition, message):
    if not condition:
        sys.exit(f"check_exports: {message}")


def read_ply(path):
    mesh = meshio.read(path)
    data = mesh.point_data
    return {
        "position": mesh.points,
        "velocity": numpy.column_stack([data["vx"], data["vy"], data["vz"]]),
        "id": data["id"],
        "phase": data["phase"],
        "density": data["density"],
        "mass": data["mass"],
    }


def decode_first(data, decode=base64.b64decode):
    """meshio hands over all arrays from one on, each with its own padding, and counts on what follows the first
    padding being left alone. Python 3.13 no longer does that."""
    end = data.find(b"=" if isinstance(data, bytes) else "=")
    return decode(data if end < 0 else data[: end + -end % 4])


base64.b64decode = decode_first


def read_vtu(path):
    mesh = meshio.read(path)
    count = len(mesh.points)
    expect([(block.type, len(block.data)) for block in mesh.cells] == [("vertex", count)], f"{path.name}: cells")
    expect((mesh.cells[0].data.ravel() == numpy.arange(count)).all(), f"{path.name}: connectivity")
    columns = {name: values[:, 0] if values.shape[1:] == (1,) else values for name, values in mesh.point_data.items()}
    return {"position": mesh.points, **columns}


def read_bgeo(path):
    data = path.read_bytes()
    offset = 0

    def take(form):
        nonlocal offset
        values = struct.unpack_from(">" + form, data, offset)
        offset += struct.calcsize(">" + form)
        return values

    expect(take("4sci") == (b"Bgeo", b"V", 5), f"{path.name}: the magic number")
    points, *others = take("8i")
    attributes = others[3]
    expect(others == [0, 0, 0, attributes, 0, 0, 0], f"{path.name}: counts {others}")
    fields = [("position", ">f4", 3), ("w", ">f4", 1)]
    names = {"v": "velocity"}
    for _ in range(attributes):
        (length,) = take("H")
        name = take(f"{length}s")[0].decode()
        size, kind = take("Hi")
        expect(kind in (0, 1, 5), f"{path.name}: attribute {name} of type {kind}")
        expect((name == "v") == (kind == 5), f"{path.name}: only v is a vector")
        take(f"{size}i")
        fields.append((names.get(name, name), ">i4" if kind == 1 else ">f4", size))
    row = numpy.dtype([(name, kind, (size,) if size > 1 else ()) for name, kind, size in fields])
    expect(len(data) == offset + points * row.itemsize + 2, f"{path.name}: {len(data)} bytes")
    expect(data[-2:] == b"\x00\xff", f"{path.name}: the closing bytes")
    table = numpy.frombuffer(data, row, points, offset)
    expect((table["w"] == 1).all(), f"{path.name}: homogeneous coordinate")
    columns = {name: table[name].astype(kind.replace(">", "<")) for name, kind, _ in fields if name != "w"}
    columns["id"] = columns["id"].view("u4")
    columns["phase"] = columns["phase"].view("u4")
    return columns


def read_state(path):
    """The particles as the solver has them: src/scene/state_file.h describes the file."""
    data = path.read_bytes()
    expect(data[:8] == b"\x89MOTE\r\n\x1a" and data[-8:] == b"MOTE-END", f"{path.name}: its ends")
    kinds = {1: "<u4", 2: "<u8", 3: "<f4", 4: "<f8"}
    sections = {}
    offset = 120
    while offset < len(data) - 8:
        name, kind, components, count, size, _ = struct.unpack_from("<48sIIQQQ", data, offset)
        offset += 80
        values = numpy.frombuffer(data, kinds[kind], count * components, offset).reshape(count, components)
        sections[name.rstrip(b"\0").decode()] = values
        offset += size
    phases = sections["phases"].ravel()
    expect((phases >> 24 == 1).all(), f"{path.name}: every particle is fluid")
    return {
        "position": sections["positions"][:, :3],
        "velocity": sections["velocities"][:, :3],
        "id": sections["ids"].ravel(),
        "phase": phases & 0xFFFFFF,
        "density": sections["velocities"][:, 3],
        "mass": numpy.float32(1) / sections["positions"][:, 3],
    }


def expect_equal(found, expected, what):
    expect(set(found) == set(expected), f"{what}: attributes {sorted(found)}, expected {sorted(expected)}")
    for name, values in expected.items():
        expect(found[name].shape == values.shape, f"{what}: {name} is {found[name].shape}, expected {values.shape}")
        expect(found[name].dtype == values.dtype, f"{what}: {name} is {found[name].dtype}, expected {values.dtype}")
        expect((found[name] == values).all(), f"{what}: {name} differs")


def check_frame(folder, frame):
    path = folder / f"frame_{frame:06}"
    vtu = read_vtu(path.with_suffix(".vtu"))
    expect_equal(read_ply(path.with_suffix(".ply")), vtu, f"frame {frame}, ply and vtu")
    expect_equal(read_bgeo(path.with_suffix(".bgeo")), vtu, f"frame {frame}, bgeo and vtu")
    expect(len(set(vtu["id"])) == len(vtu["id"]), f"frame {frame}: an id appears twice")
    return vtu


def check_collection(folder):
    entries = xml.etree.ElementTree.parse(folder / "frames.pvd").getroot().findall("./Collection/DataSet")
    times = [float(entry.get("timestep")) for entry in entries]
    expect(numpy.allclose(times, [frame / 60 for frame in FRAMES]), f"frames.pvd: times {times}")
    for entry in entries:
        expect((folder / entry.get("file")).is_file(), f"frames.pvd: {entry.get('file')} is not there")


def read_obj(path):
    """Points, triangles and groups as meshio has them. It wants one texture coordinate a point, which a seam has not,
    and leaves out which a corner has: these are read here."""
    lines = [line.split() for line in path.read_text().splitlines()]
    without = path.with_suffix(".without.obj")
    without.write_text("".join(" ".join(line) + "\n" for line in lines if line[0] != "vt"))
    mesh = meshio.read(without)
    coordinates = numpy.array([[float(word) for word in line[1:]] for line in lines if line[0] == "vt"])
    used = [[int(word.split("/")[1]) - 1 for word in line[1:]] for line in lines if line[0] == "f"]
    corners = numpy.concatenate([block.data for block in mesh.cells if block.type == "triangle"])
    groups = numpy.concatenate(mesh.cell_data["obj:group_ids"])
    return mesh.points.astype("f4"), corners, coordinates.astype("f4")[used], groups


def edges_of(corners):
    return numpy.sort(corners[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)


def check_cloth(folder, frame):
    """PLY and OBJ are one mesh, whose vertices are the exported particles. Returns its edges, ids and coordinates."""
    path = folder / f"frame_{frame:06}"
    points, corners, coordinates, groups = read_obj(path.with_name(path.name + "_cloth.obj"))
    mesh = meshio.read(path.with_name(path.name + "_cloth.ply"))
    faces, data = mesh.cells_dict["triangle"].astype(int), mesh.point_data
    what = f"frame {frame}, cloth"
    expect(len(faces) == len(corners), f"{what}: {len(faces)} triangles in ply, {len(corners)} in obj")
    expect((mesh.points[faces] == points[corners]).all(), f"{what}: corners differ in ply and obj")
    found = numpy.stack([data["s"], data["t"]], axis=-1)[faces]
    expect((found == coordinates).all(), f"{what}: texture coordinates differ in ply and obj")
    expect((data["cloth"][faces] == groups[:, None]).all(), f"{what}: cloths differ in ply and obj")
    particles = read_ply(path.with_suffix(".ply"))
    order = numpy.argsort(particles["id"])
    rows = order[numpy.searchsorted(particles["id"], data["id"], sorter=order)]
    expect((particles["id"][rows] == data["id"]).all(), f"{what}: a vertex is no particle")
    expect((particles["position"][rows] == mesh.points).all(), f"{what}: vertices are not where particles are")
    velocity = numpy.column_stack([data["vx"], data["vy"], data["vz"]])
    expect((particles["velocity"][rows] == velocity).all(), f"{what}: velocities of vertices")
    _, uses = numpy.unique(edges_of(corners), axis=0, return_counts=True)
    expect(uses.max() <= 2, f"{what}: an edge has {uses.max()} triangles")
    return {"points": points, "borders": (uses == 1).sum(), "uv": coordinates, "ids": data["id"], "cloth": groups}


def check_cloths(mote, folder, source):
    (folder / "cloths.json").write_text(json.dumps(CLOTHS))
    (folder / "canopy.obj").write_bytes((source / "scenes" / "meshes" / "canopy.obj").read_bytes())
    subprocess.run(
        [mote, "simulate", "cloths.json", "--backend", "cpu", "--out", "cloths", "--format", "ply,obj",
         "--summary", "cloths_summary.json", "--quiet"], cwd=folder, check=True)
    begun, torn = check_cloth(folder / "cloths", 0), check_cloth(folder / "cloths", 20)
    splits = json.loads((folder / "cloths_summary.json").read_text())["splits"]
    expect(splits > 10, f"{splits} splits: the sheet tears")
    expect(len(torn["points"]) == len(begun["points"]) + splits, f"{len(torn['points'])} vertices, {splits} splits")
    expect(torn["borders"] > begun["borders"], "tears are borders")
    expect((torn["uv"] == begun["uv"]).all(), "tearing leaves texture coordinates as they are")
    sheet, canopy = begun["cloth"] == 0, begun["cloth"] == 1
    expect((sheet.sum(), canopy.sum()) == (2 * 20 * 15, 858), "triangles of both cloths")
    corners = read_obj(folder / "cloths" / "frame_000000_cloth.obj")[1][sheet]
    place = begun["points"][corners][:, :, :2]
    expected = numpy.stack([place[..., 0] + 0.5, (1.875 - place[..., 1]) / 0.75], axis=-1)
    expect(numpy.allclose(begun["uv"][sheet], expected, atol=1e-5), "a sheet's texture coordinates go from 0 to 1")
    several = len(begun["ids"]) - len(set(begun["ids"]))
    expect(several > 0, "vertices of a seam are there several times")
    failed = subprocess.run([mote, "simulate", "scene.json", "--backend", "cpu", "--out", "none", "--format", "obj",
                             "--frames", "1", "--quiet"], cwd=folder, capture_output=True, text=True)
    expect(failed.returncode != 0 and "found no cloth" in failed.stderr, f"obj without cloth: {failed.stderr}")
    return splits


def main():
    mote = pathlib.Path(sys.argv[2]).resolve() / "bin" / "mote"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "scene.json").write_text(json.dumps(SCENE))
        subprocess.run(
            [mote, "simulate", "scene.json", "--backend", "cpu", "--out", "frames", "--format", "ply,vtk,bgeo",
             "--summary", "summary.json", "--save-state", "end.state", "--quiet"],
            cwd=folder, check=True)
        frames = [check_frame(folder / "frames", frame) for frame in FRAMES]
        check_collection(folder / "frames")
        summary = json.loads((folder / "summary.json").read_text())
        last = frames[-1]
        expect(len(last["id"]) == summary["particles"], f"{len(last['id'])} particles, {summary['particles']} told")
        expect(summary["emitted"] > 0 and summary["removed"] > 0, f"particles come and go: {summary}")
        expect(len(frames[0]["id"]) == 8 * 6 * 8 + 8, f"{len(frames[0]['id'])} particles at the start")
        expect(len(set(last["phase"])) == 2, "two materials are two phases")
        expect_equal(last, read_state(folder / "end.state"), "the last frame and the saved state")
        momentum = (last["velocity"].astype("f8") * last["mass"][:, None]).sum(axis=0)
        expect(numpy.allclose(momentum, summary["momentum"], rtol=1e-4, atol=1e-4), f"momentum {momentum}")
        splits = check_cloths(mote, folder, pathlib.Path(sys.argv[1]).resolve())
    print(f"{len(FRAMES)} frames of up to {len(last['id'])} particles are the same in ply, vtu, bgeo and the state")
    print(f"cloth that was split {splits} times is the same in ply and obj")


main()
