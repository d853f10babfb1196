"""Files of known content: found under a folder, else downloaded from the first address that serves exactly those bytes.

Every file is pinned by its md5, so it does not matter who serves it, and a file is either whole or not there at all: bytes go
to a temporary file beside the target, which takes the target's name only when the md5 is right.

``pooch`` knows one address for each file, and neither a list of mirrors nor a limit of time or size; ours does, in about as many
lines as a wrapper around it would take.
"""

import hashlib
import os
import stat
import tarfile
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from itertools import chain
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from platformdirs import user_cache_path
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from hardlabels.errors import InputError
from hardlabels.whole_files import temporary_file, whole_file

CHUNK_BYTES = 1 << 18
MAX_BYTES = 1 << 30  # of a file: none of ours is as large, and an address (or a folder) may hold one without end
MAX_TIMEOUT = 86_400
BAR_BYTES = 1_000_000  # a smaller download is over before a bar could be read
WAYS_OUT = """\
two ways out:
  data.root=FOLDER   a folder that holds these files in this layout (or set HARDLABELS_DATA)
  data=synthetic     built-in data, needs no files"""


@dataclass(frozen=True)
class Download:
    """Files that come from one address, or from any of its mirrors.

    Args:
        files: path under the root -> md5. More than one only from an archive.
        urls: where to get them, in the order in which to try: the official host first.
        archive_md5: None when an address serves the file itself; else the md5 of a tar archive that holds ``files`` as members
            of exactly these names.
    """

    files: Mapping[str, str]
    urls: tuple[str, ...]
    archive_md5: str | None = None


def cache_folder() -> Path:
    """What can be made or fetched again: ``HARDLABELS_CACHE``, else the user's cache folder of this system."""
    chosen = os.environ.get("HARDLABELS_CACHE")
    return Path(chosen).expanduser() if chosen else user_cache_path("hardlabels", appauthor=False)


def data_root(root: str | os.PathLike[str] | None = None) -> Path:
    """The folder of the data: the argument, else the variable ``HARDLABELS_DATA``, else :func:`cache_folder`.

    >>> data_root("/data").as_posix()
    '/data'
    """
    chosen = root or os.environ.get("HARDLABELS_DATA")
    return Path(chosen).expanduser() if chosen else cache_folder()


def provide(root: Path, downloads: Sequence[Download], *, timeout: float = 30.0) -> dict[str, bytes]:
    """The verified content of all files of ``downloads``, by path: read from ``root`` where they are, downloaded where not.

    Content rather than paths: the bytes that were checked are the bytes that are used, even if the file changes in between.

    Args:
        root: the folder under which the files are, or will be.
        downloads: what is wanted, and where it can be had.
        timeout: seconds without an answer after which an address has failed.

    Raises:
        InputError: once, for all that is missing; or at once for a file that is there with other content.
    """
    if not 0 < timeout <= MAX_TIMEOUT:
        raise InputError(f"data.timeout must be a number of seconds above 0, at most {MAX_TIMEOUT}, got {timeout}")
    content: dict[str, bytes] = {}
    missing: list[str] = []
    failed: list[str] = []
    for download in downloads:
        absent = _read_all(root, download.files, content)
        if absent:
            reasons = _fetch(root, download, absent, timeout)
            absent = _read_all(root, {path: download.files[path] for path in absent}, content)
            # Reasons matter only when no address was good in the end.
            failed += [f"{url}: {reason}" for url, reason in reasons.items()] if absent else []
        missing += [f"{root / path} (md5 {download.files[path]})" for path in absent]
    if missing:
        raise InputError(
            "\n  ".join(["data files were not found and could not be downloaded. Looked for:", *missing])
            + "\n  ".join(["\ntried:", *(failed or ["nothing: no address is configured"])])
            + f"\n{WAYS_OUT}"
        )
    return content


# ---- the local side: read and verify, write all or nothing ----


def read_verified(path: Path, md5: str) -> bytes | None:
    """The bytes of a file with this md5; None when there is no such file. Other content is an error, and never overwritten."""
    try:
        status = path.stat()
        if stat.S_ISREG(status.st_mode) and status.st_size <= MAX_BYTES:
            content = path.read_bytes()
        else:
            what = f"{status.st_size:,} bytes" if stat.S_ISREG(status.st_mode) else "a folder, device or pipe"
            raise InputError(f"{path} is not the expected file: expected a file of at most {MAX_BYTES:,} bytes, found {what}")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    found = _md5(content)
    if found != md5:
        raise InputError(
            f"{path} is not the expected file: expected md5 {md5}, found {found} ({len(content):,} bytes). "
            "Move it away to have it downloaded, or name another folder with data.root=FOLDER"
        )
    return content


