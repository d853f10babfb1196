"""Records of many runs as one file, ``<data>/<recipe>.tar.xz`` with members ``<method>/K=<K|all>/seed=<seed>/<file>``.

Thousands of small files are a burden to a repository; an archive of them is one. Runs of a study are much alike (the same
settings, the same annotators' distributions), and xz compresses over the borders of files, so an archive is several times smaller
than its files, or than a zip of them. Of rounded logits it holds what the runs before do not foretell
(:mod:`~hardlabels.runs.remainders`); they are read as they were. Archives of earlier versions have them as they are, or as steps,
or are zips, and are read too. Every archive is unpacked once, to the user's cache folder.
"""

import hashlib
import io
import lzma
import re
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from hardlabels.errors import InputError
from hardlabels.runs.derived import DERIVED
from hardlabels.runs.remainders import PLAIN, Remainders, plain_name
from hardlabels.runs.steps import from_steps
from hardlabels.runs.writing import write_atomically
from hardlabels.sources.download import cache_folder
from hardlabels.votes.arrays import UNPACKED_BYTES, UNPACKED_RATIO, UNREADABLE_ZIP

FILES = ("config.yaml", "fingerprint.json", "environment.json", "history.csv", "predictions.npz", "result.json", "done")
"""What is published of a run, beside its probes' files: all but checkpoints. ``done`` comes last.

A run may also be published without its predictions: then ``derived.json`` has the scores that only these give."""

ENDINGS = (".tar.xz", ".zip")
"""Of archives; the first one is what :func:`pack` writes."""

XZ = 9 | lzma.PRESET_EXTREME
"""A hundredth fewer bytes than usual, for half as much more time: an archive is written once and cloned often."""

PADDING = 1 << 16
"""More empty bytes than a tar has behind its last file."""

WORD = r"[A-Za-z0-9_+][A-Za-z0-9_.+,=-]*"  # never "..", never hidden, no separator of any system
RECORD = "|".join(map(re.escape, (*FILES, DERIVED)))
MEMBER = re.compile(rf"{WORD}/K=(all|[0-9]+)/seed=[0-9]+/(({RECORD})|diagnostics/{WORD}\.(json|npz))", re.ASCII)


def archives(place: Path) -> Iterator[Path]:
    """The archives of records in a folder that is laid out as ``outputs`` is."""
    yield from sorted(file for file in place.glob("[!.]*/[!.]*") if file.name.endswith(ENDINGS))


def recipe_of(file: Path) -> str:
    """The recipe whose runs an archive holds, which is its name without the ending.

    >>> recipe_of(Path("results/text/popquorn/text_head.tar.xz")), recipe_of(Path("toy/smoke,tag=v1.5.zip"))
    ('text_head', 'smoke,tag=v1.5')
    """
    return next((file.name.removesuffix(ending) for ending in ENDINGS if file.name.endswith(ending)), file.stem)


def pack(file: Path, members: Mapping[str, bytes]) -> None:
    """Write an archive whole: no times, no owners, no rights. Equal members give equal bytes.

    Files of one name stand together, by seed: xz then finds what they share, such as p of all methods of a seed.

    Args:
        file: ``<data>/<recipe>.tar.xz``.
        members: name to content.
    """
    for name in members:
        _check_name(file, name)

    def write(out: BinaryIO) -> None:
        remainders = Remainders()
        with (
            lzma.open(out, "wb", preset=XZ) as stream,
            tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for name in sorted(members, key=_together):
                held, content = remainders.pack(name, members[name])
                about = tarfile.TarInfo(held)
                about.size = len(content)
                archive.addfile(about, io.BytesIO(content))

    write_atomically(file, write)


def read_members(file: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of every member, in the archive's order; the archive may come from somebody else.

    Raises:
        InputError: it cannot be read, has a member that is no file of a run, or one twice, or would unpack to far more.
    """
    kind = "zip" if file.suffix == ".zip" else "tar.xz"
    try:
        yield from _read_zip(file) if kind == "zip" else _read_tar(file)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from error
    except (*UNREADABLE_ZIP, lzma.LZMAError, tarfile.TarError, EOFError, NotImplementedError) as error:
        raise InputError(f"{file}: expected a {kind} of records, found: {error or type(error).__name__}") from error


def _read_zip(file: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if any(member.flag_bits & 1 for member in members):
            raise InputError(f"{file}: expected plain files, found an encrypted one")
        gate = _Gate(file)
        for member in members:
            gate.admit(member.filename, member.file_size)
        for member in members:
            with archive.open(member) as content:
                yield member.filename, content.read(member.file_size)  # so many bytes and no more, whatever follows


def _read_tar(file: Path) -> Iterator[tuple[str, bytes]]:
    """A compressed tar has no list of its members: they are checked as they come, each before its content is read."""
    gate, remainders = _Gate(file), Remainders()
    with lzma.open(file) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            if not member.isreg():
                raise InputError(f"{file}, {member.name!r:.200}: expected files of runs, found a link, a folder or a device")
            gate.admit(plain_name(member.name), member.size)
            held = archive.extractfile(member)
            assert held is not None  # a regular file has content
            name, content = remainders.unpack(member.name, held.read())
            yield name, from_steps(content) if member.name.endswith(PLAIN) else content
        if len(stream.read(PADDING + 1)) > PADDING:  # to the end, where the checksum is
            raise InputError(f"{file}: expected nothing behind its last file, found more")


def unpacked(file: Path) -> Path:
    """A folder laid out as ``outputs`` is that holds what the archive holds: ``<cache>/records/<its sha256>``.

    What was unpacked before is not unpacked again.
    """
    root = cache_folder() / "records" / _sha256(file)
    target = root / file.parent.name / recipe_of(file)
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
        (part / "records").mkdir(exist_ok=True)  # of an empty archive
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


def _together(name: str) -> tuple[str, str, str]:
    _, _, seed, file = name.split("/", 3)
    return file, seed, name


class _Gate:
    """What an archive may hold: files of runs, each once, and not far more bytes than it has itself."""

    def __init__(self, file: Path) -> None:
        self.file, self.packed, self.size = file, file.stat().st_size, 0
        self.seen: set[str] = set()

    def admit(self, name: str, size: int) -> None:
        """Refuse a member before its content is read."""
        _check_name(self.file, name)
        if name in self.seen:
            raise InputError(f"{self.file}, {name!r:.200}: expected every file once, found two of this name")
        self.seen.add(name)
        self.size += size
        if self.size > max(UNPACKED_BYTES, UNPACKED_RATIO * self.packed):
            most = f"{UNPACKED_RATIO} times its size, or {UNPACKED_BYTES:,} bytes"
            raise InputError(
                f"{self.file}: expected records that unpack to at most {most}; "
                f"its {self.packed:,} bytes would become {self.size:,}"
            )


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
