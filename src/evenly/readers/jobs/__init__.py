"""Job tables of batch systems: Slurm's accounting and the Standard Workload Format."""
