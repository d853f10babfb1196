"""Own data through the commands: every method and probe that applies, distillation, and mistakes that write nothing."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from PIL import Image
from scipy.special import softmax

from hardlabels.configuration import CONF, compose_command
from hardlabels.diagnose import diagnose
from hardlabels.diagnostics.driver import run_probes
from hardlabels.diagnostics.probe import Probe
from hardlabels.errors import InputError
from hardlabels.learning.predict import predict
from hardlabels.metrics import score
from hardlabels.runs.cell import Cell
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.records import read_records
from hardlabels.runs.settings.hidden import hidden_changes, plain_config
from hardlabels.runs.training.compose import make_datamodule
from hardlabels.sources.synthetic import synthetic

METHODS = sorted(path.stem for path in (CONF / "method").glob("*.yaml"))
TINY = ["recipe=smoke", "recipe.epochs=2", "recipe.width=2", "recipe.batch_size=32", "trainer.accelerator=cpu", "run.tag=tiny"]
VECTORS = ["data=files", "data.votes=votes.csv", "data.items=features.csv", "data.name=mine", "model=mlp", *TINY]
IMAGES = ["data=files", "data.votes=votes.csv", "data.items=images/", "data.name=photos", "data.size=12", *TINY]
N = 120


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with votes.csv (a long table), images/ and features.csv of the same 120 items; all of it from one seed."""
    folder, source = tmp_path_factory.mktemp("own"), synthetic(items=N, classes=3, size=12, annotators=5)
    (folder / "images").mkdir()
    ids = [f"item_{i:03d}" for i in range(N)]
    for name, image in zip(ids, source.inputs, strict=True):
        Image.fromarray(image).save(folder / "images" / f"{name}.png")
    noise = np.random.default_rng(0).normal(0, 0.3, (N, 6))
    pd.DataFrame(source.truth @ np.random.default_rng(1).normal(size=(3, 6)) + noise, index=ids).to_csv(folder / "features.csv")
    votes = zip(np.repeat(ids, 5), np.tile([f"w{j}" for j in range(5)], N), source.votes.labels, strict=True)
    pd.DataFrame(votes, columns=["task", "worker", "label"]).to_csv(folder / "votes.csv", index=False)
    np.save(folder / "probs.npy", source.truth)
    return folder


def composed(*overrides):
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("train", list(overrides))


def hydra_part(*overrides):
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("train", list(overrides), return_hydra_config=True).hydra


@pytest.fixture
def run_here(place, monkeypatch):
    """Train a cell from the folder of the data, as a user would, without a tag's being asked for; returns the finished run."""

    def run(*overrides: str) -> FinishedRun:
        from hardlabels.train import train

        monkeypatch.chdir(place)
        return FinishedRun.open(place / train(composed(*overrides), hydra_part(*overrides)))

    return run


@pytest.mark.parametrize("method", METHODS)
def test_every_method_trains_on_vectors(run_here, method):
    if method == "dawid_skene":
        pytest.importorskip("crowdkit", reason="needs crowd-kit: pip install 'hardlabels[crowd]'")
    run = run_here(*VECTORS, f"method={method}")
    assert run.cell.folder.parts[:3] == ("mine", "smoke,tag=tiny", method)
    best = run.result["best"]["full"]
    p = run.source.votes.p[run.split.evaluate]
    q = softmax(run.predictions["logits"].astype(np.float64), axis=1)
    assert best["soft_nll"] == pytest.approx(-(p * np.log(q)).sum(1).mean(), rel=1e-5)
    assert run.source.inputs.shape == (N, 6)


@pytest.mark.parametrize("method", ["soft", "sls", "stratified_sls", "majority", "label_smoothing", "mixup", "shuffled_sls"])
def test_probabilities_alone_are_a_full_source(run_here, method):
    run = run_here(*VECTORS, "data.votes=probs.npy", "data.name=known", f"method={method}")
    assert not run.source.votes.has_votes
    np.testing.assert_allclose(run.predictions["p"], run.source.votes.p[run.split.evaluate])


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("multipass", "Multipass shows observed votes one by one, and this source has only probabilities: .* K=.* to draw votes"),
        ("deterministic_control", "Multipass shows observed votes one by one, and this source has only probabilities"),
        ("repeated", "only probabilities"),
        ("dawid_skene", "only probabilities|annotators|needs crowd-kit"),
    ],
)
def test_methods_that_need_votes_say_why_they_refuse_probabilities(run_here, place, method, said):
    with pytest.raises(InputError, match=said):
        run_here(*VECTORS, "data.votes=probs.npy", "data.name=known", f"method={method}")
    assert not (place / "outputs" / "known" / "smoke,tag=tiny" / method).exists()


def test_multipass_takes_votes_drawn_from_probabilities(run_here):
    run = run_here(*VECTORS, "data.votes=probs.npy", "data.name=known", "method=multipass", "K=3")
    assert run.cell.K == 3
    assert run.sparse_p.shape == (N, 3)
    assert set(np.unique(run.sparse_p * 3).round(9)) <= {0, 1, 2, 3}


