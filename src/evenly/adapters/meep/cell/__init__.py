"""From Meep's simulation objects and scripts to cells that evenly can cut."""
