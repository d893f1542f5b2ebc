"""On how many cores: which parameters are the cores, which counts to look at, and which one a goal recommends."""
