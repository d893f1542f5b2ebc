"""
Fit and predict
===============

Learn how long a program takes from a few runs, and predict other configurations with intervals.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import evenly
import evenly.errors

random = np.random.default_rng(0)
cores = np.repeat([8, 16, 32, 64, 128], 3)  # three repetitions each
seconds = (400 / cores + 2) * np.exp(0.03 * random.standard_normal(len(cores)))
model = evenly.fit(pd.DataFrame({"cores": cores, "seconds": seconds}), parameters=["cores"])

# %%
# The model is a formula here. Its prediction and interval are arrays with one element for each configuration.
warnings.simplefilter("ignore", evenly.errors.ExtrapolationWarning)  # beyond 128 cores, as the picture shows
asked = np.array([8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256])
predicted = model.predict({"cores": asked})
lower, upper = model.interval({"cores": asked}, level=0.9)
print(model.formula_)

# %%
# The interval becomes wider beyond 128 cores, where nothing was measured.
figure, axes = plt.subplots()
axes.loglog(cores, seconds, "o", label="measured")
axes.loglog(asked, predicted, label="predicted")
axes.fill_between(asked, lower, upper, alpha=0.3, label="90 % interval")
axes.set(xlabel="cores", ylabel="seconds")
_ = axes.legend()
