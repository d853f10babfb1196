"""Every claim of the two papers as an entry that finished runs can support or contradict."""

from hardlabels.reporting.claims.catalogue import CLAIMS
from hardlabels.reporting.claims.claim import Claim, Verdict
from hardlabels.reporting.claims.design import Design, designs
from hardlabels.reporting.claims.judge import Rules, judge

__all__ = ["CLAIMS", "Claim", "Design", "Rules", "Verdict", "designs", "judge"]
