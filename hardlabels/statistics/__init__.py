"""Stage 8, statistics: what a difference between methods is worth, over training seeds.

Read in this order: ``signed_rank`` (the exact null distribution), ``paired`` (a test of one comparison; seeds that are not paired
are refused), ``resampled`` (the same question where seeds split the same items anew), ``holm`` (a family of tests, what a claim
about it needs, and the seeds for that), ``intervals`` (how large a difference is), ``equivalence`` (whether it is small enough to
say "matches"), ``power`` (what a study could have seen), ``summaries`` (mean and SD), ``target`` (what other votes on the
evaluation items would change), ``vote_entropy`` (what nobody can go below, where votes are few). About values by epoch
(``curves``): ``optimism`` (what choosing the epoch flatters) and ``first_pass`` (two cells compared pass by pass). Numbers in,
small frozen results out; nothing here reads a file or needs torch.

    test = paired_test(sls, soft, alternative="less")           # seed to soft NLL, the same seeds
    Family("sparse, soft NLL", {"sls K=5": test, ...}).reach    # "Holm over 12 one-sided tests at 0.05 can reject from 8 ..."
    hodges_lehmann(test.differences)                            # shift, its exact interval and the level attained
    resampled_test(test.differences, ratio=2000 / 7000)         # mean, the corrected t-test and its interval
    equivalence(test.differences, margin=0.01).verdict          # equivalent, different, undecided or too few seeds
    smallest_effect(test.differences, Criterion(2000 / 7000))   # the difference that both tests would show with 80 % power
"""

from hardlabels.statistics.equivalence import Equivalence, equivalence
from hardlabels.statistics.first_pass import PassDifferences, differences_by_pass
from hardlabels.statistics.holm import Family, Needs, adjusted_p, claim_p, first_step, holm, reach_of_holm, seeds_needed
from hardlabels.statistics.intervals import Estimate, hodges_lehmann, mean_difference
from hardlabels.statistics.optimism import Selected, leave_one_seed_out
from hardlabels.statistics.paired import PairedTest, pair, paired_test
from hardlabels.statistics.power import Criterion, effect_out_of_reach, seeds_for_effect, smallest_effect, smallest_margin
from hardlabels.statistics.resampled import ResampledTest, resampled_test
from hardlabels.statistics.signed_rank import exact_p, least_p
from hardlabels.statistics.summaries import Summary, summarise
from hardlabels.statistics.target import VoteInterval, vote_intervals
from hardlabels.statistics.vote_entropy import Limit, limit_of

__all__ = [
    "Criterion",
    "Equivalence",
    "Estimate",
    "Family",
    "Limit",
    "Needs",
    "PairedTest",
    "PassDifferences",
    "ResampledTest",
    "Selected",
    "Summary",
    "VoteInterval",
    "adjusted_p",
    "claim_p",
    "differences_by_pass",
    "effect_out_of_reach",
    "equivalence",
    "exact_p",
    "first_step",
    "hodges_lehmann",
    "holm",
    "least_p",
    "leave_one_seed_out",
    "limit_of",
    "mean_difference",
    "pair",
    "paired_test",
    "reach_of_holm",
    "resampled_test",
    "seeds_for_effect",
    "seeds_needed",
    "smallest_effect",
    "smallest_margin",
    "summarise",
    "vote_intervals",
]
