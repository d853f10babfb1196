"""A whole study, from nothing to its report: ``python -m hardlabels.reproduce study=main``. Repeat it until it is whole."""

import os
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain, product
from pathlib import Path

from omegaconf import DictConfig
from rich.table import Table

from hardlabels.configuration import CONF, compose_command
from hardlabels.console import complain, console, say
from hardlabels.entry import MISTAKES, refuse
from hardlabels.errors import InputError
from hardlabels.runs.cell import Cell
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.spelling import read_recipe, write_votes
from hardlabels.runs.studies.absence import refuse_unknown
from hardlabels.runs.studies.repeat import settings_like
from hardlabels.runs.studies.resources import Resources, cell_resources
from hardlabels.runs.studies.study import Block, Study, quoted
from hardlabels.stopping import ends_with_its_reader

OURS = ("processes=", "images_per_second=", "sustained_tflops=")
"""Settings that the commands for probes and reports do not have."""


def split_arguments(argv: list[str]) -> tuple[list[list[str]], list[str], bool]:
    """(overrides for each study, arguments for hardlabels.train, whether only the plan is wanted).

    >>> split_arguments(["study=main,sparse", "outputs=o", "--dry-run", "--", "logger=wandb"])
    ([['study=main', 'outputs=o'], ['study=sparse', 'outputs=o']], ['logger=wandb'], True)
    """
    at = argv.index("--") if "--" in argv else len(argv)
    own, train = [word for word in argv[:at] if word != "--dry-run"], argv[at + 1 :]
    names = [word for word in own if word.startswith("study=")]
    others = [word for word in own if not word.startswith("study=")]
    studies = names[-1].removeprefix("study=").split(",") if names else ["main"]
    return [[f"study={name}", *others] for name in studies], train, "--dry-run" in argv[:at]


def plan(studies: list[Study], outputs: Path, train: list[str]) -> Table:
    """What each study consists of, what is done, and what is still to train; cells that two studies share count once."""
    table = Table(title="plan", title_justify="left", caption_justify="left")
    for head in ("study", "data", "recipe", "method", "K", "seeds", "done"):
        table.add_column(head, justify="right" if head == "done" else "left", no_wrap=head != "seeds")
    seen: dict[Cell, bool] = {}
    for study in studies:
        rows: dict[tuple[str, ...], list[Cell]] = {}
        for cell in study.cells():
            rows.setdefault((cell.data, cell.tagged_recipe, cell.variant, write_votes(cell.K)), []).append(cell)
        for row, cells in rows.items():
            done = {cell: RunDirectory(outputs / cell.folder).has_result() for cell in cells}
            shared = sum(cell in seen for cell in cells)
            seen |= done
            note = f" ({shared} shared)" if shared else ""
            table.add_row(
                study.name, *row, ", ".join(str(cell.seed) for cell in cells), f"{sum(done.values())} of {len(cells)}{note}"
            )
        table.add_section()
    table.caption = f"{len(seen)} cells, {sum(seen.values())} done, {len(seen) - sum(seen.values())} to train"
    return table


