"""The one error type that means: your input, not our code."""


class InputError(ValueError):
    r"""Something the user can put right: says what was expected, what came and where.

    Entry points print its message without a traceback and exit with code 2; everything else is a bug and shows its traceback.
    A message may quote a file that somebody else wrote, so it holds no control characters: :func:`printable`.

    >>> str(InputError("expected a name, got \x1b[2Jcat"))
    'expected a name, got \\x1b[2Jcat'
    """

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


def printable(text: str) -> str:
    r"""The text with everything that a terminal would act on (or could not show) written out; line ends and tabs stay.

    That is control and escape characters, marks that reverse the direction of writing, and bytes that are no text.

    >>> print(printable("a\x07b\u202ec\n\td"))
    a\x07b\u202ec
        d
    """
    return "".join(char if char.isprintable() or char in "\n\t" else ascii(char)[1:-1] for char in text.expandtabs(4))
