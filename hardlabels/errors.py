"""The one error type that means: your input, not our code."""


class InputError(ValueError):
    """Something the user can put right: says what was expected, what came and where.

    Entry points print its message without a traceback and exit with code 2; everything else is a bug and shows its traceback.
    """
