"""examples/ocr against the package that the nets come from: rapidocr-onnxruntime's own Python."""
import concurrent.futures
import subprocess
import sys

import numpy as np
import pytest
from clients import PROTOCOLS, connect
from images import encode
from PIL import Image, ImageDraw, ImageFont
from rapidocr_onnxruntime import RapidOCR
from tritonclient.utils import InferenceServerException

import repository
import tritonclient.http as triton
from proa_server import ROOT, ProaServer

EXAMPLE = ROOT / "examples" / "ocr"
sys.path.insert(0, str(EXAMPLE))

import ocr as example  # noqa: E402
import ocr_models  # noqa: E402
import text_lines  # noqa: E402

# Left, top, size, degrees, text. In reading order, and two of them side by side.
PAGE = [
    (40, 30, 52, 0, "Receipt 2024-117"),
    (40, 130, 30, 0, "Espresso machine"),
    (640, 130, 30, 0, "349.00"),
    (40, 200, 36, 0, "Cup, white, set of six"),
    (640, 200, 36, 0, "27.50"),
    (420, 290, 44, 8, "PAID IN FULL"),
    (60, 480, 22, -4, "Coffee house"),
    (40, 580, 72, 0, "Total 376.50"),
]
LETTERS = [line[-1].replace(" ", "") for line in PAGE]
PIXELS = 3      # how far a corner may be from the package's, which rounds on its way
SCORE = 0.1     # a doubtful blank counts in a line's score


def draw(lines, size=(1000, 720)):
    """A page with these lines, in the font that Pillow has in itself."""
    page = Image.new("RGB", size, "white")
    for left, top, points, degrees, text in lines:
        font = ImageFont.load_default(size=points)
        ink = Image.new("L", [length + 8 for length in font.getbbox(text)[2:]])
        ImageDraw.Draw(ink).text((4, 4), text, fill=255, font=font)
        ink = ink.rotate(degrees, Image.Resampling.BICUBIC, expand=True)
        page.paste((20, 20, 60), (left, top), ink)
    return page


@pytest.fixture(scope="module")
def server(tmp_path_factory, pytestconfig):
    models = tmp_path_factory.mktemp("ocr")
    ocr_models.write_models(models)
    with ProaServer(models, command=(pytestconfig.getoption("--proa"),)) as server:
        yield server


@pytest.fixture(scope="module")
def package():
    """package(data): [(text, score, corners)] by the package's own Python."""
    reader = RapidOCR()

    def read(data):
        lines, _ = reader(data)
        return [(text, score, np.array(corners)) for corners, text, score in lines or []]

    return read


def read(server, data):
    with triton.InferenceServerClient(server.http) as client:
        return example.read(client, data)


def letters(lines):
    """The texts without blanks: whether the net sees one between words hangs on fractions of a pixel,
    with the package's Python as with ours."""
    return [text.replace(" ", "") for text, _, _ in lines]


def assert_same_lines(found, wanted, pixels=PIXELS):
    assert letters(found) == letters(wanted)
    for (text, score, box), (_, wanted_score, corners) in zip(found, wanted):
        assert score == pytest.approx(wanted_score, abs=SCORE), text
        np.testing.assert_allclose(box, corners, atol=pixels, err_msg=text)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_page_is_read_as_the_package_reads_it(server, package, kind):
    data = encode(draw(PAGE), kind, quality=95)
    found = read(server, data)
    assert letters(found) == LETTERS
    assert_same_lines(found, package(data))


@pytest.mark.parametrize("degrees", [90, 180])
def test_turned_pages_are_read_too(server, package, degrees):
    data = encode(draw(PAGE).rotate(degrees, expand=True), "PNG")
    found, wanted = (sorted(lines, key=lambda line: letters([line]))
                     for lines in (read(server, data), package(data)))
    assert letters(found) == sorted(LETTERS)
    assert_same_lines(found, wanted)


def test_a_large_page_is_reduced_for_the_detection(server, package):
    data = encode(draw(PAGE).resize((3000, 2160)), "PNG")
    found = read(server, data)
    assert letters(found) == LETTERS
    assert_same_lines(found, package(data), 2 * PIXELS)


def test_a_photographed_page(server, package):
    data = repository.packaged("scikit-image", "skimage/data/page.png").read_bytes()
    found = read(server, data)
    assert len(found) == 5 and any(" of the " in text for text, _, _ in found)
    assert_same_lines(found, package(data))


def test_lines_of_similar_width_share_a_batch(server):
    def counts(client):
        statistics = client.get_inference_statistics("text_recognition")["model_stats"][0]
        return np.array([statistics["inference_count"], statistics["execution_count"]])

    with triton.InferenceServerClient(server.http) as client:
        before = counts(client)
        found = example.read(client, encode(draw(PAGE), "PNG"))
        lines, batches = counts(client) - before
    assert lines == len(found) == len(PAGE)
    assert batches <= len(PAGE) // 2


