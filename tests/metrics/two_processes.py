"""Run by test_accumulate, once for each of two processes: uneven shards are gathered over gloo, the values written down.

A script of its own, because a second process has to import what it runs and cannot import a test module.

    python two_processes.py <rank> rows.npz out/
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
import torch.distributed

from hardlabels.metrics.accumulate import PredictionMetrics, Scores, SmoothECE


def main(rank: int, rows: str, out: str) -> None:
    """Score this rank's rows, batch by batch; ``<out>/<rank>.json`` gets the values of all ranks' rows."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{out}/rendezvous", rank=rank, world_size=2)
    data = np.load(rows)
    values = {}
    for case in ("uneven", "empty"):
        collection, single = PredictionMetrics(), SmoothECE()
        everything = np.ones(len(data["p"]), dtype=bool)
        scores = Scores({"full": (everything, data["p"]), "second half": (np.arange(len(everything)) >= 4, data["p"])})
        cut = int(data[f"cut_{case}"])
        shard = slice(0, cut) if rank == 0 else slice(cut, None)
        logits, p = (torch.from_numpy(data[name][shard]) for name in ("logits", "p"))
        for batch in zip(logits.split(2), p.split(2), strict=True):
            collection.update(*batch)
            single.update(*batch)
        items = torch.arange(len(data["p"]))[shard]
        for batch in zip(logits.split(2), items.split(2), strict=True):
            scores.update(*batch)
        for _ in range(2):  # twice: what was gathered must not stay in the state
            gathered = {name: float(value) for name, value in collection.compute().items()}
            single.update(logits[:0], p[:0])  # nothing, after which it computes anew
            values[case] = {**gathered, "single": float(single.compute()), "kept": len(collection["soft_nll"].logits)}
        values[case]["slices"] = scores.compute().tolist()
    Path(out, f"{rank}.json").write_text(json.dumps(values))
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
