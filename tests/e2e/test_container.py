"""deploy/: the Dockerfile carried out step by step in a bare Debian, and the examples around it."""
import json
import re
import sys

import kubernetes_validate
import numpy as np
import pytest
import yaml
from chroot import Chroot
from clients import connect, infer
from proa_server import ROOT, ProaServer
from tiny_models import write_scaler

sys.path.insert(0, str(ROOT / "tools"))
import dist  # noqa: E402

DEPLOY = ROOT / "deploy"


def instructions():
    """[(NAME, rest)] of the Dockerfile."""
    text = (DEPLOY / "docker" / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [tuple(line.split(None, 1)) for line in lines]


def instruction(name):
    (rest,) = [rest for each, rest in instructions() if each == name]
    return rest


class Image:
    """What `docker build` would make, made in a chroot: the instructions that change files are carried
    out, those that describe the container are kept."""

    def __init__(self, chroot):
        self.chroot = chroot
        self.arguments = {}
        for name, rest in instructions():
            getattr(self, f"do_{name.lower()}", lambda rest: None)(rest)

    def do_arg(self, rest):
        name, value = rest.split("=")
        self.arguments[name] = value

    def do_add(self, rest):
        """An archive is unpacked; here its content is laid out, which saves packing it."""
        archive, target = rest.split()
        name = re.sub(r"\$\{(\w+)\}", lambda match: self.arguments[match[1]], archive)
        assert name == f"{dist.tarball_name()}.tar.xz"
        dist.install(self.chroot.path(target) / dist.tarball_name())

    def do_run(self, rest):
        assignments = "".join(f"{name}={value}; " for name, value in self.arguments.items())
        self.chroot.run("sh", "-euc", assignments + rest)


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    with Chroot(tmp_path_factory.mktemp("image") / "root") as chroot:
        yield Image(chroot)


def test_the_image_serves_as_somebody_without_rights(image, tmp_path):
    write_scaler(image.chroot.path("/models") / "scaler", 3.0)
    user, group = instruction("USER").split(":")
    assert int(user) > 0 and int(group) > 0
    entry = json.loads(instruction("ENTRYPOINT"))
    assert json.loads(instruction("CMD")) == ["serve", "--model-repository", "/models"]
    path = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
    with ProaServer("/models", command=tuple(image.chroot.command(*entry, user=user)),
                    environment=path) as server:
        with connect(server, "http") as (api, client):
            values = np.ones((1, 4), np.float32)
            np.testing.assert_array_equal(infer(api, client, "scaler", values), 3 * values)
        check = json.loads(re.search(r"CMD (.*)", instruction("HEALTHCHECK"))[1])
        image.chroot.run(*check, "--url", server.http, user=user)
    assert image.chroot.run(*check, user=user, check=False).returncode == 1


def test_what_the_image_says_of_itself():
    assert instruction("FROM").startswith("debian:12")  # glibc 2.36
    assert instruction("STOPSIGNAL") == "SIGTERM"
    assert instruction("EXPOSE").split() == ["8000", "8001", "8002"]


def documents(path):
    return list(yaml.safe_load_all(path.read_text()))


@pytest.mark.parametrize("document", documents(DEPLOY / "kubernetes" / "proa.yaml"),
                         ids=lambda document: document["kind"])
def test_kubernetes_would_accept_it(document):
    kubernetes_validate.validate(document, "1.37", strict=True)


def test_kubernetes_example_fits_the_image():
    deployment, service, _ = documents(DEPLOY / "kubernetes" / "proa.yaml")
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["args"] == json.loads(instruction("CMD"))
    assert container["image"].split(":")[1] == dict(
        [instruction("ARG").split("=")])["VERSION"] == dist.version()
    ports = {port["name"]: str(port["containerPort"]) for port in container["ports"]}
    assert list(ports.values()) == instruction("EXPOSE").split()
    assert {port["targetPort"] for port in service["spec"]["ports"]} == set(ports)
    assert f"{pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}" == instruction("USER")
    stop = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pod["terminationGracePeriodSeconds"] > stop + 30  # --exit-timeout-secs


def test_compose_refers_to_files_that_exist():
    (compose,) = documents(DEPLOY / "docker" / "compose.yml")
    for config in compose["configs"].values():
        if "file" in config:
            assert (DEPLOY / "docker" / config["file"]).is_file(), config
        else:
            assert yaml.safe_load(config["content"])
    build = compose["services"]["proa"]["build"]
    assert (DEPLOY / "docker" / build["context"] / build["dockerfile"]).resolve() == (
        DEPLOY / "docker" / "Dockerfile")
    used = {source["source"] for service in compose["services"].values()
            for source in service.get("configs", ())}
    assert used == set(compose["configs"])
