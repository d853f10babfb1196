"""The examples of the README's section "In your own loop" are short, and they run."""

import importlib.util
import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
SECTION = re.search(r"^## In your own loop\n(.*?)(?=^## |\Z)", README.read_text(), re.DOTALL | re.MULTILINE)
EXAMPLES = re.findall(r"```python\n(.*?)```", SECTION[1], re.DOTALL) if SECTION else []


def test_there_is_one_for_numpy_and_for_each_adapter():
    assert len(EXAMPLES) == 4
    for needed in ("deliver(", "Delivered", "adapters.lightning", "adapters.huggingface"):
        assert any(needed in example for example in EXAMPLES), needed


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_it_has_at_most_15_lines_and_runs(number, tmp_path, monkeypatch):
    code = EXAMPLES[number]
    assert len([line for line in code.splitlines() if line.strip()]) <= 15
    for package in ("transformers", "accelerate"):
        if "transformers" in code and importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(compile(code, f"README, example {number}", "exec"), names)
    assert "labels" in names
