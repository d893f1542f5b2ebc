"""Laws of physics that hold for every simulation, checked against analytic or independently written oracles."""
