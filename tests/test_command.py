"""The command as people type it: one cell, a grid, mistakes."""

import json
import os
import subprocess
import sys

import pytest

from hardlabels.configuration import CONF


def test_a_grid_ends_in_a_table_and_a_picture(command, tiny, tmp_path):
    code, out, _ = command("-m", *tiny, "method=soft,sls", "K=3,null", "seed=range(2)")
    assert code == 0
    assert "grid of 8 cells, 0 finished already" in out
    assert "mean ± SD over seeds" in out
    place = tmp_path / "outputs/synthetic/smoke,tag=tiny"
    assert len(list(place.glob("*/K=*/seed=*/done"))) == 8
    assert (place / "summary.png").read_bytes()[:4] == b"\x89PNG"
    assert not (tmp_path / "multirun").exists()

    code, out, _ = command("-m", *tiny, "method=soft,sls", "K=3,null", "seed=range(2)")
    assert code == 0
    assert out.count("finished already, skipped") == 8


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["method=slss"], 2, "deterministic_control"),  # Hydra lists what there is
        (["data=mnist"], 2, "cifar10h"),
        (["K=0"], 2, "K must be a number of votes of at least 1"),
        (["seed=x"], 2, "seed must be an integer"),
        (["recipe.epochs=3", "run.tag=null"], 2, "run.tag=NAME"),
        (["method.hold=0"], 2, "method.hold must be"),
        (["recipe.split=half"], 2, "split must be one of paper, three_way"),
        (["logger=wandb", "logger.mode=on"], 2, "logger.mode must be one of"),
    ],
)
def test_mistakes_are_one_message_and_leave_nothing_behind(command, tiny, tmp_path, arguments, code, message):
    got, out, err = command(*tiny, *arguments)
    assert got == code, out + err
    assert message in err
    assert "Traceback" not in err
    assert not any(tmp_path.rglob("*.yaml"))


def test_a_mistake_in_the_last_cell_stops_the_grid_before_the_first(command, tiny, tmp_path):
    code, _, err = command("-m", *tiny, "K=3,0", "seed=range(2)")
    assert code == 2
    assert "K must be a number of votes" in err
    assert not list(tmp_path.rglob("history.csv"))


def test_cells_that_would_share_a_folder_stop_the_grid_before_the_first(command, tiny, tmp_path):
    code, _, err = command("-m", *tiny, "recipe.epochs=1,2", "seed=range(2)")
    assert code == 2
    assert "two cells of the grid would be one folder" in err
    assert "recipe.epochs: 1 and 2" in err
    assert not list(tmp_path.rglob("history.csv"))
    code, _, err = command("-m", *tiny, "recipe.epochs=1,2", "run.tag='of${recipe.epochs}'")
    assert code == 0, err


def test_a_failing_cell_does_not_stop_the_others(command, tiny, tmp_path, monkeypatch):
    from hardlabels.runs.training import compose

    real = compose.make_network

    def fails_for_seed_1(cfg, source):
        if cfg.seed == 1:
            raise RuntimeError("boom")
        return real(cfg, source)

    monkeypatch.setattr(compose, "make_network", fails_for_seed_1)
    code, out, err = command("-m", *tiny, "seed=range(3)")
    assert code == 1
    assert "1 of 3 cells did not finish" in err
    assert "RuntimeError: boom" in err
    place = tmp_path / "outputs/synthetic/smoke,tag=tiny/sls/K=all"
    assert "fails_for_seed_1" in (place / "seed=1/error.txt").read_text()
    assert [(place / f"seed={seed}/done").exists() for seed in range(3)] == [True, False, True]

    monkeypatch.setattr(compose, "make_network", real)
    code, out, _ = command("-m", *tiny, "seed=range(3)")
    assert code == 0
    assert "2 finished already" in out
    assert not (place / "seed=1/error.txt").exists()


def test_a_cell_in_a_process_of_its_own_has_the_configurations_of_the_user(command, tiny, tmp_path, monkeypatch):
    """Several processes train a cell of a grid by a command of its own, which must look for yaml files where the grid does."""
    (tmp_path / "own/recipe").mkdir(parents=True)
    (tmp_path / "own/recipe/mine.yaml").write_text("defaults: [smoke, _self_]\nname: mine\n")
    own = [*(word for word in tiny if not word.startswith("recipe=")), "recipe=mine", "outputs=o"]
    commands = []

    def keep(words, **settings):
        commands.append(words)
        return subprocess.CompletedProcess(words, 0)

    with monkeypatch.context() as patch:
        patch.setattr("hardlabels.train.subprocess.run", keep)
        command("-m", "--config-dir", "own", *own, "trainer.devices=2", "trainer.strategy=ddp", "seed=3")
    [words] = commands
    words = [word.replace("devices=2", "devices=1").replace("strategy=ddp", "strategy=auto") for word in words]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.glob("o/synthetic/mine,tag=tiny/*/*/*")] == ["seed=3"]


