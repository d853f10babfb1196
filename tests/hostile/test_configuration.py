"""Settings that cannot be, names that climb out of their folder, yaml and overrides that try to run code."""

import subprocess
import sys

import pytest

# What makes a harmless run short, should one of these ever start.
QUICK = [
    "data=synthetic", "data.items=60", "data.classes=3", "data.size=12", "data.annotators=5", "recipe=smoke", "recipe.width=2",
    "recipe.epochs=1", "recipe.train_items=null", "run.tag=quick", "trainer.accelerator=cpu",
]  # fmt: skip
SYSTEM = "command='touch canary'"

# name: (overrides, what the message must say)
OVERRIDES = {
    # ---- what Hydra finds ----
    "an unknown method": (["method=slss"], ["method/slss", "shuffled_sls", "multipass"]),
    "an unknown data set": (["data=mnist"], ["data/mnist", "cifar10h"]),
    "an unknown recipe": (["recipe=papr"], ["recipe/papr", "pocket"]),
    "a method that climbs": (["method=../../../etc/passwd"], ["../../../etc/passwd"]),
    "no method": (["method=null"], ["cannot be composed", "NoneType"]),
    "an unknown setting": (["sed=0"], ["sed is no setting: did you mean seed?"]),
    "an unknown setting of a recipe": (["recipe.epoch=3"], ["recipe.epoch"]),
    "broken syntax": (["seed=[1"], ["'seed=[1'", "no setting as key=value"]),
    "no setting at all": (["sls"], ["'sls'", "no setting as key=value"]),
    "an interpolation of itself": (["seed=${seed}"], ["interpolation"]),
    "an interpolation of nothing": (["seed=${nothing}"], ["'nothing'", "not found"]),
    "an environment variable that is not set": (["seed=${oc.env:HOSTILE}"], ["HOSTILE", "not found"]),
    "a resolver that is none": (["seed=${os.system:x}"], ["os.system"]),
    "nested without end": (["seed=" + "[" * 400], ["no setting as key=value"]),
    "an escape sequence": (["method=\x1b[2Jsls"], ["\\x1b[2J"]),
    "an argument of somebody else's class, without its plus": (
        ["trainer.gradient_clip_val=1"],
        ["trainer.gradient_clip_val is no setting.", "+trainer.gradient_clip_val=... gives lightning.Trainer a further argument"],
    ),
    "a setting of the method that was there before": (
        ["method.delivery=hardlabels.delivery.soft.Soft", "run.tag=x"],
        ["method.hold is no setting of Soft: it has none, and ~method.hold takes this one out"],
    ),
    "a configuration folder that is not there": (["--config-dir=nowhere"], ["nowhere", "not found"]),
    "flags that contradict": (["--resolve"], ["--resolve"]),
    # ---- numbers that cannot be ----
    "seed: negative": (["seed=-1"], ["seed must be an integer 0 ..", "got -1"]),
    "seed: too large": (["seed=4294967296"], ["seed must be an integer 0 ..", "got 4294967296"]),
    "seed: a word": (["seed=first"], ["seed must be an integer", "'first'"]),
    "K: zero": (["K=0"], ["K must be a number of votes of at least 1", "got 0"]),
    "K: fractional": (["K=2.5"], ["K must be a number of votes", "got 2.5"]),
    "K: fills the memory": (["K=4294967295"], ["K=4294967295 for 60 items", "268,435,456 votes in all"]),
    "epochs: a word": (["recipe.epochs=abc"], ["recipe.epochs must be a whole number", "'abc'"]),
    "epochs: zero": (["recipe.epochs=0"], ["recipe.epochs must be a whole number", "got 0"]),
    "epochs: fractional": (["recipe.epochs=1.5"], ["recipe.epochs must be a whole number", "got 1.5"]),
    "epochs: true": (["recipe.epochs=true"], ["recipe.epochs must be a whole number", "got True"]),
    "width: negative": (["recipe.width=-8"], ["recipe.width must be a whole number 1 ..", "got -8"]),
    "width: fills the memory": (["recipe.width=1000000"], ["recipe.width must be a whole number 1 ..", "got 1000000"]),
    "batch size: zero": (["recipe.batch_size=0"], ["recipe.batch_size must be a whole number 1 ..", "got 0"]),
    "training items: zero": (["recipe.train_items=0"], ["recipe.train_items must be a whole number 1 ..", "got 0"]),
    "learning rate: NaN": (["recipe.optimizer.lr=nan"], ["recipe.optimizer.lr must be a finite number", "got nan"]),
    "learning rate: infinite": (["recipe.optimizer.lr=inf"], ["recipe.optimizer.lr must be a finite number", "got inf"]),
    "learning rate: zero": (["recipe.optimizer.lr=0"], ["recipe.optimizer.lr must be", "greater than 0", "got 0"]),
    "learning rate: a word": (["recipe.optimizer.lr=high"], ["recipe.optimizer.lr must be", "'high'"]),
    "momentum: above 1": (["recipe.optimizer.momentum=1.5"], ["recipe.optimizer.momentum must be", "[0, 1)", "got 1.5"]),
    "weight decay: negative": (["recipe.optimizer.weight_decay=-1"], ["recipe.optimizer.weight_decay must be", "got -1"]),
    "Nesterov without momentum": (
        ["recipe.optimizer.nesterov=true", "recipe.optimizer.momentum=0"],
        ["recipe.optimizer", "Nesterov"],
    ),
    "an optimizer's setting that is none": (["+recipe.optimizer.mo=1"], ["recipe.optimizer.mo is no setting of SGD", "momentum"]),
    "no optimizer": (["recipe.optimizer=null"], ["recipe.optimizer must be a group", "got None"]),
    "workers: a thousand": (["workers=1000"], ["workers must be a whole number 0 .. 256", "got 1000"]),
    "workers: negative": (["workers=-1"], ["workers must be a whole number", "got -1"]),
    "split: of another name": (["recipe.split=half"], ["recipe.split must be one of paper, three_way", "'half'"]),
    "trainer: a precision that is none": (["trainer.precision=17"], ["trainer", "17"]),
    "trainer: a precision that batches do not have": (["trainer.precision=64-true"], ["trainer.precision must be", "'64-true'"]),
    "trainer: no clipping at all": (["+trainer.gradient_clip_val=0"], ["trainer.gradient_clip_val must be", "got 0"]),
    "trainer: negative clipping": (["+trainer.gradient_clip_val=-1"], ["trainer.gradient_clip_val must be", "got -1"]),
    "trainer: clipping by NaN": (["+trainer.gradient_clip_val=nan"], ["trainer.gradient_clip_val must be", "got nan"]),
    "trainer: no batch accumulated": (["+trainer.accumulate_grad_batches=0"], ["trainer.accumulate_grad_batches", "got 0"]),
    "trainer: epochs": (["+trainer.max_epochs=3"], ["trainer.max_epochs is set by the run", "recipe.epochs"]),
    "trainer: steps": (["+trainer.max_steps=3"], ["trainer.max_steps is set by the run", "recipe.epochs"]),
    "trainer: a part of the evaluation items": (["+trainer.limit_val_batches=1"], ["trainer.limit_val_batches", "scored"]),
    "trainer: callbacks": (["+trainer.callbacks=[]"], ["trainer.callbacks is set by the run"]),
    "trainer: an accelerator that is none": (["trainer.accelerator=abacus"], ["trainer", "abacus"]),
    "trainer: a setting that is none": (["+trainer.epochs=3"], ["trainer", "epochs"]),
    "logger: a setting that is none": (["+logger.x=1", "logger=tensorboard"], ["logger.x is no setting"]),
    "method: a setting that is none": (["+method.holt=2"], ["method.holt is no setting of SLS", "hold"]),
    "method: zero epochs": (["method.hold=0"], ["method.hold must be", "at least 1", "got 0"]),
    "method: a word for a number": (["method.hold=long"], ["method.hold must be a whole number", "'long'"]),
    "method: NaN": (["method=mixup", "method.alpha=nan"], ["method.alpha must be", "nan"]),
    "data: more items than memory": (["data.items=1000000000000"], ["at most 1,073,741,824 bytes", "1,000,000,000,000 items"]),
    "data: more votes than memory": (["data.annotators=1000000000000"], ["annotators", "1,000,000,000,000"]),
    "data: a share above 1": (["data.skill=1.5"], ["skill must be a number in 0 .. 1", "got 1.5"]),
    "data: a word for a number": (["data.items=many"], ["data.items must be a whole number", "'many'"]),
    "data: a setting that is none": (["+data.itmes=3"], ["data.itmes is no setting of synthetic", "items"]),
    "data: one item": (["data.items=1"], ["leaves the train part empty", "1 items"]),
    "model: a setting of another": (
        ["model.encoder=resnet50"],
        ["model.encoder is no setting. Expected", "models that have it: image_finetune, image_head, text_finetune, text_head"],
    ),
    "model: a setting that is none": (["+model.depth=3"], ["model.depth is no setting of ResNet18", "width"]),
    # ---- names that become folders ----
    "tag: climbs": (["run.tag=../../up"], ["run.tag must be made of", "'../../up'"]),
    "tag: absolute": (["run.tag=/tmp/up"], ["run.tag must be made of", "'/tmp/up'"]),
    "tag: dots": (["run.tag=.."], ["run.tag must be made of", "'..'"]),
    "tag: an escape sequence": (["run.tag='\x1b[2Jx'"], ["run.tag must be made of", "\\x1b[2Jx"]),
    "tag: HTML": (["run.tag='<script>'"], ["run.tag must be made of", "<script>"]),
    "tag: too long": (["run.tag=" + "x" * 300], ["run.tag must have at most 120 characters", "got 300"]),
    "method.name: climbs": (["+method.name=../../up"], ["method.name must be made of", "'../../up'"]),
    "method's setting: climbs": (["method.hold='../../up'"], ["method must be made of", "../../up"]),
    "data.name: climbs": (["data.name=../../up"], ["data.name must be made of", "'../../up'"]),
    "recipe.name: climbs": (["recipe.name=../../up"], ["recipe.name must be made of", "'../../up'"]),
    "data.name: a number": (["data.name=7"], ["data.name must be made of", "got 7"]),
    "outputs: nothing": (["outputs=null"], ["outputs must be the name of a folder", "None"]),
    "outputs: a number": (["outputs=5"], ["outputs must be the name of a folder", "got 5"]),
    "data.name: that of another data set": (["data.name=cifar10h"], ["data.name must not be that of another, data=cifar10h"]),
    "method.name: that of another method": (["+method.name=soft"], ["method.name must not be that of another, method=soft"]),
    # ---- settings that nothing reads, which would be trained without ----
    "a recipe's setting in another place": (["+recipe.lr=0.5"], ["recipe.lr is read by nothing", "recipe.optimizer.lr?"]),
    "a recipe's setting that there is none of": (["+recipe.warmup=5"], ["recipe.warmup is read by nothing", "batch_size"]),
    "a setting without its group": (["+epochs=3"], ["epochs is read by nothing", "did you mean recipe.epochs?"]),
    "a setting in lower case": (["+k=5"], ["k is read by nothing", "did you mean K?"]),
    "a setting of the run": (["+run.epochs=5"], ["run.epochs is read by nothing", "did you mean recipe.epochs?"]),
    "callbacks": (["+callback.x=1"], ["callback is read by nothing"]),
    # ---- code ----
    "method: os.system": (["method._target_=os.system"], ["method._target_", "standard library", "'os.system'"]),
    "method: a function that runs code": (["method._target_=yaml.unsafe_load"], ["method._target_", "subclass", "Delivery"]),
    "method: another class": (["method._target_=hardlabels.votes.Votes"], ["method._target_", "subclass", "Delivery"]),
    "method: nowhere": (["method._target_=nowhere.at.All"], ["method._target_", "imported", "'nowhere.at.All'"]),
    "method: no name": (["method._target_='print(1)'"], ["method._target_", "package.module.Class", "'print(1)'"]),
    "delivery: os.system": (["method.delivery=os.system"], ["method.delivery", "standard library", "'os.system'"]),
    "delivery: another class": (["method.delivery=hardlabels.votes.Votes"], ["method.delivery", "subclass", "Delivery"]),
    "callback: os.system": (["+callbacks.x._target_=os.system"], ["callbacks.x._target_", "standard library", "'os.system'"]),
    "callback: no callback": (["+callbacks.x._target_=torch.hub.load"], ["callbacks.x._target_", "Callback", "'torch.hub.load'"]),
    "callback: a setting that is none": (
        ["callbacks=early_stopping", "+callbacks.early_stopping.pasience=1"],
        ["callbacks.early_stopping.pasience is no setting of EarlyStopping", "patience"],
    ),
    "callback: monitors what is no metric": (
        ["callbacks=early_stopping", "+callbacks.early_stopping.monitor=val_loss"],
        ["monitor must be a metric such as evaluate/soft_nll", "'val_loss'"],
    ),
    "callbacks: without the keeper": (["~callbacks.keeper"], ["callbacks.keeper must be there once"]),
    "logger: os.system": (["logger._target_=os.system"], ["logger._target_", "standard library", "'os.system'"]),
    "logger: no logger": (["logger._target_=torch.hub.load"], ["logger._target_", "Logger", "'torch.hub.load'"]),
    "trainer: another class": (["trainer._target_=torch.hub.load"], ["trainer._target_", "Trainer", "'torch.hub.load'"]),
    "data: os.system": (["data._target_=os.system", f"+data.{SYSTEM}"], ["data._target_", "standard library", "'os.system'"]),
    "data: a function that returns no source": (["data._target_=numpy.load"], ["data._target_", "Source", "'numpy.load'"]),
    "model: eval": (["model._target_=builtins.eval"], ["model._target_", "standard library", "'builtins.eval'"]),
    "model: torch.hub.load": (["model._target_=torch.hub.load"], ["model._target_", "torch.nn", "Module", "'torch.hub.load'"]),
    "optimizer: subprocess": (
        ["recipe.optimizer._target_=subprocess.run"],
        ["recipe.optimizer._target_", "standard library", "'subprocess.run'"],
    ),
    "optimizer: torch.load": (
        ["recipe.optimizer._target_=torch.load"],
        ["recipe.optimizer._target_", "Optimizer", "'torch.load'"],
    ),
    "optimizer: called at once": (["recipe.optimizer._partial_=false"], ["recipe.optimizer._partial_ must be true"]),
    "code inside of an optimizer": (
        ["+recipe.optimizer.x._target_=os.system", f"+recipe.optimizer.x.{SYSTEM}"],
        ["recipe.optimizer.x._target_", "may name code"],
    ),
    "code inside of a model": (["+model.x._target_=os.system", f"+model.x.{SYSTEM}"], ["model.x._target_", "may name code"]),
    "code where none belongs": (
        ["+trainer.x._target_=os.system", f"+trainer.x.{SYSTEM}"],
        ["trainer.x._target_", "may name code"],
    ),
    "a callback of Hydra's": (
        ["+hydra.callbacks.x._target_=os.system", f"+hydra.callbacks.x.{SYSTEM}"],
        ["hydra.callbacks.x", "'os.system'"],
    ),
    "a log handler": (
        ["hydra/job_logging=stdout", "+hydra.job_logging.handlers.x={class: subprocess.Popen, args: touch}"],
        ["subprocess.Popen", "blocklisted"],
    ),
}

