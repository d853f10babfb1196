"""What reaches a model and its loss under the real ``Trainer``: the delivered target of the epoch, never an old label."""

import traceback
from itertools import product

import numpy as np
import pytest
import torch

from hardlabels import InputError, Votes, deliver
from hardlabels.adapters import Delivered
from hardlabels.adapters.huggingface import EpochCallback, TargetCollator, trainer_parts

transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")
datasets = pytest.importorskip("datasets")

N, C, EPOCHS = 16, 3, 3
VOTES = Votes.from_counts(np.random.default_rng(0).multinomial(9, [0.4, 0.3, 0.3], size=N))
OLD = np.random.default_rng(1).integers(C, size=N)


def tokenizer():
    from tokenizers import Tokenizer, models

    words = Tokenizer(models.WordLevel({"[PAD]": 0, "[UNK]": 1}, unk_token="[UNK]"))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]")


def model(**settings):
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=N + 2, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8,
        **{"num_labels": C, **settings},
    )  # fmt: skip
    return transformers.BertForSequenceClassification(config)


def rows(column="label", *, ragged=False, torch_format=False, old=OLD):
    """Item i begins with the token i + 2, so that a batch tells which items it holds."""
    tokens = [[i + 2] * (1 + i % 4 if ragged else 3) for i in range(N)]
    table = datasets.Dataset.from_dict(
        {
            "input_ids": tokens,
            "attention_mask": [[1] * len(t) for t in tokens],
            "idx": list(range(N)),
            column: [[int(y)] for y in old] if column == "label_ids" else old.tolist(),
        }
    )
    return table.with_format("torch") if torch_format else table


def arguments(folder, **settings):
    return transformers.TrainingArguments(
        str(folder), report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no",
        **{"num_train_epochs": EPOCHS, "per_device_train_batch_size": 5, **settings},
    )  # fmt: skip


def train(folder, data, *, parts, network=None, **settings):
    """[(items, targets)] of each batch, as the model's forward gets them, or else the loss function."""
    network, seen, items = network or model(), [], []
    fields = {key: settings.pop(key) for key in ("processing_class", "data_collator") if key in settings}

    def forward(module, positional, given):
        items[:] = (given["input_ids"][:, 0] - 2).tolist()
        if given.get("labels") is not None:
            seen.append((list(items), given["labels"].numpy()))

    network.register_forward_pre_hook(forward, with_kwargs=True)
    if parts.get("compute_loss_func"):
        loss = parts["compute_loss_func"]

        def recorded(outputs, labels, num_items_in_batch=None):
            seen.append((list(items), labels.numpy()))
            return loss(outputs, labels, num_items_in_batch=num_items_in_batch)

        parts = {**parts, "compute_loss_func": recorded}
    transformers.Trainer(network, arguments(folder, **settings), train_dataset=data, **parts, **fields).train()
    return seen


def assert_delivered(seen, labels):
    steps = len(seen) // EPOCHS
    assert steps * EPOCHS == len(seen) > 0
    for epoch in range(EPOCHS):
        batches = seen[epoch * steps : (epoch + 1) * steps]
        assert sorted(i for items, _ in batches for i in items) == list(range(N))
        for items, targets in batches:
            np.testing.assert_allclose(targets, labels(epoch)[items], atol=1e-7)


COLLATORS = {
    "default_data_collator": lambda: {"data_collator": transformers.default_data_collator},
    "DataCollatorWithPadding": lambda: {"data_collator": transformers.DataCollatorWithPadding(tokenizer())},
    "Trainer's, with a tokenizer": lambda: {"processing_class": tokenizer()},
    "Trainer's, without": dict,
}


COLUMNS = ["label", "label_ids", "labels"]


@pytest.mark.parametrize(
    ("column", "collator", "torch_format"),
    [*product(COLUMNS, COLLATORS, [False]), *product(["label"], COLLATORS, [True])],
    ids=str,
)
def test_a_model_gets_the_hard_labels_of_the_epoch_and_no_old_ones(tmp_path, column, collator, torch_format):
    labels = deliver(VOTES, "sls", seed=0)
    ragged = "Padding" in collator or "tokenizer" in collator
    data = Delivered(rows(column, ragged=ragged, torch_format=torch_format), labels)
    assert_delivered(train(tmp_path, data, parts={"callbacks": [EpochCallback(data)]}, **COLLATORS[collator]()), labels)


