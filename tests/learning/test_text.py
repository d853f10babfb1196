"""The networks for texts: what goes in, what an item's logits depend on, and what is trained."""

import importlib.util

import pytest
import torch

from hardlabels.errors import InputError
from hardlabels.learning.encoders.sentences import DEFAULT, encoded, tokenised
from hardlabels.learning.text import CHUNK, TextFinetune, TextHead
from hardlabels.runs.training.compose import make_network, prepare_source
from hardlabels.sources.texts import text_source
from hardlabels.votes import Votes

needs_encoder = pytest.mark.skipif(
    importlib.util.find_spec(DEFAULT.replace("-", "_")) is None, reason="needs an encoder: pip install 'hardlabels[text]'"
)
LONG = "A long text, in which one thing after another is said about a cat, a dog and the rain of last night."
PAIRS = [("A cat sleeps.", "An animal rests."), (LONG, "It rains."), ("Yes.", LONG)]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARDLABELS_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def source():
    return text_source("toy", PAIRS, Votes.from_counts([[2, 1], [0, 3], [1, 1]]), ["no", "yes"])


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return TextFinetune(num_classes=2, parts=2, width=2)


@pytest.fixture(scope="module")
def tokens(source):
    return torch.from_numpy(tokenised(source, DEFAULT, 64).source.inputs)


@needs_encoder
def test_logits_of_an_item_do_not_depend_on_the_others_of_its_batch(network, tokens):
    """Neither on how long they are nor on how far the data set is padded; training or not, as nothing is drawn."""
    for mode in (True, False):
        network.train(mode)
        alone = torch.cat([network(item[None]) for item in tokens])
        torch.testing.assert_close(network(tokens), alone, atol=1e-5, rtol=1e-4)
        padded = torch.nn.functional.pad(tokens, (0, 9), value=network.padding)
        torch.testing.assert_close(network(padded), alone, atol=1e-5, rtol=1e-4)
        many = torch.arange(3 * CHUNK) * 2 % len(tokens)  # texts of all lengths, more than are encoded at once
        torch.testing.assert_close(network(tokens[many]), alone[many], atol=1e-5, rtol=1e-4)


@needs_encoder
def test_before_training_it_is_the_frozen_encoder_under_the_same_head(network, tokens, source):
    frozen = torch.from_numpy(encoded(source, DEFAULT).source.inputs)
    torch.testing.assert_close(network.features(tokens), network.head.features(frozen), atol=1e-4, rtol=1e-3)
    torch.testing.assert_close(network(tokens), network.fc(network.features(tokens)))


@needs_encoder
def test_what_follows_a_spelt_padding_token_is_read(network):
    """It is masked like padding, but what a batch has of it is no length."""
    texts = text_source("toy", [("[PAD] [PAD] cat",), ("[PAD] [PAD] dog",)], Votes.from_counts([[1, 0], [0, 1]]), ["no", "yes"])
    tokens = torch.from_numpy(tokenised(texts, DEFAULT, 64).source.inputs)
    cat, dog = network(tokens.expand(-1, 2, -1))
    assert not torch.allclose(cat, dog, atol=1e-4)


@needs_encoder
def test_gradients_reach_every_layer_of_the_encoder(network, tokens):
    network.train()
    torch.nn.functional.cross_entropy(network(tokens), torch.tensor([0, 1, 0])).backward()
    reached = {name: p.grad is not None and bool(p.grad.abs().sum() > 0) for name, p in network.named_parameters()}
    network.zero_grad()
    assert {name for name, found in reached.items() if not found} <= {name for name in reached if "pooler" in name}
    assert sum(name.startswith("encoder") for name, found in reached.items() if found) > 90


def test_the_head_is_a_perceptron_on_the_features():
    torch.manual_seed(0)
    head, x = TextHead(num_classes=3, in_features=8, width=2), torch.randn(5, 8)
    assert head.features(x).shape == (5, 16)
    torch.testing.assert_close(head(x), head.fc(head.features(x)))


@pytest.mark.parametrize("recipe", ["text_head", "text_finetune"])
def test_images_and_vectors_are_refused_by_networks_for_texts(make_config, tiny_source, recipe):
    with pytest.raises(InputError, match=f"{recipe} takes texts, and the items of 'synthetic' are images: use model=resnet18"):
        prepare_source(make_config(f"recipe={recipe}"), tiny_source)


@pytest.mark.parametrize("model", ["resnet18", "mlp"])
def test_texts_are_refused_by_other_networks(make_config, source, model):
    cfg = make_config(f"model={model}")
    prepared, content = prepare_source(cfg, source)
    assert content == source.fingerprint
    with pytest.raises(InputError, match="and the items of 'toy' are texts: use recipe=text_head"):
        make_network(cfg, prepared)


@needs_encoder
def test_weights_of_a_seed_are_the_same_and_the_encoders_for_all_seeds(make_config, source):
    cfgs = [make_config("recipe=text_finetune", "recipe.width=1", f"seed={seed}") for seed in (3, 3, 4)]
    first, again, other = (make_network(cfg, prepare_source(cfg, source)[0]).state_dict() for cfg in cfgs)
    assert all(torch.equal(first[name], again[name]) for name in first)
    same = {name for name in first if torch.equal(first[name], other[name])}
    assert {name for name in first if name.startswith("encoder")} <= same
    assert "head.fc.weight" not in same
