"""Stage 6, runs: what a run is, its folder, and finished runs as one table.

Here: a cell's coordinates (``cell``, ``method``), what decides its result (``identity``), its data (``data``), its folder
(``directory``, ``reading``, ``writing``, ``lock``, ``archive``), a finished run opened again (``finished``), the name of a number
about a run (``quantity``). In rooms of their own: ``settings`` (checks before any work), ``training``, ``views`` (W&B,
TensorBoard), ``studies``, ``records`` (all finished runs as tables).
"""
