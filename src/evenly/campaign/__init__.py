"""Measuring: a study says what, a campaign runs it and keeps what it measured."""

from evenly.campaign.measuring import Campaign, measure
from evenly.campaign.study import Study

__all__ = ["Campaign", "Study", "measure"]
