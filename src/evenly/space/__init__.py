"""The space of configurations: parameters, the rules that configurations obey, designs that sample them."""

from __future__ import annotations

from evenly._lazy import lazy

__all__, __getattr__, __dir__ = lazy(__name__)
