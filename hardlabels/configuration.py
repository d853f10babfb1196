"""Where the configuration is, and how a command that is no multirun composes its own."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hardlabels.errors import InputError

if TYPE_CHECKING:  # Hydra is slow to load: who asks only where the configuration is need not wait for it
    from omegaconf import DictConfig

_here = Path(__file__).resolve().parent
CONF = _here / "conf" if (_here / "conf").is_dir() else _here.parent / "conf"
"""The configuration folder: inside an installed package, beside it in a checkout."""

CHOOSE_RUNS = {"data": "study.data", "recipe": "study.recipe", "run.tag": "study.tag", "tag": "study.tag"}
"""How the runs of a study are chosen by settings that belong to a single run."""


def describe_command(config_name: str) -> str:
    """What ``--help`` prints: the yaml, whose comments say what each setting is, and the names that can be chosen.

    >>> print(describe_command("diagnose").splitlines()[-1])
    probe: barrier, cka, dynamics, gradcam, gradient_variance, hessian, ood, sparse_target, sparse_target_train
    """
    text = (CONF / f"{config_name}.yaml").read_text().strip()
    choices = {group: sorted(file.stem for file in (CONF / group).glob("*.yaml")) for group in ("study", "diagnostic")}
    names = [
        f"{word}: {', '.join(choices[group])}"
        for word, group in (("study", "study"), ("probe", "diagnostic"))
        if f"{word}: " in text
    ]
    return "\n".join([text, "", "The names that can be chosen:", *names]) if names else text


def refuse_settings_of_training(config_name: str, argv: list[str]) -> None:
    """Say where a setting of ``hardlabels.train`` belongs, when it is given to a command about a study.

    >>> refuse_settings_of_training("report", ["study=demo", "data=mine"])
    Traceback (most recent call last):
    ...
    hardlabels.errors.InputError: data=mine is a setting of hardlabels.train: of a study's runs it is chosen by study.data=mine
    """
    for word in argv:
        key, _, value = word.lstrip("+~").partition("=")
        if key in CHOOSE_RUNS:
            where = f"of a study's runs it is chosen by {CHOOSE_RUNS[key]}={value}"
        elif key in ("method", "K", "seed"):
            where = "those of a study are in its grid (study.grid)"
        elif key.partition(".")[0] in ("data", "recipe", "model", "trainer", "workers"):
            where = "behind -- it is passed on" if config_name == "reproduce" else "finished runs are taken as they were trained"
        else:
            continue
        raise InputError(f"{word} is a setting of hardlabels.train: {where}")


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
    refuse_settings_of_training(config_name, argv)
    words = []
    for word in argv:
        if word.startswith("-"):
            raise InputError(f"unknown option {word!r}: settings are given as name=value, --help lists them")
        key, _, value = word.partition("=")
        if key == "study" and "," in value:
            raise InputError(f"{word}: one study at a time here; hardlabels.reproduce and hardlabels.publish take several")
        words.append(f"{key}=[{value}]" if key in lists and value and not value.startswith("[") and value != "null" else word)
    # Every probe is there under its own name, so that its settings can be given: hessian.protocol=paper.
    probes = [f"+diagnostic@{file.stem}={file.stem}" for file in sorted((CONF / "diagnostic").glob("*.yaml"))]
    try:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            return compose(config_name, [*probes, *words])
    except (HydraException, OmegaConfBaseException, YAMLError) as error:
        from hardlabels.entry import one_line  # noqa: PLC0415 - it needs this module

        message = one_line(error)
        if message.startswith("study."):
            message += "; what a study has is in conf/study, and its grid is changed by study.grid=[...]"
        raise InputError(message) from error
