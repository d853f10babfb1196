"""Rounded logits in an archive: they come back to the byte, and what is no such thing is left alone."""

import io
import lzma

import numpy as np
import pytest

from hardlabels.errors import InputError
from hardlabels.runs.archive import pack, read_members
from hardlabels.runs.compact import compact_predictions
from hardlabels.runs.remainders import EARLIER, PACKED, Remainders
from hardlabels.runs.steps import from_steps

NAME = "soft/K=all/seed=0/predictions.npz"


def npz(**arrays: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def predictions(scale: float = 3.0, seed: int = 0, items: int = 500) -> dict[str, np.ndarray]:
    """Of a run: what all runs think of the items, and something of its own."""
    shared, own = np.random.default_rng(9).normal(0, scale, (items, 10)), np.random.default_rng([7, seed])
    logits = {name: shared + own.normal(0, 0.3, (items, 10)) for name in ("logits", "logits_last")}
    return {**logits, "index": np.arange(items), "p": np.random.default_rng(9).dirichlet(np.ones(10), items)}


def archive(runs: int) -> dict[str, bytes]:
    names = [f"sls/K={k}/seed={seed}/predictions.npz" for seed in range(2) for k in range(1, 1 + runs // 2)]
    return {name: npz(**compact_predictions(predictions(seed=number))) for number, name in enumerate(names)}


def steps_of_an_earlier_version(logits: np.ndarray) -> np.ndarray:
    whole = np.ascontiguousarray((logits[:, :-1].astype(np.float64) * 128).astype("<i2"))
    return np.moveaxis(whole.view(np.uint8).reshape(*whole.shape, 2), 2, 0).copy()


def test_compact_predictions_come_back_to_the_byte_and_take_far_fewer_of_them(tmp_path):
    members = archive(12)
    pack(tmp_path / "toy.tar.xz", members)
    assert dict(read_members(tmp_path / "toy.tar.xz")) == members
    assert (tmp_path / "toy.tar.xz").stat().st_size < 0.85 * len(lzma.compress(b"".join(members.values())))


def test_more_runs_than_are_looked_back_to_and_runs_of_other_sizes_come_back(tmp_path):
    members = {
        f"sls/K={k}/seed=0/predictions.npz": npz(**compact_predictions(predictions(seed=k, items=20 + k % 2)))
        for k in range(1, EARLIER + 10)
    }
    pack(tmp_path / "toy.tar.xz", members)
    assert dict(read_members(tmp_path / "toy.tar.xz")) == members


@pytest.mark.parametrize(
    "arrays",
    [
        predictions(),  # exact logits
        {"logits": np.array([[1.0, 2.0]], dtype=np.float16)},  # the last class is not 0
        {"logits": np.array([[0.1, 0.0]], dtype=np.float16)},  # no whole number of steps
        {"logits": np.array([[300.0, 0.0]], dtype=np.float16)},  # too many steps for two bytes
        {"logits": np.array([[200.0, 0.0], [-200.0, 0.0]], dtype=np.float16)},  # the farthest that two bytes hold
        {"logits": np.array([[np.nan, 0.0]], dtype=np.float16)},
        {"logits": np.zeros((0, 3), dtype=np.float16)},
    ],
)
def test_whatever_is_not_made_of_steps_comes_back_too_and_spoils_nothing(arrays, tmp_path):
    members = archive(4) | {"majority/K=1/seed=0/predictions.npz": npz(**arrays), "soft/K=1/seed=0/predictions.npz": b"no zip"}
    pack(tmp_path / "toy.tar.xz", members)
    assert dict(read_members(tmp_path / "toy.tar.xz")) == members


def test_the_sign_of_a_zero_is_all_that_is_lost():
    held = Remainders().pack(NAME, npz(logits=np.array([[-0.0, 1.0, 0.0]], dtype=np.float16)))
    assert Remainders().unpack(*held) == (NAME, npz(logits=np.array([[0.0, 1.0, 0.0]], dtype=np.float16)))


def test_archives_of_an_earlier_version_are_read():
    kept = compact_predictions(predictions())
    logits = {f"{name}.steps": steps_of_an_earlier_version(kept[name]) for name in ("logits", "logits_last")}
    held = npz(**logits, index=kept["index"], p=kept["p"])
    assert from_steps(held) == npz(**kept)


def test_damage_is_passed_on_and_what_is_neither_steps_nor_remainders_is_refused():
    for content in (b"", b"no zip", npz(logits=np.ones(3))[:-20]):
        assert Remainders().pack(NAME, content) == (NAME, content)
        assert from_steps(content) == content
        with pytest.raises(InputError, match="expected arrays, found"):
            Remainders().unpack("soft/K=all/seed=0" + PACKED, content)
    with pytest.raises(InputError, match="expected low and high bytes of steps, found float64"):
        from_steps(npz(**{"logits.steps": np.ones((2, 3, 4))}))
    with pytest.raises(InputError, match=r"expected bytes \(2, C - 1, N\), weights and C - 1 offsets"):
        Remainders().unpack("soft/K=all/seed=0" + PACKED, npz(**{"logits.remainder": np.zeros((2, 3, 4), np.uint8)}))


def test_a_run_without_those_before_it_is_refused_and_not_read_as_something_else():
    writer, members = Remainders(), archive(4)
    held = [writer.pack(name, content) for name, content in members.items()]
    with pytest.raises(InputError, match="an archive is read from its beginning"):
        Remainders().unpack(*held[1])
