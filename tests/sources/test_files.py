"""Own data: votes and items find each other by id, or everything that does not is listed."""

import json

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from hardlabels.errors import InputError
from hardlabels.sources.files import files
from hardlabels.sources.pairing import match_images, order_of_names, pair
from hardlabels.sources.synthetic import synthetic

N = 24


@pytest.fixture
def toy():
    return synthetic(items=N, classes=3, size=12, annotators=5)


@pytest.fixture
def images(tmp_path, toy):
    """The synthetic images as png files 0.png .. 23.png, and their votes as a long table in another order."""
    folder = tmp_path / "images"
    folder.mkdir()
    for i, image in enumerate(toy.inputs):
        Image.fromarray(image).save(folder / f"{i}.png")
    write_long(tmp_path / "votes.csv", toy, [str(i) for i in range(N)])
    return folder


def write_long(path, source, names):
    rows = [
        {"task": names[i], "worker": f"w{j}", "label": f"pattern {vote}"}
        for i in range(len(source))
        for j, vote in enumerate(source.votes.labels[source.votes.offsets[i] : source.votes.offsets[i + 1]])
    ]
    pd.DataFrame(rows).sample(frac=1, random_state=0).to_csv(path, index=False)


def test_a_folder_of_pngs_is_the_source_it_was_saved_from(tmp_path, toy, images):
    source = files(tmp_path / "votes.csv", images, name="mine", size=12)
    np.testing.assert_array_equal(source.inputs, toy.inputs)
    np.testing.assert_array_equal(source.votes.counts, toy.votes.counts)
    assert (source.mean, source.std, source.class_names, source.name) == (toy.mean, toy.std, toy.class_names, "mine")
    assert np.array_equal(source.labels, toy.votes.majority)
    assert (source.crop_padding, source.flip, source.truth) == (0, False, None)


def test_the_order_is_that_of_the_votes_whatever_the_files_are_called(tmp_path, toy, images):
    """Names that sort otherwise than the votes: an item keeps its own votes."""
    names = [f"img {(7 * i) % N}" for i in range(N)]
    for i in range(N):
        (images / f"{i}.png").rename(images / f"{names[i]}.png")
    write_long(tmp_path / "votes.csv", toy, names)
    source = files(tmp_path / "votes.csv", images, size=12)
    back = {image.tobytes(): i for i, image in enumerate(toy.inputs)}
    was = [back[image.tobytes()] for image in source.inputs]
    assert sorted(was) == list(range(N)) != was
    np.testing.assert_array_equal(source.votes.counts, toy.votes.counts[was])


def test_features_by_id_and_by_row(tmp_path, toy):
    x = np.random.default_rng(0).normal(3, 2, (N, 5)).astype(np.float32)
    write_long(tmp_path / "votes.csv", toy, [str(i) for i in range(N)])
    pd.DataFrame(x, index=range(N)).sample(frac=1, random_state=1).to_csv(tmp_path / "features.csv")
    np.save(tmp_path / "features.npy", x)
    by_id, by_row = (files(tmp_path / "votes.csv", tmp_path / f"features.{ending}") for ending in ("csv", "npy"))
    np.testing.assert_allclose(by_id.inputs, x, rtol=1e-6)
    np.testing.assert_array_equal(by_row.inputs, x)
    assert by_row.inputs.dtype == np.float32
    np.testing.assert_allclose(by_row.mean, x.mean(0), rtol=1e-5)
    np.testing.assert_allclose(by_row.std, x.std(0), rtol=1e-5)
    np.testing.assert_array_equal(by_id.votes.counts, toy.votes.counts)


def test_the_fingerprint_is_of_the_content_not_of_the_place(tmp_path, toy, images):
    there = files(tmp_path / "votes.csv", images, size=12)
    elsewhere = images.rename(tmp_path / "moved")
    same = files(tmp_path / "votes.csv", elsewhere, name="other", size=12)
    assert same.fingerprint == there.fingerprint
    Image.fromarray(255 - toy.inputs[3]).save(elsewhere / "3.png")
    assert files(tmp_path / "votes.csv", elsewhere, size=12).fingerprint != there.fingerprint
    others = [{"size": 16}, {"flip": True}, {"crop_padding": 1}, {"crop": 10}, {"scale": [0.5, 1]}]
    assert all(
        files(tmp_path / "votes.csv", elsewhere, **{"size": 12, **other}).fingerprint != there.fingerprint for other in others
    )


