"""Readers of profiles: times and other metrics of each region of a program."""
