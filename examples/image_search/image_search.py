#!/usr/bin/env python3
"""image_search.py [--pictures FOLDER] [--port N]: search in pictures by a picture.

Writes the models, makes an index of all pictures of the folder, serves both with `proa serve`, and a
page to drop pictures on. Without a folder it takes the emoji of Debian's fonts-noto-color-emoji.
"""
import argparse
import contextlib
import functools
import http.client
import http.server
import pathlib
import subprocess
import sys
import threading

import search_models

ROOT = search_models.ROOT
sys.path.insert(0, str(ROOT / "tools"))

import emoji  # noqa: E402
from proa_server import BINARY, ProaServer  # noqa: E402

PAGE = str(pathlib.Path(__file__).resolve().parent / "page")
NEIGHBOURS = 12


def build_index(pictures, repository, command=(str(BINARY),)):
    """A new version of the model `photos`; vectors of pictures that have not changed are kept."""
    search_models.write_models(repository, NEIGHBOURS)
    subprocess.run([*command, "index", "build", "--repository", str(repository), "--pipeline", "embed",
                    "--pictures", str(pictures), "--into", str(repository / "photos"),
                    "-k", str(NEIGHBOURS)], check=True)


class Handler(http.server.SimpleHTTPRequestHandler):
    """The page, the pictures below /pictures/, and everything below /v2/ from proa: what nginx does in
    production, so that the browser sees one server."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *arguments, proa, pictures, **options):
        self.proa, self.pictures = proa, pictures
        super().__init__(*arguments, directory=PAGE, **options)

    def translate_path(self, path):
        if path.startswith("/pictures/"):
            self.directory = self.pictures
            return super().translate_path(path.removeprefix("/pictures"))
        self.directory = PAGE
        return super().translate_path(path)

    def do_POST(self):
        if not self.path.startswith("/v2/"):
            return self.send_error(404)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        passed = {name: value for name, value in self.headers.items()
                  if name.lower() == "inference-header-content-length"}
        with contextlib.closing(http.client.HTTPConnection(self.proa)) as connection:
            connection.request("POST", self.path, body, passed)
            reply = connection.getresponse()
            content = reply.read()
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.getheader("Content-Type", "application/json"))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serve_page(proa, pictures, port=0):
    """Serves the page on loopback; gives its port."""
    handler = functools.partial(Handler, proa=proa, pictures=str(pictures))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=pathlib.Path, help="folder to search in")
    parser.add_argument("--port", type=int, default=8080, help="of the page")
    options = parser.parse_args()
    folder = ROOT / "build" / "examples" / "image_search"
    pictures = options.pictures
    if pictures is None:
        pictures = folder / "emoji"
        if not pictures.is_dir():
            print(f"{emoji.write_emoji(pictures)} emoji written to {pictures}")
    repository = folder / "models"
    build_index(pictures.resolve(), repository)
    with (ProaServer(repository) as server,
          serve_page(server.http, pictures.resolve(), options.port) as port):
        print(f"drop a picture on http://127.0.0.1:{port}/ ; Ctrl-C ends it")
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
