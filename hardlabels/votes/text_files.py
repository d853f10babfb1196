"""Text files that somebody else's program wrote: how they are encoded, and what is between the cells of their tables."""

from pathlib import Path

from hardlabels.errors import InputError

MARKS = {",": "commas", ";": "semicolons", "\t": "tabs"}
"""What may be between the cells of a table, in words."""


def separator(first_line: str) -> str:
    """What is between the cells of a ``.csv``: semicolons where its first line has some and no comma; else commas.

    Excel writes semicolons in countries with a decimal comma.

    >>> separator("id;annotator;label"), separator("id,label"), separator("id,a;b")
    (';', ',', ',')
    """
    return ";" if ";" in first_line and "," not in first_line else ","


def first_line_of(text: str) -> str:
    r"""The first line that is not blank.

    >>> first_line_of("  \n\na;b\n1;2\n")
    'a;b'
    """
    return next((line for line in text.splitlines() if line.strip()), "")


def not_utf8(path: Path, error: UnicodeDecodeError) -> InputError:
    """The error about a file in another encoding than UTF-8: which byte shows it, and what to do.

    >>> try:
    ...     "é".encode("latin-1").decode()
    ... except UnicodeDecodeError as error:
    ...     print(not_utf8(Path("votes.csv"), error))
    votes.csv: expected text in UTF-8; byte 0 is 0xe9. Save it as UTF-8 (Excel calls it 'CSV UTF-8', pandas encoding='utf-8')
    """
    content = error.object
    also = ", as in UTF-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
    found = f"byte {error.start} is 0x{content[error.start]:02x}{also}"
    way = "Save it as UTF-8 (Excel calls it 'CSV UTF-8', pandas encoding='utf-8')"
    return InputError(f"{path}: expected text in UTF-8; {found}. {way}")
