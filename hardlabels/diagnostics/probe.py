"""What a probe is: a function of one finished run, or of two, that yields (name, value); and its yaml."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from omegaconf import DictConfig, OmegaConf

from hardlabels.configuration import CONF
from hardlabels.errors import InputError
from hardlabels.guard import locate, probe_function
from hardlabels.runs.cell import Cell
from hardlabels.runs.directory import RunDirectory
from hardlabels.runs.quantity import CHECKPOINTS
from hardlabels.runs.spelling import write_method, write_probe_file

# Keys of a probe's yaml that are no arguments of its function.
ABOUT = ("name", "_target_", "over", "needs", "pairs", "before")
WHERE = ("files",)  # an argument, but about places: it changes no value
NEEDS = ("checkpoint", "predictions", "history")
SEEDS = ("same", "cross")
OF_IMAGES = ("gradcam", "ood")
"""Probes that only images can have."""


class NotApplicableError(InputError):
    """A probe's question has no meaning for this run, whatever the settings: a text has no place in an image to look at.

    The message is the same for all runs alike, so that it can be told once for all of them.
    """


@dataclass(frozen=True)
class Probe:
    """A probe with its settings.

    Args:
        name: the yaml's, with each setting that is neither the yaml's nor the study's own (``hessian,protocol=paper``). Tables
            and figures ask for the yaml's name alone. The checkpoint is not part of it.
        function: of a run (``over: run``) or two (``over: pairs``); yields (name, value).
        over: run or pairs.
        needs: which file of a run it reads, one of ``NEEDS``.
        settings: keyword arguments that decide the values; recorded with them. Every probe of a network has ``checkpoint`` among
            them.
        where: keyword arguments that do not (where files are).
        pairs: which pairs: {methods: [a, b], seeds: same | cross}.
        before: called with all arguments before any run is touched; refuses missing files.
    """

    name: str
    function: Callable[..., Iterable[tuple[str, Any]]]
    over: str
    needs: str
    settings: dict[str, Any]
    where: dict[str, Any]
    pairs: tuple[dict[str, Any], ...] = ()
    before: Callable[..., None] | None = None

    @classmethod
    def from_config(cls, cfg: DictConfig, own: Mapping[str, Any] | None = None) -> "Probe":
        """The probe that ``conf/diagnostic/NAME.yaml``, with overrides, describes.

        Args:
            cfg: the yaml's content, with overrides.
            own: settings of the study, in place of the yaml's; an override goes before them.
        """
        given: Any = OmegaConf.to_container(cfg, resolve=True)
        plain: Any = OmegaConf.load(CONF / "diagnostic" / f"{given['name']}.yaml")
        settings = {key: value for key, value in given.items() if key not in (*ABOUT, *WHERE)}
        settable = [key for key in settings if key != "checkpoint"]
        for key, value in (own or {}).items():
            if key not in settable:
                raise InputError(f"the study's settings of {given['name']} must be among {', '.join(settable)}, got {key!r}")
            settings[key] = value if settings[key] == plain.get(key) else settings[key]
        usual = {**plain, **(own or {})}
        changed = {key: _word(settings[key]) for key in settable if usual.get(key) != settings[key]}
        choices = {"over": ("run", "pairs"), "needs": NEEDS}
        for field, allowed in {**choices, **({"checkpoint": CHECKPOINTS} if "checkpoint" in settings else {})}.items():
            if given.get(field) not in allowed:
                raise InputError(f"probe {given['name']}: {field} must be one of {', '.join(allowed)}, got {given.get(field)!r}")
        return cls(
            write_method(given["name"], changed),
            probe_function(given["_target_"], f"{given['name']}._target_"),
            given["over"],
            given["needs"],
            settings,
            {key: given[key] for key in WHERE if key in given},
            tuple(given.get("pairs") or ()),
            locate(f"{given['name']}.before", given["before"]) if given.get("before") else None,
        )

    @property
    def file(self) -> str:
        """The name of its files in ``diagnostics/``, without the ending: ``hessian``, or ``hessian,checkpoint=last``."""
        return write_probe_file(self.name, self.settings.get("checkpoint", "best"))

    def measured(self, saved: Mapping[str, Any]) -> bool:
        """Whether a file's content, which may be of an earlier version, was measured as this probe measures.

        Files without a checkpoint among their settings are older than this setting: they are of the best one.
        """
        settings = saved.get("settings")
        if saved.get("probe") != self.name or not isinstance(settings, dict):
            return False
        return {"checkpoint": "best", **settings} == {"checkpoint": "best", **self.settings}

    def lacks(self, directory: RunDirectory) -> str | None:
        """The name of the file that a run lacks for this probe; None where it has everything."""
        path = getattr(directory, self.settings.get("checkpoint", "best") if self.needs == "checkpoint" else self.needs)
        return None if path.is_file() else path.name


def matched_pairs(cells: Iterable[Cell], wanted: Iterable[dict[str, Any]]) -> Iterator[tuple[Cell, Cell]]:
    """The pairs of cells that a probe asks for, each once: of one data set, recipe and K.

    >>> cells = [Cell("d", "r", method, None, seed) for method in ("soft", "sls") for seed in (0, 1)]
    >>> [(str(a), str(b)) for a, b in matched_pairs(cells, [{"methods": ["sls", "soft"], "seeds": "same"}])]
    [('sls K=all seed=0', 'soft K=all seed=0'), ('sls K=all seed=1', 'soft K=all seed=1')]
    >>> [(str(a), str(b)) for a, b in matched_pairs(cells, [{"methods": ["sls", "sls"], "seeds": "cross"}])]
    [('sls K=all seed=0', 'sls K=all seed=1')]
    """
    cells, seen = list(cells), set()
    for entry in wanted:
        (first, second), seeds = entry["methods"], entry["seeds"]
        if seeds not in SEEDS:
            raise InputError(f"pairs: seeds must be one of {', '.join(SEEDS)}, got {seeds!r}")
        for a, b in itertools.product(cells, cells):
            alike = (a.data, a.recipe, a.tag, a.K) == (b.data, b.recipe, b.tag, b.K) and (a.variant, b.variant) == (first, second)
            matched = a.seed == b.seed and a != b if seeds == "same" else a.seed != b.seed
            if alike and matched and (a, b) not in seen and (b, a) not in seen:
                seen.add((a, b))
                yield a, b


def _word(value: Any) -> str:
    """A setting's value as part of a file's name."""
    text = "+".join(map(str, value)) if isinstance(value, list) else str(value)
    return "".join(letter if letter.isalnum() or letter in "+-._" else "_" for letter in text)
