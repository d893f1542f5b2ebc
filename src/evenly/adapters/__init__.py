"""Real programs: evenly reads what they are about to do and gives them what it decided; it never reimplements them."""
