"""Collators of other people around soft targets, under the real ``Trainer``: each input keeps its target, or it is refused."""

from itertools import product

import numpy as np
import pytest
import torch

from hardlabels import InputError, Votes, deliver
from hardlabels.adapters import Delivered
from hardlabels.adapters.huggingface import TargetCollator, trainer_parts

transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")

N, C, EPOCHS = 14, 3, 2
VOTES = Votes.from_counts(np.random.default_rng(0).multinomial(9, [0.4, 0.3, 0.3], size=N))
OLD = np.random.default_rng(1).integers(C, size=N)


def items(column="label"):
    """Item i is the vector (i, ..., i)."""
    return [{"x": torch.full((2,), float(i)), column: int(OLD[i])} for i in range(N)]


class Model(torch.nn.Module):
    """Says which items and labels its forward gets."""

    def __init__(self):
        super().__init__()
        self.linear, self.seen = torch.nn.Linear(2, C), []

    def forward(self, x, labels=None):
        if self.training:
            self.items = x[:, 0].int().tolist()
        return {"logits": self.linear(x)}


def train(folder, data, collator, **settings):
    model, parts, seen = Model(), trainer_parts(data, collator=collator), []
    loss = parts["compute_loss_func"]

    def recorded(outputs, labels, num_items_in_batch=None):
        seen.append((list(model.items), labels.numpy()))
        return loss(outputs, labels, num_items_in_batch=num_items_in_batch)

    arguments = transformers.TrainingArguments(
        str(folder), report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no", num_train_epochs=EPOCHS,
        per_device_train_batch_size=4, remove_unused_columns=False, **settings,
    )  # fmt: skip
    transformers.Trainer(model, arguments, train_dataset=data, **{**parts, "compute_loss_func": recorded}).train()
    return seen


def stack(batch, key="labels"):
    return {"x": torch.stack([item["x"] for item in batch]), "labels": torch.tensor([item[key] for item in batch])}


def sort_first(batch):
    """As collators do for packed sequences: the longest first."""
    return stack(sorted(batch, key=lambda item: -item["x"][0]))


def leave_one_out(batch):
    """As collators do with items that cannot be read."""
    return stack(batch[:1] + batch[2:])


def as_floats(batch):
    return {**stack(batch), "labels": torch.tensor([float(item["labels"]) for item in batch])}


COLLATORS = [stack, sort_first, leave_one_out, transformers.default_data_collator]


@pytest.mark.parametrize(
    ("collator", "method"),
    [*product(COLLATORS, ["soft", "sls", "multipass"]), (as_floats, "soft")],
    ids=lambda x: getattr(x, "__name__", str(x)),
)
def test_each_input_keeps_its_target(tmp_path, collator, method):
    labels = deliver(VOTES, method, seed=0)
    seen = train(tmp_path, Delivered(items(), labels), collator)
    for step, (rows, targets) in enumerate(seen):
        np.testing.assert_allclose(targets, labels(step // 4)[rows], atol=1e-7)
    assert len(seen) == 4 * EPOCHS
    dropped = collator is leave_one_out
    assert sum(len(rows) for rows, _ in seen) == (EPOCHS * N - 4 * EPOCHS * dropped)


@pytest.mark.parametrize("method", ["soft", "sls"])
def test_a_collator_that_reads_label_is_served_or_told_how(tmp_path, method):
    """As transformers' run_image_classification.py has it."""
    labels = deliver(VOTES, method, seed=0)
    with pytest.raises(
        InputError, match=r"the collator reads 'label', .* is 'labels': expected Delivered\(\.\.\., key='label'\)"
    ):
        train(tmp_path, Delivered(items(), labels), lambda batch: stack(batch, "label"))
    for step, (rows, targets) in enumerate(train(tmp_path, Delivered(items(), labels, key="label"), lambda b: stack(b, "label"))):
        np.testing.assert_allclose(targets, labels(step // 4)[rows], atol=1e-7)


@pytest.mark.parametrize(
    ("collator", "message"),
    [
        (lambda batch: {"x": torch.stack([item["x"] for item in batch])}, r"one of type dict \['x'\]"),
        (lambda batch: tuple(stack(batch).values()), "one of type tuple"),
        (lambda batch: {**stack(batch), "labels": torch.nn.functional.one_hot(stack(batch)["labels"], 4)}, "'labels' tensor"),
        (lambda batch: {**stack(batch), "labels": stack(batch)["labels"] * 0.5 + 0.25}, "what blends, encodes or drops labels"),
    ],
    ids=["no labels", "a pair", "one-hot", "blended"],
)  # fmt: skip
def test_labels_that_were_made_into_something_else_are_refused(collator, message):
    data = Delivered(items(), deliver(VOTES, "soft", seed=0))
    data.start_epoch(0)
    with pytest.raises(InputError, match=f"expected a collator that gives a mapping .*{message}"):
        TargetCollator(collator)([data[i] for i in range(4)])


@pytest.mark.parametrize("method", ["soft", "sls"])
def test_texts_of_different_lengths_without_padding_are_told_how(tmp_path, method):
    """``data_collator=None`` of a script means padding where a tokenizer is given, which a collator of ours cannot know."""
    ragged = [{"x": [float(i)] * (1 + i % 3), "label": 0} for i in range(N)]
    with pytest.raises(InputError, match=r"different lengths, .* collator=DataCollatorWithPadding\(tokenizer\)"):
        train(tmp_path, Delivered(ragged, deliver(VOTES, method, seed=0)), None)


def test_other_mistakes_of_a_collator_keep_their_own_words():
    data = Delivered(items(), deliver(VOTES, "soft", seed=0))
    data.start_epoch(0)
    with pytest.raises(KeyError, match="image"):
        TargetCollator(lambda batch: {"x": [item["image"] for item in batch]})([data[0]])
    with pytest.raises(ValueError, match="theirs"):
        TargetCollator(lambda batch: int("theirs"))([data[0]])
