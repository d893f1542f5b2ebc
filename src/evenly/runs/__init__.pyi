from evenly.runs.runs import Runs as Runs
