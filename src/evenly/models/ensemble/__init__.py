"""Ensembles: models compared on left-out runs, blended, corrected, and distilled into one small model."""