def resources(studies: list[Study], cfg: DictConfig, train: list[str]) -> Table:
    """What the cells that are still to train will take, each counted with the first study that has it."""
    table = Table(title="resources of what is still to train", title_justify="left", caption_justify="left")
    for head in ("study", "recipe", "runs", "items trained", "evaluated", "PFLOP", "hours", "disk", "memory a run"):
        table.add_column(head, justify="left" if head in ("study", "recipe") else "right")
    rows: dict[tuple[str, str], list[Resources]] = {}
    unknown: Counter[str] = Counter()
    seen: set[Cell] = set()
    for study in studies:
        for cell in study.cells():
            if cell in seen or RunDirectory(Path(cfg.outputs) / cell.folder).has_result():
                continue
            seen.add(cell)
            found = cell_resources(cell, [*known_settings(cell.data, cell.tagged_recipe, Path(cfg.outputs), train), *train])
            if isinstance(found, str):
                unknown[found] += 1
            else:
                rows.setdefault((study.name, cell.tagged_recipe), []).append(found)
    for row, runs in rows.items():
        table.add_row(*row, *_amounts(runs, cfg))
    table.add_section()
    table.add_row("all", "", *_amounts([run for runs in rows.values() for run in runs], cfg))
    rate = "Hours of one device = items trained / images_per_second"
    if cfg.images_per_second is None:
        rate += (
            f"; that is not known, so FLOPs / sustained_tflops: {cfg.sustained_tflops} is assumed, not measured, "
            "and a small network does not keep it up"
        )
    lines = [f"{rate}. FLOPs: 2 a multiply-add, training 3 x forward. Probes are not counted."]
    table.caption = "\n".join([*lines, *(f"Not counted: {count} runs ({why})" for why, count in unknown.items())])
    return table


def _amounts(runs: list[Resources], cfg: DictConfig) -> list[str]:
    total = sum(runs, Resources())
    hours = total.hours(*(_rate(cfg, name) for name in ("images_per_second", "sustained_tflops")))
    work = [f"{total.trained:,}", f"{total.scored:,}", _short(total.flops / 1e15), "" if hours is None else _short(hours)]
    return [str(len(runs)), *work, f"{_short(total.disk / 1e9)} GB", f"{_short(total.memory / 1e9)} GB"]


def _short(amount: float) -> str:
    """Three digits, two decimals at most.

    >>> _short(924.22), _short(25.67), _short(0.791), _short(0.004)
    ('924', '25.7', '0.79', '< 0.01')
    """
    return "< 0.01" if 0 < amount < 0.01 else f"{amount:,.{0 if amount >= 100 else 1 if amount >= 10 else 2}f}"


def _rate(cfg: DictConfig, name: str) -> float | None:
    value = cfg[name]
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0):
        raise InputError(f"{name} must be a number above 0, or null where it is not known, got {value!r}")
    return value


def reproduce(configs: list[DictConfig], overrides: list[list[str]], train: list[str]) -> int:
    """Train what is missing of every study, then probe and report each. Returns the number of steps that failed."""
    failed = 0
    studies = [Study.from_config(cfg.study) for cfg in configs]
    for study, cfg in zip(studies, configs, strict=True):
        for block in chain.from_iterable(map(_by_settings, study.blocks)):
            cells = block.cells()
            missing = {cell for cell in cells if not RunDirectory(Path(cfg.outputs) / cell.folder).has_result()}
            if not missing:
                continue
            settings = known_settings(cells[0].data, cells[0].tagged_recipe, Path(cfg.outputs), train)
            words = [*settings, f"outputs={cfg.outputs}", *_grouped(train, study.name)]
            shares = [["-m", *share.overrides(), *words] for share in block.shares(cfg.processes, missing)]
            failed += _step("hardlabels.train", shares[0]) if len(shares) == 1 else _at_once(shares, Path(cfg.outputs))
    for study, cfg, chosen in zip(studies, configs, overrides, strict=True):
        words = [word for word in chosen if not word.startswith(OURS)]
        if study.probes if cfg.probe is None else cfg.probe:
            failed += _step("hardlabels.diagnose", words)
        own = [word for word in words if not word.startswith(("device=", "probe=", "checkpoint="))]
        failed += _step("hardlabels.report", [*own, *(word for word in train if word.startswith("logger"))])
    return failed


def known_settings(data: str, recipe: str, outputs: Path, train: list[str]) -> list[str]:
    """The arguments of hardlabels.train that the names of a data set and a recipe do not say, from the runs that have them.

    Args:
        data: name of the data set.
        recipe: name of the recipe, with its tag.
        outputs: the folder of all runs.
        train: what the user gave for hardlabels.train; with ``data=...`` it says what the data are.

    >>> known_settings("cifar10h", "paper", Path("outputs"), [])
    []
    """
    if _says_itself(data, read_recipe(recipe).tag is not None) or any(word.startswith("data=") for word in train):
        return []
    return settings_like(data, recipe, [outputs])


