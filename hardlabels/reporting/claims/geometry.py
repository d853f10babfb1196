"""Claims of the main paper about what lies behind the endpoints: basins, training, representations, outliers."""

from hardlabels.reporting.claims.claim import Claim
from hardlabels.reporting.claims.effects import figure, least_gap, least_gap_in_rows
from hardlabels.reporting.claims.endpoints import HARD
from hardlabels.reporting.claims.kinds import Better, Same
from hardlabels.reporting.claims.quantities import BEST_EPOCH, LAMBDA_MAX, NEAR_BEST_EPOCH, TRACE, auroc
from hardlabels.reporting.claims.subjects import Across, Pair
from hardlabels.runs.quantity import Quantity

BASINS, PATHS, OUTLIERS = "Basins", "Training and representations", "Outliers"
DISPUTED = "high_disagreement"
CURVATURE = (LAMBDA_MAX, TRACE)
TABLE_4 = (*CURVATURE, LAMBDA_MAX.on(DISPUTED), TRACE.on(DISPUTED))
"""In the order of its columns."""

STABILITY = figure("fig9_gradcam")
CKA, ATTENTION = Quantity("cka", "cka"), Quantity("correlation", "gradcam")


def _auroc(outliers: str, *detectors: str) -> tuple[Quantity, ...]:
    return tuple(auroc(outliers, detector) for detector in detectors)


def _detection(
    section: str, outliers: str, detectors: tuple[str, ...], ours: list[int], theirs: list[int]
) -> dict[Quantity, float]:
    """The least published difference in AUROC of each detector."""
    return {auroc(outliers, d): least_gap_in_rows(section, [d], ours, theirs) for d in detectors}


FIVE = ("energy", "msp", "odin", "entropy", "logit_margin")

