"""What is where: media, objects, and what each grid point is made of."""
