"""The loss under the real ``Trainer`` is -sum p log q by hand: accumulated, in the last small batch, and in evaluation."""

import copy

import numpy as np
import pytest
import torch

from hardlabels import Votes, deliver
from hardlabels.adapters import Delivered
from hardlabels.adapters.huggingface import CrossEntropy, trainer_parts

transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")
datasets = pytest.importorskip("datasets")

N, C, RATE = 10, 3, 0.5
VOTES = Votes.from_counts(np.random.default_rng(0).multinomial(9, [0.4, 0.3, 0.3], size=N))
OLD = np.random.default_rng(1).integers(C, size=N)
ROWS = datasets.Dataset.from_dict({"input_ids": [[i, i, 1] for i in range(N)], "label": OLD.tolist()})


class Network(torch.nn.Module):
    """A model as people write them: whether ``forward`` takes keywords decides how Trainer counts items."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last = torch.nn.Embedding(N, 6), torch.nn.Linear(6, C)
        self.order = []

    def forward(self, input_ids, labels=None):
        if self.training:
            self.order.append(input_ids[:, 0].tolist())
        return {"logits": self.last(self.first(input_ids).mean(1).tanh())}


class Keywords(Network):
    def forward(self, input_ids, labels=None, **kwargs):
        return super().forward(input_ids, labels)


def bert():
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=N, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, num_labels=C,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, max_position_embeddings=4,
    )  # fmt: skip
    network = transformers.BertForSequenceClassification(config)
    network.order = []
    network.register_forward_pre_hook(
        lambda module, positional, given: module.order.append(given["input_ids"][:, 0].tolist()) if module.training else None,
        with_kwargs=True,
    )
    return network


def trainer(folder, network, data, *, batch, accumulate, **settings):
    optimizer = torch.optim.SGD(network.parameters(), RATE)
    arguments = transformers.TrainingArguments(
        str(folder), num_train_epochs=2, per_device_train_batch_size=batch, gradient_accumulation_steps=accumulate, report_to=[],
        use_cpu=True, disable_tqdm=True, save_strategy="no", max_grad_norm=0, logging_steps=1, lr_scheduler_type="constant",
        per_device_eval_batch_size=4,
    )  # fmt: skip
    constant = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1)
    return transformers.Trainer(
        network, arguments, train_dataset=data, optimizers=(optimizer, constant), **trainer_parts(data), **settings
    )


def entropy_by_hand(network, items, targets):
    """(B,) -sum_c p_c log q_c, with q = exp z / sum exp z written out."""
    outputs = network(input_ids=torch.tensor(ROWS[:]["input_ids"])[items])["logits"].double()
    q = outputs.exp() / outputs.exp().sum(1, keepdim=True)
    return -(torch.as_tensor(targets)[items] * q.log()).sum(1)


def train_by_hand(network, order, labels, *, accumulate):
    """Plain gradient descent over the trainer's batches: a step is the mean over all items of ``accumulate`` batches."""
    optimizer, losses, per_epoch = torch.optim.SGD(network.parameters(), RATE), [], len(order) // 2
    for epoch in range(2):
        shown = labels(epoch)
        targets = shown if shown.ndim == 2 else np.eye(C)[shown]
        batches = order[epoch * per_epoch : (epoch + 1) * per_epoch]
        for first in range(0, per_epoch, accumulate):
            items = [item for batch in batches[first : first + accumulate] for item in batch]
            loss = entropy_by_hand(network, items, targets).mean()
            losses.append(loss.item())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return losses


@pytest.mark.parametrize("kind", [Network, Keywords, bert], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("method", ["soft", "sls"])
@pytest.mark.parametrize(
    ("batch", "accumulate"), [(5, 1), (4, 1), (3, 2), (4, 2)],
    ids=["whole batches", "a small last batch", "accumulated, 3 3 | 3 1", "accumulated, 4 4 | 2"],
)  # fmt: skip
def test_training_is_gradient_descent_on_the_cross_entropy(tmp_path, kind, method, batch, accumulate):
    labels, network = deliver(VOTES, method, seed=0), kind()
    network.train()
    alone = copy.deepcopy(network)
    run = trainer(tmp_path, network, Delivered(ROWS, labels), batch=batch, accumulate=accumulate)
    run.train()
    logged = [entry["loss"] for entry in run.state.log_history if "loss" in entry]
    by_hand = train_by_hand(alone, list(network.order), labels, accumulate=accumulate)
    np.testing.assert_allclose(logged, by_hand, rtol=2e-4)  # the log may round
    for ours, theirs in zip(network.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


def test_unanimous_votes_train_the_same_network_soft_or_hard(tmp_path):
    votes = Votes.from_counts(np.eye(C, dtype=int)[OLD] * 5)
    weights = []
    for method in ("soft", "majority", "sls", "multipass"):
        network = bert()
        trainer(tmp_path, network, Delivered(ROWS, deliver(votes, method, seed=0)), batch=3, accumulate=2).train()
        weights.append(torch.cat([weight.detach().flatten() for weight in network.parameters()]))
    for other in weights[1:]:
        torch.testing.assert_close(weights[0], other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("method", ["soft", "sls"])
def test_an_ordinary_evaluation_set_keeps_its_own_labels(tmp_path, method):
    network, metrics = bert(), []

    def accuracy(prediction):
        metrics.append(prediction.label_ids)
        return {"accuracy": float((prediction.predictions.argmax(1) == prediction.label_ids).mean())}

    data = Delivered(ROWS, deliver(VOTES, method, seed=0))
    run = trainer(tmp_path, network, data, batch=4, accumulate=1, eval_dataset=ROWS, compute_metrics=accuracy)
    run.train()
    result = run.evaluate()
    network.eval()
    with torch.no_grad():
        by_hand = entropy_by_hand(network, list(range(N)), np.eye(C)[OLD]).mean().item()
    np.testing.assert_array_equal(metrics[-1], OLD)
    np.testing.assert_allclose(result["eval_loss"], by_hand, rtol=1e-4)
    assert 0 <= result["eval_accuracy"] <= 1


def test_the_delivered_data_can_be_evaluated_and_predicted_too(tmp_path):
    network, data = bert(), Delivered(ROWS, deliver(VOTES, "soft", seed=0))
    run = trainer(tmp_path, network, data, batch=4, accumulate=1)
    run.train()
    network.eval()
    with torch.no_grad():
        by_hand = entropy_by_hand(network, list(range(N)), VOTES.p).mean().item()
    found = run.predict(data)
    np.testing.assert_allclose(found.metrics["test_loss"], by_hand, rtol=1e-4)
    np.testing.assert_allclose(found.label_ids, VOTES.p, atol=1e-6)


def test_entries_are_counted_not_items():
    """Trainer counts all entries of the labels that are not -100: C for each soft target."""
    logits, p = torch.randn(4, C), torch.from_numpy(VOTES.p[:4]).float()
    loss, expected = CrossEntropy(C), torch.nn.functional.cross_entropy(logits, p, reduction="sum")
    torch.testing.assert_close(loss((logits,), p, num_items_in_batch=torch.tensor(7 * C)), expected / 7)
    torch.testing.assert_close(loss((logits,), p, num_items_in_batch=7 * C), expected / 7)
    torch.testing.assert_close(loss((logits,), p), expected / 4)
    hard = torch.tensor([0, 2, -100, 1])
    own = torch.nn.functional.cross_entropy(logits, hard)
    torch.testing.assert_close(loss((logits,), hard, num_items_in_batch=torch.tensor(3)), own)
