"""The performance model normal form (PMNF): its terms, the exact search for the best sums, and their average."""
