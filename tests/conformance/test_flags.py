"""Every start flag that the real tritonserver lists is known to proa's command line."""
import os
import re
import subprocess

import pytest

from conftest import BINARY, ROOT
from peers.tritonserver import FOLDER

SETUP = ROOT / "benchmarks" / "peers" / "setup_tritonserver.sh"
# As it stands at the beginning of a line of --help.
FLAG = re.compile(r"^\s+(--[a-z0-9-]+)", re.MULTILINE)


@pytest.fixture(scope="module")
def peer_flags():
    subprocess.run([SETUP], check=True)
    run = subprocess.run([FOLDER / "tritonserver", "--help"], capture_output=True, text=True,
                         env=os.environ | {"LD_LIBRARY_PATH": str(FOLDER / "lib")})
    return sorted(set(FLAG.findall(run.stdout + run.stderr)))


def test_none_is_unknown(peer_flags, pytestconfig, tmp_path):
    assert len(peer_flags) > 80
    binary = pytestconfig.getoption("--proa")
    unknown = []
    for flag in peer_flags:
        run = subprocess.run([binary, "serve", flag, "x"], capture_output=True, text=True,
                             timeout=20, cwd=tmp_path)  # --log-file makes a file
        # "The following arguments were not expected: x --flag"
        if flag in run.stderr.partition("not expected: ")[2].split():
            unknown.append(flag)
    assert not unknown, f"not known to {BINARY.name}: {unknown}"
