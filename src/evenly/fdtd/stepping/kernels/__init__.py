"""The inner loops of the time step, compiled by numba; they run without Python's global interpreter lock (GIL).

They work on flat arrays in memory order and know nothing of ranks, chunks or materials. The field updates are compiled
without reassociation and without fused multiply-adds, so that a field's value does not depend on the partition.

numba caches the compiled code on disk until the file of the kernel itself changes. After a change in a file that other
kernels import (`arguments`, `sweep`, `stretching`, `walls`, for example), delete ``__pycache__``.
"""
