"""What `make install` and `make dist` lay out: it serves a trained model with nothing but glibc from
outside."""
import json
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import repository
from clients import connect
from proa_server import ROOT, ProaServer

GLIBC = re.compile(r"/(ld-linux-x86-64|lib(c|m|mvec|dl|rt|pthread|resolv))[.-]")
BARE_ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """An installation outside the checkout."""
    folder = tmp_path_factory.mktemp("installed") / "proa"
    subprocess.run([sys.executable, ROOT / "tools" / "dist.py", "install", folder], check=True)
    return folder


def mapped_libraries(pid):
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
    return {path for path in re.findall(r"(/\S+\.so[.\d]*)$", maps, re.MULTILINE)}


def test_it_serves_a_trained_model_with_its_own_libraries(prefix, tmp_path):
    models, _ = repository.prepare(tmp_path / "demo")
    with ProaServer(models, command=(str(prefix / "bin" / "proa"),),
                    environment=BARE_ENVIRONMENT) as server:
        with connect(server, "http") as (api, client):
            image = api.InferInput("input", [1, 3, 224, 224], "FP32")
            image.set_data_from_numpy(np.zeros((1, 3, 224, 224), np.float32))
            probabilities = client.infer(repository.MODEL, [image]).as_numpy("probabilities")
        libraries = mapped_libraries(server.pid)
    assert probabilities.sum() == pytest.approx(1, abs=1e-4)
    assert any("libopenvino_intel_cpu_plugin" in path for path in libraries)
    outside = {path for path in libraries if not path.startswith(str(prefix))}
    assert {path for path in outside if not GLIBC.search(path)} == set()


def test_the_example_repository_serves(prefix):
    with ProaServer(prefix / "share" / "proa" / "models", command=(str(prefix / "bin" / "proa"),),
                    environment=BARE_ENVIRONMENT) as server:
        assert server.get("/v2/models/identity/ready")[0] == 200


def test_its_readme_speaks_of_what_is_installed(prefix):
    documents = prefix / "share" / "doc" / "proa"
    readme = (documents / "README.md").read_text()
    assert "make " not in readme and "build/release" not in readme
    for name in re.findall(r"`((?:docs|bin|share|lib)/[\w./-]+|CHANGELOG.md|licences/)", readme):
        assert (documents / name).exists() or (prefix / name).exists(), name
    example = (prefix / "share" / "proa" / "models" / "identity" / "config.pbtxt").read_text()
    assert "examples/models" not in example


def test_the_bill_of_materials_names_every_library(prefix):
    bill = json.loads((prefix / "share" / "doc" / "proa" / "sbom.cdx.json").read_text())
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "proa")
    files = [entry["value"] for each in bill["components"] for entry in each["properties"]]
    packed = {f"lib/proa/{path.name}" for path in (prefix / "lib" / "proa").iterdir()}
    assert set(files) == packed | {"bin/proa"}
    assert len(files) - files.count("bin/proa") == len(packed)  # each in one component
    assert all(re.fullmatch(r"pkg:(deb/debian|pypi)/[\w.+-]+@[\w.:+~-]+(\?arch=amd64)?", each["purl"])
               for each in bill["components"])


def test_neither_python_nor_tests_are_inside(prefix):
    """But what the machine's own python3 runs for models that are written in it."""
    worker = prefix / "share" / "proa" / "python"
    assert (worker / "proa_worker.py").is_file()
    names = [path.name for path in prefix.rglob("*")
             if worker not in (path, *path.parents) and path.name != "backend-python.md"]
    assert [name for name in names if re.search(r"python|\.py$|_test$|gtest", name)] == []
    assert (prefix / "share" / "doc" / "proa" / "licences" / "openvino" / "LICENSE").is_file()
