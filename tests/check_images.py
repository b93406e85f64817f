#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Holds Mote's image files against readers and writers that have nothing to do with it.

What Mote writes is read by ffmpeg's own PNG and OpenEXR decoders, by exrheader, and by a parser written here from the
description of the OpenEXR format. What ffmpeg and exrmaketiled write is read by Mote. exrheader and exrmaketiled come
with the package openexr; what needs them is left out without it.
check_images.py SOURCE_DIR BINARY_DIR
"""
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

try:
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
if shutil.which("ffmpeg") is None:
    print("skipped: no ffmpeg")
    sys.exit(77)

WIDTH, HEIGHT = 61, 43
TOOL = pathlib.Path(sys.argv[2]).resolve() / "tests" / "test_image"


def expect(condition, message):
    if not condition:
        sys.exit(f"check_images: {message}")


def expect_equal(found, expected, what):
    expect(found.shape == expected.shape, f"{what}: shape {found.shape}, expected {expected.shape}")
    expect(found.dtype == expected.dtype, f"{what}: type {found.dtype}, expected {expected.dtype}")
    different = found != expected
    expect(not different.any(), f"{what}: {different.sum()} of {different.size} values differ")


# ---- The patterns of `test_image samples` ----

Y, X = numpy.mgrid[0:HEIGHT, 0:WIDTH].astype("u4")
COLOUR = numpy.stack([(X * 13 + Y * 29 + c * 57) % 1024 for c in range(4)], axis=2).astype("f4") / numpy.float32(128)
VECTORS = numpy.stack([X * 1000 + Y + c for c in range(3)], axis=2).astype("f4") / numpy.float32(3)
IDS = ((Y * WIDTH + X).astype("u8") * 2654435761 % 2**32).astype("u4")
BYTES = numpy.stack([(X * 13 + Y * 29 + c * 57) % 256 for c in range(4)], axis=2).astype("u1")
WORDS = numpy.stack([(X * 1013 + Y * 529 + c * 5701) % 65536 for c in range(3)], axis=2).astype("u2")


# ---- Other programs ----

def run(*arguments):
    return subprocess.run([str(argument) for argument in arguments], check=True, stdout=subprocess.PIPE).stdout


def ffmpeg_decode(path, pixel_format, kind, channels):
    raw = run("ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", pixel_format, "-")
    return numpy.frombuffer(raw, kind).reshape(HEIGHT, WIDTH, channels)


def ffmpeg_decode_planes(path, pixel_format, channels):
    """Planar floats come as G, B, R, A."""
    raw = run("ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", pixel_format, "-")
    planes = numpy.frombuffer(raw, "<f4").reshape(channels, HEIGHT, WIDTH)
    return numpy.stack([planes[i] for i in (2, 0, 1, 3)[:channels]], axis=2)


def ffmpeg_encode(path, pixels, pixel_format, *options):
    """Writes an image from raw pixels of this format."""
    height, width = pixels.shape[:2]
    if pixel_format == "gbrpf32le":
        pixels = numpy.stack([pixels[:, :, c] for c in (1, 2, 0)])
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pixel_format", pixel_format, "-video_size",
                    f"{width}x{height}", "-i", "-", *options, str(path)], check=True, input=pixels.tobytes())


def mote_decode(path, *channels):
    dump = path.with_suffix(".dump")
    run(TOOL, "dump", path, dump, *channels)
    data = dump.read_bytes()
    width, height, count = struct.unpack_from("<3I", data)
    return numpy.frombuffer(data, "<f4", offset=12).reshape(height, width, count)


# ---- OpenEXR, from the description of its file layout ----

def parse_exr(path):
    """Header attributes and channels of a file of scanlines, ZIP compressed, in one part."""
    data = path.read_bytes()
    expect(data[:4] == b"\x76\x2f\x31\x01", f"{path.name}: the magic number")
    version, = struct.unpack_from("<I", data, 4)
    expect(version & 0xFF == 2 and version & ~0x4FF == 0, f"{path.name}: version {version:#x}")
    offset = 8
    attributes = {}

    def take_name():
        nonlocal offset
        end = data.index(0, offset)
        name = data[offset:end].decode()
        offset = end + 1
        return name

    while name := take_name():
        kind = take_name()
        size, = struct.unpack_from("<i", data, offset)
        attributes[name] = (kind, data[offset + 4:offset + 4 + size])
        offset += 4 + size
    x0, y0, x1, y1 = struct.unpack("<4i", attributes["dataWindow"][1])
    width, height = x1 - x0 + 1, y1 - y0 + 1
    channels = []
    listed = attributes["channels"][1]
    while listed[0] != 0:
        end = listed.index(0)
        kind, _, x_step, y_step = struct.unpack_from("<iIii", listed, end + 1)
        expect((x_step, y_step) == (1, 1), f"{path.name}: sampling")
        channels.append((listed[:end].decode(), ["<u4", "<f2", "<f4"][kind]))
        listed = listed[end + 17:]
    chunk_count = (height + 15) // 16
    offsets = struct.unpack_from(f"<{chunk_count}Q", data, offset)
    images = {name: numpy.zeros((height, width), kind) for name, kind in channels}
    end = offset + 8 * chunk_count
    for index, start in enumerate(offsets):
        expect(start == end, f"{path.name}: chunk {index} begins at {start}, the one before ends at {end}")
        y, size = struct.unpack_from("<ii", data, start)
        end = start + 8 + size
        expect(y == y0 + 16 * index, f"{path.name}: chunk {index} has row {y}")
        rows = min(16, height - 16 * index)
        unpack_chunk(data[start + 8:end], channels, images, 16 * index, rows, width)
    expect(end == len(data), f"{path.name}: {len(data) - end} bytes after the last chunk")
    return attributes, images


def unpack_chunk(packed, channels, images, first_row, rows, width):
    size = rows * width * sum(numpy.dtype(kind).itemsize for _, kind in channels)
    if len(packed) < size:  # else the chunk is stored as it is
        deltas = numpy.frombuffer(zlib.decompress(packed), "u1").astype("i8")
        deltas[1:] -= 128
        values = (numpy.cumsum(deltas) & 0xFF).astype("u1")
        half = (size + 1) // 2
        interleaved = numpy.empty(size, "u1")
        interleaved[0::2] = values[:half]
        interleaved[1::2] = values[half:]
        packed = interleaved.tobytes()
    expect(len(packed) == size, f"a chunk has {len(packed)} bytes, expected {size}")
    offset = 0
    for row in range(first_row, first_row + rows):
        for name, kind in channels:
            images[name][row] = numpy.frombuffer(packed, kind, width, offset)
            offset += width * numpy.dtype(kind).itemsize


def check_exr(folder):
    attributes, images = parse_exr(folder / "layers.exr")
    expect(list(images) == ["A", "B", "G", "R", "depth.Z", "id.Y", "normal.X", "normal.Y", "normal.Z"],
           f"layers.exr: channels {list(images)}")
    expect(attributes["scene"] == ("string", b"sample"), "layers.exr: the attribute scene")
    expect(attributes["frame"] == ("string", b"12"), "layers.exr: the attribute frame")
    expect(attributes["compression"] == ("compression", b"\3"), "layers.exr: compression")
    for c, name in enumerate("RGBA"):
        expect_equal(images[name], COLOUR[:, :, c].astype("f2"), f"layers.exr, {name}")
    for c, name in enumerate("XYZ"):
        expect_equal(images[f"normal.{name}"], VECTORS[:, :, c], f"layers.exr, normal.{name}")
    expect_equal(images["depth.Z"], VECTORS[:, :, 0], "layers.exr, depth.Z")
    expect_equal(images["id.Y"], IDS, "layers.exr, id.Y")
    expect_equal(ffmpeg_decode_planes(folder / "layers.exr", "gbrapf32le", 4), COLOUR, "layers.exr by ffmpeg")
    expect_equal(ffmpeg_decode_planes(folder / "float.exr", "gbrpf32le", 3), VECTORS, "float.exr by ffmpeg")
    expect_equal(mote_decode(folder / "layers.exr", "depth.Z", "normal.Y"), VECTORS[:, :, :2], "layers.exr by Mote")


def check_exrheader(folder):
    if shutil.which("exrheader") is None:
        return False
    text = run("exrheader", folder / "layers.exr").decode()
    for line in ("A, 16-bit floating-point, sampling 1 1", "depth.Z, 32-bit floating-point, sampling 1 1",
                 "id.Y, 32-bit unsigned integer, sampling 1 1", "compression (type compression): zip",
                 "lineOrder (type lineOrder): increasing y", 'scene (type string): "sample"',
                 f"dataWindow (type box2i): (0 0) - ({WIDTH - 1} {HEIGHT - 1})"):
        expect(line in text, f"exrheader does not say: {line}\n{text}")
    return True


def check_foreign_exr(folder):
    """Files by ffmpeg, which stores floats or halves, and tiled ones by exrmaketiled."""
    checked = 0
    for kind in ("half", "float"):
        for compression in ("none", "rle", "zip1", "zip16"):
            path = folder / f"foreign_{kind}_{compression}.exr"
            ffmpeg_encode(path, COLOUR[:, :, :3], "gbrpf32le", "-format", kind, "-compression", compression)
            expect_equal(mote_decode(path), COLOUR[:, :, :3], path.name)
            checked += 1
    if shutil.which("exrmaketiled") is None:
        return checked
    # B44 is lossy: exrmaketiled's own decoder says what it should give. DWA is more than the library's C interface can
    # do in version 3.1; an error must say so.
    for compression in ("none", "rle", "zip", "piz", "pxr24", "b44", "b44a", "dwaa", "dwab"):
        path = folder / f"tiled_{compression}.exr"
        run("exrmaketiled", "-o", "-z", compression, "-t", "16", "24", folder / "layers.exr", path)
        if compression.startswith("dwa"):
            outcome = subprocess.run([TOOL, "dump", path, path.with_suffix(".dump")], stderr=subprocess.PIPE)
            words = f"with {compression.upper()} compression, which this OpenEXRCore library does not decode"
            expect(outcome.returncode == 0 or words in outcome.stderr.decode(), f"{path.name}: {outcome.stderr}")
            continue
        expected = COLOUR
        if compression.startswith("b44"):
            run("exrmaketiled", "-o", "-z", "none", path, folder / "decoded.exr")
            expected = mote_decode(folder / "decoded.exr")
        expect_equal(mote_decode(path), expected, path.name)
        checked += 1
    mipmapped = folder / "mipmapped.exr"
    run("exrmaketiled", "-m", "-z", "piz", folder / "layers.exr", mipmapped)
    expect_equal(mote_decode(mipmapped), COLOUR, "mipmapped.exr: its full size level")
    return checked + 1


def check_png(folder):
    expect_equal(ffmpeg_decode(folder / "rgba8.png", "rgba", "u1", 4), BYTES, "rgba8.png by ffmpeg")
    expect_equal(ffmpeg_decode(folder / "rgb16.png", "rgb48le", "<u2", 3), WORDS, "rgb16.png by ffmpeg")
    cases = {
        "rgb24": (BYTES[:, :, :3], 255), "rgba": (BYTES, 255), "gray": (BYTES[:, :, :1], 255),
        "ya8": (BYTES[:, :, :2], 255), "rgb48be": (WORDS.astype(">u2"), 65535),
        "gray16be": (WORDS[:, :, :1].astype(">u2"), 65535), "ya16be": (WORDS[:, :, :2].astype(">u2"), 65535),
    }
    for pixel_format, (pixels, largest) in cases.items():
        path = folder / f"foreign_{pixel_format}.png"
        ffmpeg_encode(path, numpy.ascontiguousarray(pixels), pixel_format, "-pred", "mixed")
        expected = pixels.astype("f4") / numpy.float32(largest)
        expect_equal(mote_decode(path), expected, path.name)
    return len(cases)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run(TOOL, "samples", folder)
        check_exr(folder)
        with_header = "with" if check_exrheader(folder) else "without"
        print(f"Mote's files are read by others ({with_header} exrheader); others' are read by Mote: "
              f"{check_foreign_exr(folder)} OpenEXR, {check_png(folder)} PNG")


main()
