"""Files that are whole or not there, written by many at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hardlabels.whole_files import temporary_file, whole_file


def test_threads_that_write_one_path_do_not_disturb_each_other(tmp_path):
    """The name of the temporary file was once the process's number, which threads share: one renamed the other's file away."""
    path = tmp_path / "index.json"

    def write(number: int) -> None:
        with whole_file(path) as file:
            file.write(bytes([number]) * 10_000)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(200)))
    content = path.read_bytes()
    assert len(content) == 10_000, "no write is mixed with another"
    assert len(set(content)) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["index.json"]


def test_a_block_that_fails_leaves_the_old_file_and_no_new_folder(tmp_path):
    path = tmp_path / "kept.txt"
    path.write_text("old")

    def write_half(target: Path) -> None:
        with whole_file(target) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    for target in (path, tmp_path / "new" / "deep" / "x.txt"):
        with pytest.raises(KeyboardInterrupt):
            write_half(target)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["kept.txt"]


def test_a_temporary_file_is_gone_after_its_block_and_others_stay(tmp_path):
    with temporary_file(tmp_path / "a" / "archive") as file:
        file.write(b"x")
        (tmp_path / "a" / "beside").write_text("stays")
    assert [entry.name for entry in (tmp_path / "a").iterdir()] == ["beside"]
