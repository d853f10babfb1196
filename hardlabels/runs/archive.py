"""Records of many runs as one zip, ``<data>/<recipe>.zip`` with members ``<method>/K=<K|all>/seed=<seed>/<file>``.

Thousands of small files are a burden to a repository; a zip of them is one. It is unpacked once, to the user's cache folder.
"""

import hashlib
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from hardlabels.errors import InputError
from hardlabels.runs.files import write_atomically
from hardlabels.sources.download import cache_folder
from hardlabels.votes.arrays import UNPACKED_BYTES, UNPACKED_RATIO, UNREADABLE_ZIP

FILES = ("config.yaml", "fingerprint.json", "environment.json", "history.csv", "predictions.npz", "result.json", "done")
"""What is published of a run, beside its probes' files: all but checkpoints. ``done`` comes last."""

WORD = r"[A-Za-z0-9_+][A-Za-z0-9_.+,=-]*"  # never "..", never hidden, no separator of any system
MEMBER = re.compile(
    rf"{WORD}/K=(all|[0-9]+)/seed=[0-9]+/(({'|'.join(map(re.escape, FILES))})|diagnostics/{WORD}\.(json|npz))", re.ASCII
)
EPOCH = (1980, 1, 1, 0, 0, 0)  # the first time that a zip can name


def archives(place: Path) -> Iterator[Path]:
    """The zips of records in a folder that is laid out as ``outputs`` is."""
    yield from sorted(place.glob("[!.]*/[!.]*.zip"))


def pack(file: Path, members: Mapping[str, bytes]) -> None:
    """Write a zip whole: members in order of their names, no times, no rights. Equal members give equal bytes.

    Args:
        file: ``<data>/<recipe>.zip``.
        members: name to content.
    """
    for name in members:
        _check_name(file, name)

    def write(out: BinaryIO) -> None:
        with zipfile.ZipFile(out, "w") as archive:
            for name in sorted(members):
                about = zipfile.ZipInfo(name, EPOCH)
                about.create_system = 3  # of the machine's system otherwise
                archive.writestr(about, members[name], zipfile.ZIP_DEFLATED, 9)

    write_atomically(file, write)


def read_members(file: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of every member, in the zip's order; the zip may come from somebody else.

    Raises:
        InputError: it cannot be read, has a member that is no file of a run, or one twice, or would unpack to far more.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            _check(file, archive.infolist())
            for member in archive.infolist():
                with archive.open(member) as content:
                    yield member.filename, content.read(member.file_size)  # so many bytes and no more, whatever follows
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from error
    except (*UNREADABLE_ZIP, EOFError, NotImplementedError) as error:
        raise InputError(f"{file}: expected a zip of records, found: {error or type(error).__name__}") from error


def unpacked(file: Path) -> Path:
    """A folder laid out as ``outputs`` is that holds what the zip holds: ``<cache>/records/<sha256 of the zip>``.

    What was unpacked before is not unpacked again.
    """
    root = cache_folder() / "records" / _sha256(file)
    target = root / file.parent.name / file.stem
    if target.is_dir():
        return root
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=root, prefix=".part"))
    except OSError as error:
        raise _no_room(file, root, error) from error
    try:
        for name, content in read_members(file):
            _write(part / "records" / name, content)
        (part / "records").mkdir(exist_ok=True)  # of an empty zip
        if not target.is_dir():  # else another process was faster
            (part / "records").rename(target)
    except OSError as error:
        if not target.is_dir():
            raise _no_room(file, root, error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return root


def _check_name(file: Path, name: str) -> None:
    if not MEMBER.fullmatch(name):
        raise InputError(f"{file}, {name!r:.200}: expected files of runs, <method>/K=<K|all>/seed=<seed>/<file>, and no others")


def _check(file: Path, members: list[zipfile.ZipInfo]) -> None:
    seen = set()
    for member in members:
        where = f"{file}, {member.filename!r:.200}"
        _check_name(file, member.filename)
        if member.flag_bits & 1:
            raise InputError(f"{where}: expected plain files, found an encrypted one")
        if member.filename in seen:
            raise InputError(f"{where}: expected every file once, found two of this name")
        seen.add(member.filename)
    size, packed = sum(member.file_size for member in members), file.stat().st_size
    if size > max(UNPACKED_BYTES, UNPACKED_RATIO * packed):
        most = f"{UNPACKED_RATIO} times its size, or {UNPACKED_BYTES:,} bytes"
        raise InputError(f"{file}: expected a zip that unpacks to at most {most}; its {packed:,} bytes would become {size:,}")


def _sha256(file: Path) -> str:
    try:
        with file.open("rb") as content:
            digest = hashlib.sha256()
            while block := content.read(1 << 20):
                digest.update(block)
            return digest.hexdigest()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from error


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _no_room(file: Path, root: Path, error: OSError) -> InputError:
    return InputError(
        f"the records in {file} cannot be unpacked to {root}: {error.strerror or error}; HARDLABELS_CACHE=DIR is another place"
    )
