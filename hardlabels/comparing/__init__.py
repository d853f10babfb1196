"""Comparing, the last stage: one answer for any data. Which delivery should I use on my votes, and does it matter?

- ``plan``: recipe, batch size and epochs by kind and size of the data.
- ``measure``: the runs of a comparison, and the score of every item.
- ``differences``: what a difference is worth, against the noise of seeds, items and votes; and what it would take to see it.
- ``answer``: which delivery to use; ``sentences``: the same in a paragraph for somebody who has not read the paper.
- ``disagreement``: the items on which network and annotators disagree most.
- ``pictures`` and ``page``: one HTML file that needs nothing else.
"""
