"""A bare Debian in a folder, to install the package and to carry out the Dockerfile in. Needs root."""
import os
import pathlib
import shutil
import subprocess

from proa_server import ROOT

# Made once a checkout: fetching Debian's essential packages takes a minute.
BASE = ROOT / "build" / "test-chroot" / "bookworm.tar"


def base():
    """A tarball of Debian 12's essential packages."""
    if not BASE.exists():
        BASE.parent.mkdir(parents=True, exist_ok=True)
        part = BASE.with_suffix(".part.tar")
        subprocess.run(["mmdebstrap", "--quiet", "--variant=essential", "bookworm", part], check=True)
        part.rename(BASE)
    return BASE


class Chroot:
    """The root file system in `folder`; use as a context manager, which removes it."""

    def __init__(self, folder):
        assert os.geteuid() == 0, "chroot needs root: run the tests as root"
        self.root = pathlib.Path(folder)

    def __enter__(self):
        self.root.mkdir()
        subprocess.run(["tar", "-C", self.root, "-xf", base()], check=True)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root)

    def command(self, *command, user=None):
        """A command line that runs `command` inside, as that numeric user with no privileges at all,
        or as root; /proc is mounted for it alone."""
        as_user = (["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
                    "--no-new-privs", "--bounding-set=-all"] if user else [])
        script = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
        return ["unshare", "--mount", "--propagation=private", "sh", "-c", script, str(self.root),
                *as_user, *map(str, command)]

    def run(self, *command, user=None, check=True):
        done = subprocess.run(self.command(*command, user=user), capture_output=True, text=True,
                              timeout=300, stdin=subprocess.DEVNULL,
                              env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                   "DEBIAN_FRONTEND": "noninteractive"})
        assert not check or done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done

    def path(self, inside):
        return self.root / str(inside).lstrip("/")
