"""Domain decomposition: cells, cost models, partitioning among ranks, forecasts, and rebalancing during a run."""
