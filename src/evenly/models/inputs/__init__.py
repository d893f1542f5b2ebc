"""How parameters become the numbers that models see."""