def test_probabilities_alone_are_a_source(tmp_path, toy, images):
    np.save(tmp_path / "teacher.npy", toy.truth.astype(np.float32))
    source = files(tmp_path / "teacher.npy", images, size=12, classes=["a", "b", "c"])
    assert not source.votes.has_votes
    np.testing.assert_allclose(source.votes.p, toy.truth, atol=1e-6)
    assert source.class_names == ("a", "b", "c")
    assert np.array_equal(source.labels, toy.truth.astype(np.float32).argmax(1))


def test_rows_without_ids_go_by_order_only_where_the_order_is_plain(tmp_path, toy, images, capsys):
    np.save(tmp_path / "teacher.npy", toy.truth)
    for i in range(N):
        (images / f"{i}.png").rename(images / f"img_{i:03d}.png")
    source = files(tmp_path / "teacher.npy", images, size=12)
    np.testing.assert_array_equal(source.inputs, toy.inputs)
    assert "is taken for img_000.png, row 23 for img_023.png: by order" in capsys.readouterr().out
    (images / "img_023.png").rename(images / "img_1.png")  # as text the last one, by number the second or third
    with pytest.raises(InputError, match=r"has rows without ids: expected names .* text order is not number order"):
        files(tmp_path / "teacher.npy", images, size=12)
    (images / "img_1.png").unlink()
    with pytest.raises(InputError, match=r"has rows without ids: expected 24 items .* found 23"):
        files(tmp_path / "teacher.npy", images, size=12)


def test_missing_and_extra_items_are_all_counted_and_the_first_ten_listed(tmp_path, toy, images):
    for i in range(12):
        (images / f"{i}.png").unlink()
    for i in range(3):
        Image.fromarray(toy.inputs[0]).save(images / f"new {i}.png")
    (images / "23.png").write_bytes(b"broken")  # listed before any image is opened
    with pytest.raises(InputError) as caught:
        files(tmp_path / "votes.csv", images, size=12)
    message = str(caught.value)
    assert "12 of 24 items with votes are not in" in message
    assert ": 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more" in message
    assert "3 of 15 items have no votes (data.extra=ignore leaves them out): new 0.png, new 1.png, new 2.png" in message
    assert "broken" not in message


def test_a_file_of_a_kind_that_is_not_read_is_told_from_one_that_is_not_there(tmp_path, toy, images):
    Image.fromarray(toy.inputs[0]).save(images / "scan.tif")
    lines = [f"{name},w{worker},cat" for name in ("0.png", "scan.tif", "nowhere.tif") for worker in range(2)]
    (tmp_path / "kinds.csv").write_text("\n".join(["task,worker,label", *lines, "0.png,w2,dog"]))
    with pytest.raises(InputError) as caught:
        files(tmp_path / "kinds.csv", images, size=12, extra="ignore")
    assert "2 of 3 items with votes are not in" in str(caught.value)
    assert "(scan.tif is a file there, and only .png, .jpg, .jpeg, .bmp, .webp, .gif are read as images: convert it; " in str(
        caught.value
    )


def test_extra_items_can_be_left_out(tmp_path, toy, images):
    plain = files(tmp_path / "votes.csv", images, size=12)
    (images / "new.png").write_bytes(b"not even read")
    with pytest.raises(InputError, match="1 of 25 items have no votes"):
        files(tmp_path / "votes.csv", images, size=12)
    assert files(tmp_path / "votes.csv", images, size=12, extra="ignore").fingerprint == plain.fingerprint


def test_what_fits_twice_is_refused(tmp_path, toy, images):
    Image.fromarray(toy.inputs[0]).save(images / "5.bmp")
    with pytest.raises(InputError, match=r"1 ids fit several items: 5 \(5.bmp, 5.png\)"):
        files(tmp_path / "votes.csv", images, size=12)
    with pytest.raises(InputError, match=r"1 items fit several ids: a.png \(a, a.png\)"):
        pair(["a", "a.png"], match_images(["a", "a.png"], ["a.png"]), ["a.png"], extra="error", where=("votes", "images"))


def test_ids_are_paths_or_file_names_with_or_without_ending(tmp_path):
    names = ["a.png", "sub/a.png", "sub/b.jpg", "sub/deep/c.v2.png"]
    ids = ["a.png", "sub/a", "b", "b.jpg", "c.v2", "c", "sub/deep/c.v2.png", "A.png"]
    assert match_images(ids, names) == [[0], [1], [2], [2], [3], [], [3], []]  # the whole path comes first


