"""evenly learns from few measured runs how long a parallel simulation takes, and spreads its work evenly."""
