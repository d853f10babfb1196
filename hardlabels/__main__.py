"""All commands behind one word: ``hardlabels train ...`` is ``python -m hardlabels.train ...``, and so on."""

import runpy
import sys
from difflib import get_close_matches

from hardlabels.stopping import ends_with_its_reader

COMMANDS = {
    "compare": ("hardlabels.compare", "which delivery to use on your votes: check, split, train, one page"),
    "predict": ("hardlabels.predict", "predict new items with a trained run"),
    "export": ("hardlabels.export", "a trained run as ONNX, TorchScript or safetensors"),
    "train": ("hardlabels.train", "train one cell, or with -m a grid of cells"),
    "reproduce": ("hardlabels.reproduce", "a whole study: its grid, its probes, its report"),
    "diagnose": ("hardlabels.diagnose", "probe the finished runs of a study"),
    "report": ("hardlabels.report", "tables, figures and claims of a study"),
    "publish": ("hardlabels.publish", "copy the records of finished runs for a repository"),
    "score": ("hardlabels.score", "score finished predictions against votes, without training"),
    "votes": ("hardlabels.votes", "what is in a file of votes; the same votes in another format"),
    "dashboard": ("hardlabels.dashboard", "the W&B workspace of a project"),
}
"""Name of a command to the module that is run for it, and what it does. A new command is a module with a line here."""


def describe_commands() -> str:
    """What ``hardlabels --help`` prints.

    >>> print(describe_commands().splitlines()[0])
    usage: hardlabels COMMAND ...   (hardlabels COMMAND --help: its settings)
    """
    width = max(map(len, COMMANDS))
    lines = [f"  {name:{width}}  {what}" for name, (_, what) in COMMANDS.items()]
    return "\n".join(["usage: hardlabels COMMAND ...   (hardlabels COMMAND --help: its settings)", "", *lines])


@ends_with_its_reader()
def main() -> None:
    """Run a command as ``python -m`` runs its module; one line and exit code 2 for a command that does not exist."""
    name, rest = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else ("", [])
    if name in ("", "-h", "--help"):
        print(describe_commands())
        sys.exit(0 if name else 2)
    if name not in COMMANDS:
        near = get_close_matches(name, COMMANDS, n=1)
        guess = f"did you mean {near[0]}? " if near else ""
        print(f"error: {name!r:.60} is no command. {guess}Expected one of {', '.join(COMMANDS)}", file=sys.stderr)
        sys.exit(2)
    # As python -m would, not by calling its main(): Lightning starts further processes, and launchers their jobs, by the name of
    # the module that runs.
    sys.argv[1:] = rest
    runpy.run_module(COMMANDS[name][0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
