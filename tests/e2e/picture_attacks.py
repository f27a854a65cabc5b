"""Pictures made to do harm: real ones of every format, mutated; and what sends them to a server."""
import concurrent.futures
import http.client
import io
import itertools
import json
import pathlib
import random
import struct
import zlib

import numpy as np
from PIL import Image

CASES = pathlib.Path(__file__).resolve().parents[2] / "src" / "image" / "testing" / "cases"
PNG_HEADER = b"\x89PNG\r\n\x1a\n"
CLIENTS = 4
PART = 500  # pictures that a client sends over one connection
MAGIC = (b"\xff\xd8\xff\xe0", PNG_HEADER, b"RIFF\xff\xff\x00\x00WEBPVP8 ")


def encode(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def sources():
    """Files that decode: the small cases of the unit tests, and a smooth picture of 160 x 120."""
    y, x = np.mgrid[0:120, 0:160]
    smooth = Image.fromarray(np.stack([x, y, (x + y) // 2], -1).astype(np.uint8))
    found = [path.read_bytes() for path in sorted(CASES.iterdir()) if path.suffix != ".ppm"]
    found += [encode(smooth, "JPEG", quality=80), encode(smooth, "JPEG", progressive=True),
              encode(smooth, "JPEG", quality=95, subsampling=0), encode(smooth, "PNG"),
              encode(smooth.quantize(32), "PNG"), encode(smooth, "WEBP", quality=70),
              encode(smooth, "WEBP", lossless=True)]
    return found


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_bomb(draw):
    """Announces more pixels than it has data for, or packs many of them well."""
    width, height = draw.choice((1, 9, 1 << 10, 1 << 16, (1 << 31) - 1)), draw.choice((1, 1 << 11, 1 << 20))
    depth, colour = draw.choice(((8, 2), (16, 6), (1, 0), (8, 3), (16, 0), (3, 9)))
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, draw.choice((0, 0, 1)))
    packed = zlib.compress(bytes(draw.choice((0, 100, 1 << 16, 1 << 20))), 9)
    return (PNG_HEADER + chunk(b"IHDR", header) + chunk(b"IDAT", packed) * draw.choice((1, 1, 20)) +
            chunk(b"IEND", b""))


def resized_header(data, draw):
    """The picture with other numbers where its size stands."""
    sides = struct.pack(">HH", draw.randrange(65536), draw.randrange(65536))
    if data.startswith(b"\xff\xd8"):
        for marker in (b"\xff\xc0", b"\xff\xc2"):
            at = data.find(marker)
            if at > 0:
                return data[:at + 5] + sides + data[at + 9:]
    if data.startswith(PNG_HEADER):
        header = sides[:2] + bytes(2) + sides[2:] + bytes(2) + data[24:29]
        return PNG_HEADER + chunk(b"IHDR", header) + data[33:]
    return data[:24] + sides + data[28:]


def mutate(data, draw):
    """One hostile file made of a good one."""
    kind = draw.randrange(8)
    if kind == 0:
        return data[:draw.randrange(len(data))]
    if kind == 1:
        return resized_header(data, draw)
    if kind == 2:
        return png_bomb(draw)
    if kind == 3:
        return draw.choice(MAGIC) + draw.randbytes(draw.randrange(400))
    if kind == 4:  # a part of it, again and again
        begin, length = draw.randrange(len(data)), draw.randrange(1, 64)
        part = data[begin:begin + length] * draw.randrange(2, 60)
        return data[:begin] + part + data[begin:]
    mutated = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4, 16))):
        at = draw.randrange(len(mutated))
        mutated[at] = draw.choice((0, 255, mutated[at] ^ 1 << draw.randrange(8)))
    return bytes(mutated)


def hostile_pictures(count, seed=1):
    """The same for the same seed."""
    good = sources()
    draw = random.Random(seed)
    for _ in range(count):
        yield mutate(draw.choice(good), draw)


def request_of(picture):
    """(headers, body) of an infer request that wants no pixels back but the size."""
    element = struct.pack("<I", len(picture)) + picture
    header = json.dumps({
        "inputs": [{"name": "encoded_image", "shape": [1, 1], "datatype": "BYTES",
                    "parameters": {"binary_data_size": len(element)}}],
        "outputs": [{"name": "size"}]}).encode()
    return {"Inference-Header-Content-Length": str(len(header))}, header + element


def send(server, pictures):
    """(answered with a size, answered with an error): each picture's own answer."""
    connection = http.client.HTTPConnection(server.http, timeout=120)
    decoded = refused = 0
    for picture in pictures:
        headers, body = request_of(picture)
        connection.request("POST", "/v2/models/prepare/infer", body, headers)
        answer = connection.getresponse()
        message = json.load(answer)
        if answer.status == 200 and len(message["outputs"][0]["data"]) == 2:
            decoded += 1
        elif answer.status == 400 and message["error"]:
            refused += 1
        else:
            raise RuntimeError(f"status {answer.status}: {message}")
    connection.close()
    return decoded, refused


def attack(server, count):
    """The sums of send() over all pictures."""
    pictures = hostile_pictures(count)
    parts = iter(lambda: list(itertools.islice(pictures, PART)), [])
    totals = [0, 0]
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        waiting = set()
        for part in itertools.chain(parts, [None] * CLIENTS):
            if part:
                waiting.add(pool.submit(send, server, part))
            if len(waiting) >= 2 * CLIENTS or part is None:
                done, waiting = concurrent.futures.wait(
                    waiting, return_when="FIRST_COMPLETED" if part else "ALL_COMPLETED")
                for future in done:
                    totals = [a + b for a, b in zip(totals, future.result())]
    return totals
