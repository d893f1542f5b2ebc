"""Search for the fastest configuration, advice on the next runs, and which parameters matter."""
