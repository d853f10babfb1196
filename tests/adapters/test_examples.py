"""The examples of docs/your_own_loop.md: short, and one for each kind of loop. ``tests/test_documents.py`` runs them."""

from tests.pages import ROOT, blocks

EXAMPLES = blocks((ROOT / "docs/your_own_loop.md").read_text(), "python")


def test_there_is_one_for_numpy_and_for_each_adapter():
    for needed in ("deliver(", "Delivered", "adapters.lightning", "adapters.huggingface"):
        assert any(needed in example for example in EXAMPLES), needed


def test_none_has_more_than_15_lines():
    assert all(len([line for line in example.splitlines() if line.strip()]) <= 15 for example in EXAMPLES)
