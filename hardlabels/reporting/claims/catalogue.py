"""All claims: the main paper's endpoints, its geometry and outlier results, the second paper's, and what we add."""

from hardlabels.reporting.claims.claim import Claim
from hardlabels.reporting.claims.effects import least_gap
from hardlabels.reporting.claims.endpoints import ENDPOINTS, farther
from hardlabels.reporting.claims.geometry import DISPUTED, GEOMETRY
from hardlabels.reporting.claims.kinds import Better, Same
from hardlabels.reporting.claims.mechanism import FirstPass
from hardlabels.reporting.claims.quantities import ACCURACY, BEST_EPOCH, ECE_VOTES, ENTROPY_CORRELATION, KL, NLL_T
from hardlabels.reporting.claims.subjects import Pair
from hardlabels.runs.quantity import Quantity

SECOND, OURS = "The second paper: soft against majority labels", "Beyond the papers"


SINGH = (
    Claim(
        name="soft-lower-kl",
        topic=SECOND,
        says="Soft labels end closer to the annotators (KL) than majority labels.",
        where="Singh et al., abstract",
        published="32 % lower on average over three tasks",
        study="main",
        test=Better((KL,), ("soft",), ("majority",)),
        effect={KL: least_gap("table5_proper_scores", ["soft"], ["majority"], 0)},
        remark="On CIFAR-10H the main paper's table 5 has 38 % (0.3558 against 0.5746).",
    ),
    Claim(
        name="soft-higher-entropy-correlation",
        topic=SECOND,
        says="The entropy of soft-label models follows that of the annotators more closely than with majority labels.",
        where="Singh et al., abstract",
        published="61 % stronger on average over three tasks",
        study="main",
        test=Better((ENTROPY_CORRELATION,), ("soft",), ("majority",)),
        effect={ENTROPY_CORRELATION: least_gap("table2_main", ["soft"], ["majority"], 3)},
        remark="On CIFAR-10H the main paper's table 2 has 35 % (0.3909 against 0.2902).",
    ),
    Claim(
        name="soft-same-accuracy",
        topic=SECOND,
        says="Soft and majority labels are equally accurate.",
        where="Singh et al., abstract",
        published="'matching'",
        study="main",
        test=Same((ACCURACY,), ("soft",), ("majority",)),
    ),
    Claim(
        name="soft-mirrors-disputed",
        topic=SECOND,
        says="Soft labels end closer to the annotators (KL) on the most disputed items in particular.",
        where="Singh et al., figure 5",
        published="examples only",
        study="main",
        test=Better((KL.on(DISPUTED),), ("soft",), ("majority",)),
    ),
    Claim(
        name="majority-peaks-earlier",
        topic=SECOND,
        says="Majority labels are at their best earlier and then degrade.",
        where="Singh et al., figure 4",
        published="curves only",
        study="main",
        test=Better((BEST_EPOCH,), ("majority",), ("soft",)),
        remark="Both are judged by soft NLL here; the paper compares losses of different targets.",
    ),
)

ADDED = (
    Claim(
        name="separate-basins-honest",
        topic=OURS,
        says="The barrier between SLS and soft labels remains when batch-norm statistics are re-estimated.",
        where="ours",
        published="not measured",
        study="main",
        test=Better((Quantity("barrier_reestimated_bn", "barrier"),), (Pair("sls", "soft"),), by="barrier"),
        ours=True,
    ),
    Claim(
        name="distance-beyond-entropy",
        topic=OURS,
        says="The gain grows with the distance of the K votes among items of equal annotator entropy, too.",
        where="ours",
        published="not measured",
        study="sparse",
        test=farther("js_spearman_given_entropy"),
        remark="An ambiguous item has both worse K votes and more to gain.",
        ours=True,
    ),
    Claim(
        name="first-pass-is-fresh",
        topic=OURS,
        says="Multipass with K votes equals SLS with all votes while its votes are fresh, and falls behind when they come again.",
        where="ours",
        published="not measured",
        study="quarter",
        test=FirstPass(),
        remark="Evaluation curves, averaged over the K epochs of pass 1 and of pass 2.",
        ours=True,
    ),
    Claim(
        name="soft-buys-calibration",
        topic=OURS,
        says="What soft labels gain over majority labels is the scale of the logits: after one temperature they are level.",
        where="ours",
        published="not measured",
        study="quarter",
        test=Same((NLL_T,), ("majority",), ("soft",)),
        remark="Level: at most the margin of soft NLL is left, a tenth of the gap before it.",
        ours=True,
    ),
    Claim(
        name="more-than-scale",
        topic=OURS,
        says="Hard delivery is more than scale: after one temperature SLS and multipass stay ahead of soft labels.",
        where="ours",
        published="not measured",
        study="quarter",
        test=Better((NLL_T,), ("sls", "multipass"), ("soft",), "each"),
        ours=True,
    ),
    Claim(
        name="calibrated-to-people",
        topic=OURS,
        says="SLS and multipass are as well calibrated against the annotators' votes as soft labels.",
        where="ours",
        published="not measured",
        study="quarter",
        test=Same((ECE_VOTES,), ("sls", "multipass"), ("soft",)),
        remark="The annotators' own distribution has an error of 0 here; ECE against the majority label punishes it.",
        ours=True,
    ),
)

CLAIMS: dict[str, Claim] = {claim.name: claim for claim in (*ENDPOINTS, *GEOMETRY, *SINGH, *ADDED)}
"""Name to claim, in the order of the report."""
