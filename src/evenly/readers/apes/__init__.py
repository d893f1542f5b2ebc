"""Files of the APES suite: Ateles and Seeder."""