def test_what_stops_every_cell_is_said_once_at_the_end(command, tiny, tmp_path, monkeypatch):
    def fails(cfg, source):
        raise RuntimeError("boom" if cfg.seed < 3 else "bang")

    monkeypatch.setattr("hardlabels.runs.training.compose.make_network", fails)
    code, _, err = command("-m", *tiny, "seed=range(4)")
    assert code == 1
    _, said = " ".join(err.split()).split("4 of 4 cells did not finish; the same command runs only these: ")
    assert said.startswith("sls K=all seed=0 and 2 more: RuntimeError: boom (")
    assert "seed=0/error.txt) sls K=all seed=3: RuntimeError: bang (" in said
    assert "seed=1" not in said


def test_no_files_and_no_network_is_one_error_with_two_ways_out(command, tmp_path):
    nowhere = "http://127.0.0.1:9/nothing"
    code, _, err = command(
        "data.root=here", f"data.url={nowhere}", "data.mirrors=[]", f"data.votes_url={nowhere}", "recipe=smoke"
    )
    assert code == 2
    for part in ("cifar-10-batches-py/test_batch", "cifar10h-counts.npy", nowhere, "data.root=", "data=synthetic"):
        assert part in err
    assert "\\n" not in err
    assert "Traceback" not in err


def test_a_folder_that_cannot_be_written_is_one_error(command, tiny, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = command(*tiny, "outputs=file")
    assert code == 2
    assert "cannot be written" in err
    code, _, err = command("-m", *tiny, "outputs=file", "hydra.sweep.dir=sweeps", "seed=0,1")
    assert code == 1
    assert "2 of 2 cells did not finish" in err


def test_a_damaged_checkpoint_is_named_with_what_to_do(command, tiny, tmp_path):
    assert command(*tiny)[0] == 0
    folder = tmp_path / "outputs/synthetic/smoke,tag=tiny/sls/K=all/seed=0"
    (folder / "done").unlink()
    (folder / "last.ckpt").write_bytes(b"not a checkpoint" * 60)
    code, _, err = command(*tiny)
    assert code == 2
    assert "last.ckpt is no checkpoint of ours, or damaged: remove" in err
    assert "weights_only" not in err


def test_wandb_offline_and_tensorboard_write_beside_the_csv(command, tiny, tmp_path, monkeypatch):
    for name in ("WANDB_API_KEY", "WANDB_MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "none"))
    code, out, _ = command("-m", *tiny, "logger=wandb", "method=soft", "seed=0,1")
    assert code == 0
    assert "no login found, so this run is written offline" in out
    for seed in (0, 1):  # a run of its own for each cell of a process
        folder = tmp_path / f"outputs/synthetic/smoke,tag=tiny/soft/K=all/seed={seed}"
        run_id = json.loads((folder / "fingerprint.json").read_text())["fingerprint"][:32]
        [run] = folder.glob("wandb/offline-run-*")
        assert run.name.endswith(run_id)

    code, _, _ = command(*tiny, "logger=tensorboard", "method=majority")
    assert code == 0
    assert list(tmp_path.glob("outputs/**/majority/**/tensorboard/events.out.tfevents*"))


def test_help_and_mistakes_do_not_wait_for_torch():
    code = (
        "import sys; sys.argv = ['hardlabels.train', {argument!r}]\n"
        "from hardlabels.train import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {{'torch', 'lightning', 'pandas', 'matplotlib'}} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    for argument in ("--help", "K=0", "method=nothing"):
        subprocess.run([sys.executable, "-c", code.format(argument=argument)], check=True, capture_output=True)
    subprocess.run(
        [sys.executable, "-c", "import sys; from hardlabels import Votes; assert 'torch' not in sys.modules"], check=True
    )


def test_the_readmes_command_on_real_cifar10h(tmp_path):
    if not os.environ.get("HARDLABELS_DATA"):
        pytest.skip("needs real data: set HARDLABELS_DATA")
    arguments = ["-m", "method=sls,multipass", "seed=range(2)", "recipe=smoke", "recipe.epochs=1", "run.tag=once"]
    done = subprocess.run(
        [sys.executable, "-m", "hardlabels.train", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "grid of 4 cells" in done.stdout
    results = list(tmp_path.glob("outputs/cifar10h/smoke,tag=once/*/K=all/seed=*/result.json"))
    assert len(results) == 4
    for result in results:
        items = json.loads(result.read_text())["items"]
        assert items["full"] == 2000
        assert 150 < items["high_disagreement"] < 250


def test_every_configuration_says_what_it_is():
    for file in CONF.rglob("*.yaml"):
        assert file.read_text().startswith("# "), file
