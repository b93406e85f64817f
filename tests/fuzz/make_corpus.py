#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/fuzz/corpus: small valid files of every format that the fuzz targets read, made here from nothing, so
that they can be changed and made again. What a fuzzer found is kept beside them under a name of its own. Saved states
and OpenVDB files are made by make_seeds.c when the targets are built. make_corpus.py FOLDER"""
import base64
import json
import pathlib
import struct
import sys
import zlib

corpus = pathlib.Path(sys.argv[1])


def write(target, name, data):
    path = corpus / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


# ---- Pictures --------------------------------------------------------------------------------------------------
def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(bits, kind, rows, extra=b"", interlaced=0, size=(4, 2)):
    header = struct.pack(">IIBBBBB", *size, bits, kind, 0, 0, interlaced)
    return (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + extra + png_chunk(b"IDAT", zlib.compress(rows))
            + png_chunk(b"IEND", b""))


def pixels(row_bytes, rows=2, filters=(0, 1, 2, 3, 4)):
    return b"".join(bytes([filters[y % len(filters)]]) + bytes((37 * (x + y)) % 256 for x in range(row_bytes))
                    for y in range(rows))


write("png", "grey8.png", png(8, 0, pixels(4)))
write("png", "grey1.png", png(1, 0, pixels(1)))
write("png", "rgb8.png", png(8, 2, pixels(12, 5), size=(4, 5)))
write("png", "rgba16.png", png(16, 6, pixels(32)))
write("png", "grey_alpha8.png", png(8, 4, pixels(8)))
palette = png_chunk(b"PLTE", bytes(range(12)))
write("png", "palette2.png", png(2, 3, pixels(1), palette))
write("png", "palette_alpha.png", png(2, 3, pixels(1), palette + png_chunk(b"tRNS", b"\x00\x80")))
write("png", "rgb8_key.png", png(8, 2, pixels(12), png_chunk(b"tRNS", struct.pack(">HHH", 0, 37, 74))))
write("png", "gamma_text.png", png(8, 2, pixels(12), png_chunk(b"gAMA", struct.pack(">I", 45455))
                                   + png_chunk(b"sRGB", b"\x00") + png_chunk(b"tEXt", b"Title\x00small")))
write("png", "interlaced.png", png(8, 0, bytes(2 + 2 + 3 + 5 + 5), interlaced=1, size=(4, 2)))

head = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n"
flat = bytes([128, 64, 32, 129] * 8)
write("hdr", "flat.hdr", (head + "\n-Y 2 +X 4\n").encode() + flat)
write("hdr", "exposure.hdr", (head + "EXPOSURE=2\nEXPOSURE=0.5\n# a comment\n\n+Y 2 -X 4\n").encode() + flat)
write("hdr", "turned.hdr", (head + "\n+X 4 -Y 2\n").encode() + flat)
old = bytes([10, 20, 30, 128, 1, 1, 1, 3])
write("hdr", "old_runs.hdr", (head + "\n-Y 1 +X 4\n").encode() + old)
line = b"\x02\x02\x00\x08" + (b"\x88\x40" + b"\x08\x01\x02\x03\x04\x05\x06\x07\x08" + b"\x88\x20" + b"\x88\x80")
write("hdr", "runs.hdr", (head + "\n-Y 2 +X 8\n").encode() + 2 * line)


def attribute(name, kind, data):
    return name.encode() + b"\0" + kind.encode() + b"\0" + struct.pack("<I", len(data)) + data


def exr(channels, compression, blocks, lines=1, tiled=False, size=(4, 2), flags=0):
    window = struct.pack("<iiii", 0, 0, size[0] - 1, size[1] - 1)
    rows = b"".join(n.encode() + b"\0" + struct.pack("<iBBBBii", t, 0, 0, 0, 0, 1, 1) for n, t in channels) + b"\0"
    header = (attribute("channels", "chlist", rows) + attribute("compression", "compression", bytes([compression]))
              + attribute("dataWindow", "box2i", window) + attribute("displayWindow", "box2i", window)
              + attribute("lineOrder", "lineOrder", b"\0")
              + attribute("pixelAspectRatio", "float", struct.pack("<f", 1))
              + attribute("screenWindowCenter", "v2f", struct.pack("<ff", 0, 0))
              + attribute("screenWindowWidth", "float", struct.pack("<f", 1)))
    if tiled:
        header += attribute("tiles", "tiledesc", struct.pack("<IIB", 4, 2, 0))
    start = struct.pack("<II", 20000630, 2 | flags | (0x200 if tiled else 0)) + header + b"\0"
    at, offsets, body = len(start) + 8 * len(blocks), b"", b""
    for number, data in enumerate(blocks):
        offsets += struct.pack("<Q", at + len(body))
        place = struct.pack("<iiii", 0, 0, 0, 0) if tiled else struct.pack("<i", number * lines)
        body += place + struct.pack("<I", len(data)) + data
    return start + offsets + body


def zipped(data):
    halves = data[0::2] + data[1::2]
    delta = bytes([halves[0]] + [(halves[i] - halves[i - 1] + 128) % 256 for i in range(1, len(halves))])
    return zlib.compress(delta)


half, full = 1, 2
rgb = [("B", half), ("G", half), ("R", half)]
row = struct.pack("<12e", *[x / 8 for x in range(12)])
write("exr", "plain.exr", exr(rgb, 0, [row, row]))
write("exr", "zip.exr", exr(rgb, 3, [zipped(row + row)], 16))
write("exr", "zips.exr", exr(rgb, 2, [zipped(row), zipped(row)]))
write("exr", "runs.exr", exr([("Y", half)], 1, [bytes([3, 0] * 2), bytes([3, 0] * 2)]))
write("exr", "grey_float.exr", exr([("Y", full)], 0, [struct.pack("<4f", 0, 1, 2, 3)] * 2))
write("exr", "tiles.exr", exr(rgb, 0, [row + row], tiled=True))
for name, number in (("piz", 4), ("pxr24", 5), ("b44", 6), ("dwaa", 8)): # as large as plain: stored as it is
    write("exr", name + ".exr", exr(rgb, number, [row + row], 32))

# ---- Meshes: a tetrahedron -------------------------------------------------------------------------------------
corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
lines = [" ".join(map(str, c)) for c in corners]
write("obj", "plain.obj", "".join(f"v {l}\n" for l in lines) + "".join("f %d %d %d\n" % tuple(i + 1 for i in f) for f in faces))
write("obj", "uv.obj", "# a comment\no thing\nmtllib none.mtl\nusemtl red\ns off\n" + "".join(f"v {l} 1\n" for l in lines)
      + "vt 0 0\nvt 1 0\nvt 0 1\nvn 0 0 1\ng side\n" + "f -4/1/1 -2/2/1 -3/3/1\nf 1//1 2//1 4//1\nf 1/1 4/2 3/3\nf 2 3 \\\n 4\n")
write("off", "plain.off", "OFF\n4 4 6\n" + "\n".join(lines) + "\n" + "".join("3 %d %d %d\n" % f for f in faces))
for name, form, pack in (("ascii", "ascii 1.0", None), ("little", "binary_little_endian 1.0", "<"), ("big", "binary_big_endian 1.0", ">")):
    top = (f"ply\nformat {form}\ncomment small\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
           "element face 4\nproperty list uchar int vertex_indices\nend_header\n")
    body = ("\n".join(lines) + "\n" + "".join("3 %d %d %d\n" % f for f in faces)).encode() if pack is None else (
        b"".join(struct.pack(pack + "fff", *c) for c in corners) + b"".join(struct.pack(pack + "Biii", 3, *f) for f in faces))
    write("ply", name + ".ply", top.encode() + body)
write("stl", "ascii.stl", "solid t\n" + "".join(
    "facet normal 0 0 0\nouter loop\n" + "".join(f"vertex {lines[i]}\n" for i in f) + "endloop\nendfacet\n" for f in faces) + "endsolid t\n")
write("stl", "binary.stl", bytes(80) + struct.pack("<I", 4) + b"".join(
    struct.pack("<12f", 0, 0, 0, *[x for i in f for x in corners[i]]) + b"\0\0" for f in faces))

buffer = b"".join(struct.pack("<fff", *c) for c in corners) + b"".join(struct.pack("<HHH", *f) for f in faces)


def gltf(uri):
    return {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0, "scale": [2, 2, 2]}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
            "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 1]},
                          {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"}],
            "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 24}],
            "buffers": [{"byteLength": len(buffer), **({"uri": uri} if uri else {})}]}


write("gltf", "embedded.gltf", json.dumps(gltf("data:application/octet-stream;base64," + base64.b64encode(buffer).decode())))
text = json.dumps(gltf(None)).encode()
text += b" " * (-len(text) % 4)
binary = buffer + bytes(-len(buffer) % 4)
write("glb", "plain.glb", struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(binary)) + struct.pack("<I4s", len(text), b"JSON")
      + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary)


def chunk(name, data):
    return struct.pack("<HI", name, 6 + len(data)) + data


points = chunk(0x4110, struct.pack("<H", 4) + b"".join(struct.pack("<fff", *c) for c in corners))
polygons = chunk(0x4120, struct.pack("<H", 4) + b"".join(struct.pack("<HHHH", *f, 7) for f in faces))
write("3ds", "plain.3ds", chunk(0x4d4d, chunk(2, struct.pack("<I", 3)) + chunk(0x3d3d, chunk(
    0x4000, b"thing\0" + chunk(0x4100, points + polygons)))))
write("dae", "plain.dae", '<?xml version="1.0"?>\n<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">'
      '<asset><unit meter="1"/><up_axis>Y_UP</up_axis></asset><library_geometries><geometry id="g"><mesh><source id="p">'
      '<float_array id="a" count="12">' + " ".join(lines) + '</float_array><technique_common><accessor source="#a" count="4" '
      'stride="3"><param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor>'
      '</technique_common></source><vertices id="v"><input semantic="POSITION" source="#p"/></vertices><triangles count="4">'
      '<input semantic="VERTEX" source="#v" offset="0"/><p>' + " ".join("%d %d %d" % f for f in faces) + '</p></triangles></mesh>'
      '</geometry></library_geometries><library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"/></node>'
      '</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>\n')
write("fbx", "ascii.fbx", '; FBX 7.3.0 project file\nFBXHeaderExtension:  {\n\tFBXVersion: 7300\n}\nDefinitions:  {\n\tCount: 2\n}\n'
      'Objects:  {\n\tGeometry: 1, "Geometry::g", "Mesh" {\n\t\tVertices: *12 {\n\t\t\ta: ' + ",".join(lines).replace(" ", ",")
      + '\n\t\t}\n\t\tPolygonVertexIndex: *12 {\n\t\t\ta: ' + ",".join("%d,%d,%d" % (a, b, ~c) for a, b, c in faces)
      + '\n\t\t}\n\t\tGeometryVersion: 124\n\t}\n\tModel: 2, "Model::m", "Mesh" {\n\t\tVersion: 232\n\t}\n}\n'
      'Connections:  {\n\tC: "OO",1,2\n\tC: "OO",2,0\n}\n')



def fbx_node(at, name, properties, children=()):
    """A node of a binary FBX file that begins at byte `at`."""
    data = b""
    for value in properties:
        if isinstance(value, str):
            data += b"S" + struct.pack("<I", len(value)) + value.encode()
        elif isinstance(value, tuple):  # kind and numbers; the second of two arrays is packed
            raw = struct.pack("<%d%s" % (len(value[1]), value[0]), *value[1])
            packed = zlib.compress(raw) if value[0] == "i" else raw
            data += value[0].encode() + struct.pack("<III", len(value[1]), value[0] == "i", len(packed)) + packed
        elif name.endswith("Version"):
            data += b"I" + struct.pack("<i", value)
        else:  # what names an object
            data += b"L" + struct.pack("<q", value)
    head = 13 + len(name)
    inner = b""
    for child in children:
        inner += fbx_node(at + head + len(data) + len(inner), *child)
    inner += bytes(13) if children else b""
    return struct.pack("<IIIB", at + head + len(data) + len(inner), len(properties), len(data), len(name)) + name.encode() + data + inner


binary = b"Kaydara FBX Binary  \0\x1a\0" + struct.pack("<I", 7400)
for part in (("FBXHeaderExtension", (), (("FBXVersion", (7400,)),)),
             ("Objects", (), (("Geometry", (1, "g\0\x01Geometry", "Mesh"), (
                                  ("Vertices", (("d", [x for c in corners for x in c]),)),
                                  ("PolygonVertexIndex", (("i", [i for a, b, c in faces for i in (a, b, ~c)]),)))),
                              ("Model", (2, "m\0\x01Model", "Mesh"), (("Version", (232,)),)))),
             ("Connections", (), (("C", ("OO", 1, 2)), ("C", ("OO", 2, 0))))):
    binary += fbx_node(len(binary), *part)
write("fbx", "binary.fbx", binary + bytes(13))

# What the importer's process sends (base/isolate_child.h): frames of data, then the last word.
tetrahedron = struct.pack("<III", 4, 4, 0) + b"".join(struct.pack("<fff", *c) for c in corners) + b"".join(struct.pack("<III", *f) for f in faces)
with_uvs = struct.pack("<III", 4, 4, 1) + tetrahedron[12:60] + struct.pack("<8f", *range(8)) + tetrahedron[60:]
data_frame, end_frame = 0x4d4f4401, 0x4d4f4502
last = struct.pack("<IIi", end_frame, 4, 0)
write("mesh_answer", "one_frame", struct.pack("<II", data_frame, len(tetrahedron)) + tetrahedron + last)
write("mesh_answer", "two_frames", struct.pack("<II", data_frame, 40) + with_uvs[:40] + struct.pack("<II", data_frame, len(with_uvs) - 40) + with_uvs[40:] + last)
write("mesh_answer", "refused_error", struct.pack("<IIi", end_frame, 12, 3) + b"no mesh!")

# ---- Text ------------------------------------------------------------------------------------------------------
write("settings", "empty.json", "{}\n")
write("settings", "all.json", json.dumps({
    "keys": {"pause": "Space"}, "recent": ["a.json", "/b/c.json"], "ui_scale": 1.5, "max_rate": 60, "help_shown": True,
    "bookmarks": [None, {"position": [0, 1, 2], "target": [0, 0, 0], "field_of_view": 45, "roll": 0, "near": 0.01}]}, indent=1))
write("settings", "refused_far.json", json.dumps({
    "bookmarks": [{"position": [0, 1e300, 2], "target": [0, 0, 0], "field_of_view": 45, "roll": 0, "near": 0.01}]}))
write("script", "events", "# all of them\npatience 5\nkey Space\nhold W ctrl\nrelease W ctrl\nmouse 10 20\nwheel -2\ntext 1.5\nresize 400 300\n"
      "click 50 60 alt\npress left 10 10 shift\nmove 30 30 2\nlift\ndrag middle 1 2 30 40 3 ctrl\npad leftx -0.5\npad a\nlose\ndrop a.json\nquit\n")
write("script", "waits", "wait seconds 0\nwait pictures 2\nwait shown\nwait frame 3\nwait steps 2\nwait reload 0\nwait shaders 0\nstate s.json\n"
      "wait file s.json\nwait loaded\n")
for name, line in (("mouse", "mouse 1e300 0"), ("click", "click 50 " + 40 * "2"), ("press", "press left 33333333310 10"),
                   ("wheel", "wheel 1e10"), ("resize", "resize nan 300"), ("wait", "wait pictures 1e30"), ("axis", "pad leftx left")):
    write("script", "refused_" + name, line + "\n")
write("scene", "liquid.json", json.dumps({
    "$schema": "../schema.json", "name": "a", "description": "b",
    "solver": {"spacing": 0.1, "gravity": {"keyframes": [[0, [0, -9.81, 0]], [1, [0, 0, 0]]], "interpolation": "smooth"}, "averaging": "all"},
    "materials": {"oil": {"density": 900, "combine": "maximum", "color": [1, 0.5, 0]}},
    "fluids": [{"material": "oil", "shape": "sphere", "radius": 0.2}], "emitters": [{"radius": 0.1, "stop": 2}],
    "kill_volumes": [{"shape": "plane", "position": [0, -1, 0]}], "bounds": {"lower": [-1, -1, -1], "upper": [1, 1, 1]},
    "camera": {"orbit": 10}, "cameras": {"top": {"position": [0, 5, 0.1]}}, "output": {"frames": 2}}))
write("scene", "solids.json", json.dumps({
    "bodies": [{"mesh": "shape:box?x=0.2&y=0.2", "material": "wall", "copies": [2, 1, 1]}],
    "grains": [{"material": "wall", "shape": "cylinder", "radius": 0.1, "height": 0.2, "packing": "dense"}],
    "colliders": [{"shape": "box", "inside_out": True, "size": [1, 1, 1]}, {"shape": "hull", "mesh": "shape:cone?radius=0.1", "mass": 1},
                  {"shape": "mesh", "mesh": "shape:sphere?radius=0.1&segments=8", "field_mode": "shell", "wet_map": 4, "uv": "above"}]}))
write("scene", "override", '--set fluids[0].size=[0.1, 0.1, 0.1]\n{"fluids": [{"shape": "block"}]}')
write("scene", "override_key", '--set materials.water.density=800\n{}')