def test_the_order_of_names_is_refused_where_it_can_be_read_two_ways():
    assert order_of_names(["x2", "x1", "y"]) == [1, 0, 2]
    assert order_of_names(["x2", "x10"]) is None
    assert order_of_names(["02", "10", "01"]) == [2, 0, 1]
    assert order_of_names(["a", "1"]) == [1, 0]


def test_relative_paths_are_looked_for_here_and_below_hardlabels_data(tmp_path, images, monkeypatch):
    monkeypatch.delenv("HARDLABELS_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    here = files("votes.csv", "images", size=12)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"data\.votes: votes\.csv is not there \(looked in .*elsewhere\)"):
        files("votes.csv", "images", size=12)
    monkeypatch.setenv("HARDLABELS_DATA", str(tmp_path))
    assert files("votes.csv", "images", size=12).fingerprint == here.fingerprint


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"votes": None}, "data.votes is needed: data=files data.votes=votes.csv data.items="),
        ({"items": None}, "data.items is needed"),
        ({"items": "nowhere"}, "data.items: nowhere is not there"),
        ({"items": "x" * 300}, "data.items: "),
        ({"items": "empty"}, "expected images .* found none"),
        ({"items": "votes.csv"}, "line 2, column 'worker': expected a finite number"),
        ({"items": "rows.npy"}, "expected 24 rows, in the order of votes.csv; got 23"),
        ({"items": "ids.csv"}, "24 of 24 items with votes are not in ids.csv"),
        ({"items": "rows.npy", "flip": True, "votes": "probs.npy"}, "only images are cropped and flipped"),
        ({"votes": "images"}, "images"),
        ({"votes": "one.csv"}, "expected at least 2 classes to learn, got cat"),
        ({"size": 4}, "data.size must be a whole number 8 .. 1024, got 4"),
        ({"size": 2000}, "data.size must be"),
        ({"channels": 4}, "data.channels must be 1 or 3, got 4"),
        ({"fit": "squash"}, "data.fit must be crop or pad or stretch, got 'squash'"),
        ({"crop": 13}, "data.crop must be null or a whole number 8 .. data.size, got 13"),
        ({"scale": [1, 2]}, "scale must be two shares of the area"),
        ({"storage": "cloud"}, "data.storage must be auto or memory or disk, got 'cloud'"),
        ({"crop_padding": -1}, "data.crop_padding must be a whole number 0 .. data.size, got -1"),
        ({"extra": "drop"}, "data.extra must be error or ignore, got 'drop'"),
        ({"classes": ["a", "b"]}, "a, b"),
        ({"format": "excel"}, "excel"),
        ({"label": "vote"}, "expected a column 'vote'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, toy, images, monkeypatch, settings, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    np.save("rows.npy", np.arange(46.0).reshape(23, 2))
    np.save("probs.npy", toy.truth[:23])
    pd.DataFrame(np.zeros((24, 2)), index=[f"id {i}" for i in range(24)]).to_csv("ids.csv")
    pd.DataFrame({"task": ["0"], "worker": ["w"], "label": ["cat"]}).to_csv("one.csv", index=False)
    with pytest.raises(InputError, match=said):
        files(**{"votes": "votes.csv", "items": "images", "size": 12, **settings})


def test_columns_of_other_names_can_be_named(tmp_path, toy, images):
    table = pd.read_csv(tmp_path / "votes.csv").set_axis(["clip", "who", "genre"], axis=1)
    table.to_csv(tmp_path / "other.csv", index=False)
    source = files(tmp_path / "other.csv", images, size=12, task="clip", worker="who", label="genre")
    assert source.fingerprint == files(tmp_path / "votes.csv", images, size=12).fingerprint


def test_json_answers_are_votes_too(tmp_path, toy, images):
    ends = zip(toy.votes.offsets, toy.votes.offsets[1:], strict=False)
    answers = {str(i): {f"w{j}": int(v) for j, v in enumerate(toy.votes.labels[a:b])} for i, (a, b) in enumerate(ends)}
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    np.testing.assert_array_equal(files(tmp_path / "answers.json", images, size=12).votes.counts, toy.votes.counts)
