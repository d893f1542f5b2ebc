"""The inner loops: compiled once by numba, cached on disk, free of the interpreter's lock.

They see flat arrays in memory order and know nothing of ranks, chunks or materials. Compiled without
reassociation or fused multiply-adds, so that a field's value does not depend on how the cell is cut.

numba keeps what it compiled until the file of the kernel itself changes. After a change in a file that other kernels
call (`arguments`, `stretching`, `walls`), delete ``__pycache__``.
"""
