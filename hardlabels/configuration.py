"""Where the configuration is, and which parts of it a run's folder does not show."""

from pathlib import Path

from hardlabels.errors import InputError

_here = Path(__file__).resolve().parent
CONF = _here / "conf" if (_here / "conf").is_dir() else _here.parent / "conf"
"""The configuration folder: inside an installed package, beside it in a checkout."""

COORDINATES = ("data", "recipe", "method", "K", "seed", "outputs", "run.tag")
"""What the run's folder shows; settings of a method (``method.hold``) become part of its name."""

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
    """

    def below(key: str, parents: tuple[str, ...]) -> bool:
        return any(key == parent or key.startswith(parent + ".") for parent in parents)

    hidden = []
    for override in overrides:
        key = override.split("=", 1)[0].lstrip("+~").split("@")[0].replace("/", ".")
        shown = key in COORDINATES or key.startswith("method.")
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
