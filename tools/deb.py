#!/usr/bin/env python3
"""deb.py [--output FOLDER] [--fast]: dist/proa_VERSION_amd64.deb from the release build: the files of
dist.py under /usr, the service proa.service, its settings in /etc/default/proa, an empty model
repository. --fast packs quickly instead of small.
"""
import argparse
import email.utils
import gzip
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import dist

ROOT = dist.ROOT
SOURCES = ROOT / "deploy" / "debian"
SCRIPTS = ("postinst", "prerm", "postrm")
CONFIGURATION = "/etc/default/proa"


def place(source, target, mode=0o644):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    target.chmod(mode)


def place_packed(text, target):
    """A gzip file with the same bytes for the same text."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def commit_time():
    """When the last commit was made, in seconds since the epoch: the time of all files."""
    return int(subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True,
                              text=True, check=True).stdout)


def changelog():
    """Debian's form of CHANGELOG.md: one entry, which points there."""
    date = email.utils.formatdate(commit_time())
    return (f"proa ({dist.version()}) unstable; urgency=medium\n\n"
            "  * See /usr/share/doc/proa/CHANGELOG.md.\n\n"
            f" -- {control_field('Maintainer')}  {date}\n")


def control_field(name):
    for line in (SOURCES / "control.in").read_text().splitlines():
        if line.startswith(f"{name}: "):
            return line.removeprefix(f"{name}: ")
    sys.exit(f"deb: no {name} in {SOURCES / 'control.in'}")


def lay_out(root):
    """Everything that the package installs."""
    dist.install(root / "usr")
    documents = root / "usr" / "share" / "doc" / "proa"
    place(SOURCES / "copyright", documents / "copyright")
    place_packed(changelog(), documents / "changelog.gz")
    place_packed((SOURCES / "proa.1").read_text(), root / "usr/share/man/man1/proa.1.gz")
    place(SOURCES / "lintian-overrides", root / "usr/share/lintian/overrides/proa")
    place(ROOT / "deploy/systemd/proa.service", root / "lib/systemd/system/proa.service")
    place(ROOT / "deploy/systemd/proa.default", root / CONFIGURATION[1:])
    (root / "var/lib/proa/models").mkdir(parents=True)
    for path in root.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
        elif not path.is_symlink():
            # Programs and libraries; Debian wants libraries without the executable bit.
            path.chmod(0o755 if path.parent.name == "bin" else 0o644)


def add_control(root):
    """DEBIAN/: what dpkg reads."""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    control = root / "DEBIAN"
    control.mkdir()
    size = sum(path.stat().st_size for path in files) // 1024
    text = (SOURCES / "control.in").read_text()
    (control / "control").write_text(text.replace("@VERSION@", dist.version())
                                     .replace("@SIZE@", str(size)))
    (control / "conffiles").write_text(CONFIGURATION + "\n")
    (control / "md5sums").write_text("".join(
        f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n"
        for path in files if path != root / CONFIGURATION[1:]))
    for script in SCRIPTS:
        place(SOURCES / script, control / script, 0o755)


def build(output, fast=False):
    """The package's path."""
    package = output / f"proa_{dist.version()}_amd64.deb"
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "root"
        root.mkdir()
        root.chmod(0o755)
        lay_out(root)
        add_control(root)
        dist.say("packing the .deb")
        packing = ["-Zgzip", "-z1"] if fast else ["-Zxz"]
        subprocess.run(["dpkg-deb", "--root-owner-group", *packing, "--build", root, package],
                       check=True, stdout=subprocess.DEVNULL,
                       env=os.environ | {"SOURCE_DATE_EPOCH": str(commit_time())})
    return package


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "dist")
    parser.add_argument("--fast", action="store_true")
    options = parser.parse_args()
    package = build(options.output, options.fast)
    print(f"{package}: {package.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
