"""Which delivery should I use on my votes? ``python -m hardlabels.compare votes.csv images/``: check, split, train, one page."""

import sys
import time
from collections.abc import Sequence

from hardlabels.console import complain, say, stop_bars
from hardlabels.entry import MISTAKES, refuse
from hardlabels.stopping import Stopped, ends_with_its_reader, stoppable

HELP = """usage: hardlabels compare VOTES ITEMS [name=value ...]

Train networks on your votes with several deliveries (soft, sls, multipass, majority) and say which one to use.

  VOTES   any file that `hardlabels votes` reads
  ITEMS   a folder of images named by item id, a .csv or .jsonl of texts, a .csv or .npy of features
          (data=NAME in place of both: a data set of conf/data, such as data=chaosnli_by_premise)

  seeds=5                       runs of each method, each on a split of its own
  method=soft,majority          the methods to compare (default: soft,sls,multipass,majority)
  data.split=COLUMN|FILE        your own split: a column (train, dev, test), a .csv (id, part) or a .json of ids
  data.group=COLUMN             keep items of one user, source or premise on one side of the split
  data.equal=group              keep items that are the same under two ids on one side
  data.name=mine                name of the data set, and of its folder in outputs (default: that of the votes file)
  outputs=outputs               the folder of all runs
  recipe=..., recipe.epochs=..., model.encoder=..., trainer.accelerator=..., hydra/launcher=...    as for hardlabels train

Stopped, the same command goes on. The answer is printed, and shown on <outputs>/<data>/<recipe>/compare/index.html."""


def compare(words: Sequence[str]) -> int:
    """Check, train, answer; returns the exit code."""
    from hardlabels.comparing.request import read_request  # noqa: PLC0415 - --help need not wait

    began = time.monotonic()
    request = read_request(words)
    from hardlabels.comparing import report, run, sentences  # noqa: PLC0415

    prepared = run.prepare(request)
    report.announce(prepared)
    if code := run.train(prepared):
        complain("training did not finish, so there is no answer yet; the same command goes on")
        return code
    answer, page = report.write_report(prepared, words)
    say(f"\n{sentences.short_answer(answer)}\n{sentences.paragraph(answer, prepared.source.name)}")
    say(f"page: {page} ({(time.monotonic() - began) / 60:.1f} minutes)")
    return 0


@ends_with_its_reader()
def main(argv: Sequence[str] | None = None) -> None:
    """The command: one line and exit code 2 for bad input, 128 + n when signal n stopped it."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or {"-h", "--help"} & set(words):
        print(HELP)
        sys.exit(0 if words else 2)
    try:
        with stoppable():
            code = compare(words)
    except MISTAKES as error:
        refuse(error)
    except Stopped as stopped:
        complain(str(stopped))
        sys.exit(stopped.exit_code)
    finally:
        stop_bars()
    sys.exit(code)


if __name__ == "__main__":
    main()
