"""Tables of feature vectors: what is read, and which cell is named when it is none."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hardlabels.errors import InputError
from hardlabels.sources.features import feature_statistics, parse_features, read_features

HERE = Path("features.csv")


def test_pandas_writes_what_is_read(tmp_path):
    """Also with numbers for column names and an index without a name, which is what a frame of features has."""
    x = np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32)
    ids = [f"item {i}" for i in range(20)]
    for columns in (list("abcd"), range(4)):
        pd.DataFrame(x, index=ids, columns=columns).to_csv(tmp_path / "features.csv")
        found, features = read_features(tmp_path / "features.csv")
        assert found == ids
        np.testing.assert_allclose(features, x, rtol=1e-6)
        assert features.dtype == np.float32


def test_a_header_is_not_needed():
    ids, features = parse_features("7,0.5,1e3\n8,-1, 2\n\n", HERE)
    assert ids == ["7", "8"]
    assert features.tolist() == [[0.5, 1000.0], [-1.0, 2.0]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,a,b\nx,1,2\ny,1,\n", "line 3, column 'b': expected a finite number .* got ''"),
        ("id,a,b\nx,1,nan\n", "line 2, column 'b': expected a finite number .* got 'nan'"),
        ("x,1,2\ny,inf,2\n", "line 2, column 'feature 0': expected a finite number .* got 'inf'"),
        ("x,1,2\ny,1e39,2\n", "line 2, column 'feature 0': .*float32.* got '1e39'"),
        ("id,a\nx,dog\n", "line 2, column 'a': expected a finite number .* got 'dog'"),
        ("id,a\nx,1_0\n", "line 2, column 'a': expected a finite number .* got '1_0'"),
        ("id,a,b\nx,1\n", "line 2: expected an id and 2 numbers, got 2 columns"),
        ("id,a\nx,1\nx,2\n", "line 3: expected an id of its own in the first column, got 'x' of line 2 again"),
        ("id,a\n,1\n", "line 2: expected an id of its own in the first column, got an empty one"),
        ("id\nx\n", "line 1: expected an id and at least one number"),
        ("id,a\n", "expected at least one line of an id and numbers, got none"),
        ("", "expected at least one line"),
        ('id,a\n"x' + "1\n" * 70_000, "line .*: expected an id and numbers, separated by commas: field larger"),
    ],
)
def test_the_first_bad_cell_is_named(text, said):
    with pytest.raises(InputError, match=f"features.csv.*{said}"):
        parse_features(text, HERE)


def test_an_npy_has_rows_and_no_ids(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6).reshape(3, 2))
    ids, features = read_features(tmp_path / "x.npy")
    assert ids is None
    assert features.tolist() == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.zeros(3), r"expected a numeric matrix of items x features, got shape \(3,\)"),
        (np.zeros((2, 3, 4)), r"got shape \(2, 3, 4\)"),
        (np.zeros((3, 0)), r"got shape \(3, 0\)"),
        (np.array([["a"]]), "type <U1"),
        (np.array([[0.0, 1.0], [np.nan, 1.0]]), "row 1, feature 0: expected a finite number .* got nan"),
        (np.array([[1e300]]), "row 0, feature 0: expected a finite number .*float32.* got 1e"),
        (np.array([[{}]]), "pickled Python objects"),
    ],
)
def test_an_npy_that_is_no_table_is_refused(tmp_path, array, said):
    np.save(tmp_path / "x.npy", array, allow_pickle=True)
    with pytest.raises(InputError, match=f"x.npy.*{said}"):
        read_features(tmp_path / "x.npy")


def test_other_files_are_refused(tmp_path):
    (tmp_path / "x.xlsx").write_bytes(b"PK")
    (tmp_path / "x.csv").write_bytes(b"id,a\n\xff,1\n")
    with pytest.raises(InputError, match=r"expected a folder of images, or features as \.csv or \.npy, got '\.xlsx'"):
        read_features(tmp_path / "x.xlsx")
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match=r"pipe\.csv: expected a file of features"):
        read_features(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="expected text in UTF-8; byte 5 is 0xff"):
        read_features(tmp_path / "x.csv")


def test_statistics_are_numpys_and_constant_features_stay_finite():
    x = np.random.default_rng(0).normal(5, 3, (500, 3)).astype(np.float32)
    x[:, 1] = 0.1  # the mean of many float32 0.1 differs from each of them in the last bits
    mean, std = feature_statistics(x)
    np.testing.assert_allclose(mean, x.astype(np.float64).mean(0))
    np.testing.assert_allclose(np.delete(std, 1), x.astype(np.float64).std(0)[[0, 2]])
    assert std[1] == 1.0
