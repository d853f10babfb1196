"""The page on contributing, followed to the letter: its skeletons are put where it says, and its commands are run.

A copy of the package stands for the newcomer's checkout, so that nothing of this is ever part of ours.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from tests.pages import ROOT, blocks

PAGE = (ROOT / "docs/contributing.md").read_text()
SKELETONS = {"RunnerUp": "delivery", "confidence": "_target_", "coins": "_target_", "Linear": "_target_"}
"""What a skeleton defines, and the field of its yaml that says in which module it is expected."""
FEW = 20  # lines of a skeleton: those without blank ones, imports and the line that tries it


def skeleton(name: str) -> str:
    """The block of Python that defines a name."""
    (found,) = (code for code in blocks(PAGE, "python") if f"def {name}(" in code or f"class {name}(" in code)
    return found


def commands() -> list[list[str]]:
    """Every command of ours on the page, as a shell would split it."""
    lines = "".join(blocks(PAGE, "bash")).splitlines()
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("python -m hardlabels.")]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """The package and its configuration, with what the page says in the files that it names."""
    folder = tmp_path_factory.mktemp("newcomer")
    for part in ("hardlabels", "conf"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for text in blocks(PAGE, "yaml"):
        path = folder / text.splitlines()[0].removeprefix("# ").split(":")[0]
        assert not path.exists()
        path.write_text(text)
        name = next(name for name in SKELETONS if f".{name}\n" in text)
        module = yaml.safe_load(text)[SKELETONS[name]].rpartition(".")[0]
        (folder / f"{module.replace('.', '/')}.py").write_text(skeleton(name))
    witness = "\n    def on_fit_end(self, trainer, pl_module):\n        open('seen.txt', 'w').write(str(self.seen))\n"
    (folder / "counting.py").write_text(skeleton("Epochs").split("\ncounter =")[0] + witness)
    return folder


@pytest.fixture(scope="module")
def tried(checkout) -> Path:
    """The checkout after all commands of the page, in their order."""
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    for words in commands():
        done = subprocess.run(
            [sys.executable, *words], cwd=checkout, env=environment, capture_output=True, text=True, timeout=400
        )
        assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return checkout


def test_every_kind_has_a_skeleton_of_about_ten_lines():
    for name in (*SKELETONS, "Epochs"):
        lines = [
            line for line in skeleton(name).splitlines() if line.strip() and not line.startswith(("import", "from", "assert"))
        ]
        assert len(lines) <= FEW, name


def test_the_method_trains_as_it_says(tried):
    saved = np.load(tried / "outputs/synthetic/smoke/runner_up/K=all/seed=0/predictions.npz")
    assert np.isfinite(saved["logits"]).all()


def test_the_source_and_the_network_are_those_of_the_page(tried):
    for tag, target in (("mlp", "hardlabels.learning.mlp.MLP"), ("linear", "hardlabels.learning.linear.Linear")):
        (run,) = tried.glob(f"outputs/coins/smoke,tag={tag}/*/K=all/seed=0")
        assert yaml.safe_load((run / "config.yaml").read_text())["model"]["_target_"] == target
        assert np.load(run / "predictions.npz")["class_names"].tolist() == ["heads", "tails"]
        result = json.loads((run / "result.json").read_text())
        assert result["best"]["full"]["soft_nll"] < result["prior"]["full"]["soft_nll"]


def test_the_probe_writes_its_value_beside_the_runs(tried):
    for method in ("soft", "sls"):
        found = json.loads((tried / f"outputs/synthetic/smoke/{method}/K=all/seed=0/diagnostics/confidence.json").read_text())
        assert "full/mean" in json.dumps(found)


def test_the_callback_has_seen_every_epoch(tried):
    assert int((tried / "seen.txt").read_text()) == 6  # of recipe smoke
