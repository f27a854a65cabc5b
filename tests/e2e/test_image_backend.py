"""Backend image against Pillow, torchvision's definitions and OpenCV on photographs, and what it refuses."""
import concurrent.futures
import io
import struct
import subprocess
import zlib

import cv2
import numpy as np
import pytest
from clients import PROTOCOLS, connect
from images import (IMAGENET_MEAN, IMAGENET_STD, OPENCV_FILTERS, PILLOW_FILTERS, crop_centre, encode,
                    infer_pictures, letterbox, open_picture, resize_shorter_side, to_tensor,
                    write_image_model)
from PIL import Image

import repository

# Numbers are computed in FP32 with one subtraction and one multiplication.
TOLERANCE = 2e-6
# OpenCV's bicubic adds numbers at the end of a row in another order than in its middle.
OPENCV_STEPS = {"nearest": 0, "bilinear": 0, "bicubic": 1, "area": 0}


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    """{name: PIL image}: colours, a grey one, several sizes."""
    folder = tmp_path_factory.mktemp("photographs")
    repository.write_photographs(folder)
    return {path.stem: Image.open(path) for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def files(photographs):
    """{name: bytes} of the photographs in every format."""
    found = {}
    for name, image in photographs.items():
        rgb = image.convert("RGB")
        found[f"{name}.png"] = encode(image, "PNG")
        found[f"{name}.jpg"] = encode(rgb, "JPEG", quality=92)
        found[f"{name}.444.jpg"] = encode(rgb, "JPEG", quality=95, subsampling=0, progressive=True)
        found[f"{name}.webp"] = encode(rgb, "WEBP", quality=85)
    return found


def pixels_of(serve, tmp_path, files, outputs=("image",), **parameters):
    """{name: arrays} of every file, each sent alone."""
    write_image_model(tmp_path, **parameters)
    server = serve(tmp_path)
    with connect(server, "http") as (api, client):
        return {name: [array[0] for array in infer_pictures(api, client, "prepare", [data], outputs)]
                for name, data in files.items()}


def test_equals_torchvisions_usual_preparation(serve, tmp_path, files):
    got = pixels_of(serve, tmp_path, files, resize="256", crop="224", filter="bilinear",
                    scale="1/255", mean="0.485,0.456,0.406", std="0.229,0.224,0.225")
    for name, (numbers,) in got.items():
        image = resize_shorter_side(open_picture(files[name]), 256, Image.Resampling.BILINEAR)
        wanted = to_tensor(crop_centre(image, 224))
        wanted -= np.float32(IMAGENET_MEAN)[:, None, None]
        wanted /= np.float32(IMAGENET_STD)[:, None, None]
        assert numbers.dtype == np.float32
        np.testing.assert_allclose(numbers, wanted, atol=TOLERANCE, rtol=0, err_msg=name)


@pytest.mark.parametrize("name", PILLOW_FILTERS)
def test_equals_pillow_byte_for_byte(serve, tmp_path, files, name):
    got = pixels_of(serve, tmp_path, files, resize="224x160", filter=name, data_type="UINT8",
                    layout="nhwc")
    for file, (pixels,) in got.items():
        wanted = np.asarray(open_picture(files[file]).resize((224, 160), PILLOW_FILTERS[name]))
        np.testing.assert_array_equal(pixels, wanted, err_msg=file)


@pytest.mark.parametrize("name", OPENCV_FILTERS)
def test_equals_opencv(serve, tmp_path, files, name):
    got = pixels_of(serve, tmp_path, files, resize="224x160", filter=name, definition="opencv",
                    data_type="UINT8", layout="nhwc", channels="bgr")
    for file, (pixels,) in got.items():
        source = np.asarray(open_picture(files[file]))[:, :, ::-1].copy()
        wanted = cv2.resize(source, (224, 160), interpolation=OPENCV_FILTERS[name])
        difference = np.abs(pixels.astype(int) - wanted)
        assert difference.max() <= OPENCV_STEPS[name], file
        assert (difference > 0).mean() < 0.001, file


def test_letterbox_is_that_of_detectors(serve, tmp_path, files):
    got = pixels_of(serve, tmp_path, files, ("image", "size", "placement"), resize="640",
                    resize_mode="letterbox", filter="bilinear", definition="opencv",
                    pad_color="114", scale="1/255", data_type="FP16", size_output="size",
                    placement_output="placement")
    for name, (numbers, size, placement) in got.items():
        source = np.asarray(open_picture(files[name]))
        boxed, (ratio, left, top) = letterbox(source, 640, (114, 114, 114))
        wanted = (boxed.transpose(2, 0, 1) / np.float32(255)).astype(np.float16)
        assert numbers.dtype == np.float16
        np.testing.assert_allclose(numbers, wanted, atol=1e-3, rtol=0, err_msg=name)
        assert size.tolist() == list(source.shape[:2])
        assert placement[2:].tolist() == [left, top]
        np.testing.assert_allclose(placement[:2], ratio, rtol=0.005)


def test_grey_is_opencvs_by_its_definition(serve, tmp_path, files):
    got = pixels_of(serve, tmp_path, files, resize="60x28", channels="gray", data_type="UINT8",
                    definition="opencv", filter="area")
    for name, (pixels,) in got.items():
        grey = cv2.cvtColor(np.asarray(open_picture(files[name])), cv2.COLOR_RGB2GRAY)
        wanted = cv2.resize(grey, (60, 28), interpolation=cv2.INTER_AREA)
        np.testing.assert_array_equal(pixels[0], wanted, err_msg=name)


def test_grey_is_pillows_luma(serve, tmp_path, files):
    got = pixels_of(serve, tmp_path, files, resize="28x28", channels="gray", data_type="UINT8")
    for name, (pixels,) in got.items():
        wanted = np.asarray(open_picture(files[name], "L").resize((28, 28), Image.Resampling.BICUBIC))
        np.testing.assert_array_equal(pixels[0], wanted, err_msg=name)


def test_turned_pictures_stand_upright(serve, tmp_path, photographs):
    turned = {}
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        for kind, options in (("JPEG", {}), ("PNG", {}), ("WEBP", {"lossless": True})):
            small = photographs["coffee"].convert("RGB").resize((60, 40))
            turned[f"{kind} {orientation}"] = encode(small, kind, exif=exif, **options)
    got = pixels_of(serve, tmp_path, turned, ("image", "size"), data_type="UINT8", layout="nhwc",
                    size_output="size")
    for name, (pixels, size) in got.items():
        wanted = np.asarray(open_picture(turned[name]))
        np.testing.assert_array_equal(pixels, wanted, err_msg=name)
        assert size.tolist() == list(wanted.shape[:2])


def test_scaled_decode_changes_little(serve, tmp_path, photographs):
    large = photographs["coffee"].convert("RGB").resize((3000, 2000), Image.Resampling.BICUBIC)
    data = {"large": encode(large, "JPEG", quality=90)}
    write_image_model(tmp_path, "fast", resize="224x224", jpeg_scaled_decode="1/8", data_type="UINT8")
    got = pixels_of(serve, tmp_path, data, resize="224x224", data_type="UINT8")["large"][0]
    server = serve(tmp_path)
    with connect(server, "grpc") as (api, client):
        fast = infer_pictures(api, client, "fast", [data["large"]])[0][0]
    difference = np.abs(got.astype(int) - fast)
    assert 0 < difference.mean() < 2


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_many_clients_get_their_own_pictures(serve, tmp_path, files, protocol):
    write_image_model(tmp_path, resize="32x32", data_type="UINT8", layout="nhwc",
                      extra="dynamic_batching { }\ninstance_group [ { count: 2 } ]\n")
    server = serve(tmp_path)
    broken = files["coffee.jpg"][:len(files["coffee.jpg"]) // 2]

    def ask(name):
        with connect(server, protocol) as (api, client):
            for _ in range(5):
                with pytest.raises(Exception, match="the JPEG picture is damaged"):
                    infer_pictures(api, client, "prepare", [broken])
                got = infer_pictures(api, client, "prepare", [files[name]] * 2)[0]
                wanted = np.asarray(open_picture(files[name]).resize((32, 32)))
                np.testing.assert_array_equal(got[0], wanted)
                np.testing.assert_array_equal(got[1], wanted)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, files))


