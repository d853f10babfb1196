"""Outlier images: tiny stand-ins with the official layout for the mechanics, the real files for the facts."""

import hashlib
import io
import os
import pickle
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.io import savemat
from torchvision.datasets import CIFAR100, SVHN

from hardlabels.configuration import CONF
from hardlabels.errors import InputError
from hardlabels.sources import load
from hardlabels.sources import outliers as module
from hardlabels.sources.cifar10h import cifar10h
from hardlabels.sources.outliers import FILES, noise, outlier_sets

real_data = pytest.mark.skipif(not os.environ.get("HARDLABELS_DATA"), reason="needs real data: set HARDLABELS_DATA")
NOWHERE = {"svhn": ["http://127.0.0.1:1/svhn"], "cifar100": ["http://127.0.0.1:1/cifar100"]}


def md5(content: bytes) -> str:
    return hashlib.md5(content).hexdigest()


def mat(images: np.ndarray) -> bytes:
    """As SVHN stores images: (N, H, W, channels) as (H, W, channels, N)."""
    buffer = io.BytesIO()
    savemat(buffer, {"X": images.transpose(1, 2, 3, 0), "y": np.ones((len(images), 1), np.uint8)})
    return buffer.getvalue()


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Made-up files at file:// addresses, with their md5 sums in place of the official ones; image 1 of cifar100 is to go."""
    monkeypatch.delenv("HARDLABELS_DATA", raising=False)
    monkeypatch.setattr(module, "_say_once", module._say_once.__wrapped__)
    images = np.arange(4 * 3072, dtype=np.uint32).astype(np.uint8).reshape(4, 32, 32, 3)
    svhn, recrop = mat(images), mat(255 - images)
    pickled = pickle.dumps({b"data": images.transpose(0, 3, 1, 2).reshape(4, 3072)})
    archive = tmp_path / "cifar-100-python.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        info = tarfile.TarInfo("cifar-100-python/test")
        info.size = len(pickled)
        tar.addfile(info, io.BytesIO(pickled))
    (tmp_path / "test_32x32.mat").write_bytes(svhn)
    monkeypatch.setitem(FILES, "svhn", replace(FILES["svhn"], md5={"official": md5(svhn), "recrop": md5(recrop)}))
    pinned = {"md5": {"official": md5(pickled)}, "archive_md5": md5(archive.read_bytes()), "dropped": (1,)}
    monkeypatch.setitem(FILES, "cifar100", replace(FILES["cifar100"], **pinned))
    addresses = {"svhn": [(tmp_path / "test_32x32.mat").as_uri()], "cifar100": [archive.as_uri()]}
    return {"images": images, "recrop": recrop, "svhn": svhn, "addresses": addresses, "root": tmp_path / "root"}


def test_both_files_are_downloaded_into_torchvisions_layout_and_read(stand_in):
    sets = outlier_sets(["svhn", "cifar100"], stand_in["root"], addresses=stand_in["addresses"])
    np.testing.assert_array_equal(sets["svhn"].images, stand_in["images"])
    np.testing.assert_array_equal(sets["cifar100"].images, stand_in["images"][[0, 2, 3]])
    assert sets["cifar100"].index.tolist() == [0, 2, 3]  # positions in the file, without the dropped one
    assert sets["svhn"].images.flags.c_contiguous
    assert {sets[name].content for name in sets} == {FILES[name].md5["official"] for name in sets}
    there = sorted(path.relative_to(stand_in["root"]).as_posix() for path in stand_in["root"].rglob("*") if path.is_file())
    assert there == ["cifar-100-python/test", "svhn/test_32x32.mat"]
    again = outlier_sets(["cifar100", "svhn"], stand_in["root"], addresses=NOWHERE)  # found files need no address
    np.testing.assert_array_equal(again["svhn"].images, stand_in["images"])


def test_the_place_where_torchvision_puts_svhn_is_looked_at_too(stand_in):
    stand_in["root"].mkdir()
    (stand_in["root"] / "test_32x32.mat").write_bytes(stand_in["svhn"])
    assert len(outlier_sets(["svhn"], stand_in["root"], addresses=NOWHERE)["svhn"]) == 4
    assert not (stand_in["root"] / "svhn").exists()


def test_everything_that_is_missing_is_one_error(tmp_path):
    with pytest.raises(InputError) as caught:
        outlier_sets(["svhn", "cifar100"], tmp_path, addresses=NOWHERE)
    for expected in (
        "svhn/test_32x32.mat",
        "cifar-100-python/test",
        "http://127.0.0.1:1/svhn: ",
        "ood.sets=[noise]",
        "ood.files.root=",
    ):
        assert expected in str(caught.value)


def test_only_what_is_asked_for_is_needed(stand_in):
    assert list(outlier_sets(["svhn"], stand_in["root"], addresses={"svhn": stand_in["addresses"]["svhn"]})) == ["svhn"]
    assert not (stand_in["root"] / "cifar-100-python").exists()


