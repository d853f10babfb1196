"""Claims of the main paper about endpoints: what a trained model scores."""

from hardlabels.reporting.claims.claim import Claim
from hardlabels.reporting.claims.controls import AccuracyDestroyed, GainDestroyed
from hardlabels.reporting.claims.effects import figure, least_gap, least_sparse_gain
from hardlabels.reporting.claims.kinds import Better, Same
from hardlabels.reporting.claims.quantities import ACCURACY, BRIER, ECE, ENTROPY_CORRELATION, NLL, SMOOTH_ECE
from hardlabels.reporting.claims.subjects import against_soft
from hardlabels.reporting.claims.trend import Trend
from hardlabels.reporting.published import published
from hardlabels.runs.quantity import Quantity

HARD = ("sls", "multipass", "deterministic_control")
TABLE_2 = (NLL, ACCURACY, ECE, ENTROPY_CORRELATION)
DESCRIBED, BASELINE = ("sls", "soft"), ("majority", "label_smoothing")
SMOOTH = published()["table2_main"]["facts"]["smooth_ece"]
FEW, ALL, CONTROLS, BASELINES = "Few votes", "All votes", "Controls", "Baselines"
REFLECTS_ENTROPY = "on evaluation items, whose K votes nobody trained on: this can only reflect their entropy"


def farther(name: str, part: str = "full") -> Better:
    """The test that the gain over soft labels grows with the distance of the K votes: on training items where it was measured."""
    quantity = Quantity(name, "sparse_target_train", part)
    return Better(
        (quantity,), against_soft(HARD), (), "few", by="correlation", otherwise="sparse_target", caveat=REFLECTS_ENTROPY
    )