def _read_all(root: Path, files: Mapping[str, str], content: dict[str, bytes]) -> list[str]:
    """Read ``files`` into ``content``; returns the paths of those that are absent."""
    read = {path: read_verified(root / path, md5) for path, md5 in files.items()}
    content.update({path: found for path, found in read.items() if found is not None})
    return [path for path, found in read.items() if found is None]


# ---- the far side ----


class _AddressError(Exception):
    """An address did not serve the wanted bytes; the next one may."""


def _fetch(root: Path, download: Download, paths: Sequence[str], timeout: float) -> dict[str, str]:
    """Write ``paths`` of one download under ``root``; returns what failed before one address was good, and why."""
    failures: dict[str, str] = {}
    wanted = {path: download.files[path] for path in paths}
    for url in download.urls:
        try:
            if download.archive_md5 is None:
                _fetch_file(root, url, wanted, timeout)
            else:
                _fetch_members(root, url, download.archive_md5, wanted, timeout)
            break
        except _AddressError as reason:
            failures[url] = str(reason)
        except OSError as error:  # of this machine, since those of an address came as _AddressError: no mirror can help
            failures[f"writing to {error.filename or root}"] = error.strerror or str(error)
            break
    return failures


def _fetch_file(root: Path, url: str, wanted: Mapping[str, str], timeout: float) -> None:
    """Download the one wanted file from an address that serves the file itself."""
    ((path, md5),) = wanted.items()
    with _connection(url, md5, timeout) as chunks, whole_file(root / path) as file:
        file.writelines(chunks)


def _fetch_members(root: Path, url: str, archive_md5: str, members: Mapping[str, str], timeout: float) -> None:
    """Download a tar archive to a temporary file, and write only these members of it, each verified.

    Members are read by exact name, never extracted: a path inside an archive cannot choose where it is written.
    """
    with _connection(url, archive_md5, timeout) as chunks, temporary_file(root / "archive") as file:
        file.writelines(chunks)
        file.seek(0)
        try:
            with tarfile.open(fileobj=file) as archive:
                content = {name: _member(archive, name) for name in members}
        except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
            raise _AddressError(f"not a readable tar archive: {error}") from error
    for name, md5 in members.items():
        if _md5(content[name]) != md5:
            raise _AddressError(f"{name} in it has md5 {_md5(content[name])}, expected {md5}")
    for name in members:
        with whole_file(root / name) as target:
            target.write(content[name])


def _member(archive: tarfile.TarFile, name: str) -> bytes:
    try:
        file = archive.extractfile(name)
    except KeyError:
        file = None
    if file is None:
        raise _AddressError(f"the archive has no file {name}")
    return file.read()


@contextmanager
def _connection(url: str, md5: str, timeout: float) -> Iterator[Iterator[bytes]]:
    """The chunks of :func:`_stream`, the first of them already here: without a connection, no folder or file is made."""
    with closing(_stream(url, md5, timeout)) as chunks:
        yield chain([next(chunks, b"")], chunks)


def _stream(url: str, md5: str, timeout: float) -> Generator[bytes, None, None]:
    """The bytes behind an address, chunk by chunk; fails after the last one unless all of them together have this md5.

    Only what happens on the way here counts as a failure of the address: an error of the consumer, such as a full disk, is
    raised where the consumer is and does not pass through this generator.
    """
    digest, received, total = hashlib.md5(usedforsecurity=False), 0, None
    try:
        # Some hosts turn away urllib's own name.
        with urlopen(Request(url, headers={"User-Agent": "hardlabels"}), timeout=timeout) as response:
            total = int(response.headers.get("Content-Length") or 0) or None
            with download_bar(total) as progress:
                task = progress.add_task(url.rsplit("/", 1)[-1], total=total)
                while chunk := response.read(CHUNK_BYTES):
                    digest.update(chunk)
                    received += len(chunk)
                    if received > MAX_BYTES:
                        raise _AddressError(f"served more than {MAX_BYTES:,} bytes")
                    progress.advance(task, len(chunk))
                    yield chunk
    except (OSError, HTTPException, ValueError) as error:  # ValueError: not an address
        raise _AddressError(_reason(error, timeout)) from error
    if total is not None and received < total:
        raise _AddressError(f"connection lost after {received:,} of {total:,} bytes")
    if digest.hexdigest() != md5:
        raise _AddressError(f"served other content: expected md5 {md5}, got {digest.hexdigest()} ({received:,} bytes)")


def download_bar(total: int | None) -> Progress:
    """A bar on stderr for downloads worth waiting for, when somebody is there to look at it."""
    console = Console(stderr=True)
    hidden = not console.is_terminal or (total is not None and total < BAR_BYTES)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, disable=hidden)


def _reason(error: Exception, timeout: float) -> str:
    cause = error.reason if isinstance(error, URLError) else error
    if isinstance(error, HTTPError):
        return f"HTTP {error.code} {error.reason}"
    if isinstance(cause, TimeoutError):
        return f"no answer within {timeout:g} s"
    return str(cause) or type(cause).__name__


def _md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()
