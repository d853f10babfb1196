"""How to train another run like one that is there: its ``config.yaml`` as arguments of ``hardlabels.train``.

The name of a run's folder says what its data set is called, not what it is. What the user's own data are (``data=files``), and
which settings stand behind a tag, is in the configuration of the runs that have them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from glob import escape
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.override_parser.types import Quote, QuotedString
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from hardlabels.configuration import CONF
from hardlabels.errors import InputError
from hardlabels.runs.archive import archives, recipe_of, unpacked
from hardlabels.runs.identity import LEAVES_THE_RESULT_ALONE
from hardlabels.runs.reading import read_config
from hardlabels.runs.spelling import read_recipe

PLAIN = re.compile(r"(?!(?:null|true|false|nan|inf)$)[a-z_./][\w./-]*", re.IGNORECASE | re.ASCII)
"""Words that Hydra reads as themselves; all others are quoted."""

ADDRESSES = tuple(key for key in LEAVES_THE_RESULT_ALONE if key.startswith("data.") and key != "data.root")
"""From where data are downloaded: today's address is better than that of an old run."""

TO_FILL_IN = ("data=files", "data.votes=VOTES_FILE", "data.items=ITEMS")
"""What stands for the user's own data where nothing says where they are."""


def repeated_settings(cfg: DictConfig) -> list[str]:
    """The arguments that give a run's data, recipe, trainer and network again; not its tag, method, K, seed, logger and folder.

    Composing ``conf/train.yaml`` with them gives these parts of ``cfg``, whatever they were made from.

    >>> with initialize_config_dir(str(CONF), version_base="1.3"):
    ...     cfg = compose("train", ["data=files", "data.votes=my votes.csv", "data.name=mine", "model=mlp", "recipe.epochs=3"])
    >>> repeated_settings(cfg)
    ['data=files', 'data.name=mine', 'data.votes="my votes.csv"', 'recipe=paper', 'recipe.epochs=3', 'model=mlp']

    Raises:
        InputError: a part of it comes from no yaml of ours, such as a recipe in somebody's ``--config-dir``.
    """
    wanted: Any = OmegaConf.to_container(cfg, resolve=True)
    words = [f"data={_choice('data', wanted['data'], wanted['data'].get('name'))}"]
    words += _changes(words, wanted, "data")
    words += [f"recipe={_choice('recipe', {}, wanted['recipe'].get('name'))}"]
    words += _changes(words, wanted, "recipe") + _changes(words, wanted, "trainer")
    if _composed(words)["model"].get("_target_") != wanted["model"].get("_target_"):
        words += [f"model={_choice('model', wanted['model'])}"]
    return words + _changes(words, wanted, "model")


def settings_like(data: str, recipe: str, places: Sequence[str | Path]) -> list[str]:
    """The arguments that say what a data set and a recipe are, from a run that has them; else the names alone.

    Args:
        data: name of the data set.
        recipe: name of the recipe, with its tag.
        places: folders of runs; the first run that can be read decides, one with the same recipe before all others.

    >>> settings_like("synthetic", "smoke,tag=wide", [])
    ['data=synthetic', 'recipe=smoke', 'run.tag=wide']
    >>> settings_like("mine", "smoke", [])
    ['data=files', 'data.votes=VOTES_FILE', 'data.items=ITEMS', 'data.name=mine', 'recipe=smoke']
    """
    name, tag = read_recipe(recipe)
    tagged = [f"run.tag={tag}"] if tag else []
    if same := _first_readable(configured_runs(data, recipe, places)):
        return [*same, *tagged]
    # With another recipe the data are the same, and so is the kind of network that takes them.
    other = _first_readable(configured_runs(data, "*", places))
    known = [f"data={data}"] if (CONF / "data" / f"{data}.yaml").is_file() else [*TO_FILL_IN, f"data.name={data}"]
    about_data = [word for word in other if word.startswith(("data=", "data.", "+data."))] or known
    return [*about_data, f"recipe={name}", *tagged, *(word for word in other if word.startswith("model="))]


def configured_runs(data: str, recipe: str, places: Sequence[str | Path]) -> Iterator[Path]:
    """The folders of runs, finished or not, of a data set and recipe (``*``: any); published ones are unpacked.

    Args:
        data: name of the data set.
        recipe: name of the recipe, with its tag.
        places: folders laid out as ``outputs`` is; those that do not exist are passed over.
    """
    pattern = recipe if recipe == "*" else escape(recipe)
    for place in (Path(place) for place in places if Path(place).is_dir()):
        yield from sorted(file.parent for file in place.glob(f"{escape(data)}/{pattern}/*/K=*/seed=*/config.yaml"))
        for file in archives(place):
            if file.parent.name == data and recipe in ("*", recipe_of(file)):
                yield from configured_runs(data, recipe, [unpacked(file)])


def as_override(value: Any) -> str:
    """A value as Hydra's grammar of overrides writes it.

    >>> as_override([None, True, 5e-4, "cat", "my votes.csv", "12", {"a": "null"}])
    '[null,true,0.0005,cat,"my votes.csv","12",{a:"null"}]'
    """
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{as_override(key)}:{as_override(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(as_override, value)) + "]"
    if isinstance(value, str):
        return value if PLAIN.fullmatch(value) else QuotedString(value, Quote.double).with_quotes()
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)


def _first_readable(folders: Iterable[Path]) -> list[str]:
    for folder in folders:
        with suppress(OSError, InputError, HydraException, OmegaConfBaseException, KeyError, TypeError, AttributeError):
            return list(_settings_in(folder / "config.yaml", (folder / "config.yaml").stat().st_mtime_ns))
    return []


@lru_cache(maxsize=64)  # every table and verdict of a report asks for those of the same run
def _settings_in(file: Path, stamp: int) -> tuple[str, ...]:
    return tuple(repeated_settings(read_config(file)))


def _choice(group: str, wanted: Mapping[str, Any], name: Any = None) -> str:
    """Which yaml of a group these settings come from: the one of this name, else the first one that builds the same."""
    if isinstance(name, str) and (CONF / group / f"{name}.yaml").is_file():
        return name
    for file in sorted((CONF / group).glob("*.yaml")):
        if wanted and OmegaConf.select(OmegaConf.load(file), "_target_") == wanted.get("_target_"):
            return file.stem
    raise InputError(f"no {group} of {CONF / group} is {name or wanted.get('_target_')!r}")


def _changes(words: list[str], wanted: Mapping[str, Any], part: str) -> list[str]:
    """The overrides of one part that are still needed."""
    return list(_differences(_composed(words)[part], wanted[part], part))


def _differences(now: Any, wanted: Any, key: str) -> Iterator[str]:
    """The overrides that turn today's settings into a run's. A setting that the run lacks is younger than it, and stays."""
    if now == wanted or key in ADDRESSES or (key == "data.root" and wanted is None):
        return
    if not isinstance(now, dict) or not isinstance(wanted, dict):
        yield f"{key}={as_override(wanted)}"
        return
    for name in wanted:
        if name in now:
            yield from _differences(now[name], wanted[name], f"{key}.{name}")
        else:
            yield f"+{key}.{name}={as_override(wanted[name])}"


def _composed(words: list[str]) -> Any:
    return _composed_once(tuple(words))


@lru_cache(maxsize=64)
def _composed_once(words: tuple[str, ...]) -> Any:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return OmegaConf.to_container(compose("train", list(words)), resolve=True)