GEOMETRY = (
    Claim(
        name="flatter-basins",
        topic=BASINS,
        says="SLS ends in flatter basins than soft labels: largest eigenvalue and trace, all and most disputed items.",
        where="section 5.3, table 4",
        published="eigenvalue 105 against 242, trace 1634 against 4946 (10 seeds)",
        study="main",
        test=Better(TABLE_4, ("sls",), ("soft",)),
        effect={quantity: least_gap("table4_hessian", ["sls_main"], ["soft"], place) for place, quantity in enumerate(TABLE_4)},
        remark="Flatness depends on the scale of the weights; read the weight norms beside it.",
    ),
    Claim(
        name="family-flatter",
        topic=BASINS,
        says="Every hard delivery is flatter than soft labels, also the one without any sampling.",
        where="section 5.3, table 4",
        published="102 to 108 against 242",
        study="family",
        test=Better(TABLE_4, HARD, ("soft",)),
        effect={
            quantity: least_gap("table4_hessian", ["sls_ablation", *HARD[1:]], ["soft"], place)
            for place, quantity in enumerate(TABLE_4)
        },
    ),
    Claim(
        name="family-equally-flat",
        topic=BASINS,
        says="Multipass, deterministic control and SLS are equally flat.",
        where="section 5.3, table 4",
        published="eigenvalues 103.8, 101.6 and 107.8",
        study="family",
        test=Same(CURVATURE, ("multipass", "deterministic_control"), ("sls",)),
    ),
    Claim(
        name="shuffled-flattest",
        topic=BASINS,
        says="Shuffled SLS is flattest of all, though it has learnt nothing.",
        where="section 5.3, table 4",
        published="18.4 against 102 to 108",
        study="family",
        test=Better((LAMBDA_MAX,), ("shuffled_sls",), HARD),
        effect={LAMBDA_MAX: least_gap("table4_hessian", ["shuffled_sls"], ["sls_ablation", *HARD[1:]], 0)},
    ),
    Claim(
        name="flatter-at-every-k",
        topic=BASINS,
        says="With few votes SLS is flatter as well, at each K, on all and on the most disputed items.",
        where="appendix A.3, table 6",
        published="114 against 241 at K = 5; 99 against 218 at K = 50",
        study="sparse",
        test=Better((LAMBDA_MAX, LAMBDA_MAX.on(DISPUTED)), ("sls",), ("soft",), "few"),
        effect={
            LAMBDA_MAX: least_gap_in_rows("table6_sparse_lambda_max", [5, 10, 25, 50], [0], [1]),
            LAMBDA_MAX.on(DISPUTED): least_gap_in_rows("table6_sparse_lambda_max", [5, 10, 25, 50], [2], [3]),
        },
    ),
    Claim(
        name="separate-basins",
        topic=BASINS,
        says="A barrier well above zero lies between the SLS and the soft solution of a seed.",
        where="section 5.3, figure 11",
        published="mean barrier 2.05",
        study="main",
        test=Better((Quantity("barrier_interpolated_bn", "barrier"),), (Pair("sls", "soft"),), by="barrier"),
        remark="2.05 puts the midpoint above ln 10, which stale batch-norm statistics alone can do; see the last topic.",
    ),
    Claim(
        name="variance-follows-entropy",
        topic=PATHS,
        says="The noise that label sampling adds to the last layer's gradient follows annotator entropy closely.",
        where="section 5.3, figure 7",
        published="Spearman 0.939 (0.919 to 0.953)",
        study="main",
        test=Better((Quantity("spearman", "gradient_variance"),), ("sls",), by="strong_correlation"),
    ),
    Claim(
        name="proposition-1",
        topic=PATHS,
        says="The gradient's variance under sampled labels is the one that Proposition 1 gives.",
        where="proposition 1",
        published="a proof",
        study="main",
        test=Same((Quantity("sampled_ratio", "gradient_variance"),), ("sls",), as_number=1.0),
        remark="A theorem needs no support; this checks the code that measures it.",
    ),
    Claim(
        name="sls-is-faster",
        topic=PATHS,
        says="SLS is at its best, and near it, in earlier epochs than soft labels.",
        where="figure 8",
        published="47.2 and 35.7 epochs earlier",
        study="main",
        test=Better((BEST_EPOCH, NEAR_BEST_EPOCH), ("sls",), ("soft",)),
        effect={
            BEST_EPOCH: figure("fig8_dynamics")["sls_earlier_best_epoch"],
            NEAR_BEST_EPOCH: figure("fig8_dynamics")["sls_earlier_to_95pct_of_best"],
        },
    ),
    Claim(
        name="representations-alike",
        topic=PATHS,
        says="Representations of two seeds are more alike under SLS than under soft labels.",
        where="section 5.3, figure 12",
        published="CKA 0.920 against 0.887",
        study="main",
        test=Better((CKA,), (Across("sls"),), (Across("soft"),)),
        effect={CKA: figure("fig12_cka")["within_method"]["sls"] - figure("fig12_cka")["within_method"]["soft"]},
        remark="n counts pairs that share no run: two seeds make one.",
    ),
    Claim(
        name="attention-alike",
        topic=PATHS,
        says="Grad-CAM maps of two seeds agree more under SLS.",
        where="section 5.3, figure 9",
        published="0.901 against 0.804",
        study="main",
        test=Better((ATTENTION,), (Across("sls"),), (Across("soft"),)),
        effect={ATTENTION: STABILITY["cross_seed_stability"]["sls"] - STABILITY["cross_seed_stability"]["soft"]},
        remark="n counts pairs that share no run.",
    ),
    Claim(
        name="attention-alike-disputed",
        topic=PATHS,
        says="Grad-CAM maps of two seeds agree more under SLS on the items that annotators dispute most, too.",
        where="section 5.3, figure 9",
        published="0.861 against 0.756",
        study="main",
        test=Better((ATTENTION.on(DISPUTED),), (Across("sls"),), (Across("soft"),)),
        effect={ATTENTION.on(DISPUTED): STABILITY["high_entropy"]["sls"] - STABILITY["high_entropy"]["soft"]},
        remark="n counts pairs that share no run.",
    ),
    Claim(
        name="near-outliers",
        topic=OUTLIERS,
        says="SLS tells CIFAR-100 images apart better than soft labels do, with each of six detectors.",
        where="section 5.3, table 8",
        published="6 of 6 means higher; p 0.0186 for energy and ODIN",
        study="main",
        test=Better(_auroc("cifar100", *FIVE, "knn"), ("sls",), ("soft",)),
        effect=_detection("table8_cifar100_auroc", "cifar100", (*FIVE, "knn"), [0], [1]),
    ),
    Claim(
        name="far-outliers",
        topic=OUTLIERS,
        says="Hard delivery tells SVHN apart better than soft labels, with five of six detectors (not KNN).",
        where="section 5.3, table 7",
        published="higher in all 15 means; soft labels of other seeds",
        study="family",
        test=Better(_auroc("svhn", *FIVE), HARD, ("soft",)),
        effect=_detection("table7_svhn_auroc", "svhn", FIVE, [1, 2, 3], [0]),
        remark="The paper calls this comparison descriptive; here it is paired.",
    ),
    Claim(
        name="near-outliers-family",
        topic=OUTLIERS,
        says="Every hard delivery tells CIFAR-100 apart better than soft labels (energy, MSP, KNN).",
        where="table 9",
        published="9 of 9 means higher",
        study="family",
        test=Better(_auroc("cifar100", "energy", "msp", "knn"), HARD, ("soft",)),
        effect=_detection("table9_cifar100_family_auroc", "cifar100", ("energy", "msp", "knn"), [1, 2, 3], [0]),
    ),
    Claim(
        name="control-best-far",
        topic=OUTLIERS,
        says="Deterministic control is best on SVHN with five of six detectors.",
        where="table 7",
        published="five of six",
        study="family",
        test=Better(_auroc("svhn", *FIVE), ("deterministic_control",), ("multipass", "sls", "soft")),
        effect=_detection("table7_svhn_auroc", "svhn", FIVE, [2], [0, 1, 3]),
    ),
)
