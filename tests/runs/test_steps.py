"""Rounded logits in an archive: they come back to the byte, and what is no such thing is left alone."""

import io
import lzma

import numpy as np
import pytest

from hardlabels.errors import InputError
from hardlabels.publish import compact_predictions
from hardlabels.runs.archive import pack, read_members
from hardlabels.runs.steps import as_steps, from_steps

NAME = "soft/K=all/seed=0/predictions.npz"


def npz(**arrays: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def predictions(scale: float = 3.0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    logits = {name: rng.normal(0, scale, (500, 10)) for name in ("logits", "logits_last")}
    return {**logits, "index": np.arange(500), "p": rng.dirichlet(np.ones(10), 500)}


def test_compact_predictions_come_back_to_the_byte_and_take_fewer_of_them(tmp_path):
    content = npz(**compact_predictions(predictions()))
    held = as_steps(content)
    assert from_steps(held) == content
    assert len(lzma.compress(held)) < 0.95 * len(lzma.compress(content))
    pack(tmp_path / "toy.tar.xz", {NAME: content})
    assert dict(read_members(tmp_path / "toy.tar.xz")) == {NAME: content}


@pytest.mark.parametrize(
    "arrays",
    [
        predictions(),  # exact logits
        {"logits": np.array([[1.0, 2.0]], dtype=np.float16)},  # the last class is not 0
        {"logits": np.array([[0.1, 0.0]], dtype=np.float16)},  # no whole number of steps
        {"logits": np.array([[300.0, 0.0]], dtype=np.float16)},  # too many steps for two bytes
        {"logits": np.array([[np.nan, 0.0]], dtype=np.float16)},
        {"logits": np.zeros((0, 3), dtype=np.float16)},
    ],
)
def test_whatever_is_not_made_of_steps_comes_back_too(arrays):
    content = npz(**arrays)
    assert from_steps(as_steps(content)) == content


def test_the_sign_of_a_zero_is_all_that_is_lost():
    held = as_steps(npz(logits=np.array([[-0.0, 1.0, 0.0]], dtype=np.float16)))
    assert from_steps(held) == npz(logits=np.array([[0.0, 1.0, 0.0]], dtype=np.float16))


def test_damage_is_passed_on_and_steps_that_are_none_are_refused():
    for content in (b"", b"no zip", npz(logits=np.ones(3))[:-20]):
        assert as_steps(content) == from_steps(content) == content
    with pytest.raises(InputError, match="expected low and high bytes of steps, found float64"):
        from_steps(npz(**{"logits.steps": np.ones((2, 3, 4))}))