ENDPOINTS = (
    Claim(
        name="hard-beats-soft",
        topic=FEW,
        says="With few votes per item, hard delivery has a lower soft NLL than soft labels: each hard method, at each K.",
        where="section 5.1, table 1, figure 1",
        published="12 of 12 means lower; raw p 0.031 to 0.094; Holm keeps none (5 seeds)",
        study="sparse",
        test=Better((NLL,), HARD, ("soft",), "few"),
        effect={NLL: least_sparse_gain(HARD)},
    ),
    Claim(
        name="farther-gains-more",
        topic=FEW,
        says="The gain over soft labels is larger where the K votes are farther (JS distance) from the full distribution.",
        where="section 5.1, figure 2",
        published="per-seed Spearman about 0.05 to 0.16, always positive",
        study="sparse",
        test=farther("js_spearman"),
    ),
    Claim(
        name="farther-gains-more-l1",
        topic=FEW,
        says="The gain over soft labels is larger where the K votes are farther by L1 distance, too.",
        where="figure 5",
        published="same picture",
        study="sparse",
        test=farther("l1_spearman"),
        remark="Two distances between the same votes: no separate evidence.",
    ),
    Claim(
        name="farther-gains-more-disputed",
        topic=FEW,
        says="Among the items that annotators dispute most, the gain is larger where the K votes are farther, too.",
        where="figure 6",
        published="noisier, largest gains in the highest bins",
        study="sparse",
        test=farther("js_spearman", "high_disagreement"),
    ),
    Claim(
        name="gain-fades-with-votes",
        topic=FEW,
        says="The gain in soft NLL is largest for the fewest votes and shrinks as K grows.",
        where="section 5.1",
        published="'strongest at K = 5 and 10'; yet table 1 has the largest SLS gain at K = 50",
        study="sparse",
        test=Trend(NLL, HARD, rising=False, than="soft"),
    ),
    Claim(
        name="sparse-accuracy-close",
        topic=FEW,
        says="With few votes, accuracy hardly depends on the delivery.",
        where="section 5.1, figure 1",
        published="'remains close'",
        study="sparse",
        test=Same((ACCURACY,), HARD, ("soft",), "few"),
    ),
    Claim(
        name="sparse-entropy-gain-grows",
        topic=FEW,
        says="The gain in entropy correlation over soft labels grows with K.",
        where="section 5.1, figure 1",
        published="'modestly higher for hard delivery as K grows'",
        study="sparse",
        test=Trend(ENTROPY_CORRELATION, HARD, rising=True, than="soft"),
    ),
    Claim(
        name="stale-labels-hurt",
        topic=FEW,
        says="Soft NLL rises step by step as a sampled label is held for 1, 5, 10 and 50 epochs.",
        where="section 5.1, figure 4",
        published="0.5027 → 0.5458 → 0.6054 → 0.6689",
        study="resampling",
        test=Trend(NLL, ("sls", "sls,hold=5", "sls,hold=10", "sls,hold=50"), rising=True, strict=True),
    ),
    Claim(
        name="fresh-beats-stale",
        topic=FEW,
        says="A fresh label every epoch has a lower soft NLL than any label that is held.",
        where="section 5.1",
        published="all five seeds, in all three conditions",
        study="resampling",
        test=Better((NLL,), ("sls",), ("sls,hold=5", "sls,hold=10", "sls,hold=50")),
        effect={NLL: figure("fig4_resampling")["soft_nll"][1] - figure("fig4_resampling")["soft_nll"][0]},
    ),
    Claim(
        name="full-parity",
        topic=ALL,
        says="With all votes, SLS matches soft labels: soft NLL, accuracy, calibration error, entropy correlation.",
        where="section 5.2, table 2",
        published="two-sided p 0.70, 0.63, 0.92, 0.38 (10 seeds)",
        study="main",
        test=Same(TABLE_2, ("sls",), ("soft",)),
        remark="A large p is no evidence of equality; here the differences must be shown to lie within a margin.",
    ),
    Claim(
        name="brier-parity",
        topic=ALL,
        says="The soft Brier score of SLS and soft labels is the same.",
        where="table 5",
        published="0.1553 and 0.1548",
        study="main",
        test=Same((BRIER,), ("sls",), ("soft",)),
        remark="KL, table 5's other score, is soft NLL minus the annotators' entropy: no separate evidence, no claim.",
    ),
    Claim(
        name="smooth-calibration-parity",
        topic=ALL,
        says="SLS and soft labels are equally well calibrated by smooth ECE.",
        where="section 5.2, figure 3",
        published="0.019 and 0.019",
        study="main",
        test=Same((SMOOTH_ECE,), ("sls",), ("soft",)),
    ),
    Claim(
        name="reliability-close",
        topic=ALL,
        says="The reliability part of the Brier score is the same for SLS and soft labels.",
        where="figure 10",
        published="'remain close'",
        study="main",
        test=Same((Quantity("brier_reliability"),), ("sls",), ("soft",)),
    ),
    Claim(
        name="resolution-higher",
        topic=ALL,
        says="The resolution part of the Brier score is higher for SLS.",
        where="figure 10",
        published="'slightly higher'",
        study="main",
        test=Better((Quantity("brier_resolution"),), ("sls",), ("soft",)),
    ),
    Claim(
        name="family-matches-soft",
        topic=ALL,
        says="Multipass, deterministic control and SLS all match soft labels.",
        where="section 5.2, table 3",
        published="soft NLL 0.492 to 0.504, soft labels 0.510 (of other seeds)",
        study="family",
        test=Same(TABLE_2, HARD, ("soft",)),
    ),
    Claim(
        name="family-alike",
        topic=ALL,
        says="Multipass and SLS match each other.",
        where="section 5.2, table 3",
        published="p 0.44 on soft NLL, ≥ 0.625 elsewhere",
        study="family",
        test=Same(TABLE_2, ("multipass",), ("sls",)),
    ),
    Claim(
        name="order-does-not-matter",
        topic=CONTROLS,
        says="The order in which votes are shown does not matter: multipass and its reordered control match.",
        where="section 5.2, table 3",
        published="0.4942 and 0.4921 soft NLL",
        study="family",
        test=Same(TABLE_2, ("deterministic_control",), ("multipass",)),
    ),
    Claim(
        name="match-destroyed",
        topic=CONTROLS,
        says="Giving every item another item's votes destroys soft NLL: hardly any gain over the class shares remains.",
        where="section 5.2, table 3",
        published="2.2973 instead of 0.5035",
        study="family",
        test=GainDestroyed(),
    ),
    Claim(
        name="match-destroyed-accuracy",
        topic=CONTROLS,
        says="Giving every item another item's votes brings accuracy down to the share of the most frequent class.",
        where="section 5.2, table 3",
        published="0.12 instead of 0.87, ten classes",
        study="family",
        test=AccuracyDestroyed(),
    ),
    Claim(
        name="baselines-worse",
        topic=BASELINES,
        says="SLS and soft labels beat majority labels and label smoothing on what describes the annotators.",
        where="section 5.2, tables 2 and 5",
        published="soft NLL 0.51 against 0.73 and 0.63",
        study="main",
        test=Better((NLL, BRIER, ECE, ENTROPY_CORRELATION), DESCRIBED, BASELINE),
        effect={
            NLL: least_gap("table2_main", DESCRIBED, BASELINE, 0),
            BRIER: least_gap("table5_proper_scores", DESCRIBED, BASELINE, 1),
            ECE: least_gap("table2_main", DESCRIBED, BASELINE, 2),
            ENTROPY_CORRELATION: least_gap("table2_main", DESCRIBED, BASELINE, 3),
        },
    ),
    Claim(
        name="majority-miscalibrated",
        topic=BASELINES,
        says="Majority labels are worse calibrated by smooth ECE.",
        where="section 5.2, figure 3",
        published="0.082 against 0.019",
        study="main",
        test=Better((SMOOTH_ECE,), DESCRIBED, ("majority",)),
        effect={SMOOTH_ECE: SMOOTH["majority"] - SMOOTH["soft"]},
    ),
    Claim(
        name="mixup-accuracy",
        topic=BASELINES,
        says="Mixup is the most accurate of all.",
        where="section 5.2, table 2",
        published="0.8824; next 0.8695",
        study="main",
        test=Better((ACCURACY,), ("mixup",), (*DESCRIBED, *BASELINE)),
        effect={ACCURACY: least_gap("table2_main", ["mixup"], [*DESCRIBED, *BASELINE], 1)},
    ),
    Claim(
        name="mixup-miscalibrated",
        topic=BASELINES,
        says="The calibration and entropy correlation of mixup are markedly worse than those of SLS and soft labels.",
        where="section 5.2, table 2",
        published="ECE 0.098 against 0.019",
        study="main",
        test=Better((ECE, ENTROPY_CORRELATION), DESCRIBED, ("mixup",)),
        effect={
            ECE: least_gap("table2_main", DESCRIBED, ["mixup"], 2),
            ENTROPY_CORRELATION: least_gap("table2_main", DESCRIBED, ["mixup"], 3),
        },
    ),
)