def test_letters_are_told_once_unless_a_gap_parts_them():
    says = [0, 1, 1, 0, 1, 3, 2, 0]
    probabilities = np.full((len(says), 4), 0.1, np.float32)
    probabilities[np.arange(len(says)), says] = [0.9, 0.5, 0.9, 0.9, 0.6, 0.7, 0.8, 0.9]
    text, score = text_lines.read(probabilities, ["", "a", "b", " "])
    assert text == "aa b" and score == pytest.approx((0.5 + 0.6 + 0.7 + 0.8) / 4)
    assert text_lines.read(probabilities[:1], ["", "a", "b", " "]) == ("", 0)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_picture_without_text_has_no_lines(server, package, protocol):
    data = encode(Image.new("RGB", (640, 480), "white"), "PNG")
    assert package(data) == []
    with connect(server, protocol) as (api, client):
        picture = api.InferInput("picture", [1], "BYTES")
        picture.set_data_from_numpy(np.array([data], dtype=object))
        answer = client.infer("ocr", [picture])
        assert answer.as_numpy("texts").shape == (0,)
        assert answer.as_numpy("scores").shape == (0,)
        assert answer.as_numpy("boxes").shape == (0, 4, 2)


def test_what_cannot_be_read_is_not_told(server, package):
    cat = repository.packaged("scikit-image", "skimage/data/chelsea.png").read_bytes()
    assert read(server, cat) == package(cat) == []


def test_the_nets_see_blue_first(server):
    with triton.InferenceServerClient(server.http) as client:
        file = triton.InferInput("file", [1], "BYTES")
        file.set_data_from_numpy(np.array([encode(Image.new("RGB", (3, 2), "blue"), "PNG")], dtype=object))
        pixels = client.infer("decode", [file]).as_numpy("pixels")
    assert pixels.tolist() == [[[255, 0, 0]] * 3] * 2


@pytest.mark.parametrize("size", [(1, 1), (1, 3000), (16384, 20)])
def test_pictures_of_odd_sizes_have_no_lines(server, size):
    assert read(server, encode(Image.new("RGB", size, "white"), "PNG")) == []


def test_a_picture_that_is_too_long_is_refused(server):
    with pytest.raises(InferenceServerException, match="20000 x 20 pixels: at most 16384 a side") as caught:
        read(server, encode(Image.new("RGB", (20000, 20), "white"), "PNG"))
    assert caught.value.status() == "400"


def test_corners_stay_inside_the_picture(server):
    page = draw(PAGE).crop((100, 45, 800, 600))    # through the first letters
    boxes = np.array([box for _, _, box in read(server, encode(page, "PNG"))])
    assert boxes.min() == 0 and (boxes <= page.size).all()


def test_a_broken_picture_fails_only_its_own_request(server):
    good = encode(draw(PAGE[:2]), "PNG")
    cut_off = good[:len(good) // 2]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        futures = [pool.submit(read, server, data) for data in (good, b"no picture", cut_off) * 4]
    for future in futures[::3]:
        assert letters(future.result()) == LETTERS[:2]
    for future in futures[1::3] + futures[2::3]:
        with pytest.raises(InferenceServerException, match="model 'decode', input 'file'") as caught:
            future.result()
        assert caught.value.status() == "400"


def test_requests_at_the_same_time_keep_their_lines(server):
    pages = [PAGE[first:first + count] for count in (1, 3, 5) for first in (0, 1, 3)] + [[]] * 3
    data = [encode(draw(page), "PNG") for page in pages]
    with concurrent.futures.ThreadPoolExecutor(len(pages)) as pool:
        answers = list(pool.map(lambda each: read(server, each), data * 2))
    for page, lines in zip(pages * 2, answers, strict=True):
        assert letters(lines) == [line[-1].replace(" ", "") for line in page]
        for (left, top, *_), (_, _, box) in zip(page, lines):
            np.testing.assert_allclose(box.min(axis=0), (left, top), atol=25)


def test_the_command_prints_lines_and_tells_broken_pictures(tmp_path):
    (tmp_path / "page.png").write_bytes(encode(draw(PAGE), "PNG"))
    (tmp_path / "broken.jpg").write_bytes(b"no picture")
    run = subprocess.run([sys.executable, EXAMPLE / "ocr.py", tmp_path / "page.png",
                          tmp_path / "broken.jpg"], capture_output=True, text=True, timeout=120)
    first, *lines = run.stdout.splitlines()
    assert first == f"page.png: {len(PAGE)} lines"
    assert [line.split("  ")[-1].replace(" ", "") for line in lines] == LETTERS
    assert run.stderr.startswith("broken.jpg: [400] ")
    assert run.returncode == 1