def test_files_come_as_vectors_of_bytes_too(serve, tmp_path, files):
    write_image_model(tmp_path, resize="32x32", data_type="UINT8", layout="nhwc",
                      extra='input [ { name: "file" data_type: TYPE_UINT8 dims: [ -1 ] } ]\n'
                            "dynamic_batching { }\n")
    server = serve(tmp_path)
    data = [files[name] for name in ("coffee.png", "cat.jpg")]
    padded = np.zeros((2, max(map(len, data))), np.uint8)
    for row, picture in zip(padded, data):
        row[:len(picture)] = np.frombuffer(picture, np.uint8)
    with connect(server, "http") as (api, client):
        tensor = api.InferInput("file", padded.shape, "UINT8")
        tensor.set_data_from_numpy(padded)
        got = client.infer("prepare", [tensor]).as_numpy("image")
    for pixels, picture in zip(got, data):
        np.testing.assert_array_equal(pixels, np.asarray(open_picture(picture).resize((32, 32))))


def bomb_png(width, height):
    """A PNG that announces many pixels and packs them well."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    packed = zlib.compress(bytes(1 << 20), 9)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", packed) + chunk(b"IEND", b""))


def test_hostile_pictures_get_one_clear_error_each(serve, tmp_path, files):
    write_image_model(tmp_path, resize="32x32", max_pixels="1000000", max_file_bytes="2000000")
    server = serve(tmp_path)
    good = files["coffee.jpg"]
    attacks = {b"": "the picture is empty",
               b"GIF89a" + bytes(20): "the picture is GIF; JPEG, PNG and WebP can be read",
               b"<svg/>": "begin like neither JPEG, PNG nor WebP",
               good[:len(good) // 2]: "the JPEG picture is damaged",
               b"\xff\xd8\xff" + bytes(100): "damaged: its header tells no size",
               bomb_png(40000, 40000): "40000 x 40000 pixels; at most 1000000 pixels are read",
               files["coffee.webp"][:3000]: "the WebP picture is damaged",
               good + bytes(2_000_000): "at most 2000000 are read"}
    with connect(server, "http") as (api, client):
        for data, message in attacks.items():
            with pytest.raises(Exception, match=message):
                infer_pictures(api, client, "prepare", [data])
        assert infer_pictures(api, client, "prepare", [good])[0].shape == (1, 3, 32, 32)
        counts = client.get_inference_statistics("prepare")["model_stats"][0]["inference_stats"]
    assert int(counts["fail"]["count"]) == len(attacks)
    assert int(counts["success"]["count"]) == 1


def test_wrong_parameters_are_told_before_serving(proa, tmp_path):
    write_image_model(tmp_path, filtre="bicubic")
    checked = subprocess.run([proa, "inspect", "--check", tmp_path], capture_output=True, text=True,
                             timeout=60)
    assert checked.returncode != 0
    assert "did you mean 'filter'?" in checked.stdout + checked.stderr


def test_numbers_for_other_pixels_are_warned_of(serve, tmp_path):
    write_image_model(tmp_path, std="0.229,0.224,0.225")
    write_image_model(tmp_path, "scaled", std="0.229,0.224,0.225", scale="1/255")
    log = serve(tmp_path).log()
    assert log.count('want scale') == 1
    assert "model prepare: parameter std" in log


def test_16_bit_and_transparent_pictures_keep_their_colours(serve, tmp_path, photographs):
    rgba = photographs["coffee"].convert("RGB").resize((60, 40)).convert("RGBA")
    rgba.putalpha(Image.linear_gradient("L").resize((60, 40)))
    wide = cv2.imencode(".png", np.asarray(rgba)[:, :, 2::-1].astype(np.uint16) * 257)[1].tobytes()
    data = {"alpha.png": encode(rgba, "PNG"), "wide.png": wide,
            "alpha.webp": encode(rgba, "WEBP", lossless=True, exact=True),
            "cmyk.jpg": encode(rgba.convert("CMYK"), "JPEG", quality=95)}
    got = pixels_of(serve, tmp_path, data, data_type="UINT8", layout="nhwc")
    for name in ("alpha.png", "wide.png", "alpha.webp"):
        np.testing.assert_array_equal(got[name][0], np.asarray(rgba)[:, :, :3], err_msg=name)
    cmyk = np.asarray(Image.open(io.BytesIO(data["cmyk.jpg"])).convert("RGB")).astype(int)
    assert np.abs(got["cmyk.jpg"][0] - cmyk).max() <= 1
