"""The corpus of hostile and broken input: what every case must end in.

Each test file here has a dictionary ``CASES`` of one theme, and one test that runs them all.
"""

import hashlib

import pytest


def snapshot(folder):
    """Every file and folder below, with what it holds (of large files: how much, and since when)."""
    return {str(path.relative_to(folder)): content(path) for path in sorted(folder.rglob("*"))}


def content(path):
    if not path.is_file():
        return "no file"
    status = path.stat()
    return hashlib.sha256(path.read_bytes()).hexdigest() if status.st_size < 1 << 24 else (status.st_size, status.st_mtime_ns)


@pytest.fixture
def canary(tmp_path):
    """A file that no test makes: a case whose code was run would."""
    return tmp_path / "canary"


@pytest.fixture
def check_refused(tmp_path, canary):
    """Run a command, ``run() -> (exit code, stdout, stderr)``, and hold it to the law of this corpus.

    Exit code 2; one error, in one line, that has all ``parts``; no traceback, nothing that a terminal would act on, nothing
    written, no code run. A list of files that are missing may take ``lines`` lines.
    """

    def check(run, parts, lines=1):
        before = snapshot(tmp_path)
        code, out, err = run()
        assert code == 2, f"exit code {code}\n{out}{err}"
        assert "Traceback" not in out + err, out + err
        assert err.startswith("error: "), err
        assert len(err.strip().splitlines()) <= lines, err
        assert not out.strip(), out
        assert all(part in err for part in parts), f"expected {parts}, got: {err}"
        assert all(char.isprintable() or char == "\n" for char in err), ascii(err)
        assert len(err) < 2000, f"{len(err)} characters"
        assert not canary.exists(), "the case's code was run"
        assert snapshot(tmp_path) == before, "something was written"

    return check


@pytest.fixture
def call(capsys):
    """End a function as a command ends: exit code, stdout, stderr."""
    from hardlabels.entry import MISTAKES, refuse

    def run(function):
        try:
            function()
            code = 0
        except MISTAKES as error:
            with pytest.raises(SystemExit) as stop:
                refuse(error)
            code = stop.value.code
        return code, *capsys.readouterr()

    return run


@pytest.fixture(autouse=True)
def ordinary_errors(monkeypatch):
    """No traceback was asked for, and no data folder of the machine's is used."""
    monkeypatch.delenv("HYDRA_FULL_ERROR", raising=False)
    monkeypatch.delenv("HARDLABELS_DATA", raising=False)
