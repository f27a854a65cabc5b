#!/usr/bin/env python3
"""dist.py install PREFIX | dist.py tarball: the release build with every library that a bare Linux of
glibc 2.36 lacks: bin/proa, lib/proa/, share/doc/proa/ (README, docs/, licences), share/proa/models/
(an example), share/proa/python/ (the side of backend python that the machine's python3 runs; no
Python itself).
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import sbom

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"

# OpenVINO's parts that proa uses: runtime, CPU plugin, readers. Its libtbbbind and libhwloc stay out:
# beside mimalloc they abort the process, and proa sets its threads itself.
OPENVINO_PARTS = ("libopenvino.so.*", "libopenvino_intel_cpu_plugin.so",
                  "libopenvino_ir_frontend.so.*", "libopenvino_onnx_frontend.so.*",
                  "libopenvino_paddle_frontend.so.*", "libopenvino_tensorflow_frontend.so.*",
                  "libopenvino_tensorflow_lite_frontend.so.*", "libtbb.so.*")
# Packages whose code is inside bin/proa itself, because it is all in headers.
HEADER_PACKAGES = ("libboost1.81-dev", "libcli11-dev")
# Parts of glibc: these come from the system that runs proa.
GLIBC = re.compile(r"(ld-linux-x86-64|lib(c|m|mvec|dl|rt|pthread|resolv|anl|util))\.so\.\d+$")
LINE = re.compile(r"^\s*(\S+) => (\S+)")


def say(step):
    """One line a step: some take a minute."""
    print(f"dist: {step} ...", flush=True)


def openvino_folder():
    (folder,) = (ROOT / ".venv" / "lib").glob("python3*/site-packages/openvino")
    return folder.resolve()


def openvino_metadata():
    (folder,) = openvino_folder().parent.glob("openvino-*.dist-info")
    return folder


def system_libraries(binary):
    """{name: path} of the libraries outside OpenVINO and glibc that the binary loads at its start."""
    found = {}
    text = subprocess.run(["ldd", binary], capture_output=True, text=True, check=True).stdout
    for name, path in (match.groups() for match in map(LINE.match, text.splitlines()) if match):
        if path == "not":
            sys.exit(f"dist: {binary} needs {name}, which is not found")
        inside_openvino = openvino_folder() in pathlib.Path(path).resolve().parents
        if not inside_openvino and not GLIBC.match(name):
            found[name] = pathlib.Path(path)
    return found


def copy_libraries(binary, target):
    """Fills lib/; the Debian libraries that went in."""
    target.mkdir(parents=True)
    for pattern in OPENVINO_PARTS:
        (part,) = (openvino_folder() / "libs").glob(pattern)
        shutil.copy(part, target / part.name)
    libraries = system_libraries(binary)
    for name, path in libraries.items():
        shutil.copy(path.resolve(), target / name)
    return libraries


def owning_package(path):
    """The Debian package that installed the file, or ""."""
    # A package from before /lib became a link to /usr/lib lists its files there.
    names = [str(path), str(path).removeprefix("/usr")]
    answer = subprocess.run(["dpkg-query", "-S", *names], capture_output=True, text=True)
    return answer.stdout.split(":", 1)[0]


def packages_of(libraries):
    """{Debian package: the files of the installation that hold its code}."""
    packages = {package: ["bin/proa"] for package in HEADER_PACKAGES}
    for name, path in libraries.items():
        packages.setdefault(owning_package(path.resolve()), []).append(f"lib/proa/{name}")
    return packages


def copy_licences(packages, target):
    """The licence of each package whose code went in."""
    target.mkdir(parents=True)
    shutil.copytree(openvino_metadata() / "licenses", target / "openvino")
    for package, files in packages.items():
        notice = pathlib.Path("/usr/share/doc", package, "copyright")
        if not package or not notice.is_file():
            sys.exit(f"dist: no licence found for {files}")
        (target / package).mkdir()
        shutil.copy(notice, target / package / "copyright")


def bill_of_materials(packages, libraries):
    """The text of sbom.cdx.json; libraries: the folder lib/proa."""
    ours = {file for files in packages.values() for file in files}
    rest = {f"lib/proa/{path.name}" for path in libraries.iterdir()} - ours
    openvino = openvino_metadata().name.removesuffix(".dist-info").removeprefix("openvino-")
    return sbom.document(version(), [
        sbom.wheel_component("openvino", openvino, rest),
        *(sbom.debian_component(package, files) for package, files in packages.items())])


def copy_documents(target):
    """The pages of docs/, without the records of decisions."""
    target.mkdir(parents=True)
    for page in (ROOT / "docs").glob("*.md"):
        shutil.copy(page, target / page.name)


def copy_worker(target):
    """What backend python starts with the machine's python3."""
    target.mkdir(parents=True)
    for file in (ROOT / "src" / "backends" / "python" / "worker").glob("*.py"):
        shutil.copy(file, target / file.name)


def install(prefix):
    """Lays everything out under prefix."""
    say(f"installing bin/proa under {prefix}")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix, "--strip"], check=True,
                   stdout=subprocess.DEVNULL)
    documents = prefix / "share" / "doc" / "proa"
    for replaced in (prefix / "lib" / "proa", documents, prefix / "share" / "proa"):
        shutil.rmtree(replaced, ignore_errors=True)
    say("copying OpenVINO and the libraries that proa needs")
    libraries = copy_libraries(BUILD / "bin" / "proa", prefix / "lib" / "proa")
    say("copying licences, documents and the example")
    packages = packages_of(libraries)
    copy_licences(packages, documents / "licences")
    (documents / "sbom.cdx.json").write_text(bill_of_materials(packages, prefix / "lib" / "proa"))
    shutil.copy(ROOT / "tools" / "dist_readme.md", documents / "README.md")
    shutil.copy(ROOT / "CHANGELOG.md", documents / "CHANGELOG.md")
    copy_documents(documents / "docs")
    shutil.copytree(ROOT / "examples" / "models", prefix / "share" / "proa" / "models")
    copy_worker(prefix / "share" / "proa" / "python")


def version():
    cache = (BUILD / "CMakeCache.txt").read_text()
    return re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.+)$", cache, re.MULTILINE).group(1)


def tarball_name():
    """That of the folder in the tarball, and with .tar.xz of the tarball."""
    return f"proa-{version()}-linux-x86_64"


def tarball():
    """dist/proa-VERSION-linux-x86_64.tar.xz, the same bytes for the same files."""
    name = tarball_name()
    output = ROOT / "dist" / f"{name}.tar.xz"
    output.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        install(pathlib.Path(folder) / name)
        say("packing, which takes a minute or more")
        subprocess.run(["tar", "--sort=name", "--mtime=@0", "--owner=0", "--group=0",
                        "--numeric-owner", "--use-compress-program=xz -T0", "-cf", output,
                        "-C", folder, name], check=True)
    return output


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("install").add_argument("prefix", type=pathlib.Path)
    commands.add_parser("tarball")
    options = parser.parse_args()
    if options.command == "install":
        prefix = options.prefix.absolute()
        install(prefix)
        print(f"installed {prefix / 'bin' / 'proa'}")
    else:
        output = tarball()
        print(f"{output.relative_to(ROOT)}: {output.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
