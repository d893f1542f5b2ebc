"""
Cores for coupled solvers
=========================

Give each of two coupled solvers so many cores that neither waits for the other.
"""

import matplotlib.pyplot as plt
import pandas as pd

import evenly

fluid = pd.DataFrame({"cores": [16, 32, 64, 128], "seconds": [0.812, 0.431, 0.236, 0.139]})
solid = pd.DataFrame({"cores": [2, 4, 8, 16], "seconds": [0.603, 0.318, 0.171, 0.098]})
models = {
    "fluid": evenly.fit(fluid, parameters=["cores"]),
    "solid": evenly.fit(solid, parameters=["cores"]),
}

# %%
# The solvers run side by side: a step takes as long as the slower one.
plan = evenly.allocate(models, cores=128, layout="max(fluid, solid)")
print(plan.cores, plan.seconds, plan.interval)

# %%
# More cores make the step faster, as long as both solvers scale.
totals = [32, 48, 64, 96, 128]
figure, axes = plt.subplots()
axes.plot(totals, [evenly.allocate(models, cores=total).seconds for total in totals], "o-")
_ = axes.set(xlabel="cores together", ylabel="seconds for a step")
