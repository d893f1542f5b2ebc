"""How the domain is cut among ranks: cells, costs of their points, cuts, forecasts, corrections while running."""
