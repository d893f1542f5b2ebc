"""How long a step of a simulation takes on so many ranks of a machine, before it is run."""
