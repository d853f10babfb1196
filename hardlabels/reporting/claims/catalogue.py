"""All claims: the main paper's endpoints, its geometry and outlier results, the second paper's, and what we add."""

from hardlabels.reporting.claims.claim import Claim
from hardlabels.reporting.claims.endpoints import AGAINST_SOFT, ENDPOINTS
from hardlabels.reporting.claims.geometry import GEOMETRY
from hardlabels.reporting.claims.kinds import Better, Same

SECOND, OURS = "The second paper: soft against majority labels", "Beyond the papers"


SINGH = (
    Claim(
        name="soft-lower-kl",
        topic=SECOND,
        says="Soft labels end closer to the annotators (KL) than majority labels.",
        where="Singh et al., abstract",
        published="32 % lower on average over three tasks",
        study="main",
        test=Better(("kl_to_annotator",), ("soft",), ("majority",)),
        remark="On CIFAR-10H the main paper's table 5 has 38 % (0.3558 against 0.5746).",
    ),
    Claim(
        name="soft-higher-entropy-correlation",
        topic=SECOND,
        says="The entropy of soft-label models follows that of the annotators more closely than with majority labels.",
        where="Singh et al., abstract",
        published="61 % stronger on average over three tasks",
        study="main",
        test=Better(("ent_corr",), ("soft",), ("majority",)),
        remark="On CIFAR-10H the main paper's table 2 has 35 % (0.3909 against 0.2902).",
    ),
    Claim(
        name="soft-same-accuracy",
        topic=SECOND,
        says="Soft and majority labels are equally accurate.",
        where="Singh et al., abstract",
        published="'matching'",
        study="main",
        test=Same(("hard_acc",), ("soft",), ("majority",)),
    ),
    Claim(
        name="soft-mirrors-disputed",
        topic=SECOND,
        says="Soft labels end closer to the annotators (KL) on the most disputed items in particular.",
        where="Singh et al., figure 5",
        published="examples only",
        study="main",
        test=Better(("kl_to_annotator",), ("soft",), ("majority",), slices=("high_disagreement",)),
    ),
    Claim(
        name="majority-peaks-earlier",
        topic=SECOND,
        says="Majority labels are at their best earlier and then degrade.",
        where="Singh et al., figure 4",
        published="curves only",
        study="main",
        test=Better(("dynamics/best_epoch",), ("majority",), ("soft",)),
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
        test=Better(("barrier/barrier_reestimated_bn",), ("sls~soft",), by="barrier"),
    ),
    Claim(
        name="distance-beyond-entropy",
        topic=OURS,
        says="The gain grows with the distance of the K votes among items of equal annotator entropy, too.",
        where="ours",
        published="not measured",
        study="sparse",
        test=Better(("sparse_target/js_spearman_given_entropy",), AGAINST_SOFT, (), "few", by="correlation"),
        remark="An ambiguous item has both worse K votes and more to gain.",
    ),
)

CLAIMS: dict[str, Claim] = {claim.name: claim for claim in (*ENDPOINTS, *GEOMETRY, *SINGH, *ADDED)}
"""Name to claim, in the order of the report."""
