"""CIFAR-10H: a tiny stand-in with the official layout for the mechanics, the real files for the facts."""

import hashlib
import io
import os
import pickle
import tarfile

import numpy as np
import pytest

from hardlabels.errors import InputError
from hardlabels.sources import cifar10h as module
from hardlabels.sources.cifar10h import check_order, cifar10h
from hardlabels.votes import Votes

real_data = pytest.mark.skipif(not os.environ.get("HARDLABELS_DATA"), reason="needs real data: set HARDLABELS_DATA")
LABELS = [3, 8, 8, 0, 6]


def saved(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Five made-up images and their votes at file:// addresses, with their md5 sums in place of the official ones."""
    monkeypatch.delenv("HARDLABELS_DATA", raising=False)
    data = np.arange(5 * 3072, dtype=np.uint32).astype(np.uint8).reshape(5, 3072)
    files = {
        module.IMAGES: pickle.dumps({b"data": data, b"labels": LABELS}),
        module.META: pickle.dumps({b"label_names": [f"class {c}".encode() for c in range(10)]}),
    }
    archive, votes = tmp_path / "cifar-10-python.tar.gz", tmp_path / "cifar10h-counts.npy"
    with tarfile.open(archive, "w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    votes.write_bytes(saved(np.eye(10, dtype=np.int64)[LABELS] * 50))
    pinned = {"IMAGES_MD5": files[module.IMAGES], "META_MD5": files[module.META]}
    pinned |= {"ARCHIVE_MD5": archive.read_bytes(), "VOTES_MD5": votes.read_bytes()}
    for constant, content in pinned.items():
        monkeypatch.setattr(module, constant, hashlib.md5(content).hexdigest())
    return {"url": archive.as_uri(), "votes_url": votes.as_uri()}


def test_archive_and_counts_become_a_source(stand_in, tmp_path):
    source = cifar10h(tmp_path / "root", name="tiny", **stand_in)
    assert source.name == "tiny"
    assert source.inputs.shape == (5, 32, 32, 3)
    assert source.labels.tolist() == source.votes.majority.tolist() == LABELS
    assert source.class_names[3] == "class 3"
    assert source.truth is None
    assert source.inputs[0, 0, 0, 1] == 1024 % 256  # the second plane starts at 1024
    files = sorted(path.relative_to(tmp_path / "root").as_posix() for path in (tmp_path / "root").rglob("*") if path.is_file())
    assert files == ["cifar-10-batches-py/batches.meta", "cifar-10-batches-py/test_batch", "cifar-10h/cifar10h-counts.npy"]


def test_found_files_need_no_address(stand_in, tmp_path, monkeypatch):
    first = cifar10h(tmp_path / "root", **stand_in)
    nowhere = {"url": "http://127.0.0.1:1/", "votes_url": "http://127.0.0.1:1/"}
    assert cifar10h(tmp_path / "root", **nowhere).fingerprint == first.fingerprint
    monkeypatch.setenv("HARDLABELS_DATA", str(tmp_path / "root"))
    assert cifar10h(**nowhere).fingerprint == first.fingerprint


def test_mirrors_are_tried_for_both(stand_in, tmp_path):
    nowhere = "http://127.0.0.1:1/"
    mirrors = {"mirrors": [stand_in["url"]], "votes_mirrors": [nowhere, stand_in["votes_url"]]}
    assert len(cifar10h(tmp_path / "root", url=nowhere, votes_url=nowhere, **mirrors)) == 5


def test_the_users_cache_folder_is_the_default(stand_in, tmp_path, monkeypatch):
    monkeypatch.setattr("hardlabels.sources.download.user_cache_path", lambda *_, **__: tmp_path / "cache")
    cifar10h(**stand_in)
    assert (tmp_path / "cache" / "cifar-10h" / "cifar10h-counts.npy").is_file()


def test_nothing_found_nothing_downloaded_is_one_error(tmp_path):
    nowhere = "http://127.0.0.1:1/"
    with pytest.raises(InputError) as caught:
        cifar10h(tmp_path, url=nowhere, mirrors=[f"{nowhere}mirror"], votes_url=f"{nowhere}votes")
    message = str(caught.value)
    for path in (module.IMAGES, module.META, module.VOTES):
        assert str(tmp_path / path) in message
    for expected in (f"{nowhere}: ", f"{nowhere}mirror: ", f"{nowhere}votes: ", "data.root=FOLDER", "data=synthetic"):
        assert expected in message


def test_a_changed_pickle_is_never_loaded(stand_in, tmp_path):
    """What runs code when loaded is refused by its md5 before that."""
    cifar10h(tmp_path / "root", **stand_in)

    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    (tmp_path / "root" / module.IMAGES).write_bytes(pickle.dumps(Trap()))
    with pytest.raises(InputError, match="test_batch is not the expected file: expected md5"):
        cifar10h(tmp_path / "root", **stand_in)
    assert not (tmp_path / "sprung").exists()


def test_wrong_order_is_refused():
    labels = np.arange(1000) % 10
    counts = np.eye(10, dtype=int)[labels] * 50
    check_order(Votes.from_counts(counts), labels)
    with pytest.raises(InputError, match=r"not in the same order: they differ on 1000 of 1000 items \(100.0%.*First: item 0"):
        check_order(Votes.from_counts(np.roll(counts, 1, axis=0)), labels)
    with pytest.raises(InputError, match="votes of 999 and labels of 1000"):
        check_order(Votes.from_counts(counts[:-1]), labels)


@pytest.mark.parametrize(("wrong", "refused"), [(50, False), (51, True)])
def test_five_percent_is_the_limit(wrong, refused):
    labels = np.zeros(1000, dtype=int)
    votes = Votes.from_counts([[0, 9]] * wrong + [[9, 0]] * (1000 - wrong))
    if refused:
        with pytest.raises(InputError, match="51 of 1000"):
            check_order(votes, labels)
    else:
        check_order(votes, labels)


@real_data
def test_the_real_data_is_what_the_papers_describe():
    source = cifar10h(url="", votes_url="")  # no address: everything has to be under HARDLABELS_DATA
    votes = source.votes
    assert source.inputs.shape == (10_000, 32, 32, 3)
    assert source.class_names[0] == "airplane"
    assert source.class_names[9] == "truck"
    assert np.bincount(source.labels).tolist() == [1000] * 10
    assert len(votes.labels) == 511_000
    assert (votes.sizes.min(), votes.sizes.max()) == (47, 63)
    assert (votes.majority == source.labels).sum() == 9_921
    top_two = np.sort(votes.counts, axis=1)[:, -2:]
    assert (top_two[:, 0] == top_two[:, 1]).sum() == 3
    assert votes.entropy.mean() == pytest.approx(0.154, abs=0.0005)
    assert (votes.entropy == 0).mean() == pytest.approx(0.44, abs=0.005)


@real_data
def test_the_real_images_have_about_the_stated_statistics():
    """The constants are of the training images; the test images are alike."""
    source = cifar10h(url="", votes_url="")
    np.testing.assert_allclose(source.inputs.mean((0, 1, 2)) / 255, source.mean, atol=0.005)
    np.testing.assert_allclose(source.inputs.std((0, 1, 2)) / 255, source.std, atol=0.005)


@real_data
def test_the_real_data_in_another_order_is_refused():
    source = cifar10h(url="", votes_url="")
    with pytest.raises(InputError, match="not in the same order"):
        check_order(source.votes, np.roll(source.labels, 1))
