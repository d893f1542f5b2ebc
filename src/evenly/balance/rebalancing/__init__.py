"""Rebalancing: better layouts from what runs took, between runs and in the middle of one."""
