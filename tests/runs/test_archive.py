"""An archive of records: equal records give equal bytes, and one from somebody else writes nothing where it should not."""

import io
import tarfile
import zipfile

import pytest

from hardlabels.errors import InputError
from hardlabels.runs import archive
from hardlabels.runs.archive import pack, read_members, unpacked
from hardlabels.runs.cell import Cell
from hardlabels.runs.records import read_records
from hardlabels.runs.records.kept import CACHE

RESULT = b'{"best": {"epoch": 3, "full": {"soft_nll": 0.25}}, "last": {"epoch": 5, "full": {"soft_nll": 0.5}}}'
MEMBERS = {
    "sls,hold=5/K=5/seed=0/result.json": RESULT,
    "sls,hold=5/K=5/seed=0/done": b"",
    "soft/K=all/seed=11/result.json": RESULT,
    "soft/K=all/seed=11/diagnostics/hessian,protocol=paper.json": b'{"values": {"trace": 7}}',
    "soft/K=all/seed=11/done": b"",
}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARDLABELS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_equal_records_give_equal_bytes_and_come_back(tmp_path):
    pack(tmp_path / "a.tar.xz", MEMBERS)
    pack(tmp_path / "b.tar.xz", dict(reversed(MEMBERS.items())))
    assert (tmp_path / "a.tar.xz").read_bytes() == (tmp_path / "b.tar.xz").read_bytes()
    assert dict(read_members(tmp_path / "a.tar.xz")) == MEMBERS


def zipped(file, members):
    """An archive as earlier versions wrote it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in members.items():
            out.writestr(name, content)


def tarred(file, members):
    """Any tar.xz, also one that we would not write."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(file, "w:xz") as out:
        for name, content in members:
            about = tarfile.TarInfo(name)
            about.size = len(content)
            out.addfile(about, io.BytesIO(content))


@pytest.mark.parametrize(("ending", "write"), [(".tar.xz", pack), (".zip", zipped)])
def test_a_place_with_archives_is_read_like_one_with_folders(tmp_path, ending, write):
    write(tmp_path / f"results/toy/smoke,tag=v1.5{ending}", MEMBERS)
    records = read_records([tmp_path / "results"])
    assert set(records.folders) == {
        Cell("toy", "smoke", "sls", 5, 0, settings=(("hold", 5),), tag="v1.5"),
        Cell("toy", "smoke", "soft", None, 11, tag="v1.5"),
    }
    assert records.values("soft_nll", method="soft").to_dict() == {11: 0.25}
    assert records.values("hessian,protocol=paper/trace").to_dict() == {11: 7}


def test_it_is_unpacked_once_and_another_archive_to_another_folder(tmp_path, cache, monkeypatch):
    file = tmp_path / "toy/smoke.tar.xz"
    pack(file, MEMBERS)
    first = read_records([tmp_path])
    assert (unpacked(file) / CACHE).is_file()
    monkeypatch.setattr(archive, "read_members", lambda file: pytest.fail(f"{file} is unpacked again"))
    again = read_records([tmp_path])
    assert again.folders == first.folders
    assert again.table.equals(first.table)
    monkeypatch.undo()
    monkeypatch.setenv("HARDLABELS_CACHE", str(cache))
    pack(file, MEMBERS | {"soft/K=all/seed=11/result.json": RESULT.replace(b"0.25", b"0.125")})
    assert read_records([tmp_path]).values("soft_nll", method="soft")[11] == 0.125
    assert sorted(path.name for path in cache.rglob(".part*")) == []


@pytest.mark.parametrize(
    "name",
    [
        "../../outside/done",
        "soft/K=all/seed=0/../../../../outside/done",
        "/tmp/K=all/seed=0/done",
        "../K=all/seed=0/done",
        "soft/K=all/seed=0/best.ckpt",
        "soft/K=all/seed=0/diagnostics/../done",
        "soft/K=all/seed=0/diagnostics/.hidden.json",
        "a\\b/K=all/seed=0/done",
        "soft/K=all/seed=0/",
    ],
)
@pytest.mark.parametrize("ending", [".tar.xz", ".zip"])
def test_a_member_that_is_no_file_of_a_run_is_refused_and_nothing_is_written(tmp_path, cache, name, ending):
    file = tmp_path / f"toy/smoke{ending}"
    if ending == ".zip":
        zipped(file, dict.fromkeys((*MEMBERS, name), b"x"))
    else:
        tarred(file, [(member, b"x") for member in (*MEMBERS, name)])
    with pytest.raises(InputError, match="expected files of runs"):
        read_records([tmp_path])
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [file]
    assert not list(cache.glob("records/*/toy/smoke"))
    with pytest.raises(InputError, match="expected files of runs"):
        pack(tmp_path / "own.tar.xz", {name: b"x"})


def test_links_doubles_damage_and_bombs_in_a_tar_are_refused(tmp_path, cache, monkeypatch):
    file = tmp_path / "toy/smoke.tar.xz"
    pack(file, MEMBERS)
    content = file.read_bytes()
    for broken in (content[:-30], content[:40] + b"?" + content[41:], b"no archive"):
        file.write_bytes(broken)
        with pytest.raises(InputError, match=r"expected a tar\.xz of records"):
            unpacked(file)
    with tarfile.open(file, "w:xz") as out:
        link = tarfile.TarInfo("soft/K=all/seed=0/done")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        out.addfile(link)
    with pytest.raises(InputError, match="found a link"):
        unpacked(file)
    tarred(file, [("soft/K=all/seed=0/done", b""), ("soft/K=all/seed=0/done", b"")])
    with pytest.raises(InputError, match="two of this name"):
        unpacked(file)
    monkeypatch.setattr(archive, "UNPACKED_BYTES", 1000)
    pack(file, {"soft/K=all/seed=0/history.csv": bytes(1_000_000)})
    with pytest.raises(InputError, match="would become 1,000,000"):
        unpacked(file)
    assert not list(cache.glob("records/*/toy/smoke"))


def test_damage_doubles_and_bombs_in_a_zip_are_refused(tmp_path, monkeypatch):
    file = tmp_path / "toy/smoke.zip"
    zipped(file, MEMBERS)
    content = file.read_bytes()
    file.write_bytes(content[:-30])
    with pytest.raises(InputError, match="expected a zip of records"):
        unpacked(file)
    file.write_bytes(content.replace(b"\x4b\x05\x06", b"\x4b\x05\x07"))
    with pytest.raises(InputError, match="expected a zip of records"):
        unpacked(file)
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("soft/K=all/seed=0/done", b"")
        with pytest.warns(UserWarning, match="Duplicate name"):
            out.writestr("soft/K=all/seed=0/done", b"")
    with pytest.raises(InputError, match="two of this name"):
        unpacked(file)
    monkeypatch.setattr(archive, "UNPACKED_BYTES", 1000)
    zipped(file, {"soft/K=all/seed=0/history.csv": bytes(1_000_000)})
    with pytest.raises(InputError, match="would become 1,000,000"):
        unpacked(file)


def test_a_cache_that_cannot_be_written_names_the_way_out(tmp_path, monkeypatch):
    pack(tmp_path / "toy/smoke.tar.xz", MEMBERS)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HARDLABELS_CACHE", str(tmp_path / "file"))
    with pytest.raises(InputError, match="HARDLABELS_CACHE=DIR"):
        unpacked(tmp_path / "toy/smoke.tar.xz")
