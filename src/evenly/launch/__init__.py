"""Launchers: ways to run a program. Each launcher has its own module and implements `evenly.launch.base.Launcher`."""

from evenly.launch.base import Launcher, Outcome, Resources, Task, check_mark
from evenly.launch.registry import launcher_class, launcher_names

__all__ = ["Launcher", "Outcome", "Resources", "Task", "check_mark", "launcher_class", "launcher_names"]
