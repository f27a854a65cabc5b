"""Poll mode: models follow their files, through swapped links and half-written folders."""
import os
import shutil

import numpy as np
import pytest
from clients import connect, infer
from repositories import onnx_add, replace, write_add
from waiting import wait_until

ONE = np.ones((1, 4), np.float32)
POLL = ("--model-control-mode=poll", "--repository-poll-secs=1")


def states(client):
    return {(m["name"], m.get("version", "")): (m["state"], m.get("reason", ""))
            for m in client.get_model_repository_index()}


def added(api, client, model="m"):
    return float(infer(api, client, model, ONE)[0, 0]) - 1


def test_models_and_versions_come_change_and_go(serve, tmp_path):
    write_add(tmp_path, "m", 10, config="version_policy { all {} }\n")
    server = serve(tmp_path, *POLL)
    with connect(server, "http") as (api, client):
        assert added(api, client) == 10
        write_add(tmp_path, "m", 20, version=2)
        write_add(tmp_path, "n", 5)
        wait_until(lambda: client.is_model_ready("m", "2") and client.is_model_ready("n"),
                   "new versions and models are loaded")
        assert added(api, client) == 20
        write_add(tmp_path, "m", 21, version=2)
        wait_until(lambda: added(api, client) == 21, "the changed file is served")
        shutil.rmtree(tmp_path / "m" / "2")
        shutil.rmtree(tmp_path / "n")
        wait_until(lambda: added(api, client) == 10, "version 1 serves again")
        wait_until(lambda: ("n", "1") not in states(client), "the model is gone")
        assert client.is_server_ready()


def flip(link, target):
    """Points the link to another folder in one step, as kubelet and git-sync do."""
    beside = link.with_name(".next")
    os.symlink(target, beside)
    os.rename(beside, link)


@pytest.mark.parametrize("layout", ["git-sync", "ConfigMap"])
def test_swapped_links_are_seen(serve, tmp_path, layout):
    """git-sync: the repository is a link to a worktree. ConfigMap: each file is a link through
    ..data, which is swapped."""
    for number in (1, 2, 3):
        tree = tmp_path / "trees" / f"tree{number}"
        write_add(tree, "m", number * 10)
    repository = tmp_path / "repository"
    if layout == "git-sync":
        flip(repository, "trees/tree1")
        swapped, prefix = repository, "trees/"
    else:
        (repository / "m" / "1").mkdir(parents=True)
        for number in (1, 2, 3):
            shutil.copytree(tmp_path / "trees" / f"tree{number}" / "m" / "1",
                            repository / "m" / "1" / f"..tree{number}")
        swapped, prefix = repository / "m" / "1" / "..data", "..tree"
        flip(swapped, "..tree1")
        os.symlink("..data/model.onnx", repository / "m" / "1" / "model.onnx")
    server = serve(repository, *POLL)
    with connect(server, "grpc") as (api, client):
        assert added(api, client) == 10
        for number in (2, 3):
            flip(swapped, f"{prefix}tree{number}" if layout == "git-sync" else f"{prefix}{number}")
            wait_until(lambda number=number: added(api, client) == number * 10,
                       "the swapped files are served")


def test_half_written_folders_are_left_alone(serve, tmp_path):
    """A file that grows between any two looks is not read; once whole it is served."""
    write_add(tmp_path, "m", 10)
    server = serve(tmp_path, *POLL)
    model = onnx_add(20, note="n" * 1500)
    target = tmp_path / "m" / "2" / "model.onnx"
    target.parent.mkdir()
    with connect(server, "http") as (api, client), open(target, "wb") as out:
        written = 0

        def write_more():
            nonlocal written
            out.write(model[written:written + 1])
            out.flush()
            written += 1
            assert added(api, client) == 10
            return written == len(model)

        wait_until(write_more, "the file is whole", limit_s=60)
        wait_until(lambda: added(api, client) == 20, "the whole file is served")
        assert "model 'm': version 2:" not in server.log()  # no load of it failed


def test_a_failed_reload_keeps_the_old_version_and_says_so(serve, tmp_path):
    folder = write_add(tmp_path, "m", 10)
    server = serve(tmp_path, *POLL)
    with connect(server, "http") as (api, client):
        replace(folder / "config.pbtxt", b"max_bach_size: 8\n")
        wait_until(lambda: states(client)[("m", "1")][1], "the reason is in the index")
        state, reason = states(client)[("m", "1")]
        assert state == "READY"
        assert "serves on, although the last load failed" in reason and "max_batch_size" in reason
        assert added(api, client) == 10
        replace(folder / "config.pbtxt", b"max_batch_size: 8\n")
        wait_until(lambda: states(client)[("m", "1")] == ("READY", ""), "the mended file is loaded")
        assert client.get_model_config("m")["max_batch_size"] == 8


def test_links_that_lead_out_are_refused_and_change_nothing(serve, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    write_add(secret, "x", 99)
    repository = tmp_path / "repository"
    write_add(repository, "m", 10)
    server = serve(repository, *POLL)
    with connect(server, "http") as (api, client):
        os.symlink(secret / "x" / "1", repository / "m" / "2")
        wait_until(lambda: states(client)[("m", "1")][1], "the reason is in the index")
        assert "leads out of the model repository" in states(client)[("m", "1")][1]
        assert str(secret) not in states(client)[("m", "1")][1]
        assert added(api, client) == 10
