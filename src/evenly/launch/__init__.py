"""Launchers: ways to run a program. Each launcher has its own module and implements `evenly.launch.base.Launcher`."""

from evenly.launch.base import Launcher, Outcome, Resources, Task
from evenly.launch.registry import launcher_class, launcher_names

__all__ = ["Launcher", "Outcome", "Resources", "Task", "launcher_class", "launcher_names"]
