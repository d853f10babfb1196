"""``recipe.augment``: a transform by its name, in a whole run."""

import pytest

from hardlabels.errors import InputError
from hardlabels.runs.directory import RunDirectory

V2 = "torchvision.transforms.v2"
JITTER = f"+recipe.augment={{_target_: {V2}.ColorJitter, brightness: 0.5}}"
LISTED = f"+recipe.augment=[{{_target_: {V2}.RandomInvert, p: 0.5}}, {{_target_: {V2}.RandomErasing}}]"


def losses(folder):
    return [row["train/loss"] for row in RunDirectory(folder).read_history()]


def test_a_run_with_a_transform_is_another_run_and_the_same_one_again(make_config, run_cell, tmp_path):
    plain, jitter, listed, again = (
        losses(run_cell(make_config(f"outputs={tmp_path}/{place}", "recipe.epochs=1", *more)))
        for place, more in enumerate(([], [JITTER], [LISTED], [JITTER, "workers=1"]))
    )
    assert jitter == again  # whoever reads the images
    assert len({tuple(run) for run in (plain, jitter, listed)}) == 3


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("+recipe.augment={_target_: os.system}", "must not be in Python's standard library"),
        (
            "+recipe.augment={_target_: torch.nn.Linear}",
            r"recipe\.augment\._target_ must be a subclass of torchvision",
        ),
        (
            f"+recipe.augment={{_target_: {V2}.ColorJitter, bright: 1}}",
            r"recipe\.augment\.bright is no setting",
        ),
        (f"+recipe.augment=[{{_target_: {V2}.RandomCrop, size: 8}}]", "RandomCrop must give an image like"),
        ("+recipe.augment=jitter", r"recipe\.augment must be a group of settings, or a list of them, got 'jitter'"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(make_config, run_cell, tmp_path, setting, said):
    with pytest.raises(InputError, match=said):
        run_cell(make_config(setting))
    assert not list(tmp_path.rglob("config.yaml"))