def test_probes_of_vector_runs(run_here, place):
    """All probes there are, over all pairs that they ask for; the two that look at pixels say so."""
    runs = [run_here(*VECTORS, f"method={method}", f"seed={seed}", "K=3") for method in ("sls", "soft") for seed in (0, 1)]
    names = sorted(path.stem for path in (CONF / "diagnostic").glob("*.yaml"))
    settings = ["hessian.max_products=8", "hessian.slices=[full]", "barrier.points=3", "ood.sets=[noise]"]
    cfg = compose_command("diagnose", ["study=demo", *settings])
    probes = {name: Probe.from_config(cfg[name]) for name in names}
    folders = {Cell.from_folder(run.path): run.path for run in runs}
    for name, probe in probes.items():
        tally = run_probes([probe], folders, place / "study" / name, device="cpu")
        if name in ("gradcam", "ood"):
            assert (tally.computed, tally.failed) == (0, [])
            [(reason, those)] = tally.not_applicable.items()
            assert "the items of 'mine' are vectors" in reason
            assert len(those) == 4  # the runs, although one of the two compares pairs: it has no meaning for any of them
        else:
            assert (tally.failed, tally.lacking, tally.not_applicable) == ([], {}, {}), name
            assert tally.computed > 0, name


def test_diagnose_finds_the_runs_by_the_datas_name(run_here, place, monkeypatch):
    for method in ("soft", "sls"):
        run_here(*VECTORS, f"method={method}", "K=5")
    words = ["study=demo", "study.data=mine", "study.tag=tiny", "probe=[dynamics]", f"outputs={place}/outputs", "device=cpu"]
    assert diagnose(compose_command("diagnose", words)) == 0
    assert (place / "outputs/mine/smoke,tag=tiny/sls/K=5/seed=0/diagnostics/dynamics.json").is_file()


def test_score_reads_a_vector_run(run_here, capsys):
    from hardlabels.score import main

    run = run_here(*VECTORS, "method=sls")
    main([str(run.directory.predictions), "--resamples", "20"])
    assert f"{run.result['best']['full']['soft_nll']:.4f}" in capsys.readouterr().out


def test_a_teacher_is_distilled_by_sls(run_here, place):
    """Train on votes, save the softmax of all items, train a student on labels that are drawn from it."""
    teacher = run_here(*IMAGES, "method=soft")
    logits = predict(teacher.network("best"), teacher.source, np.arange(N))
    np.save(place / "teacher.npy", softmax(logits, axis=1))
    student = run_here(*IMAGES, "data.votes=teacher.npy", "data.name=distilled", "method=sls")
    np.testing.assert_allclose(student.source.votes.p, softmax(logits.astype(np.float64), axis=1), atol=1e-6)
    np.testing.assert_array_equal(student.source.inputs, teacher.source.inputs)
    assert not student.source.votes.has_votes
    delivery = make_datamodule(student.cfg, student.source).delivery
    shown = np.mean([np.eye(3)[delivery(epoch)] for epoch in range(2000)], axis=0)  # standard error at most 0.011
    np.testing.assert_allclose(shown, student.source.votes.p[student.split.train], atol=0.06)


def test_an_ordinary_call_needs_no_tag_but_a_changed_recipe_does():
    def hidden(*overrides):
        return hidden_changes(composed(*overrides), plain_config(composed(*overrides), hydra_part(*overrides)))

    call = ["data=files", "data.votes=v.csv", "data.items=imgs/", "data.name=mine"]
    assert hidden(*call) == []
    assert hidden(*call, "data.size=64", "data.flip=true", "data.extra=ignore", "data.classes=[a,b]") == []
    assert hidden(*call, "model=mlp", "method=sls", "K=5", "seed=3") == []
    assert hidden(*call, "recipe.epochs=3", "model=mlp", "model.depth=3") == ["model.depth=3", "recipe.epochs=3"]
    assert hidden(*call, "data._target_=a.b") != []
    # Of other sources they are settings that change what is in a folder of a fixed name.
    assert hidden("data=synthetic", "data.items=50", "data.size=12") == ["data.items=50", "data.size=12"]
    # A name of ours stands for our data.
    assert "data.votes=v.csv" in hidden(*call, "data.name=synthetic")


def test_other_content_under_the_same_name_is_refused(run_here, place):
    run = run_here(*VECTORS, "method=soft", "seed=7")
    (run.path / "done").unlink()  # interrupted
    with pytest.raises(InputError, match=r"another configuration \(the data's content: "):
        run_here(*VECTORS, "data.votes=probs.npy", "method=soft", "seed=7")