def test_a_changed_pickle_is_never_loaded(stand_in, tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    (stand_in["root"] / "cifar-100-python").mkdir(parents=True)
    (stand_in["root"] / "cifar-100-python" / "test").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(InputError, match="is not the expected file: expected md5"):
        outlier_sets(["cifar100"], stand_in["root"], addresses=NOWHERE)
    assert not (tmp_path / "sprung").exists()


def test_the_recrop_is_accepted_by_its_name_only_and_says_so(stand_in, capsys):
    (stand_in["root"] / "svhn").mkdir(parents=True)
    (stand_in["root"] / "svhn" / "test_32x32.mat").write_bytes(stand_in["recrop"])
    with pytest.raises(InputError, match=r"is not the expected file[\s\S]*ood\.files\.svhn_file=recrop"):
        outlier_sets(["svhn"], stand_in["root"], addresses=stand_in["addresses"])
    capsys.readouterr()
    accepted = outlier_sets(["svhn"], stand_in["root"], svhn_file="recrop")["svhn"]
    np.testing.assert_array_equal(accepted.images, 255 - stand_in["images"])
    assert accepted.content == md5(stand_in["recrop"])
    assert "recrop, not from the official file" in capsys.readouterr().out


def test_the_official_file_is_not_taken_for_the_recrop(stand_in):
    (stand_in["root"] / "svhn").mkdir(parents=True)
    (stand_in["root"] / "svhn" / "test_32x32.mat").write_bytes(stand_in["svhn"])
    with pytest.raises(InputError, match="is not the expected file"):
        outlier_sets(["svhn"], stand_in["root"], svhn_file="recrop")


def test_a_note_is_said_once(capsys):
    for _ in range(3):
        module._say_once("said by a test")
    assert capsys.readouterr().out.count("said by a test") == 1


@pytest.mark.parametrize(("names", "settings", "message"), [
    (["tinyimagenet"], {}, "known of svhn, cifar100, not of 'tinyimagenet'"),
    (["svhn"], {"svhn_file": "mine"}, "svhn_file must be one of official, recrop, got 'mine'"),
])  # fmt: skip
def test_unknown_names_are_refused(names, settings, message):
    with pytest.raises(InputError, match=message):
        outlier_sets(names, **settings)


def test_sums_and_addresses_are_torchvisions():
    url, name, checksum = SVHN.split_list["test"]
    assert (FILES["svhn"].md5["official"], Path(FILES["svhn"].paths[0]).name) == (checksum, name)
    assert FILES["svhn"].urls[0] == url
    assert FILES["cifar100"].md5["official"] == CIFAR100.test_list[0][1]
    assert (FILES["cifar100"].archive_md5, FILES["cifar100"].urls[0]) == (CIFAR100.tgz_md5, CIFAR100.url)
    assert FILES["cifar100"].paths[0] == f"{CIFAR100.base_folder}/{CIFAR100.test_list[0][0]}"


def test_the_configuration_tries_the_official_host_first():
    files = yaml.safe_load((CONF / "diagnostic" / "ood.yaml").read_text())["files"]
    assert {name: files[name][0] for name in FILES} == {name: file.urls[0] for name, file in FILES.items()}


def test_outliers_are_no_source():
    with pytest.raises(InputError, match="a source must be one of") as caught:
        load("outliers")
    assert "svhn" not in str(caught.value)


def test_noise_is_uniform_and_always_the_same():
    images = noise(200, (12, 12, 3)).images
    np.testing.assert_array_equal(images, noise(200, (12, 12, 3)).images)
    counts = np.bincount(images.ravel(), minlength=256)
    expected = images.size / 256
    assert abs((np.square(counts - expected) / expected).sum() - 255) < 5 * np.sqrt(2 * 255)  # chi-square, 255 degrees
    assert noise(3, (5, 4, 1)).images.shape == (3, 5, 4, 1)


@real_data
def test_the_real_files_are_what_their_authors_describe():
    root = os.environ["HARDLABELS_DATA"]
    content = (Path(root) / "svhn" / "test_32x32.mat").read_bytes()
    version = next(name for name, checksum in FILES["svhn"].md5.items() if checksum == md5(content))
    sets = outlier_sets(["svhn", "cifar100"], svhn_file=version, addresses={"svhn": [], "cifar100": []})
    assert sets["svhn"].images.shape == (26_032, 32, 32, 3)
    assert sets["cifar100"].images.shape == (9_999, 32, 32, 3)
    assert 2203 not in sets["cifar100"].index
    # The figures that public code uses to normalise SVHN's test images, from how often each of the 256 values comes.
    values = np.arange(256) / 255
    for channel, (mean, std) in enumerate([(0.4524, 0.2194), (0.4525, 0.2266), (0.4690, 0.2285)]):
        share = np.bincount(sets["svhn"].images[..., channel].ravel(), minlength=256) / (26_032 * 1024)
        assert share @ values == pytest.approx(mean, abs=1e-4)
        assert np.sqrt(share @ values**2 - (share @ values) ** 2) == pytest.approx(std, abs=1e-4)


@real_data
def test_the_dropped_image_is_cifar10s_test_image_9345():
    content = (Path(os.environ["HARDLABELS_DATA"]) / "cifar-100-python" / "test").read_bytes()
    images = module.cifar100_images(content)
    np.testing.assert_array_equal(images[2203], cifar10h(url="", votes_url="").inputs[9345])
