"""The executable itself: what it links."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROA = ROOT / "build" / "release" / "bin" / "proa"


def linked_libraries():
    return subprocess.run(["ldd", PROA], capture_output=True, text=True, check=True).stdout


def test_every_library_is_found():
    assert "not found" not in linked_libraries()


def test_no_python_is_linked():
    assert "libpython" not in linked_libraries()
