"""The quantities that claims are about: which direction is better, and what people call them."""

from hardlabels.metrics import METRICS
from hardlabels.runs.quantity import Detection, Quantity

NLL = Quantity("soft_nll")
NLL_T = Quantity("soft_nll_t")
ACCURACY = Quantity("hard_acc")
ECE = Quantity("ece_eqmass")
ECE_VOTES = Quantity("ece_votes")
SMOOTH_ECE = Quantity("smooth_ece")
ENTROPY_CORRELATION = Quantity("ent_corr")
BRIER = Quantity("soft_brier")
KL = Quantity("kl_to_annotator")
KL_T = Quantity("kl_to_annotator_t")
LAMBDA_MAX = Quantity("lambda_max", "hessian")
TRACE = Quantity("trace", "hessian")
BEST_EPOCH = Quantity("best_epoch", "dynamics")
NEAR_BEST_EPOCH = Quantity("near_best_epoch", "dynamics")

FARTHER = {
    "js_spearman": "Spearman of JS distance and gain",
    "l1_spearman": "Spearman of L1 distance and gain",
    "js_spearman_given_entropy": "Spearman of JS distance and gain, given annotator entropy",
}
"""What ``sparse_target`` and ``sparse_target_train`` measure."""

OTHERS: dict[Quantity, tuple[bool | None, str]] = {
    NLL_T: (False, "soft NLL after one temperature"),
    KL_T: (False, "KL after one temperature"),
    LAMBDA_MAX: (False, "largest Hessian eigenvalue"),
    TRACE: (False, "Hessian trace"),
    BEST_EPOCH: (False, "best epoch"),
    NEAR_BEST_EPOCH: (False, "first epoch within 5 % of the best"),
    Quantity("spearman", "gradient_variance"): (True, "Spearman of gradient variance and entropy"),
    Quantity("sampled_ratio", "gradient_variance"): (None, "sampled over exact gradient variance"),
    Quantity("barrier_interpolated_bn", "barrier"): (True, "loss barrier"),
    Quantity("barrier_reestimated_bn", "barrier"): (True, "loss barrier, BN re-estimated"),
    Quantity("cka", "cka"): (True, "linear CKA"),
    Quantity("correlation", "gradcam"): (True, "Grad-CAM correlation"),
    **{Quantity(name, "sparse_target"): (True, f"{label}, evaluation items") for name, label in FARTHER.items()},
    **{Quantity(name, "sparse_target_train"): (True, f"{label}, training items") for name, label in FARTHER.items()},
}
"""Quantities that are no metric of one network's predictions: whether higher is what a claim calls better, and their names."""


def auroc(outliers: str, detector: str) -> Quantity:
    """How well a detector tells these outliers from the evaluation items.

    >>> auroc("svhn", "energy").column
    'ood/svhn/energy/auroc'
    """
    return Detection(outliers, detector, "auroc").quantity


def better_direction(quantity: Quantity) -> bool | None:
    """Whether higher is better; None where neither is.

    >>> better_direction(NLL), better_direction(auroc("svhn", "energy")), better_direction(Quantity("brier_uncertainty"))
    (False, True, None)
    """
    if quantity.probe == "ood":
        return True
    known = OTHERS.get(quantity.on("full"))
    return METRICS[quantity.name].higher_is_better if known is None else known[0]


def higher_is_better(quantity: Quantity) -> bool:
    """The direction in which a quantity is better; what has none counts as lower.

    >>> higher_is_better(NLL), higher_is_better(auroc("svhn", "energy"))
    (False, True)
    """
    return bool(better_direction(quantity))


def label_of(quantity: Quantity) -> str:
    """A quantity's name in sentences, without its slice.

    >>> label_of(NLL), label_of(auroc("svhn", "energy"))
    ('soft NLL', 'AUROC of energy, svhn')
    """
    if (found := Detection.from_column(quantity.column)) is not None:
        return f"AUROC of {found.detector}, {found.outliers}"
    known = OTHERS.get(quantity.on("full"))
    return METRICS[quantity.name].label if known is None else known[1]
