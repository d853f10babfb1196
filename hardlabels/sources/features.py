"""Feature vectors from a file: a csv with an id in the first column, or an .npy without ids."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hardlabels.errors import InputError
from hardlabels.sources.id_columns import names_ids, refuse_row_numbers
from hardlabels.votes.arrays import read_arrays
from hardlabels.votes.text_files import MARKS, first_line_of, not_utf8, separator


def read_features(path: Path) -> tuple[list[str] | None, np.ndarray]:
    """The ids of a table of features (None in an .npy, which has none), and its (N, d) float32.

    Raises:
        InputError: no such file, no such table, or a number that is none: named by its row and column.
    """
    if path.suffix == ".npy":
        array = read_arrays(path)[""]
        if array.ndim != 2 or array.dtype.kind not in "iuf" or 0 in array.shape:
            raise InputError(
                f"{path}: expected a numeric matrix of items x features, got shape {array.shape}, type {array.dtype}"
            )
        features = _float32(array)
        if not np.isfinite(features).all():
            row, column = np.argwhere(~np.isfinite(features))[0]
            raise InputError(f"{path}, row {row}, feature {column}: expected a finite number (float32), got {array[row, column]}")
        return None, features
    if path.suffix != ".csv":
        expected = "expected a folder of images, or features as .csv or .npy"
        raise InputError(f"{path}: {expected}, got {path.suffix or 'no ending'!r} (texts: .csv or .jsonl)")
    if not path.is_file():  # a pipe would block, a device may have no end
        raise InputError(f"{path}: expected a file of features")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(path, error) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    return parse_features(text, path)


def parse_features(text: str, path: Path) -> tuple[list[str], np.ndarray]:
    r"""Ids and (N, d) features of a csv: an id, then d numbers per line. A first line without numbers names the columns.

    >>> ids, x = parse_features("id,height,weight\na,1.5,70\nb,1.75,80\n", Path("features.csv"))
    >>> ids, x.tolist()
    (['a', 'b'], [[1.5, 70.0], [1.75, 80.0]])
    """
    names: list[str] | None = None  # of the columns
    lines: dict[str, int] = {}  # id to line, in order
    rows: list[np.ndarray] = []
    mark = separator(first_line_of(text))
    reader = csv.reader(io.StringIO(text), delimiter=mark, skipinitialspace=True)
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if names is None:
                if len(cells) < 2:
                    raise InputError(f"{path}, line {reader.line_num}: expected an id and at least one number, got {cells}")
                header = is_header(cells, f"{path}, line {reader.line_num}")
                names = cells if header else ["id", *(f"feature {column}" for column in range(len(cells) - 1))]
                if header:
                    refuse_row_numbers(names, path)
                    continue
            where = f"{path}, line {reader.line_num}"
            if len(cells) != len(names):
                raise InputError(f"{where}: expected an id and {len(names) - 1} numbers, got {len(cells)} columns")
            name = cells[0].strip()
            if not name or name in lines:
                came = f"{name!r:.60} of line {lines[name]} again" if name else "an empty one"
                raise InputError(f"{where}: expected an id of its own in the first column, got {came}")
            lines[name] = reader.line_num
            rows.append(_row(cells[1:], names[1:], where))
    except csv.Error as error:
        raise InputError(
            f"{path}, line {reader.line_num}: expected an id and numbers, separated by {MARKS[mark]}: {error}"
        ) from error
    if not rows:
        raise InputError(f"{path}: expected at least one line of an id and numbers, got none")
    return list(lines), np.stack(rows)


def is_header(first: Sequence[str], where: str) -> bool:
    """Whether a first line names the columns: it begins with a name for ids, or has no number beyond its first cell.

    A word before 0, 1, 2, ... is refused: pandas names columns so, and what is no name for ids may still be one.

    >>> is_header(["image_id", "0", "1"], "x.csv"), is_header(["a", "height"], "x.csv"), is_header(["a", "0.5"], "x.csv")
    (True, True, False)
    """
    if names_ids(first[0]) or not any(map(is_number, first[1:])):
        return True
    counted = [cell.strip() for cell in first[1:]]
    if (
        not is_number(first[0])
        and len(counted) > 2
        and counted in [list(map(str, range(at, at + len(counted)))) for at in (0, 1)]
    ):
        expected = "an id and its numbers, or the names of columns, the first of them a name for ids, such as 'id'"
        raise InputError(f"{where}: expected {expected}; {first[0]!r:.60} before {', '.join(counted[:3])}, ... may be either")
    return False


def feature_statistics(features: np.ndarray) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and standard deviation of each feature; the deviation of a constant feature is 1.

    >>> feature_statistics(np.array([[1, 5], [3, 5]], dtype=np.float32))
    ((2.0, 5.0), (1.0, 1.0))
    """
    mean, std = features.mean(0, dtype=np.float64), features.std(0, dtype=np.float64)
    # Below what float32 tells apart, a deviation is rounding of the mean.
    varies = std > np.finfo(np.float32).eps * np.abs(mean)
    return tuple(mean.tolist()), tuple(np.where(varies, std, 1.0).tolist())


def is_number(cell: str) -> bool:
    """Whether a cell is a number; 1_0, which Python reads as 10, is none.

    >>> is_number("1e3"), is_number("1_0"), is_number("ten")
    (True, False, False)
    """
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _row(cells: list[str], names: list[str], where: str) -> np.ndarray:
    try:
        numbers = np.array(cells, dtype=np.float64)
        row = _float32(numbers)
        good = np.isfinite(row).all() and not any("_" in cell for cell in cells)  # Python would read 1_0 as 10
    except ValueError:
        good = False
    if not good:
        column = next(place for place, cell in enumerate(cells) if not is_number(cell) or not np.isfinite(_float32(float(cell))))
        expected = "expected a finite number (float32)"
        hint = "" if is_number(cells[column]) or not cells[column].strip() else "; where it is text, data.text names its column"
        raise InputError(f"{where}, column {names[column].strip()!r:.60}: {expected}, got {cells[column]!r:.60}{hint}")
    return row


def _float32(values: np.ndarray | float) -> np.ndarray:
    with np.errstate(over="ignore"):  # infinite then, and refused
        return np.ascontiguousarray(values, dtype=np.float32)
