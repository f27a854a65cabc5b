"""`proa index build`, backend index, and the example examples/image_search in a real browser."""
import re
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from clients import PROTOCOLS, connect
from PIL import Image
from tritonclient.utils import InferenceServerException

import emoji
from proa_server import ROOT

sys.path.insert(0, str(ROOT / "examples" / "image_search"))

import image_search as example  # noqa: E402
import search_models  # noqa: E402

PICTURES = 60


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("emoji")
    assert emoji.write_emoji(folder, PICTURES) == PICTURES
    (folder / "broken.png").write_bytes(b"\x89PNG not really")
    (folder / "notes.txt").write_text("no picture")
    return folder


@pytest.fixture(scope="module")
def repository(tmp_path_factory, pictures, pytestconfig):
    folder = tmp_path_factory.mktemp("search") / "models"
    example.build_index(pictures, folder, command=(pytestconfig.getoption("--proa"),))
    return folder


def build(proa, repository, pictures, *flags, into=None):
    return subprocess.run([proa, "index", "build", "--repository", repository, "--pipeline", "embed",
                           "--pictures", pictures, "--into", into or repository / "photos", *flags],
                          capture_output=True, text=True, timeout=300)


def search(server, protocol, data):
    """[(name, score)] of the nearest pictures."""
    with connect(server, protocol) as (api, client):
        picture = api.InferInput("picture", [1, 1], "BYTES")
        picture.set_data_from_numpy(np.array([[data]], dtype=object))
        answer = client.infer("search", [picture])
        names, scores = answer.as_numpy("names")[0], answer.as_numpy("scores")[0]
        return [(name.decode(), float(score)) for name, score in zip(names, scores)]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_picture_finds_itself_first(serve, repository, pictures, protocol):
    server = serve(repository)
    for path in sorted(pictures.glob("*_*.png"))[::7]:
        found = search(server, protocol, path.read_bytes())
        assert len(found) == example.NEIGHBOURS
        assert found[0] == (path.name, pytest.approx(1, abs=1e-4))
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


def test_a_flipped_jpeg_copy_finds_its_original(serve, repository, pictures, tmp_path):
    server = serve(repository)
    hits = 0
    paths = sorted(pictures.glob("*_*.png"))[::5]
    for path in paths:
        copy = tmp_path / "copy.jpg"
        Image.open(path).convert("RGB").transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(copy, quality=80)
        hits += path.name in [name for name, _ in search(server, "http", copy.read_bytes())[:3]]
    assert hits >= 0.8 * len(paths)


def test_what_is_no_picture_gets_an_error(serve, repository):
    server = serve(repository)
    with pytest.raises(InferenceServerException, match="prepare"):
        search(server, "http", b"no picture at all")


def test_building_again_makes_only_what_is_new_and_publishes_a_version(
        proa, repository, pictures, tmp_path):
    some, into = tmp_path / "some", tmp_path / "photos"
    some.mkdir()
    for path in sorted(pictures.glob("*_*.png"))[:5]:
        shutil.copy2(path, some)
    first = build(proa, repository, some, into=into)
    assert first.returncode == 0, first.stderr
    assert "5 vectors of 1280 values, cosine, flat" in first.stdout
    shutil.copy2(sorted(pictures.glob("*_*.png"))[7], some)
    second = build(proa, repository, some, "--kind", "hnsw", "-k", "3", into=into)
    assert "5 pictures have their vector from before" in second.stderr
    assert "6 vectors of 1280 values, cosine, hnsw" in second.stdout
    assert float(re.search(r"recall@3 .*: ([\d.]+)", second.stdout)[1]) > 0.9
    assert sorted(path.name for path in into.iterdir()) == [".vectors", "1", "2", "config.pbtxt"]
    assert (into / "2" / "payloads.txt").read_text().count("\n") == 6


def test_broken_pictures_are_told_and_left_out(proa, repository, pictures, tmp_path):
    built = build(proa, repository, pictures, into=tmp_path / "photos")
    assert built.returncode == 0, built.stderr
    assert "1 pictures are not in the index:\n  broken.png: " in built.stderr
    assert f"{PICTURES} vectors" in built.stdout


def test_interrupted_it_goes_on_where_it_ended(proa, repository, pictures, tmp_path):
    arguments = [proa, "index", "build", "--repository", repository, "--pipeline", "embed",
                 "--pictures", pictures, "--into", tmp_path / "photos"]
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:  # the first line of progress
        if "pictures," in line:
            process.send_signal(signal.SIGINT)
            break
    rest = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) in (130, 0), rest
    again = build(proa, repository, pictures, into=tmp_path / "photos")
    assert again.returncode == 0
    assert f"{PICTURES} vectors" in again.stdout
    assert re.search(r"\d+ pictures have their vector from before", again.stderr)


@pytest.mark.parametrize("flags, complaint", [
    (["--pipeline", "none"], "none"),
    (["--pipeline", "network"], "none fits: wanted one input of type BYTES"),
    (["--pictures", "EMPTY"], "has no pictures"),
])
def test_says_what_is_wrong(proa, repository, pictures, tmp_path, flags, complaint):
    flags = [str(tmp_path) if flag == "EMPTY" else flag for flag in flags]
    arguments = {"--repository": repository, "--pipeline": "embed", "--pictures": pictures,
                 "--into": tmp_path / "photos", **dict([flags])}
    run = subprocess.run([proa, "index", "build", *map(str, sum(arguments.items(), ()))],
                         capture_output=True, text=True, timeout=60)
    assert run.returncode == 1
    assert complaint in run.stderr


def test_the_page_shows_the_nearest_pictures_in_a_browser(serve, repository, pictures, tmp_path):
    server = serve(repository)
    wanted = sorted(pictures.glob("*_*.png"))[3].name
    with example.serve_page(server.http, pictures) as port:
        browser = subprocess.run(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
             f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=10000", "--dump-dom",
             f"http://127.0.0.1:{port}/?picture={wanted}"],
            capture_output=True, text=True, timeout=120)
    assert 'data-searched="1"' in browser.stdout, browser.stderr
    items = re.findall(r'<li><img src="/pictures/([^"]+)" alt="[^"]+"><b>([\d.]+)</b>', browser.stdout)
    assert len(items) == example.NEIGHBOURS
    assert items[0] == (wanted, "1.000")
    assert "CONSOLE" not in browser.stderr, browser.stderr


def test_models_of_the_example_are_written_once(repository):
    network = repository / "network" / "1" / "model.onnx"
    before = network.stat().st_mtime_ns
    search_models.write_models(repository, example.NEIGHBOURS)
    assert network.stat().st_mtime_ns == before
