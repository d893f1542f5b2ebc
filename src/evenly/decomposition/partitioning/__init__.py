"""Cutting a cell into chunks: what is where, what it costs, and where to cut. `evenly.partition` is the door."""
