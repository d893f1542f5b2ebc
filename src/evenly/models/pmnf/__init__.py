"""The performance model normal form (PMNF): its terms and the exact search for the best of them."""
