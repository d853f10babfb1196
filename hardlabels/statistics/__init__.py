"""Stage 8, statistics: what a difference between methods is worth, over training seeds.

Read in this order: ``signed_rank`` (the exact null distribution), ``paired`` (a test of one comparison; seeds that are not paired
are refused), ``holm`` (a family of tests, and the seeds it needs to reject anything), ``intervals`` (how large a difference is),
``equivalence`` (whether it is small enough to say "matches"), ``summaries`` (mean and SD), ``target`` (what other votes on the
evaluation items would change). Numbers in, small frozen results out; nothing here reads a file or needs torch.

    test = paired_test(sls, soft, alternative="less")           # seed to soft NLL, the same seeds
    Family("sparse, soft NLL", {"sls K=5": test, ...}).reach    # "Holm over 12 one-sided tests at 0.05 can reject from 8 ..."
    hodges_lehmann(test.differences)                            # shift, its exact interval and the level attained
    equivalence(test.differences, margin=0.01).verdict          # equivalent, different, undecided or too few seeds
"""

from hardlabels.statistics.equivalence import Equivalence, equivalence
from hardlabels.statistics.holm import Family, holm, reach_of_holm, seeds_needed
from hardlabels.statistics.intervals import Estimate, hodges_lehmann, mean_difference
from hardlabels.statistics.paired import PairedTest, pair, paired_test
from hardlabels.statistics.signed_rank import exact_p, least_p
from hardlabels.statistics.summaries import Summary, summarise
from hardlabels.statistics.target import VoteInterval, vote_intervals

__all__ = [
    "Equivalence",
    "Estimate",
    "Family",
    "PairedTest",
    "Summary",
    "VoteInterval",
    "equivalence",
    "exact_p",
    "hodges_lehmann",
    "holm",
    "least_p",
    "mean_difference",
    "pair",
    "paired_test",
    "reach_of_holm",
    "seeds_needed",
    "summarise",
    "vote_intervals",
]