TAG = "!!python/object/apply:os.system ['touch canary']"
CALLBACK = """# @package _global_
method: {name: evil, _target_: hardlabels.delivery.soft.Soft}
hydra: {callbacks: {evil: {_target_: os.system, command: touch canary}}}
"""

# name: (the text of method/evil.yaml in a folder that somebody sent, what the message must say)
YAML = {
    "yaml: a tag that runs code": (f"name: evil\n_target_: {TAG}\n", ["evil.yaml", "python/object/apply"]),
    "yaml: os.system": ("name: evil\n_target_: os.system\ncommand: touch\n", ["method._target_", "'os.system'"]),
    "yaml: a callback that runs code": (CALLBACK, ["hydra.callbacks.evil", "'os.system'"]),
    "yaml: a name that climbs": (
        "name: ../../canary\n_target_: hardlabels.delivery.soft.Soft\n",
        ["method.name", "'../../canary'"],
    ),
    "yaml: broken": ("name: [evil\n", ["evil.yaml"]),
    "yaml: no settings": ("- evil\n", ["method must be a group of settings", "['evil']"]),
    "yaml: bytes that are no text": (b"name: \xff\xfe\n", ["utf-8", "0xff"]),
    "yaml: a key twice": ("name: evil\nname: sls\n_target_: hardlabels.delivery.soft.Soft\n", ["evil.yaml", "duplicate key"]),
}
CASES = {**OVERRIDES, **YAML}


