from evenly.machine.link import Link as Link
from evenly.machine.machine import Machine as Machine
