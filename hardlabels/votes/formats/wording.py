"""How a message writes the options of a votes file: each caller has its own way to give them."""

import re
import shlex
from dataclasses import dataclass

PLAIN = re.compile(r"[\w.:/%@+-]+", re.ASCII)  # what Hydra takes without quotes


@dataclass(frozen=True)
class Wording:
    r"""The words in which a caller's user gives an option: ``--label NAME`` to a command, ``data.label=NAME`` to a training.

    Args:
        command: the command so far, with the files that it reads; "" proposes the options without a command.
        prefix: before the name of an option.
        joint: between its name and its value.

    >>> Wording("python -m hardlabels.votes votes.csv").propose(task="Input.url", label="my answer")
    "python -m hardlabels.votes votes.csv --task Input.url --label 'my answer'"
    >>> Wording(prefix="data.", joint="=").propose(label="my answer")
    '\'data.label="my answer"\''
    """

    command: str = ""
    prefix: str = "--"
    joint: str = " "

    def option(self, name: str, value: str | None = None) -> str:
        """An option, with its value where there is one to say; quoted for a shell.

        >>> Wording().option("label"), Wording(prefix="data.", joint="=").option("format", "wide")
        ('--label', 'data.format=wide')
        """
        if value is None:
            return f"{self.prefix}{name}"
        if self.joint == " ":
            return f"{self.prefix}{name} {shlex.quote(value)}"
        if not PLAIN.fullmatch(value):  # Hydra's quotes, inside of the shell's
            value = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        return shlex.quote(f"{self.prefix}{name}{self.joint}{value}")

    def propose(self, **values: str) -> str:
        """The whole command with these options."""
        return " ".join([*([self.command] if self.command else []), *(self.option(*pair) for pair in values.items())])
