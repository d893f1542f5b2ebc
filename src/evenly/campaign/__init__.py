"""Measurement: a `Study` defines the runs, and a `Campaign` makes them and stores their results."""

from evenly.campaign.measuring import Campaign, measure
from evenly.campaign.study import Study

__all__ = ["Campaign", "Study", "measure"]
