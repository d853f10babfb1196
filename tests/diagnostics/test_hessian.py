"""The probe on finished runs."""

import pytest
import torch
from omegaconf import OmegaConf

from hardlabels.configuration import CONF
from hardlabels.diagnostics.hessian import QUANTITIES, SIGN_CONVENTION, hessian
from hardlabels.diagnostics.probe import Probe
from hardlabels.errors import InputError

QUICK = {
    "checkpoint": "best", "protocol": "default", "tolerance": 0.05, "trace_tolerance": 0.1, "max_products": 9, "chunk": 64,
    "seed": 0, "slices": ["full"], "items": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def measured(finished):
    """The probe with its quick settings, once."""
    return dict(hessian(finished("sls"), **QUICK, device="cpu"))


def test_it_measures_the_loss_of_the_best_checkpoint_with_all_votes(finished, measured):
    run = finished("sls")
    assert measured["full/loss"] == pytest.approx(run.result["best"]["full"]["soft_nll"], rel=1e-5)
    assert measured["full/items"] == measured["full/items_of"] == run.result["items"]["full"]


def test_at_the_last_epoch_it_measures_the_loss_of_the_last_epoch(finished):
    run = finished("sls")
    values = dict(hessian(run, **(QUICK | {"checkpoint": "last", "max_products": 1}), device="cpu"))
    assert values["full/loss"] == pytest.approx(run.result["last"]["full"]["soft_nll"], rel=1e-5)


def test_it_says_what_the_curvature_must_be_read_with(finished, measured):
    weights = torch.cat([weight.detach().flatten() for weight in finished("sls").network().parameters()])
    assert measured["parameters"] == len(weights)
    assert measured["weight_norm"] == pytest.approx(float(weights.norm()), rel=1e-5)
    assert measured["sign_convention"] == SIGN_CONVENTION
    assert {f"full/{quantity}" for quantity in QUANTITIES} <= set(measured)


def test_the_values_agree_with_each_other(measured):
    assert measured["full/lambda_min"] < measured["full/lambda_max"]
    assert measured["full/lambda_products"] <= QUICK["max_products"]
    met = measured["full/lambda_residual"] <= QUICK["tolerance"] * measured["full/lambda_max"]
    assert met or measured["full/lambda_stopped_by"] == "budget"
    error = measured["full/trace_standard_error"] / abs(measured["full/trace"])
    assert (error <= QUICK["trace_tolerance"]) == (measured["full/trace_stopped_by"] == "tolerance")


def test_it_leaves_the_files_of_the_run_as_they_are_on_every_device(finished, contents, device, measured):
    run = finished("sls")
    before = contents(run)
    values = dict(hessian(run, **QUICK, device=device))
    assert contents(run) == before
    assert values["full/lambda_max"] == pytest.approx(measured["full/lambda_max"], rel=1e-3)
    assert values["full/trace"] == pytest.approx(measured["full/trace"], rel=1e-3)


def test_the_paper_s_protocol_finds_the_same_eigenvalue_without_the_other_end(finished, measured):
    settings = QUICK | {"protocol": "paper", "max_products": 40, "trace_tolerance": 0.9}
    values = dict(hessian(finished("sls"), **settings, device="cpu"))
    assert values["full/lambda_max"] == pytest.approx(measured["full/lambda_max"], rel=0.05)
    assert values["full/lambda_min"] is None
    assert values["estimators"] == "power iteration, Hutchinson"


def test_fewer_items_are_recorded_and_an_empty_slice_has_a_reason(finished):
    run = finished("majority", 0, "data.annotators=1", "data.name=unanimous")
    settings = QUICK | {"slices": ["full", "high_disagreement"], "items": 10, "max_products": 2}
    values = dict(hessian(run, **settings, device="cpu"))
    assert values["full/items"] == 10 < values["full/items_of"] == run.result["items"]["full"]
    assert values["high_disagreement/items"] == 0
    assert "no evaluation item" in values["high_disagreement/reason"]
    assert all(values[f"high_disagreement/{quantity}"] is None for quantity in QUANTITIES)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"protocol": "papers"}, "protocol must be one of default, paper, got 'papers'"),
        ({"tolerance": 0}, "tolerance must be between 0 and 1, got 0"),
        ({"trace_tolerance": 2.0}, "trace_tolerance must be between 0 and 1, got 2.0"),
        ({"max_products": 0}, "max_products must be at least 1, got 0"),
        ({"slices": ["full", "high"]}, "slices must be among full, non_unanimous, high_disagreement, got 'high'"),
    ],
)
def test_bad_settings_are_refused_before_any_work(finished, setting, message):
    with pytest.raises(InputError, match=message):
        next(hessian(finished("sls"), **(QUICK | setting), device="cpu"))


def test_the_yaml_has_every_setting_of_the_function():
    probe = Probe.from_config(OmegaConf.load(CONF / "diagnostic" / "hessian.yaml"))
    assert probe.function is hessian
    assert set(probe.settings) == set(QUICK)
    assert probe.name == "hessian"
