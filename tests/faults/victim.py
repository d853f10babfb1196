"""A process that has imported everything and forks one child for each command: runs that can be killed without a long start.

Reads lines of JSON (the arguments of ``hardlabels.train``) from standard input; answers with the child's process id, then,
when the child has ended, with its exit status. The child is the command: ``hardlabels.train.main`` with these arguments.
"""

import json
import os
import sys

import lightning  # noqa: F401 - imported before the fork, so that a child trains at once

import hardlabels.runs.training.execute  # noqa: F401
from hardlabels.train import main


def serve() -> None:
    print("ready", flush=True)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            log = os.open(os.environ["VICTIM_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(log, 1)
            os.dup2(log, 2)
            sys.argv = ["hardlabels.train", *json.loads(line)]
            try:
                main()
            except SystemExit as stop:
                os._exit(int(stop.code or 0))
            os._exit(0)
        print(child, flush=True)
        print(os.waitpid(child, 0)[1], flush=True)


if __name__ == "__main__":
    serve()
