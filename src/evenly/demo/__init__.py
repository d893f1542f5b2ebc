"""The whole loop on the user's own machine in a few minutes, told by one page: ``evenly demo``.

Costs and messages are measured, a structure is cut, its step is predicted before anything runs, then it runs on real
ranks, and what was predicted is held against what was measured. Everything goes to one folder; what a user keeps
elsewhere, a calibration for one, is neither used nor changed.
"""
