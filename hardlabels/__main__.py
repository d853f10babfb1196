"""All commands behind one word: ``hardlabels train ...`` is ``python -m hardlabels.train ...``, and so on."""

import runpy
import sys
from difflib import get_close_matches
from pathlib import Path

from hardlabels.stopping import ends_with_its_reader

COMMANDS = {
    "compare": ("hardlabels.compare", "train on your votes in several ways, and say on one page which way to use"),
    "predict": ("hardlabels.predict", "predict new items with a trained network"),
    "export": ("hardlabels.export", "write a trained network as ONNX, TorchScript or safetensors"),
    "train": ("hardlabels.train", "train one network, or with -m a grid of methods, votes per item and seeds"),
    "reproduce": ("hardlabels.reproduce", "run a whole study: train its grid, probe the networks, write the report"),
    "diagnose": ("hardlabels.diagnose", "measure the trained networks of a study: curvature, barriers, outliers, ..."),
    "report": ("hardlabels.report", "write the page, tables and figures of a study, from finished or published runs"),
    "publish": ("hardlabels.publish", "copy the records of finished runs for a repository"),
    "score": ("hardlabels.score", "score predictions that you have against votes; nothing is trained"),
    "votes": ("hardlabels.votes", "say what is in a file of votes, or write the same votes in another format"),
    "dashboard": ("hardlabels.dashboard", "make the Weights & Biases workspace of a project"),
}
"""Name of a command to the module that is run for it, and what it does. A new command is a module with a line here."""


ABOUT = "Train classifiers on the votes of several annotators, and compare the ways to show them these votes."
FIRST = "Votes of your own?   hardlabels votes votes.csv, then   hardlabels compare votes.csv images/"


def describe_commands() -> str:
    """What ``hardlabels --help`` prints.

    >>> print(describe_commands().splitlines()[0])
    usage: hardlabels COMMAND ...   (hardlabels COMMAND --help: its settings)
    """
    width = max(map(len, COMMANDS))
    lines = [f"  {name:{width}}  {what}" for name, (_, what) in COMMANDS.items()]
    return "\n".join(
        ["usage: hardlabels COMMAND ...   (hardlabels COMMAND --help: its settings)", "", ABOUT, "", *lines, "", FIRST]
    )


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
    # the module that runs. And as python -m does, with what lies in the current folder, such as a method of one's own.
    sys.argv[1:] = rest
    if not sys.flags.safe_path and (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    runpy.run_module(COMMANDS[name][0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
