"""How fields advance: chunks, their coefficients, ghosts between them, the order of a step, and its clocks."""
