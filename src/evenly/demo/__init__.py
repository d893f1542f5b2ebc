"""The whole workflow on the user's own machine in a few minutes, as one HTML page: ``evenly demo``.

It measures costs and messages, cuts a structure, predicts its time step, runs it on real ranks, and compares the
prediction with the measurement. Everything is written to one folder. Other files of the user, as a calibration, are
neither used nor changed.
"""
