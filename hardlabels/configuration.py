"""Where the configuration is, and which parts of it a run's folder does not show."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hardlabels.errors import InputError

if TYPE_CHECKING:  # Hydra is slow to load: who asks only where the configuration is need not wait for it
    from omegaconf import DictConfig

_here = Path(__file__).resolve().parent
CONF = _here / "conf" if (_here / "conf").is_dir() else _here.parent / "conf"
"""The configuration folder: inside an installed package, beside it in a checkout."""

COORDINATES = ("data", "data.name", "data.subset", "recipe", "method", "K", "seed", "outputs", "run.tag")
"""What the run's folder shows; settings of a method (``method.hold``) become part of its name."""

OWN_DATA = "data=files"
"""The user's own items and votes, under a name of the user's (``data.name``). Their settings say where they are and how they are
read, and a folder that holds a run on other content refuses this one: ``RunDirectory.check``."""

FOLLOWS_FROM_DATA = ("model=resnet18", "model=mlp", "model=text_head")
"""One takes images, one vectors, one texts, and each refuses the others': not a choice that a folder would hide."""

HOW_AND_WHERE = (
    "data.root",
    "data.url",
    "data.mirrors",
    "data.votes_url",
    "data.votes_mirrors",
    "data.timeout",
    "logger",
    "trainer",
    "hydra",
    "workers",
)
"""What changes how or where a run is made, but not its result."""

EXCEPTIONS = ("trainer.precision",)
"""Below ``HOW_AND_WHERE``, yet part of the result."""


def hidden_changes(overrides: list[str]) -> list[str]:
    """The overrides that change a result without showing in the run's folder.

    >>> hidden_changes(["method=sls", "method.hold=5", "seed=3", "data.root=/tmp/x", "recipe.epochs=3", "+model.width=8"])
    ['recipe.epochs=3', '+model.width=8']
    >>> hidden_changes(["data=files", "data.votes=votes.csv", "data.items=images", "data.size=64", "data.name=mine", "model=mlp"])
    []
    """

    def below(key: str, parents: tuple[str, ...]) -> bool:
        return any(key == parent or key.startswith(parent + ".") for parent in parents)

    hidden = []
    for override in overrides:
        key = override.split("=", 1)[0].lstrip("+~").split("@")[0].replace("/", ".")
        shown = key in COORDINATES or key.startswith("method.") or override in FOLLOWS_FROM_DATA
        shown = shown or (OWN_DATA in overrides and key.startswith("data.") and key != "data._target_")
        if not shown and (not below(key, HOW_AND_WHERE) or below(key, EXCEPTIONS)):
            hidden.append(override)
    return hidden


def refuse_hidden_changes(overrides: list[str], tag: str | None) -> None:
    """Ask for a tag when a run would look like another one that was trained differently."""
    hidden = hidden_changes(overrides)
    if hidden and tag is None:
        raise InputError(
            f"{', '.join(hidden)} changes the result, and the run's folder would not show it: "
            "add run.tag=NAME, or put the setting in a recipe of its own (conf/recipe/NAME.yaml)"
        )


def describe_command(config_name: str) -> str:
    """What ``--help`` prints: the yaml, whose comments say what each setting is, and the names that can be chosen.

    >>> print(describe_command("diagnose").splitlines()[-2])
    study: demo, family, main, pocket, resampling, singh, sparse, text_main, text_sparse
    """
    text = (CONF / f"{config_name}.yaml").read_text().strip()
    choices = {group: sorted(file.stem for file in (CONF / group).glob("*.yaml")) for group in ("study", "diagnostic")}
    return f"{text}\n\nstudy: {', '.join(choices['study'])}\nprobe: {', '.join(choices['diagnostic'])}"


def compose_command(config_name: str, argv: list[str], lists: tuple[str, ...] = ()) -> "DictConfig":
    """The configuration of an entry that is no multirun: ``conf/<config_name>.yaml`` with overrides.

    Args:
        config_name: the yaml's name.
        argv: overrides such as ``study=main``.
        lists: settings that take several values: ``probe=cka,barrier`` is read as ``probe=[cka,barrier]``.

    >>> compose_command("diagnose", ["study=demo", "probe=cka,barrier", "cka.chunk=64"], ("probe",)).probe
    ['cka', 'barrier']
    """
    from hydra import compose, initialize_config_dir  # noqa: PLC0415
    from hydra.errors import HydraException  # noqa: PLC0415
    from omegaconf.errors import OmegaConfBaseException  # noqa: PLC0415
    from yaml import YAMLError  # noqa: PLC0415

    if {"-h", "--help"} & set(argv):
        print(describe_command(config_name))
        sys.exit(0)
    words = []
    for word in argv:
        if word.startswith("-"):
            raise InputError(f"unknown option {word!r}: settings are given as name=value, --help lists them")
        key, _, value = word.partition("=")
        words.append(f"{key}=[{value}]" if key in lists and value and not value.startswith("[") and value != "null" else word)
    # Every probe is there under its own name, so that its settings can be given: hessian.protocol=paper.
    probes = [f"+diagnostic@{file.stem}={file.stem}" for file in sorted((CONF / "diagnostic").glob("*.yaml"))]
    try:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            return compose(config_name, [*probes, *words])
    except (HydraException, OmegaConfBaseException, YAMLError) as error:
        from hardlabels.entry import one_line  # noqa: PLC0415 - it needs this module

        raise InputError(one_line(error)) from error
