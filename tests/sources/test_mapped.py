"""Images on disk: the bits that memory would hold, decoded once for a content, taken up again after an interruption."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hardlabels.errors import InputError
from hardlabels.sources import digests, mapped, own_items
from hardlabels.sources.digests import digests_of_blocks, digests_of_rows
from hardlabels.sources.files import files
from hardlabels.sources.folder import channel_statistics, read_images
from hardlabels.sources.mapped import file_digests, map_images, mapped_statistics, read_rows

N = 23


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """23 images of several sizes, and an empty cache; a block is 4 images of 8 x 8."""
    monkeypatch.setenv("HARDLABELS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(digests, "BLOCK_BYTES", 4 * 8 * 8 * 3)
    place, rng = tmp_path / "images", np.random.default_rng(0)
    place.mkdir()
    for i in range(N):
        Image.fromarray(rng.integers(0, 256, (8 + i % 3, 8 + i % 5, 3), dtype=np.uint8)).save(place / f"{i:02d}.png")
    return place


@pytest.fixture
def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def decoded(monkeypatch):
    """The images that were decoded since, by name."""
    seen: list[str] = []
    plain = mapped.read_image

    def read(path, *arguments):
        seen.append(path.name)
        return plain(path, *arguments)

    monkeypatch.setattr(mapped, "read_image", read)
    return seen


@pytest.mark.parametrize("fit", ["crop", "pad"])
def test_the_bits_and_statistics_are_those_of_images_in_memory(folder, names, fit):
    there, here = map_images(folder, names, 8, 3, fit), read_images(folder, names, 8, 3, fit)
    assert isinstance(there, np.memmap)
    np.testing.assert_array_equal(there, here)
    assert mapped_statistics(there) == channel_statistics(here)
    assert digests_of_blocks(there) == digests_of_blocks(here)
    assert digests_of_rows(there) == digests_of_rows(here)
    rows = np.array([22, 0, 5, 5])
    np.testing.assert_array_equal(read_rows(there, rows), here[rows])
    assert type(read_rows(there, rows)) is np.ndarray


def test_digests_of_a_part_are_not_those_of_the_whole(folder, names):
    there = map_images(folder, names, 8, 3)
    assert digests_of_blocks(there[:, :, ::-1]) == digests_of_blocks(np.asarray(there)[:, :, ::-1])
    assert digests_of_blocks(there[:, :, ::-1]) != digests_of_blocks(there)


def test_images_are_decoded_once_for_a_content_wherever_it_is(folder, names, decoded, tmp_path):
    map_images(folder, names, 8, 3)
    assert sorted(decoded) == names
    decoded.clear()
    map_images(folder, names, 8, 3)
    map_images(shutil.copytree(folder, tmp_path / "copy"), names, 8, 3)
    assert decoded == []
    map_images(folder, names, 8, 3, "pad")  # read another way
    map_images(folder, names[::-1], 8, 3)  # in another order
    assert len(decoded) == 2 * N
    Image.new("RGB", (8, 8), "red").save(folder / names[3])
    assert map_images(folder, names, 8, 3)[3, 0, 0].tolist() == [255, 0, 0]


def test_a_file_that_changed_is_looked_at_again(folder, names, monkeypatch):
    first = file_digests(folder, names)
    monkeypatch.setattr(mapped, "SETTLED", -1.0)  # all of them count as settled
    assert file_digests(folder, names) == first
    content = (folder / names[0]).read_bytes()
    (folder / names[0]).write_bytes(b"x" * len(content))
    assert file_digests(folder, names)[1:] == first[1:]
    assert file_digests(folder, names)[0] != first[0]


def test_an_interrupted_decoding_makes_only_what_is_missing(folder, names, decoded, monkeypatch, capsys):
    plain = mapped.channel_sums
    calls = []

    def stop(pixels):
        calls.append(1)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return plain(pixels)

    monkeypatch.setattr(mapped, "decoders", one_thread)
    with monkeypatch.context() as patch:
        patch.setattr(mapped, "channel_sums", stop)
        with pytest.raises(KeyboardInterrupt):
            map_images(folder, names, 8, 3)
    [journal] = Path(folder.parent / "cache").rglob("blocks.jsonl")
    assert len(journal.read_text().splitlines()) == 3
    with journal.open("a") as file:
        file.write('{"block": 3, "sha2')  # as a machine that stops may leave it
    decoded.clear()
    capsys.readouterr()
    there = map_images(folder, names, 8, 3)
    assert sorted(decoded) == names[12:]
    assert "(12 of them are there from before)" in capsys.readouterr().out
    np.testing.assert_array_equal(there, read_images(folder, names, 8, 3))
    assert digests_of_blocks(there) == digests_of_blocks(np.array(there))


class one_thread(ThreadPoolExecutor):  # noqa: N801 - stands for the function ``decoders``
    def __init__(self):
        super().__init__(1)


def test_processes_that_want_the_same_images_make_them_once(folder, names, decoded):
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: map_images(folder, names, 8, 3), range(4)))
    assert sorted(decoded) == names
    assert all(np.array_equal(made[0], other) for other in made)


def test_a_broken_image_is_named_and_nothing_is_taken_for_finished(folder, names):
    (folder / names[9]).write_bytes(b"broken")
    with pytest.raises(InputError, match=r"09\.png: expected an image"):
        map_images(folder, names, 8, 3)
    assert not list((folder.parent / "cache").rglob("pixels.npy"))
    Image.new("RGB", (8, 8)).save(folder / names[9])
    assert not map_images(folder, names, 8, 3)[9].any()


def test_too_little_space_and_a_folder_that_cannot_be_written_are_said_first(folder, names, decoded, monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        patch.setattr(mapped.shutil, "disk_usage", lambda place: shutil._ntuple_diskusage(1, 1, 100))
        with pytest.raises(InputError, match=r"23 images of 8 x 8 pixels take 0\.0 GB of disk, .* HARDLABELS_CACHE=FOLDER"):
            map_images(folder, names, 8, 3)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HARDLABELS_CACHE", str(tmp_path / "file"))
    with pytest.raises(InputError, match=r"images cannot be kept there .* data.storage=memory keeps them in memory"):
        map_images(folder, names, 8, 3)
    assert decoded == []


@pytest.fixture
def votes(tmp_path, names):
    (tmp_path / "votes.json").write_text(json.dumps({name: {"w1": i % 2, "w2": 1} for i, name in enumerate(names)}))
    return tmp_path / "votes.json"


@pytest.mark.parametrize("large", [1 << 30, 1000], ids=["small", "large"])
def test_where_images_are_is_no_part_of_what_a_source_is(folder, votes, monkeypatch, large):
    """Whether it is identified by all of its bytes, or by the digests of its blocks."""
    from hardlabels.sources import source as module

    monkeypatch.setattr(module, "LARGE", large)
    memory, disk = (files(votes, folder, size=8, storage=storage) for storage in ("memory", "disk"))
    assert (isinstance(memory.inputs, np.memmap), isinstance(disk.inputs, np.memmap)) == (False, True)
    assert memory.fingerprint == disk.fingerprint
    assert (memory.mean, memory.std) == (disk.mean, disk.std)
    assert files(votes, folder, size=8, storage="disk", fit="pad").fingerprint != disk.fingerprint


def test_auto_takes_the_disk_for_what_is_large_here(folder, votes, monkeypatch):
    assert not isinstance(files(votes, folder, size=8).inputs, np.memmap)
    with monkeypatch.context() as patch:
        patch.setattr(own_items, "LARGE", 1000)
        assert isinstance(files(votes, folder, size=8).inputs, np.memmap)
    monkeypatch.setattr(own_items, "free_memory", lambda: 2 * N * 8 * 8 * 3)
    assert isinstance(files(votes, folder, size=8).inputs, np.memmap)
