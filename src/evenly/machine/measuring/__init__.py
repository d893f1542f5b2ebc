"""Measurement of this machine in less than a minute: its cores, memory and messages."""