@pytest.mark.parametrize(
    ("method", "column", "padding", "torch_format"),
    [*product(["soft", "sls"], COLUMNS, [False, True], [False]), *product(["soft", "sls"], ["label"], [True], [True])],
    ids=str,
)
def test_the_loss_gets_the_targets_of_the_epoch_soft_or_hard(tmp_path, method, column, padding, torch_format):
    labels = deliver(VOTES, method, seed=0)
    data = Delivered(rows(column, ragged=padding, torch_format=torch_format), labels)
    collator = transformers.DataCollatorWithPadding(tokenizer()) if padding else None
    assert_delivered(train(tmp_path, data, parts=trainer_parts(data, collator=collator)), labels)


@pytest.mark.parametrize("method", ["soft", "sls"])
def test_also_from_persistent_workers_and_with_all_columns_kept(tmp_path, method):
    labels = deliver(VOTES, method, seed=0)
    data = Delivered(rows().remove_columns("idx"), labels)
    settings = {"dataloader_num_workers": 2, "dataloader_persistent_workers": True, "remove_unused_columns": False}
    assert_delivered(train(tmp_path, data, parts=trainer_parts(data), **settings), labels)


def test_also_grouped_by_length(tmp_path):
    """Such a sampler reads all items before the training begins."""
    labels = deliver(VOTES, "sls", seed=0)
    data = Delivered(rows(ragged=True), labels)
    strategy = "train_sampling_strategy" in transformers.TrainingArguments.__dataclass_fields__
    grouped = {"train_sampling_strategy": "group_by_length"} if strategy else {"group_by_length": True}
    collator = transformers.DataCollatorWithPadding(tokenizer())
    assert_delivered(train(tmp_path, data, parts=trainer_parts(data, collator=collator), **grouped), labels)


def test_a_part_of_the_data_can_be_trained_on(tmp_path):
    labels = deliver(VOTES, "soft", seed=0)
    data = Delivered(rows(), labels)
    seen = train(tmp_path, torch.utils.data.Subset(data, [3, 1, 4, 15]), parts=trainer_parts(data), num_train_epochs=1)
    [(items, targets)] = seen
    assert sorted(items) == [1, 3, 4, 15]
    np.testing.assert_allclose(targets, VOTES.p[items], atol=1e-7)


# ---- refused, not trained wrongly ----


class OwnCallback(transformers.TrainerCallback):
    """Somebody starts the epochs without our callback."""

    def __init__(self, data):
        self.data = data

    def on_epoch_begin(self, args, state, control, **kwargs):
        self.data.start_epoch(int(state.epoch))


def test_soft_targets_need_the_loss_and_say_so_before_any_work():
    data = Delivered(rows(), deliver(VOTES, "soft", seed=0))
    with pytest.raises(InputError, match=r"Soft shows soft targets, .* \*\*trainer_parts\(data\)"):
        EpochCallback(data)


@pytest.mark.parametrize(
    ("collator", "torch_format", "workers"), [*product(COLLATORS, [False, True], [0]), ("Trainer's, without", False, 1)], ids=str
)
def test_a_plain_trainer_cannot_take_soft_targets_for_several_classes(tmp_path, collator, torch_format, workers):
    """Its loss would be binary cross-entropy, and nobody would know."""
    data = Delivered(rows(torch_format=torch_format), deliver(VOTES, "soft", seed=0))
    network = model()
    with pytest.raises((InputError, ValueError)) as error:
        train(
            tmp_path, data, parts={"callbacks": [OwnCallback(data)]}, network=network, dataloader_num_workers=workers,
            **COLLATORS[collator](),
        )  # fmt: skip
    shown = "".join(traceback.format_exception(error.value))
    assert "soft targets were given to" in shown
    assert "trainer_parts(data)" in shown
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), model().parameters(), strict=True))


@pytest.mark.parametrize("problem", [None, "multi_label_classification", "single_label_classification", "regression"])
def test_nor_can_a_model_in_a_loop_of_its_own(problem):
    """As in scripts for accelerate: ``model(**batch).loss``."""
    data = Delivered(rows(), deliver(VOTES, "soft", seed=0))
    data.start_epoch(0)
    loader = torch.utils.data.DataLoader(data, batch_size=4, collate_fn=transformers.default_data_collator)
    network = model(problem_type=problem)
    for batch in loader:
        batch.pop("idx")
        with pytest.raises(InputError, match=r"soft targets were given to .* use torch\.nn\.functional\.cross_entropy"):
            network(**batch)
        targets = batch.pop("labels")
        logits = network(**batch).logits
        loss = torch.nn.functional.cross_entropy(logits, targets)
        assert type(loss) is torch.Tensor
        torch.testing.assert_close(loss, -(targets * logits.log_softmax(1)).sum(1).mean())


