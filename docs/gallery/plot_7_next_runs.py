"""
Which runs come next
====================

Propose the runs that reduce the error of a model most per core-hour.
"""

import pandas as pd

import evenly

measured = pd.DataFrame(
    {
        "cells": [1000, 1000, 8000, 8000, 64000],
        "cores": [1, 4, 1, 4, 4],
        "seconds": [1.02, 0.31, 8.3, 2.2, 17.9],
    }
)
space = evenly.Space(cells=evenly.Ordinal(1000, 8000, 64000), cores=evenly.Ordinal(1, 4, 16))
runs = evenly.Runs.from_frame(measured, ["cells", "cores"], space=space)

# %%
# ``error_before`` and ``error_after`` are the model's own estimates of its error: 0.1 is 10 %.
print(evenly.advise(runs, 2, budget=1.0).to_string())
