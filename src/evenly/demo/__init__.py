"""A demonstration of the whole workflow on the user's own machine, in a few minutes: ``evenly demo``.

The demo measures costs and messages, cuts a structure, predicts the time of a step, and runs the structure on real
ranks. It compares prediction and measurement on one HTML page. All files are written to one folder. The user's other
files, such as a calibration, are neither used nor changed.
"""
