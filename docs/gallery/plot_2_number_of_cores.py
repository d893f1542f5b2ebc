"""
On how many cores
=================

Choose a number of cores by a goal: a deadline, a budget, or an efficiency.
"""

import matplotlib.pyplot as plt
import pandas as pd

import evenly

table = pd.DataFrame({"cores": [16, 32, 64, 128, 256], "seconds": [7.4, 3.8, 2.0, 1.13, 0.71]})
model = evenly.fit(table, parameters=["cores"])

# %%
# The job has 20,000 steps and must end within eight hours.
found = evenly.recommend(model, range(16, 257, 8), steps=20_000, goal=evenly.Goal(deadline_s=8 * 3600))
print(found.cores, "cores:", found.why)

# %%
# Every number that was looked at is a row of the curve.
figure, axes = plt.subplots()
axes.plot(found.curve["core_hours"], found.curve["run_s"] / 3600, ".-")
axes.axhline(8, linestyle="--", color="grey")
_ = axes.set(xlabel="core-hours of the job", ylabel="hours")
