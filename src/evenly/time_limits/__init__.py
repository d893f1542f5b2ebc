"""Which time limit to ask a batch system for: replays of job tables, and limits for the next job."""
