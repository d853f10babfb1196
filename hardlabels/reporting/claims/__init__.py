"""Every claim of the two papers, and some of ours, as an entry that finished runs can support or contradict.

Read in this order: ``status`` (what a verdict can be), ``subjects`` and ``quantities`` (whom and what a claim is about),
``design`` (the numbers of a study), ``rules`` (level and margins), ``claim``, ``kinds``, ``trend``, ``controls`` and
``mechanism`` (which comparisons a claim takes), ``endpoints``, ``geometry`` and ``catalogue`` (the claims), ``measure`` and
``judge`` (from numbers to a verdict).
"""

from hardlabels.reporting.claims.catalogue import CLAIMS
from hardlabels.reporting.claims.claim import Claim, Finding, Verdict
from hardlabels.reporting.claims.design import Design, designs
from hardlabels.reporting.claims.judge import judge
from hardlabels.reporting.claims.rules import Rules, Shares

__all__ = ["CLAIMS", "Claim", "Design", "Finding", "Rules", "Shares", "Verdict", "designs", "judge"]
