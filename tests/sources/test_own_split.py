"""Own splits, groups and equal items: as people have them in their files, and every mistake in one line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hardlabels.errors import InputError
from hardlabels.runs.data import load_source
from hardlabels.sources.chaosnli import chaosnli
from hardlabels.sources.files import files
from hardlabels.sources.lewidi import lewidi

N = 30
WORDS = [f"text number {i}" for i in range(N)]
SIDES = [("train", "dev", "test")[i % 3] for i in range(N)]


@pytest.fixture
def texts(tmp_path, monkeypatch):
    """votes.csv (task, worker, label, batch) and texts.csv (id, text, user, side), in another order."""
    monkeypatch.chdir(tmp_path)
    votes = [
        {"task": f"t{i}", "worker": f"w{j}", "label": ("no", "yes")[(i + j) % 2], "batch": i // 6}
        for i in range(N)
        for j in range(3)
    ]
    pd.DataFrame(votes).to_csv("votes.csv", index=False)
    frame = pd.DataFrame(
        {"id": [f"t{i}" for i in range(N)], "text": WORDS, "user": [f"u{i // 3}" for i in range(N)], "side": SIDES}
    )
    frame.sample(frac=1, random_state=0).to_csv("texts.csv", index=False)
    return frame


def read(**settings):
    return files("votes.csv", "texts.csv", **settings)


def test_a_column_of_the_items_is_the_split(texts):
    source = read(split="side")
    assert source.parts.tolist() == [i % 3 for i in range(N)]
    split = source.split(seed=5, protocol="three_way")
    assert [source.ids[i] for i in split.evaluate] == [f"t{i}" for i in range(2, N, 3)]


def test_a_column_of_the_votes_is_the_group(texts):
    source = read(group="batch")
    assert source.groups.tolist() == [i // 6 for i in range(N)]
    by_user = read(group="user").groups
    assert by_user.tolist() == [i // 3 for i in range(N)]


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_a_file_of_ids_is_the_split(texts, ending):
    names = ("train", "select", "evaluate")
    if ending == "csv":
        pd.DataFrame({"id": texts["id"], "part": [names[i % 3] for i in range(N)]}).to_csv("split.csv", index=False)
    else:
        document = {name: [f"t{i}" for i in range(place, N, 3)] for place, name in enumerate(names)}
        Path("split.json").write_text(json.dumps(document))
    source = read(split=f"split.{ending}")
    assert source.parts.tolist() == [i % 3 for i in range(N)]
    assert source.fingerprint == read(split="side").fingerprint  # the content counts, not where it stands


def test_the_fingerprint_tells_splits_apart(texts):
    prints = {read(**settings).fingerprint for settings in ({}, {"split": "side"}, {"group": "user"}, {"group": "batch"})}
    assert len(prints) == 4


def test_features_and_json_lines_have_columns_too(texts):
    rows = [{"id": row["id"], "text": row["text"], "meta": {"user": row["user"]}} for row in texts.to_dict("records")]
    Path("texts.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert files("votes.csv", "texts.jsonl", group="user", text="text").groups.tolist() == [i // 3 for i in range(N)]


def test_equal_items_are_a_leak(texts):
    texts.loc[7, "text"] = WORDS[4].upper() + " "
    texts.to_csv("texts.csv", index=False)
    with pytest.raises(InputError, match=r"1 item is equal to another one, .* leak .*: t7 and t4; data.equal=group keeps"):
        read()
    assert read(equal="ignore").groups is None
    grouped = read(equal="group").groups
    assert grouped[7] == grouped[4]
    assert len(set(grouped.tolist())) == N - 1
    joined = read(equal="group", group="user").groups
    assert len({joined[i] for i in (3, 4, 5, 6, 7, 8)}) == 1  # two users who share a text are one group
    with pytest.raises(InputError, match="1 item is equal to another one, which would be a leak"):
        read(group="user")
    texts.loc[7, "text"], texts.loc[0, "user"] = WORDS[3], "u1"
    texts.loc[6, "text"] = "another"
    texts.to_csv("texts.csv", index=False)
    with pytest.raises(InputError, match=r"in another part of the given split: t7 and t3; data.equal=ignore does not look"):
        read(split="side", equal="group")


def test_equal_items_in_one_part_or_group_are_no_leak(texts):
    texts.loc[5, "text"] = WORDS[3]  # both of user u1
    texts.to_csv("texts.csv", index=False)
    assert read(group="user").groups.tolist() == [i // 3 for i in range(N)]
    texts.loc[5, "text"], texts.loc[8, "text"] = WORDS[5], WORDS[2]  # both test
    texts.to_csv("texts.csv", index=False)
    assert read(split="side").parts is not None


BAD_FILES = {
    "three.csv": "id,a,b\nt0,1,2\n",
    "no_header.csv": "t0,train\nt1,test\n",
    "short.csv": "id,part\nt0,train\nt1,test\n",
    "strange.csv": "id,part\nnobody,train\n" + "".join(f"t{i},{SIDES[i]}\n" for i in range(N)),
    "twice.csv": "id,part\nt0,train\nt0,test\n",
    "fold.csv": "id,part\n" + "".join(f"t{i},fold {i % 2}\n" for i in range(N)),
    "only_train.csv": "id,part\n" + "".join(f"t{i},train\n" for i in range(N)),
    "list.json": '["t0", "t1"]',
    "number.json": '{"train": 3}',
    "broken.json": '{"train": [',
    "bytes.csv": "id,part\nt0,\xff\n",
}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"split": "fold"}, r"data.split=fold must be a column of an item's own; there is none in texts.csv \(id, text, user"),
        ({"group": "worker"}, "expected one value of 'worker' for each item; item 't0' has 'w0' and 'w1' in votes.csv"),
        ({"split": "user"}, "data.split=user: expected train, select .* for each item, got 'u0'"),
        ({"split": "away.csv"}, "data.split: away.csv is not there"),
        ({"split": "three.csv"}, "expected two columns, the id and its part, got 3: id, a, b"),
        ({"split": "no_header.csv"}, "expected a first line that names the columns, such as id,split; got t0,train"),
        ({"split": "short.csv"}, "expected the part of every item; 28 of 30 items are not in it: t2, t3"),
        ({"split": "strange.csv"}, "1 ids are of no item .data.extra=ignore allows it.: nobody"),
        ({"split": "twice.csv"}, "expected every id in one part; 't0' is in 'train' and in 'test'"),
        ({"split": "fold.csv"}, "fold.csv: expected train, select .* got 'fold 0'"),
        ({"split": "only_train.csv"}, r"expected items to evaluate \(evaluate, .*test.*\), got only train"),
        ({"split": "list.json"}, "expected lists of ids by part"),
        ({"split": "number.json"}, "expected lists of ids by part, .* 'train' has 3"),
        ({"split": "broken.json"}, "broken.json: expected JSON"),
        ({"split": "bytes.csv"}, "bytes.csv"),
        ({"group": "hole"}, "data.group: 1 of 30 items have no 'hole' in texts.csv: t4"),
        ({"split": "side", "group": "user"}, None),  # refused when the split is made
        ({"equal": "keep"}, "data.equal must be error, group or ignore, got 'keep'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_split_is_said_in_one_line(texts, settings, said):
    for name, content in BAD_FILES.items():
        Path(name).write_text(content, encoding="latin-1")
    texts["hole"] = ["" if i == 4 else "x" for i in range(N)]
    if settings == {"group": "hole"}:
        texts.to_csv("texts.csv", index=False)
    with pytest.raises(InputError, match=said or "the given split divides 10 of 10 groups") as caught:
        read(**settings).split(seed=0)
    assert "\n" not in str(caught.value)


def test_the_official_split_of_lewidi_is_by_name(tmp_path, lewidi_files):
    source = lewidi(tmp_path, subset="hs_brexit", split="official")
    split = source.split(seed=3, protocol="three_way")
    assert [source.inputs[part, 0].tolist() for part in (split.train, split.select, split.evaluate)] == [
        ["train 1", "train 2"], ["dev 1"], ["test 1"],
    ]  # fmt: skip
    assert source.ids[0] == "train/1"
    with pytest.raises(InputError, match=r"data.split of LeWiDi must be official"):
        lewidi(tmp_path, subset="hs_brexit", split="train")


@pytest.fixture
def lewidi_files(tmp_path):
    folder = tmp_path / "lewidi/2023/HS-Brexit"
    folder.mkdir(parents=True)
    for split, n in (("train", 2), ("dev", 1), ("test", 1)):
        items = {
            str(i + 1): {
                "text": f"{split} {i + 1}",
                "annotations": "0,1",
                "annotators": "Ann1,Ann2",
                "split": split,
                "lang": "en",
            }
            for i in range(n)
        }
        (folder / f"HS-Brexit_{split}.json").write_text(json.dumps(items))


def test_pairs_of_one_premise_are_one_group(tmp_path):
    folder = tmp_path / "chaosnli"
    folder.mkdir()
    lines = [
        {
            "uid": str(i),
            "label_counter": {"e": 60, "n": 40},
            "example": {"uid": str(i), "premise": f"p{i // 2}", "hypothesis": f"h{i}"},
        }
        for i in range(6)
    ]
    (folder / "chaosNLI_snli.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert chaosnli(tmp_path, group="premise").groups.tolist() == [0, 0, 1, 1, 2, 2]
    assert chaosnli(tmp_path).groups is None
    with pytest.raises(InputError, match=r"data.group of ChaosNLI must be premise or null"):
        chaosnli(tmp_path, group="source")


def test_a_run_on_an_own_split_is_another_run(texts, run_cell):
    words = [
        "data=files", "data.votes=votes.csv", "data.items=vectors.npy", "data.name=own", "model=mlp", "recipe.split=three_way",
    ]  # fmt: skip
    np.save("vectors.npy", np.random.default_rng(0).normal(size=(N, 4)))
    pd.DataFrame({"id": [f"t{i}" for i in range(N)], "part": SIDES}).to_csv("split.csv", index=False)

    folder = run_cell(compose_own(words, "data.split=split.csv"))
    evaluated = np.load(folder / "predictions.npz")["index"]
    assert evaluated.tolist() == list(range(2, N, 3))
    pd.DataFrame({"id": [f"t{i}" for i in range(N)], "part": SIDES[1:] + SIDES[:1]}).to_csv("split.csv", index=False)
    load_source.cache_clear()  # as in a process of its own
    with pytest.raises(InputError, match="the data's content"):
        run_cell(compose_own(words, "data.split=split.csv"))


def compose_own(words, *more):
    from hydra import compose, initialize_config_dir

    from hardlabels.configuration import CONF

    with initialize_config_dir(str(CONF), version_base="1.3"):
        tiny = ["recipe=smoke", "recipe.width=1", "recipe.epochs=1", "run.tag=own", "trainer.accelerator=cpu"]
        return compose("train", [*words, *more, *tiny, "method=soft", "outputs=outputs"])
