"""The .deb: judged by lintian and systemd, installed, used and removed in a bare Debian."""
import os
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest
from chroot import Chroot
from clients import connect, infer
from proa_server import ROOT, ProaServer
from tiny_models import write_scaler

UNIT = "lib/systemd/system/proa.service"
MODELS = "/var/lib/proa/models"
NOBODY = 65532


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deb")
    subprocess.run([sys.executable, ROOT / "tools" / "deb.py", "--fast", "--output", folder], check=True)
    (found,) = folder.glob("*.deb")
    return found


@pytest.fixture(scope="module")
def unpacked(package, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
    return folder


@pytest.fixture(scope="module")
def chroot(package, tmp_path_factory):
    """A bare Debian with the package installed."""
    with Chroot(tmp_path_factory.mktemp("chroot") / "root") as debian:
        shutil.copy(package, debian.path("/proa.deb"))
        debian.run("dpkg", "--install", "/proa.deb")
        yield debian


def test_lintian_has_no_errors_and_no_warnings(package):
    check = subprocess.run(["lintian", "--fail-on", "error,warning", "--allow-root", package],
                           capture_output=True, text=True, timeout=300)
    assert check.returncode == 0, check.stdout + check.stderr


def settings(text):
    """{name: value} of a file of assignments."""
    return dict(line.split("=", 1) for line in text.splitlines() if re.match(r"\w+=", line))


def test_systemd_accepts_the_unit(unpacked, tmp_path):
    root = tmp_path / "root"
    shutil.copytree(unpacked, root, symlinks=True)
    # The units that ours refers to.
    shutil.copytree("/lib/systemd/system", root / "lib/systemd/system", symlinks=True,
                    dirs_exist_ok=True, ignore=lambda folder, names: {"proa.service"} & set(names))
    check = subprocess.run(["systemd-analyze", "--man=no", f"--root={root}", "verify", "proa.service"],
                           capture_output=True, text=True, timeout=60)
    assert (check.returncode, check.stdout + check.stderr) == (0, "")


def test_the_unit_exposes_as_little_as_the_documents_say(unpacked):
    score = re.search(r"exposure score is \*\*([\d.]+)\*\*", (ROOT / "docs/deploy.md").read_text())[1]
    check = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager",
                            f"--root={unpacked}", "proa.service"],
                           capture_output=True, text=True, timeout=60)
    assert f"Overall exposure level for proa.service: {score} OK" in check.stdout


def test_third_party_licences_are_inside(unpacked):
    documents = unpacked / "usr/share/doc/proa"
    assert (documents / "copyright").is_file()
    folders = {path.name for path in (documents / "licences").iterdir()}
    assert {"openvino", "libboost1.81-dev", "libcli11-dev", "libnghttp2-14", "libprotobuf32",
            "libsimdjson14", "libmimalloc2.0"} <= folders
    assert all(any(path.is_file() and path.stat().st_size > 500 for path in folder.rglob("*"))
               for folder in (documents / "licences").iterdir())


def unit_command(chroot):
    """The unit's ExecStart with its settings filled in, as systemd does it."""
    (line,) = re.findall(r"^ExecStart=(.*)$", chroot.path(UNIT).read_text(), re.MULTILINE)
    values = {name: value.strip('"') for name, value in
              settings(chroot.path("/etc/default/proa").read_text()).items()}
    words = re.sub(r"\$\{?(\w+)\}?", lambda match: values[match[1]], line)
    return shlex.split(words)


def test_the_installed_service_serves(chroot):
    shutil.copytree(chroot.path("/usr/share/proa/models/identity"), chroot.path(MODELS) / "identity")
    write_scaler(chroot.path(MODELS) / "scaler", 2.0)
    program, command, flag, models, *flags = unit_command(chroot)
    assert (command, flag, models) == ("serve", "--model-repository", MODELS)
    with ProaServer(models, *flags, command=tuple(chroot.command(program, user=NOBODY)),
                    environment={"PATH": "/usr/bin:/usr/sbin:/bin:/sbin"}) as server:
        values = np.arange(4, dtype=np.float32).reshape(1, 4)
        for protocol in ("http", "grpc"):
            with connect(server, protocol) as (api, client):
                np.testing.assert_array_equal(infer(api, client, "scaler", values), 2 * values)
        assert os.stat(f"/proc/{server.pid}").st_uid == NOBODY
        for arguments, status in (((), 0), (("--live",), 0), (("--model", "scaler"), 0),
                                  (("--model", "nobody"), 1)):
            done = chroot.run("proa", "health", "--url", server.http, *arguments, check=False)
            assert done.returncode == status, done.stderr


def test_removal_keeps_settings_and_models_and_purging_keeps_models(chroot, package):
    chroot.path(MODELS).joinpath("mine").mkdir()
    chroot.path("/etc/default/proa").write_text("PROA_MODELS=/elsewhere\nPROA_FLAGS=\n")
    chroot.run("dpkg", "--install", "/proa.deb")  # as an upgrade
    assert "elsewhere" in chroot.path("/etc/default/proa").read_text()
    chroot.run("dpkg", "--remove", "proa")
    for gone in ("/usr/bin/proa", "/usr/lib/proa", "/usr/share/doc/proa", UNIT):
        assert not chroot.path(gone).exists(), gone
    assert chroot.path("/etc/default/proa").exists()
    chroot.run("dpkg", "--purge", "proa")
    assert not chroot.path("/etc/default/proa").exists()
    assert chroot.path(MODELS).joinpath("mine").is_dir()
    assert "proa" not in chroot.run("dpkg", "--list").stdout
