"""Finished runs as tables: ``read_records`` reads folders and archives, and ``Records`` answers what they say.

``one_run`` has the numbers of a run, ``pairs`` those of pairs of runs, ``kept`` what was read of them before.
"""

from hardlabels.runs.records.pairs import read_pair_file
from hardlabels.runs.records.read import read_records
from hardlabels.runs.records.records import COLUMNS, PAIR_COLUMNS, Records

__all__ = ["COLUMNS", "PAIR_COLUMNS", "Records", "read_pair_file", "read_records"]
