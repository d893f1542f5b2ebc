"""On how many cores: which counts to look at, and which one a goal recommends."""
