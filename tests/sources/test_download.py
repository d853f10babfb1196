"""Downloads against a real server on this machine: first address bad, mirror good; and never half a file."""

import hashlib
import io
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from platformdirs import user_cache_path

from hardlabels.errors import InputError
from hardlabels.sources import download
from hardlabels.sources.download import Download, data_root, provide

CONTENT = bytes(range(256)) * 4000  # 1 MB: several chunks


def md5(content: bytes) -> str:
    return hashlib.md5(content).hexdigest()


def tar_gz(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


class Server:
    """Serves ``files`` by path. Four paths misbehave: /404, /500, /truncated (sends half), /silent (never answers)."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.closing = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                if self.path == "/silent":
                    outer.closing.wait(30)
                elif self.path == "/truncated":
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(CONTENT)))
                    self.end_headers()
                    self.wfile.write(CONTENT[: len(CONTENT) // 2])
                elif self.path in outer.files:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(outer.files[self.path])))
                    self.end_headers()
                    self.wfile.write(outer.files[self.path])
                else:
                    self.send_error(500 if self.path == "/500" else 404)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}"


@pytest.fixture
def server():
    server = Server()
    server.files["/good"] = CONTENT
    thread = threading.Thread(target=server.http.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.closing.set()
    server.http.shutdown()
    server.http.server_close()
    thread.join()


def wanted(server: Server, *paths: str) -> list[Download]:
    return [Download({"folder/data.bin": md5(CONTENT)}, tuple(f"{server.address}{path}" for path in paths))]


def files_under(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def test_downloads_once_then_reads(server, tmp_path):
    assert provide(tmp_path, wanted(server, "/good")) == {"folder/data.bin": CONTENT}
    assert provide(tmp_path, wanted(server, "/good")) == {"folder/data.bin": CONTENT}
    assert server.asked == ["/good"]
    assert files_under(tmp_path) == {"folder/data.bin"}


@pytest.mark.parametrize("bad", ["/404", "/500", "/truncated", "/other"])
def test_a_mirror_helps_out(server, tmp_path, bad):
    server.files["/other"] = b"<html>we have moved</html>"
    assert provide(tmp_path, wanted(server, bad, "/good"))["folder/data.bin"] == CONTENT
    assert server.asked == [bad, "/good"]
    assert files_under(tmp_path) == {"folder/data.bin"}


def test_the_official_host_comes_first(server, tmp_path):
    provide(tmp_path, wanted(server, "/good", "/404"))
    assert server.asked == ["/good"]


def test_one_error_names_files_addresses_reasons_and_ways_out(server, tmp_path):
    server.files["/other"] = b"other"
    urls = wanted(server, "/404", "/500", "/truncated", "/other")[0].urls
    closed = "http://127.0.0.1:1/nobody-listens"
    first = Download({"a.bin": md5(CONTENT)}, (*urls, closed, "not an address"))
    second = Download({"b/b.bin": md5(b"b")}, (f"{server.address}/404?b",))
    with pytest.raises(InputError) as caught:
        provide(tmp_path / "root", [first, second])
    message = str(caught.value)
    for expected in (
        f"{tmp_path / 'root' / 'a.bin'} (md5 {md5(CONTENT)})",
        f"{tmp_path / 'root' / 'b' / 'b.bin'} (md5 {md5(b'b')})",
        f"{urls[0]}: HTTP 404",
        f"{urls[1]}: HTTP 500",
        f"{urls[2]}: connection lost after 512,000 of 1,024,000 bytes",
        f"{urls[3]}: served other content: expected md5 {md5(CONTENT)}, got {md5(b'other')}",
        f"{closed}: [Errno",
        "not an address: unknown url type",
        f"{server.address}/404?b: HTTP 404",
        "data.root=FOLDER",
        "data=synthetic",
    ):
        assert expected in message
    assert not files_under(tmp_path)


def test_without_a_connection_not_even_a_folder_is_made(tmp_path):
    with pytest.raises(InputError, match="could not be downloaded"):
        provide(tmp_path / "root", [Download({"folder/a.bin": md5(b"")}, ("http://127.0.0.1:1/",))])
    assert not (tmp_path / "root").exists()


def test_no_address_is_said_too(tmp_path):
    with pytest.raises(InputError, match="no address is configured"):
        provide(tmp_path, [Download({"a.bin": md5(b"")}, ())])


def test_a_silent_host_is_given_up(server, tmp_path):
    with pytest.raises(InputError, match=r"/silent: no answer within 0\.2 s"):
        provide(tmp_path, wanted(server, "/silent"), timeout=0.2)


def test_a_local_file_with_other_content_is_reported_and_kept(server, tmp_path):
    path = tmp_path / "folder" / "data.bin"
    path.parent.mkdir()
    path.write_bytes(b"mine")
    with pytest.raises(InputError) as caught:
        provide(tmp_path, wanted(server, "/good"))
    for expected in (str(path), f"expected md5 {md5(CONTENT)}", f"found {md5(b'mine')}"):
        assert expected in str(caught.value)
    assert path.read_bytes() == b"mine"
    assert not server.asked


@pytest.mark.parametrize("archived", [False, True])
@pytest.mark.parametrize("interruption", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_transfer_leaves_nothing_behind(server, tmp_path, monkeypatch, interruption, archived):
    """Ctrl-C after the first chunk has been written: seen half-written at that moment, gone afterwards."""
    seen: list[set[str]] = []

    def interrupted(url, md5, timeout):
        yield CONTENT[:1000]
        seen.append(files_under(tmp_path))
        raise interruption

    monkeypatch.setattr(download, "_stream", interrupted)
    files = {"folder/data.bin": md5(CONTENT)}
    with pytest.raises(interruption):
        provide(tmp_path, [Download(files, (f"{server.address}/good",), archive_md5="0" * 32 if archived else None)])
    (during,) = seen
    assert len(during) == 1
    assert during.pop().endswith(".part")
    assert not files_under(tmp_path)


def test_a_folder_that_cannot_be_written_is_named(server, tmp_path):
    """A file where the root should be: fails for every user, as a read-only folder does for all but root."""
    (tmp_path / "root").write_text("not a folder")
    with pytest.raises(InputError, match=r"(?s)Looked for:.*data\.bin.*writing to .*root.*data\.root=FOLDER"):
        provide(tmp_path / "root", wanted(server, "/good", "/404"))
    assert server.asked == ["/good"]  # no mirror can help


def test_a_full_disk_is_no_fault_of_the_address(server, tmp_path, monkeypatch):
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(download.os, "fsync", full)
    with pytest.raises(InputError, match="No space left on device"):
        provide(tmp_path, wanted(server, "/good", "/404"))
    assert server.asked == ["/good"]
    assert not files_under(tmp_path)


MEMBERS = {"set/images": b"images" * 9999, "set/names": b"names", "set/training": b"not wanted", "../escape": b"bad"}


def archived(server: Server, *paths: str, archive: bytes, **other_md5: str) -> list[Download]:
    files = {name: md5(MEMBERS[name]) for name in ("set/images", "set/names")}
    return [Download(files | other_md5, tuple(f"{server.address}{path}" for path in paths), archive_md5=md5(archive))]


def test_only_the_wanted_members_of_an_archive_are_written(server, tmp_path):
    server.files["/tar"] = archive = tar_gz(MEMBERS)
    root = tmp_path / "root"
    content = provide(root, archived(server, "/404", "/tar", archive=archive))
    assert content == {name: MEMBERS[name] for name in ("set/images", "set/names")}
    assert files_under(tmp_path) == {"root/set/images", "root/set/names"}


def test_what_is_there_already_is_not_written_again(server, tmp_path):
    server.files["/tar"] = archive = tar_gz(MEMBERS)
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "images").write_bytes(MEMBERS["set/images"])
    before = (tmp_path / "set" / "images").stat().st_mtime_ns
    provide(tmp_path, archived(server, "/tar", archive=archive))
    assert (tmp_path / "set" / "images").stat().st_mtime_ns == before
    assert files_under(tmp_path) == {"set/images", "set/names"}


@pytest.mark.parametrize(
    ("archive", "said"),
    [
        (tar_gz({"set/images": MEMBERS["set/images"]}), "the archive has no file set/names"),
        (tar_gz({**MEMBERS, "set/names": b"changed"}), f"set/names in it has md5 {md5(b'changed')}"),
        (b"no archive at all", "not a readable tar archive"),
        (tar_gz(MEMBERS)[:200], "not a readable tar archive"),
    ],
)
def test_an_archive_with_other_members_is_refused_whole(server, tmp_path, archive, said):
    server.files["/tar"] = archive
    with pytest.raises(InputError, match=said):
        provide(tmp_path, archived(server, "/tar", archive=archive))
    assert not files_under(tmp_path)


def test_root_is_the_argument_else_the_variable_else_the_cache(monkeypatch):
    monkeypatch.setenv("HARDLABELS_DATA", "/from/variable")
    assert data_root("/from/argument") == Path("/from/argument")
    assert data_root() == data_root(None) == Path("/from/variable")
    assert data_root("~/data") == Path.home() / "data"
    monkeypatch.setenv("HARDLABELS_DATA", "")  # set but empty is not set
    assert data_root() == user_cache_path("hardlabels", appauthor=False)
    monkeypatch.delenv("HARDLABELS_DATA")
    assert data_root() == user_cache_path("hardlabels", appauthor=False)


@pytest.mark.parametrize(("terminal", "total", "shown"), [(True, 2_000_000, True), (True, 9, False), (False, 2_000_000, False)])
def test_a_bar_for_long_downloads_when_somebody_looks(monkeypatch, terminal, total, shown):
    monkeypatch.setattr(download.Console, "is_terminal", terminal)
    assert download.download_bar(total).disable is not shown
