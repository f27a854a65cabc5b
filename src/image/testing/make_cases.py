#!/usr/bin/env python3
"""Writes the pictures of cases/ and what Pillow makes of them. Run by hand when a case is added;
needs pillow, numpy, opencv-python-headless and libturbojpeg.

decode_NAME.{jpg,png,webp} with decode_NAME.ppm: the file and its upright RGB pixels.
resize_FILTER_WIDTHxHEIGHT.ppm: resize_source.ppm, resampled by Pillow.
bomb.webp: many pixels in few bytes.
opencv_FILTER_WIDTHxHEIGHT.ppm: the same by OpenCV; opencv_even_...: its first 60x42 pixels.
"""
import ctypes
import io
import pathlib
import struct
import zlib

import cv2
import numpy as np
from PIL import Image, ImageOps

CASES = pathlib.Path(__file__).parent / "cases"
ORIENTATION = 0x0112


def pattern(width, height, channels):
    """Smooth colours with some hard edges."""
    y, x = np.mgrid[0:height, 0:width]
    planes = [(x * (7 + 3 * c) + y * (11 - 2 * c) + 90 * ((x // 5 + y // 4 + c) % 2)) % 256
              for c in range(channels)]
    return np.stack(planes, -1).astype(np.uint8)


def write_case(name, data, upright):
    (CASES / f"decode_{name}").write_bytes(data)
    upright.convert("RGB").save(CASES / f"decode_{name.rsplit('.', 1)[0]}.ppm")


def encode(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def decoded(data):
    return ImageOps.exif_transpose(Image.open(io.BytesIO(data)))


def ycck_jpeg(inks):
    """Pillow writes CMYK as it is; libturbojpeg as YCCK."""
    library = ctypes.CDLL("libturbojpeg.so.0")
    library.tjInitCompress.restype = ctypes.c_void_p
    out, size = ctypes.c_void_p(), ctypes.c_ulong()
    cmyk, no_subsampling = 11, 0
    height, width, _ = inks.shape
    failed = library.tjCompress2(
        ctypes.c_void_p(library.tjInitCompress()), np.ascontiguousarray(inks).tobytes(), width, 0,
        height, cmyk, ctypes.byref(out), ctypes.byref(size), no_subsampling, 95, 0)
    assert failed == 0
    return ctypes.string_at(out, size.value)


def write_jpegs():
    rgb = Image.fromarray(pattern(23, 14, 3))
    cases = {"colour": encode(rgb, "JPEG", quality=90),
             "full_chroma": encode(rgb, "JPEG", quality=95, subsampling=0),
             "progressive": encode(rgb, "JPEG", quality=80, progressive=True),
             "grey": encode(rgb.convert("L"), "JPEG", quality=90),
             "cmyk": encode(Image.fromarray(pattern(23, 14, 4), "CMYK"), "JPEG", quality=95),
             "ycck": ycck_jpeg(pattern(23, 14, 4))}
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[ORIENTATION] = orientation
        cases[f"orientation_{orientation}"] = encode(rgb, "JPEG", quality=90, exif=exif)
    for name, data in cases.items():
        write_case(f"{name}.jpg", data, decoded(data))


def png_16_bit(pixels):
    """Pillow writes no 16-bit colour, so by hand."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in pixels)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 16, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_pngs():
    rgb = Image.fromarray(pattern(19, 11, 3))
    rgba = Image.fromarray(pattern(19, 11, 4), "RGBA")
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    cases = {"rgb": encode(rgb, "PNG"), "rgba": encode(rgba, "PNG"),
             "grey_png": encode(rgb.convert("L"), "PNG"),
             "grey_alpha": encode(rgba.convert("LA"), "PNG"),
             "palette": encode(rgb.quantize(16), "PNG"),
             "one_bit": encode(rgb.convert("1"), "PNG"),
             "turned": encode(rgb, "PNG", exif=exif)}
    for name, data in cases.items():
        write_case(f"{name}.png", data, decoded(data))
    wide = pattern(19, 11, 3).astype(np.uint16) * 257
    write_case("wide.png", png_16_bit(wide), Image.fromarray((wide >> 8).astype(np.uint8)))


def write_webps():
    rgb = Image.fromarray(pattern(19, 11, 3))
    rgba = Image.fromarray(pattern(19, 11, 4), "RGBA")
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    cases = {"lossy": encode(rgb, "WEBP", quality=90),
             "lossless": encode(rgb, "WEBP", lossless=True),
             "lossless_alpha": encode(rgba, "WEBP", lossless=True, exact=True),
             "turned_webp": encode(rgb, "WEBP", lossless=True, exif=exif)}
    for name, data in cases.items():
        write_case(f"{name}.webp", data, decoded(data))
    plain = Image.new("RGB", (16383, 4096), (10, 20, 30))
    (CASES / "bomb.webp").write_bytes(encode(plain, "WEBP", lossless=True, quality=0, method=0))


def write_opencv_resizes():
    cv2.ipp.setUseIPP(False)  # Intel's bicubic is another one
    source = pattern(61, 43, 3)
    even = np.ascontiguousarray(source[:42, :60])
    filters = {"nearest": cv2.INTER_NEAREST, "bilinear": cv2.INTER_LINEAR,
               "bicubic": cv2.INTER_CUBIC, "area": cv2.INTER_AREA}
    cases = {"opencv": (source, ((17, 12), (90, 20), (61, 7), (100, 71), (1, 1))),
             "opencv_even": (even, ((30, 21), (20, 14), (20, 21), (15, 42)))}
    for prefix, (pixels, sizes) in cases.items():
        for name, interpolation in filters.items():
            for size in sizes:
                resized = cv2.resize(pixels, size, interpolation=interpolation)
                Image.fromarray(resized).save(CASES / f"{prefix}_{name}_{size[0]}x{size[1]}.ppm")


def write_resizes():
    source = Image.fromarray(pattern(61, 43, 3))
    source.save(CASES / "resize_source.ppm")
    filters = {"bicubic": Image.Resampling.BICUBIC, "bilinear": Image.Resampling.BILINEAR,
               "nearest": Image.Resampling.NEAREST, "area": Image.Resampling.BOX}
    for name, resample in filters.items():
        for size in ((17, 12), (90, 20), (61, 7), (100, 71), (1, 1)):
            source.resize(size, resample).save(CASES / f"resize_{name}_{size[0]}x{size[1]}.ppm")


if __name__ == "__main__":
    CASES.mkdir(exist_ok=True)
    write_jpegs()
    write_pngs()
    write_webps()
    write_resizes()
    write_opencv_resizes()