def test_the_collator_serves_loops_of_ones_own():
    data = Delivered(rows(ragged=True).remove_columns("idx"), deliver(VOTES, "soft", seed=0))
    data.start_epoch(0)
    collator = TargetCollator(transformers.DataCollatorWithPadding(tokenizer()))
    [batch] = torch.utils.data.DataLoader(data, batch_size=N, collate_fn=collator)
    assert batch["input_ids"].shape == (N, 4)
    np.testing.assert_allclose(batch["labels"].numpy(), VOTES.p, atol=1e-7)


def test_what_would_train_on_something_else_is_refused(tmp_path):
    hard, soft = (Delivered(rows(), deliver(VOTES, method, seed=0)) for method in ("sls", "soft"))
    with pytest.raises(InputError, match=r"the model is set to regression .* expected num_labels=3"):
        train(tmp_path, hard, parts={"callbacks": [EpochCallback(hard)]}, network=model(num_labels=1))
    for data, classes in ((hard, 1), (hard, 4), (soft, 2)):
        with pytest.raises(InputError, match=rf"the model has num_labels={classes}: expected 3, as many classes as the votes"):
            train(tmp_path, data, parts=trainer_parts(data), network=model(num_labels=classes))
    with pytest.raises(InputError, match="the model has num_labels=4: expected 3"):
        train(tmp_path, hard, parts={"callbacks": [EpochCallback(hard)]}, network=model(num_labels=4))
    with pytest.raises(InputError, match=r"expected logits of shape \(batch, 3\), .* got \(5, 2\): set num_labels=3"):
        trainer_parts(soft)["compute_loss_func"]({"logits": torch.zeros(5, 2)}, torch.zeros(5, 3))
    with pytest.raises(InputError, match="label_smoothing_factor has no effect"):
        train(tmp_path, soft, parts=trainer_parts(soft), label_smoothing_factor=0.1)
    with pytest.raises(
        InputError, match=r"epoch 0 read nothing from the delivered data set: expected Trainer\(train_dataset=data\)"
    ):
        train(tmp_path, rows(), parts={"callbacks": [EpochCallback(hard)]})
    with pytest.raises(InputError, match=r"Trainer reads the target from 'labels': .* got 'target'"):
        trainer_parts(Delivered(rows(), deliver(VOTES, "soft", seed=0), key="target"))


def test_a_model_that_does_not_name_labels_is_told_how_to_get_them(tmp_path):
    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Embedding(N + 2, C)

        def forward(self, input_ids):
            return {"logits": self.table(input_ids[:, 0])}

    data = Delivered(rows(), deliver(VOTES, "soft", seed=0))
    with pytest.raises(InputError, match=r"the batch has no 'labels': .*label_names=\['labels'\]"):
        transformers.Trainer(Plain(), arguments(tmp_path), train_dataset=data, **trainer_parts(data)).train()
    named = arguments(tmp_path, label_names=["labels"])
    transformers.Trainer(Plain(), named, train_dataset=data, **trainer_parts(data)).train()


def test_a_model_or_a_data_set_that_orders_the_classes_otherwise_is_refused(tmp_path):
    """GLUE's order is entailment, neutral, contradiction; a file of votes is read in alphabetical order."""
    names, glue = ("contradiction", "entailment", "neutral"), ["entailment", "neutral", "contradiction"]
    labels = deliver(VOTES, "sls", seed=0)
    data = Delivered(rows(), labels, classes=names)
    for order in (glue, list(names)):
        settings = {"id2label": dict(enumerate(order)), "label2id": {name: i for i, name in enumerate(order)}}
        for parts in ({"callbacks": [EpochCallback(data)]}, trainer_parts(data)):
            if order == glue:
                with pytest.raises(InputError, match="the model's id2label has the classes entailment, neutral, contradiction"):
                    train(tmp_path, data, parts=parts, network=model(**settings))
            else:
                assert_delivered(train(tmp_path, data, parts=parts, network=model(**settings)), labels)
    numbers = {"id2label": {0: "0", 1: "1", 2: "2"}, "label2id": {"0": 0, "1": 1, "2": 2}}
    for settings in ({}, numbers):  # LABEL_0, ..., or 0, ... as transformers' run_classification.py names them: no names
        network = model(**settings)
        assert_delivered(train(tmp_path, data, parts={"callbacks": [EpochCallback(data)]}, network=network), labels)
    with pytest.raises(InputError, match="the data set has the classes entailment, neutral, contradiction, the votes have"):
        Delivered(rows().cast_column("label", datasets.ClassLabel(names=glue)), labels, classes=names)
    Delivered(rows().cast_column("label", datasets.ClassLabel(names=list(names))), labels, classes=names)
    with pytest.raises(InputError, match="the names of 3 classes"):
        Delivered(rows(), labels, classes=names[:2])
