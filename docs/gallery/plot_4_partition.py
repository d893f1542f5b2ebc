"""
Cut a domain
============

Cut the cell of a simulation such that all ranks finish a step together.
"""

import matplotlib.pyplot as plt
import numpy as np

import evenly
from evenly import fdtd

metal = fdtd.Medium(epsilon=2, electric_poles=[fdtd.DrudePole(1.1, 0.1), fdtd.LorentzPole(1.3, 0.1, 0.5)])
simulation = fdtd.Simulation(
    cell=(4, 4, 4),
    resolution=10,
    geometry=[fdtd.Block(size=(4, 4, 1), center=(0, 0, -1), material=metal)],
    boundaries=[fdtd.PML(0.5, "z")],
)

# %%
# Nothing of the simulation is allocated. The costs are those that come with evenly.
plan = evenly.partition(simulation, ranks=4)
print(plan.why)

# %%
# Chunks of equal volume aren't equal work: the metal and the absorbing layers take longer.
figure, axes = plt.subplots()
ranks = np.arange(4)
axes.bar(ranks - 0.2, 1e3 * plan.even.rank_s, 0.4, label="equal volumes")
axes.bar(ranks + 0.2, 1e3 * plan.balanced.rank_s, 0.4, label="balanced")
axes.set(xlabel="rank", ylabel="ms for a step")
_ = axes.legend()