def arguments(case, tmp_path):
    if case in OVERRIDES:
        return [*QUICK, *OVERRIDES[case][0]]
    place = tmp_path / "sent" / "method"
    place.mkdir(parents=True)
    text = YAML[case][0]
    (place / "evil.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return ["--config-dir=sent", *QUICK, "method=evil"]


@pytest.mark.parametrize("case", CASES)
def test_a_hostile_setting_is_one_line_and_code_2(case, tmp_path, command, check_refused):
    words = arguments(case, tmp_path)
    check_refused(lambda: command(*words), CASES[case][1])


@pytest.mark.parametrize(
    "case",
    ["an unknown method", "epochs: a word", "tag: climbs", "method: os.system", "learning rate: NaN", "code inside of a model"],
)
def test_a_hostile_setting_in_the_last_cell_stops_a_grid_before_the_first(case, command, check_refused):
    overrides, parts = OVERRIDES[case]
    key, value = overrides[0].split("=", 1)
    good = {
        "method": "sls",
        "recipe.epochs": "1",
        "run.tag": "good",
        "method._target_": "hardlabels.delivery.sls.SLS",
    }
    good |= {"recipe.optimizer.lr": "0.1", "+model.x._target_": "os.times"}
    check_refused(lambda: command("-m", *QUICK, *overrides[1:], f"{key}={good[key]},{value}"), parts)


@pytest.mark.parametrize("case", ["an unknown method", "yaml: a callback that runs code"])
def test_the_same_in_a_process_of_its_own(case, tmp_path, check_refused):
    words = arguments(case, tmp_path)

    def run():
        command = [sys.executable, "-m", "hardlabels.train", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    check_refused(run, CASES[case][1])


@pytest.mark.parametrize("case", ["an unknown method", "K: zero"])
def test_a_traceback_is_there_for_those_who_ask(case, command, monkeypatch):
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    code, _, err = command(*QUICK, *OVERRIDES[case][0])
    assert code != 0
    assert "Traceback" in err
    assert all(part in err for part in OVERRIDES[case][1])


def test_a_method_of_ones_own_is_welcome(tmp_path, command, monkeypatch):
    """Any package will do, with a name and settings of its own."""
    (tmp_path / "mine.py").write_text(
        "from hardlabels.delivery.soft import Soft\n"
        "class Mine(Soft):\n    def __init__(self, votes, seed, power=1.0):\n        super().__init__(votes, seed)\n"
        "from hardlabels.sources import Source\nfrom hardlabels.sources.synthetic import synthetic\n"
        "def my_data(items: int, **settings) -> 'Source':\n    return synthetic(items=items, **settings)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    place = tmp_path / "own" / "method"
    place.mkdir(parents=True)
    (place / "mine.yaml").write_text("name: mine\n_target_: mine.Mine\npower: 2.0\n")
    code, out, err = command("--config-dir=own", *QUICK, "method=mine", "data._target_=mine.my_data")
    assert code == 0, out + err
    assert "mine,power=2.0" in out
