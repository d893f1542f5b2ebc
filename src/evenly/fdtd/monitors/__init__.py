"""What is looked at: Fourier transforms and what is made of them, values at points, energies, resonances."""