MISTAKES = {
    "missing": (lambda f: (f / "images/item_007.png").unlink(), [], ["1 of 120 items with votes are not in", ": item_007"]),
    "extra": (lambda f: (f / "images/cat.png").write_bytes(b""), [], ["1 of 121 items have no votes", ": cat.png", "data.extra"]),
    "corrupt": (lambda f: (f / "images/item_050.png").write_bytes(b"\x89PNG"), [], ["item_050.png: expected an image"]),
    "twice": (lambda f: (f / "images/item_001.jpg").write_bytes(b""), [], ["fit several items: item_001 (item_001.jpg, item_"]),
    "other ids": (lambda f: None, ["data.items=other.csv", "model=mlp"], ["120 of 120 items with votes are not in other.csv"]),
    "rows": (lambda f: None, ["data.items=rows.npy", "model=mlp"], ["expected 120 rows, in the order of votes.csv; got 3"]),
    "dims": (
        lambda f: None,
        ["data.items=cube.npy", "model=mlp"],
        ["expected a numeric matrix of items x features", "(3, 2, 2)"],
    ),
    "model": (lambda f: None, ["model=mlp"], ["MLP takes vectors", "use model=resnet18"]),
    "no model": (lambda f: None, ["data.items=features.csv"], ["ResNet18 takes images", "use model=mlp"]),
    "crops": (
        lambda f: None,
        ["data.items=features.csv", "model=mlp", "data.flip=true"],
        ["only images are cropped and flipped"],
    ),
    "no votes": (lambda f: None, ["data.votes=null"], ["data.votes is needed"]),
    "probabilities": (
        lambda f: None,
        ["data.votes=probs.npy", "method=multipass"],
        ["Multipass shows observed votes", "method=sls"],
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_message_exit_code_2_and_nothing_written(command, place, tmp_path, mistake):
    change, overrides, said = MISTAKES[mistake]
    for file in place.iterdir():
        if file.name in ("votes.csv", "features.csv", "probs.npy"):
            (tmp_path / file.name).symlink_to(file)
    (tmp_path / "images").mkdir()
    for file in (place / "images").iterdir():
        (tmp_path / "images" / file.name).symlink_to(file)
    np.save(tmp_path / "rows.npy", np.zeros((3, 2)))
    np.save(tmp_path / "cube.npy", np.zeros((3, 2, 2)))
    pd.DataFrame(np.zeros((2, 2)), index=["a", "b"]).to_csv(tmp_path / "other.csv")
    if mistake in ("corrupt",):
        (tmp_path / "images/item_050.png").unlink()
    change(tmp_path)
    before = sorted(Path(tmp_path).rglob("*"))
    code, out, err = command(*IMAGES, *overrides)
    assert code == 2, (out, err)
    assert all(part in err for part in said), err
    assert "Traceback" not in err
    assert sorted(Path(tmp_path).rglob("*")) == before


def test_a_finished_run_is_not_skipped_for_other_content(run_here):
    run = run_here(*VECTORS, "method=soft", "seed=8")
    assert run_here(*VECTORS, "method=soft", "seed=8").path == run.path  # skipped
    with pytest.raises(InputError, match=r"another configuration \(the data's content: "):
        run_here(*VECTORS, "data.votes=probs.npy", "method=soft", "seed=8")


def test_a_grid_lists_missing_items_once_and_trains_nothing(command, place, tmp_path):
    (tmp_path / "images").mkdir()
    (tmp_path / "votes.csv").symlink_to(place / "votes.csv")
    for file in sorted((place / "images").iterdir())[1:]:
        (tmp_path / "images" / file.name).symlink_to(file)
    code, out, err = command("-m", *IMAGES, "method=sls,soft", "seed=range(2)")
    assert code == 2, (out, err)
    assert err.count("1 of 120 items with votes are not in") == 1
    assert not (tmp_path / "outputs" / "photos").exists()


def test_only_a_run_on_a_scale_has_the_distances_of_scales(place, run_here):
    nominal = run_here(*VECTORS, "method=soft", "data.name=words")
    ordinal = run_here(*VECTORS, "method=soft", "data.name=scale", "data.ordered=true")
    results = [json.loads((run.path / "result.json").read_text()) for run in (nominal, ordinal)]
    histories = [(run.path / "history.csv").read_text().splitlines()[0] for run in (nominal, ordinal)]
    assert histories[0] == histories[1], "nothing is added to an epoch"
    with np.load(ordinal.path / "predictions.npz") as saved:
        expected = score(saved["logits"], saved["p"], ["manhattan", "wasserstein"])
    added = {name: value for name, value in results[1]["best"]["full"].items() if name not in results[0]["best"]["full"]}
    assert added == pytest.approx(expected)
    assert {"manhattan", "wasserstein"} <= results[1]["prior"]["full"].keys()
    shared = {name: value for name, value in results[1]["last"]["full"].items() if name not in added}
    assert shared == pytest.approx(results[0]["last"]["full"], nan_ok=True), "and no number differs"
    table = read_records([place / "outputs"]).table
    scored = table[table["name"] == "wasserstein"]
    assert set(scored["data"]) == {"scale"}
