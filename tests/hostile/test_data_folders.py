"""CIFAR-10H from folders and addresses that hold something else: no pickle is opened whose md5 is wrong."""

import hashlib
import io
import os
import pickle
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from hardlabels.errors import InputError
from hardlabels.sources import download
from hardlabels.sources.download import Download, provide

IMAGES, META, VOTES = "cifar-10-batches-py/test_batch", "cifar-10-batches-py/batches.meta", "cifar-10h/cifar10h-counts.npy"
NO_ADDRESS = ["data.url=", "data.mirrors=[]", "data.votes_url=", "data.votes_mirrors=[]"]


class Bomb:
    """``os.system('touch canary')`` as soon as it is unpickled."""

    def __reduce__(self):
        return os.system, ("touch canary",)


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def sparse(path):
    """Two gigabytes that take no room."""
    with path.open("wb") as file:
        file.truncate(2 << 30)


# name: (what is in the data folder, overrides, what the message must say)
CASES = {
    "images: a pickle that runs code": ({IMAGES: pickle.dumps(Bomb())}, [], [IMAGES, "expected md5 40351d58", "found"]),
    "images: an old pickle that runs code": ({IMAGES: b"cos\nsystem\n(S'touch canary'\ntR."}, [], [IMAGES, "expected md5"]),
    "images: truncated": ({IMAGES: pickle.dumps({b"labels": [0] * 1000})[:-100]}, [], [IMAGES, "expected md5", "bytes"]),
    "images: empty": ({IMAGES: b""}, [], [IMAGES, "d41d8cd98f00b204e9800998ecf8427e", "(0 bytes)"]),
    "images: a web page": ({IMAGES: b"<html>404</html>"}, [], [IMAGES, "expected md5", "(16 bytes)"]),
    "images: without end": ({IMAGES: sparse}, [], [IMAGES, "at most 1,073,741,824 bytes", "found 2,147,483,648"]),
    "images: a folder": ({f"{IMAGES}/x": b""}, [], [IMAGES, "expected a file", "a folder"]),
    "images: a pipe": ({IMAGES: os.mkfifo}, [], [IMAGES, "expected a file", "pipe"]),
    "names: a pickle that runs code": ({META: pickle.dumps(Bomb())}, [], [META, "expected md5 5ff9c542"]),
    "votes: pickled code": ({VOTES: npy(np.array([[Bomb()]], dtype=object))}, [], [VOTES, "expected md5 f1284b6f"]),
    "votes: of other people": ({VOTES: npy(np.ones((10_000, 10)))}, [], [VOTES, "expected md5", "(800,128 bytes)"]),
    "root: a file": ({".": b""}, [], ["not found and could not be downloaded", IMAGES, "data.root=FOLDER"]),
    "root: a number": ({}, ["data.root=5"], ["data.root must be a text or null", "got 5"]),
    "root: an impossible name": ({}, ["data.root=" + "x" * 300], ["cannot read xxx", "File name too long"]),
    "url: a number": ({}, ["data.url=5"], ["data.url must be a text", "got 5"]),
    "url: no address": ({}, ["data.url=nowhere"], ["nowhere: unknown url type", IMAGES]),
    "url: a device without end": ({}, ["data.url=file:///dev/zero"], ["file:///dev/zero: served more than", IMAGES]),
    "mirrors: one text": ({}, ["data.mirrors=http://x/y"], ["data.mirrors must be a list of texts", "'http://x/y'"]),
    "mirrors: numbers": ({}, ["data.mirrors=[1,2]"], ["data.mirrors must be a list of texts", "[1, 2]"]),
    "timeout: a word": ({}, ["data.timeout=soon"], ["data.timeout must be a number", "'soon'"]),
    "timeout: NaN": ({}, ["data.timeout=nan"], ["data.timeout must be a number", "nan"]),
    "timeout: infinite": ({}, ["data.timeout=inf"], ["timeout must be", "inf"]),
    "timeout: negative": ({}, ["data.timeout=-1"], ["timeout must be", "-1"]),
    "a setting that is none": ({}, ["+data.rot=x"], ["data.rot is no setting of cifar10h", "root"]),
    "served: a web page": ({}, ["/page"], ["/page: served other content", "expected md5 c58f3010", IMAGES]),
    "served: a tar of paths that climb": ({}, ["/tar"], ["/tar: served other content", "expected md5 c58f3010", IMAGES]),
    "served: half of it": ({}, ["/half"], ["/half: ", IMAGES]),
    "served: bytes without end": ({}, ["/endless"], ["/endless: served more than", IMAGES]),
    "served: no number of bytes": ({}, ["/length"], ["/length: ", IMAGES]),
}


