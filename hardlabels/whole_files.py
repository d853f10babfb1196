"""Files that are whole or not there: written beside their place, flushed to disk, then renamed."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A binary file to write to, which takes the place of ``path`` when the block ends well and vanishes when it does not.

    A crash at any moment leaves the previous file as it was. Any number of threads and processes may write the same path: the
    last one wins, and none sees half of another's file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "new" / "answer.txt"
    ...     with whole_file(path) as file:
    ...         _ = file.write(b"42")
    ...     path.read_text()
    '42'
    """
    with temporary_file(path) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())  # else a power cut could leave the new name with old, empty content
        file.close()  # Windows renames closed files only
        Path(file.name).replace(path)


@contextmanager
def temporary_file(beside: Path) -> Iterator[BinaryIO]:
    """A new file in the folder of ``beside`` that is gone after the block.

    It lies in the same folder because a rename across file systems copies. Folders that were made for it go as well when the
    block ends, unless something is in them by then.
    """
    # The name is random, since a process's number is shared by its threads. It is not tempfile's, since those files are private
    # to the user, and folders of data and runs are often shared.
    path = beside.with_name(f".{beside.name}.{uuid.uuid4().hex}.part")
    made = [folder for folder in beside.parents if not folder.exists()]
    beside.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x+b") as file:
            yield file
    finally:
        path.unlink(missing_ok=True)
        for folder in made:
            try:
                folder.rmdir()
            except OSError:
                break