def _says_itself(data: str, tagged: bool) -> bool:
    return not tagged and (CONF / "data" / f"{data}.yaml").is_file()


def _by_settings(block: Block) -> list[Block]:
    """The block as it is, or one for each data set and recipe where these need settings of their own."""
    if all(_says_itself(data, block.tag is not None) for data in block.axes["data"]):
        return [block]
    pairs = product(block.axes["data"], block.axes["recipe"])
    return [replace(block, axes={**block.axes, "data": [data], "recipe": [recipe]}) for data, recipe in pairs]


def _grouped(train: list[str], study: str) -> list[str]:
    """The arguments for training; at W&B the runs of a study are a group.

    >>> _grouped(["logger=wandb"], "main")
    ['logger=wandb', 'logger.group=main']
    """
    named = any(word.startswith("logger.group=") for word in train)
    return [*train, f"logger.group={study}"] if "logger=wandb" in train and not named else train


def _at_once(commands: list[list[str]], outputs: Path) -> int:
    """Training commands side by side, the cores shared among them; the first one on the terminal, each other in a log file.

    Returns the number that failed.
    """
    threads = os.environ.get("OMP_NUM_THREADS") or str(max(1, (os.cpu_count() or 1) // len(commands)))
    environment = {**os.environ, "OMP_NUM_THREADS": threads}
    (outputs / ".sweeps").mkdir(parents=True, exist_ok=True)
    running = []
    with ExitStack() as logs:
        for number, arguments in enumerate(commands):
            path = outputs / ".sweeps" / f"share_{number}.log"
            log = logs.enter_context(path.open("w")) if number else None
            say(f"$ python -m hardlabels.train {' '.join(map(quoted, arguments))}" + (f"   > {path}" if number else ""))
            words = [sys.executable, "-m", "hardlabels.train", *arguments]
            running.append((subprocess.Popen(words, env=environment, stdout=log, stderr=log), path))
        codes = [process.wait() for process, _ in running]
    for code, (_, path) in zip(codes[1:], running[1:], strict=True):
        if code:
            complain(f"{path} ends with:\n" + "\n".join(path.read_text().splitlines()[-5:]))
    return sum(code != 0 for code in codes)


def _step(module: str, arguments: list[str]) -> bool:
    """Run one command of ours in a process of its own, as a person would; True when it failed."""
    say(f"$ python -m {module} {' '.join(map(quoted, arguments))}")
    return subprocess.run([sys.executable, "-m", module, *arguments], check=False).returncode != 0


@ends_with_its_reader()
def main() -> None:
    """The command: exit code 2 for bad input, 1 when something did not finish."""
    try:
        overrides, train, dry = split_arguments(sys.argv[1:])
        configs = [compose_command("reproduce", words, lists=("probe", "checkpoint")) for words in overrides]
        studies = [Study.from_config(cfg.study) for cfg in configs]
        if not any(word.startswith(("data=", "--config-dir", "-cd")) for word in train):
            for study in studies:
                refuse_unknown(study, [configs[0].outputs])
        console.print(plan(studies, Path(configs[0].outputs), train))
        if dry:
            console.print(resources(studies, configs[0], train))
        failed = 0 if dry else reproduce(configs, overrides, train)
    except MISTAKES as error:
        refuse(error)
    except KeyboardInterrupt:
        complain("stopped; the same command goes on where it was")
        sys.exit(130)
    if failed:
        complain(
            f"{failed} {'step' if failed == 1 else 'steps'} did not finish, see above; the same command runs only what is missing"
        )
        sys.exit(1)


if __name__ == "__main__":
    main()