def climbing_tar():
    """A bomb of names: up the tree, absolute, through links, and the wanted name as a link to a secret."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in ("../../canary", "/tmp/hostile-canary", f"{IMAGES}/../../canary"):
            info = tarfile.TarInfo(name)
            info.size = 4
            archive.addfile(info, io.BytesIO(b"evil"))
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
            info = tarfile.TarInfo(IMAGES)
            info.type, info.linkname = kind, "../../../../etc/passwd"
            archive.addfile(info)
    return buffer.getvalue()


@pytest.fixture
def address():
    """A server that serves what nobody wants."""
    pages = {"/page": b"<html><script>alert(1)</script></html>", "/tar": climbing_tar()}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            content = pages.get(self.path, bytes(1 << 16))
            length = {"/half": 2 * len(content), "/endless": 1 << 40, "/length": "\x1b[2Jmany"}.get(self.path, len(content))
            self.send_header("Content-Length", str(length))
            self.end_headers()
            try:
                for _ in range(64 if self.path == "/endless" else 1):
                    self.wfile.write(content)
            except ConnectionError:
                """The other side has had enough."""

        def log_message(self, *_):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def fill(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if callable(content):
            content(path)
        else:
            path.write_bytes(content)


@pytest.mark.parametrize("case", CASES)
def test_hostile_data_is_one_error_and_code_2(case, tmp_path, command, check_refused, request, monkeypatch):
    files, overrides, parts = CASES[case]
    fill(tmp_path / "data", files)
    overrides = [f"data.url={request.getfixturevalue('address')}{word}" if word.startswith("/") else word for word in overrides]
    if "without end" in case and not files:
        monkeypatch.setattr(download, "MAX_BYTES", 1 << 20)
    listed = "not found" in parts[0] or case.startswith(
        ("served", "url: no", "url: a dev")
    )  # what is missing, where it was sought
    words = ["data=cifar10h", "recipe=smoke", *NO_ADDRESS, "data.root=data", *overrides]
    check_refused(lambda: command(*words), parts, lines=12 if listed else 1)


def test_members_of_an_archive_never_choose_where_they_go(tmp_path, monkeypatch):
    """Even where the archive's md5 is right."""
    content = climbing_tar()
    (tmp_path / "climb.tar.gz").write_bytes(content)
    root = tmp_path / "deep" / "root"
    wanted = Download({IMAGES: "0" * 32}, ((tmp_path / "climb.tar.gz").as_uri(),), archive_md5=hashlib.md5(content).hexdigest())
    with pytest.raises(InputError, match="the archive has no file"):
        provide(root, [wanted])
    assert [path.name for path in tmp_path.rglob("*")] == ["climb.tar.gz"]


@pytest.mark.parametrize(
    ("names", "part"),
    [
        (("<img src=x onerror=alert(1)>", "dog"), "without < and >"),
        (("cat", "\x1b]0;owned\x07"), "printable"),
        (("cat", "cat"), "once"),
        (("", "dog"), "not empty"),
        ((7, "dog"), "not empty"),
    ],
)
def test_a_source_has_plain_names(names, part):
    from hardlabels.sources import Source
    from hardlabels.votes import Votes

    images, votes = np.zeros((2, 4, 4, 1), dtype=np.uint8), Votes.from_counts([[2, 1], [0, 3]])
    with pytest.raises(InputError, match=part) as caught:
        Source("toy", images, votes, np.array([0, 1]), names, mean=(0.0,), std=(1.0,))
    assert str(caught.value).isprintable()
