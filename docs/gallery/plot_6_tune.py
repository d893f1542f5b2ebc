"""
Find the fastest configuration
==============================

Search for the fastest configuration in few runs. Any function that returns seconds is a program.
"""

import matplotlib.pyplot as plt
import numpy as np

import evenly
from evenly import Categorical, Integer, Space

space = Space(block=Integer(1, 64, scale="log"), solver=Categorical("cg", "gmres"), constraints=["block % 2 == 0"])


def run(configuration):
    """Stand in for a program; large blocks don't fit into the memory."""
    block = configuration["block"]
    if block > 48:
        raise evenly.RunFailed("out of memory")
    return (1 if configuration["solver"] == "cg" else 1.4) * (8 / block + block / 8)


result = evenly.tune(space, run, budget=15, seed=0)
print(result.best)

# %%
# The fastest time so far, run by run. A failed run has no time.
seconds = np.array(result.history["seconds"], dtype=float)
figure, axes = plt.subplots()
axes.plot(seconds, "o", label="runs")
axes.step(range(len(seconds)), np.fmin.accumulate(seconds), where="post", label="fastest so far")
axes.set(xlabel="run", ylabel="seconds")
_ = axes.legend()
