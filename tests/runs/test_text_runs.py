"""Runs on a user's own texts: a head on features, and an encoder that is trained; both are what they say they are."""

import importlib.util
import json
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch
from hydra import compose, initialize_config_dir
from lightning import Callback
from scipy.special import softmax

from hardlabels.configuration import CONF, compose_command
from hardlabels.diagnostics.driver import run_probes
from hardlabels.diagnostics.probe import Probe
from hardlabels.errors import InputError
from hardlabels.inference import Predictor
from hardlabels.learning.encoders.sentences import DEFAULT, encoder_digest, find_encoder
from hardlabels.runs.data import load_source
from hardlabels.runs.finished import FinishedRun
from hardlabels.runs.training.checkpoint import load_checkpoint
from hardlabels.runs.training.compose import make_network

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec(DEFAULT.replace("-", "_")) is None, reason="needs an encoder: pip install 'hardlabels[text]'"
)
WORDS = ["rain", "cat", "house", "yes", "no", "blue"]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A folder with votes.csv and texts.csv of 60 items; nothing is remembered from other tests."""
    monkeypatch.setenv("HARDLABELS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    load_source.cache_clear()
    rng = np.random.default_rng(0)
    words = rng.integers(len(WORDS), size=(60, 3))
    votes = [(f"t{i}", f"w{j}", ("dry", "wet")[(rng.random() < 0.8) == (0 in words[i])]) for i in range(60) for j in range(4)]
    pd.DataFrame(votes, columns=["task", "worker", "label"]).to_csv("votes.csv", index=False)
    texts = [f"{i}: " + " ".join(WORDS[k] for k in words[i]) for i in range(60)]  # no two alike, which would be a leak
    pd.DataFrame({"id": [f"t{i}" for i in range(60)], "text": texts}).to_csv("texts.csv", index=False)
    return tmp_path


@pytest.fixture
def tiny_encoder(place):
    """A folder like that of the packaged encoder, but for one layer of 16 units with weights of its own."""
    from transformers import BertConfig, BertModel

    folder = place / "encoder"
    shutil.copytree(find_encoder(DEFAULT), folder, ignore=shutil.ignore_patterns("*.safetensors"))
    settings = json.loads((folder / "config.json").read_text())
    settings |= {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    torch.manual_seed(0)
    BertModel(BertConfig.from_dict(settings)).save_pretrained(folder)
    pooling = json.loads((folder / "1_Pooling/config.json").read_text())
    (folder / "1_Pooling/config.json").write_text(json.dumps(pooling | {"word_embedding_dimension": 16}))
    return folder


@pytest.fixture
def run(run_cell):
    """Train on these files, two epochs, as a user would; returns the finished run."""

    def train(recipe, *overrides):
        return FinishedRun.open(run_cell(composed(recipe, *overrides)))

    return train


def composed(recipe, *overrides):
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("train", words(recipe, *overrides))


def words(recipe, *overrides):
    files = ["data=files", "data.votes=votes.csv", "data.items=texts.csv", "data.name=mine", "trainer.accelerator=cpu"]
    return [*files, f"recipe={recipe}", "recipe.epochs=2", "recipe.width=2", "run.tag=t", *overrides]


def check_predictions(run):
    """What is saved is what the saved network says of the items, for both checkpoints; as is what is predicted of new items."""
    for name, saved in (("best", "logits"), ("last", "logits_last")):
        with torch.no_grad():
            logits = run.network(name)(run.inputs(run.predictions["index"])).numpy()
        np.testing.assert_allclose(logits, run.predictions[saved], atol=1e-5)
        predicted = Predictor.open(run.path, name)(run.source.inputs[run.predictions["index"]])
        np.testing.assert_allclose(predicted, softmax(run.predictions[saved].astype(float), 1), atol=1e-5)


class _Stop(Callback):
    """Fails at the end of the second epoch, before it is kept: as a kill would."""

    def on_validation_end(self, trainer, pl_module):
        if trainer.current_epoch == 1:
            raise KeyboardInterrupt


def check_resumed(run, whole, monkeypatch, *arguments):
    """Interrupted in its second epoch and started again, it ends with the bits of the whole run."""
    whole = whole.path.rename(whole.path.parent / "whole")
    with monkeypatch.context() as patch:
        patch.setattr("hardlabels.runs.training.progress.RunProgress", _Stop)
        with pytest.raises((KeyboardInterrupt, SystemExit)):
            run(*arguments)
    again = run(*arguments)
    assert len(again.environment) == 2
    for name in ("history.csv", "result.json"):
        assert (again.path / name).read_bytes() == (whole / name).read_bytes()
    ours, theirs = (load_checkpoint(path / "last.ckpt")["state_dict"] for path in (again.path, whole))
    assert all(torch.equal(ours[key], theirs[key]) for key in theirs)


def test_a_head_on_the_packaged_encoder(run, monkeypatch, capsys):
    first = run("text_head", "method=sls")
    assert first.cell.folder.parts == ("mine", "text_head,tag=t", "sls", "K=all", "seed=0")
    identity = json.loads(first.directory.identity.read_text())
    assert identity["data"] == f"{first.source.fingerprint}+{encoder_digest(find_encoder(DEFAULT))}"
    assert (first.source.kind, first.prepared.kind) == ("texts", "vectors")
    assert first.inputs(np.arange(5)).shape == (5, 384)
    assert len(first.history) == 2
    check_predictions(first)
    capsys.readouterr()
    run("text_head", "method=sls")
    assert "finished already, skipped" in capsys.readouterr().out
    check_resumed(run, first, monkeypatch, "text_head", "method=sls")


def test_other_texts_and_another_encoder_under_the_same_name_are_refused(run, tiny_encoder):
    arguments = ("text_head", f"model.encoder={tiny_encoder}")
    first = run(*arguments)
    assert first.inputs(np.arange(5)).shape == (5, 16)
    (tiny_encoder / "vocab.txt").write_text("another vocabulary")
    with pytest.raises(InputError, match="was trained with another encoder"):
        _ = FinishedRun.open(first.path).prepared
    with pytest.raises(InputError, match="the data's content"):  # finished, and not skipped
        run(*arguments)
    (first.path / "done").unlink()
    with pytest.raises(InputError, match=r"another configuration \(the data's content: .* \+ .* there, .* \+ .* now\)"):
        run(*arguments)
    table = pd.read_csv("texts.csv")
    table.replace(table.text[7], "something else").to_csv("texts.csv", index=False)
    load_source.cache_clear()
    with pytest.raises(InputError, match="the data's content"):
        run(*arguments)


def test_an_encoder_is_trained_and_resumed(run, tiny_encoder, monkeypatch):
    for file in ("votes.csv", "texts.csv"):
        table = pd.read_csv(file)
        table[table.iloc[:, 0].isin([f"t{i}" for i in range(24)])].to_csv(file, index=False)
    arguments = ("text_finetune", f"model.encoder={tiny_encoder}", "recipe.batch_size=8", "recipe.optimizer.lr=0.01")
    first = run(*arguments)
    assert first.prepared.kind == "tokens"
    check_predictions(first)
    start = make_network(first.cfg, first.prepared).state_dict()
    trained = first.network("last").state_dict()
    moved = {name for name in trained if not torch.equal(trained[name], start[name])}
    assert any("attention" in name for name in moved)
    assert any(name.startswith("head") for name in moved)
    check_resumed(run, first, monkeypatch, *arguments)


def test_two_processes_train_the_encoder_that_one_process_trains(run, tiny_encoder, place):
    """No embedding depends on BERT's pooler, and no process waits for its gradients; one has nothing of the last batch of one."""
    sgd = "recipe.optimizer={_target_: torch.optim.SGD, lr: 0.1}"  # Adam makes steps of equal length of any rounding
    arguments = ("text_finetune", f"model.encoder={tiny_encoder}", "recipe.batch_size=20", sgd)
    alone = run(*arguments)
    assert len(alone.split.train) % 20 == 1
    two = [*words("text_finetune", *arguments[1:]), "trainer.devices=2", "trainer.strategy=ddp", f"outputs={place / 'two'}"]
    done = subprocess.run([sys.executable, "-m", "hardlabels.train", *two], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("votes.csv: 240 votes on 60 items") == 1, done.stdout  # one process speaks for both
    shared = FinishedRun.open(place / "two" / alone.cell.folder)
    assert shared.environment[0]["processes"] == 2
    for ours, theirs in zip(shared.history, alone.history, strict=True):
        np.testing.assert_allclose(list(ours.values()), list(theirs.values()), rtol=1e-3, atol=1e-4)
    start = make_network(alone.cfg, alone.prepared)
    a, b, before = (network.state_dict() for network in (shared.network("last"), alone.network("last"), start))
    for name in a:
        torch.testing.assert_close(a[name], b[name], rtol=0, atol=1e-4, msg=name)
    assert any("attention" in name and not torch.equal(a[name], before[name]) for name in a)


@pytest.mark.parametrize("recipe", ["text_head", "text_finetune"])
def test_every_probe_measures_texts_or_says_once_that_it_cannot(run, tiny_encoder, place, recipe):
    words = (recipe, f"model.encoder={tiny_encoder}", "K=2")
    runs = [run(*words, f"method={method}", f"seed={seed}") for method in ("sls", "soft") for seed in (0, 1)]
    cfg = compose_command("diagnose", ["hessian.max_products=2", "hessian.slices=[full]", "barrier.points=3", "ood.sets=[noise]"])
    for name in sorted(path.stem for path in (CONF / "diagnostic").glob("*.yaml")):
        tally = run_probes([Probe.from_config(cfg[name])], {run.cell: run.path for run in runs}, place / name, device="cpu")
        assert (tally.failed, tally.lacking) == ([], {}), name
        if name in ("gradcam", "ood"):
            [reason] = tally.not_applicable
            assert "the items of 'mine' are texts" in reason
        else:
            assert not tally.not_applicable
            assert tally.computed > 0, name
