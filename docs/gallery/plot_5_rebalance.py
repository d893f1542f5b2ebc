"""
Balance while a simulation runs
===============================

A callback measures the ranks of a run, and moves the cuts if this pays.
"""

from evenly import fdtd
from evenly.decomposition.rebalancing import CostBalancer, Rebalance

simulation = fdtd.Simulation(cell=(2, 2, 2), resolution=10, boundaries=[fdtd.PML(0.5, "z")])

# %%
# A decision every 20 steps. Here is one rank alone, so there is nothing to move. Start it with
# ``mpirun -n 4 python SCRIPT`` to see cuts move.
rebalance = Rebalance(CostBalancer.of(simulation), every=20)
simulation.run(until=3, callbacks=[rebalance])

# %%
# Each decision has a reason.
for decision in rebalance.decisions:
    print(decision.why)
