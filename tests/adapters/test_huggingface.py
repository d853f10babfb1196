"""The Hugging Face callback: against the real Trainer where it is installed, else against a loop with the order of its calls."""

import importlib
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from hardlabels import InputError, Votes, deliver
from hardlabels.adapters import Delivered, huggingface

N, STEPS = 30, 3
VOTES = Votes.from_counts(np.random.default_rng(0).multinomial(9, [0.4, 0.3, 0.3], size=N))
LABELS = deliver(VOTES, "sls", seed=1)
INSTALLED = importlib.util.find_spec("transformers") is not None


def items():
    return [{"index": i, "x": torch.zeros(2)} for i in range(N)]


def stale(seen):
    return sorted({epoch for epoch, index, target in seen if LABELS(epoch)[index].tolist() != target})


@pytest.fixture
def with_stub(monkeypatch):
    """The module as it is with transformers installed: only the base class comes from there."""
    stub = ModuleType("transformers")
    stub.TrainerCallback = type("TrainerCallback", (), {})
    monkeypatch.setitem(sys.modules, "transformers", stub)
    yield importlib.reload(huggingface)
    monkeypatch.undo()
    importlib.reload(huggingface)


def their_loop(callback, loader, *, epochs, resumed_at=0.0, early_stop=None):
    """The order of ``Trainer._inner_training_loop``: on_train_begin, and in each epoch on_epoch_begin, then iter(loader)."""
    state, seen = SimpleNamespace(epoch=resumed_at), []
    callback.on_train_begin(None, state, None)
    for epoch in range(int(resumed_at), epochs):
        callback.on_epoch_begin(None, state, None, model=None)
        skip = round((state.epoch - epoch) * STEPS) if epoch == int(resumed_at) else 0
        for step, batch in enumerate(iter(loader)):
            if step < skip:
                continue
            seen.append((epoch, batch["index"].tolist(), batch["labels"].tolist()))
            state.epoch = epoch + (step + 1) / STEPS
            if early_stop == (epoch, step):
                break
    return seen


@pytest.mark.parametrize("workers", [{}, {"num_workers": 2, "persistent_workers": True}], ids=["none", "persistent"])
@pytest.mark.parametrize(
    ("resumed_at", "early_stop"), [(0.0, None), (2.0, None), (1 + 2 / 3, None), (0.0, (1, 0))],
    ids=["fresh", "after an epoch", "inside an epoch", "an epoch stopped early"],
)  # fmt: skip
def test_every_target_is_that_of_its_epoch(with_stub, workers, resumed_at, early_stop):
    data = Delivered(items(), LABELS)
    loader = DataLoader(data, batch_size=N // STEPS, shuffle=True, **workers)
    seen = their_loop(with_stub.EpochCallback(data), loader, epochs=4, resumed_at=resumed_at, early_stop=early_stop)
    assert seen[0][0] == int(resumed_at)
    assert seen[-1][0] == 3
    assert stale(seen) == []


@pytest.mark.skipif(INSTALLED, reason="transformers is installed")
def test_without_transformers_the_callback_says_so():
    with pytest.raises(InputError, match=r"not installed here: pip install 'transformers\[torch\]'"):
        huggingface.EpochCallback(Delivered(items(), LABELS))


@pytest.mark.parametrize("workers", [0, 2])
def test_under_the_real_trainer_and_after_a_resume(tmp_path, workers):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed (tested with a stub)")
    pytest.importorskip("accelerate", reason="Trainer needs accelerate")
    seen = []

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(2, 3)

        def forward(self, x, index, labels):
            if self.training:
                seen.append((index.tolist(), labels.tolist()))
            logits = self.linear(x)
            return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

    def train(epochs, resume=None):
        data = Delivered(items(), LABELS)
        arguments = transformers.TrainingArguments(
            str(tmp_path), num_train_epochs=epochs, per_device_train_batch_size=N // STEPS, save_steps=4, report_to=[],
            dataloader_num_workers=workers, dataloader_persistent_workers=workers > 0, disable_tqdm=True, use_cpu=True,
            remove_unused_columns=False,
        )  # fmt: skip
        callbacks = [huggingface.EpochCallback(data)]
        transformers.Trainer(Model(), arguments, train_dataset=data, callbacks=callbacks).train(resume_from_checkpoint=resume)
        return [seen.pop(0) for _ in range(len(seen))]

    whole = train(3)
    assert stale([(step // STEPS, *batch) for step, batch in enumerate(whole)]) == []
    rest = train(4, resume=str(tmp_path / "checkpoint-4"))  # in the middle of epoch 1
    assert stale([((step + 4) // STEPS, *batch) for step, batch in enumerate(rest)]) == []
