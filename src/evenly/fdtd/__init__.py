"""A parallel finite-difference time-domain simulation of Maxwell's equations with uneven physics.

>>> import evenly
>>> evenly.fdtd.Grid((4.0, 2.0, 0.0), 10).shape
(40, 20, 1)

Everything is loaded on first use. Units: the speed of light is 1, lengths are in a unit of your choice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenly._lazy import lazy

if TYPE_CHECKING:
    from evenly.fdtd.cell.boundaries import PML as PML
    from evenly.fdtd.cell.boundaries import Absorber as Absorber
    from evenly.fdtd.cell.boundaries import Bloch as Bloch
    from evenly.fdtd.cell.boundaries import Metal as Metal
    from evenly.fdtd.cell.boundaries import Periodic as Periodic
    from evenly.fdtd.cell.box import Box as Box
    from evenly.fdtd.cell.grid import Grid as Grid
    from evenly.fdtd.cell.partition import BinaryPartition as BinaryPartition
    from evenly.fdtd.counting.counts import Counts as Counts
    from evenly.fdtd.counting.counts import count as count
    from evenly.fdtd.fields import Options as Options
    from evenly.fdtd.measurement.measurement import Measurement as Measurement
    from evenly.fdtd.media import library as library
    from evenly.fdtd.media.geometry import ArrayMaterial as ArrayMaterial
    from evenly.fdtd.media.geometry import Block as Block
    from evenly.fdtd.media.geometry import Cylinder as Cylinder
    from evenly.fdtd.media.geometry import FunctionMaterial as FunctionMaterial
    from evenly.fdtd.media.geometry import Prism as Prism
    from evenly.fdtd.media.geometry import Sphere as Sphere
    from evenly.fdtd.media.materials import DrudePole as DrudePole
    from evenly.fdtd.media.materials import LorentzPole as LorentzPole
    from evenly.fdtd.media.materials import Medium as Medium
    from evenly.fdtd.media.materials import vacuum as vacuum
    from evenly.fdtd.media.structure import Structure as Structure
    from evenly.fdtd.monitors.energy import Absorption as Absorption
    from evenly.fdtd.monitors.energy import Energy as Energy
    from evenly.fdtd.monitors.fields import DftFields as DftFields
    from evenly.fdtd.monitors.flux import Flux as Flux
    from evenly.fdtd.monitors.near_to_far import NearToFar as NearToFar
    from evenly.fdtd.monitors.near_to_far import directions as directions
    from evenly.fdtd.monitors.recorder import FieldRecorder as FieldRecorder
    from evenly.fdtd.monitors.resonance import Resonance as Resonance
    from evenly.fdtd.monitors.resonance import resonances as resonances
    from evenly.fdtd.ranks.parallel import all_wait as all_wait
    from evenly.fdtd.ranks.parallel import am_master as am_master
    from evenly.fdtd.ranks.parallel import am_really_master as am_really_master
    from evenly.fdtd.ranks.parallel import count_processors as count_processors
    from evenly.fdtd.ranks.parallel import divide_parallel_processes as divide_parallel_processes
    from evenly.fdtd.ranks.parallel import global_communications as global_communications
    from evenly.fdtd.ranks.parallel import master_print as master_print
    from evenly.fdtd.ranks.parallel import merge_subgroup_data as merge_subgroup_data
    from evenly.fdtd.ranks.parallel import my_rank as my_rank
    from evenly.fdtd.ranks.parallel import only_master_prints as only_master_prints
    from evenly.fdtd.ranks.parallel import shared_random as shared_random
    from evenly.fdtd.running.callbacks import at_beginning as at_beginning
    from evenly.fdtd.running.callbacks import at_end as at_end
    from evenly.fdtd.running.callbacks import at_every as at_every
    from evenly.fdtd.running.callbacks import at_time as at_time
    from evenly.fdtd.running.conditions import SourcesEnded as SourcesEnded
    from evenly.fdtd.running.conditions import UntilTime as UntilTime
    from evenly.fdtd.running.conditions import WallTime as WallTime
    from evenly.fdtd.running.decays import DftDecayed as DftDecayed
    from evenly.fdtd.running.decays import EnergyDecayed as EnergyDecayed
    from evenly.fdtd.running.decays import FieldsDecayed as FieldsDecayed
    from evenly.fdtd.scaling.runs import run_study as run_study
    from evenly.fdtd.scaling.study import ScalingStudy as ScalingStudy
    from evenly.fdtd.simulation import Simulation as Simulation
    from evenly.fdtd.sources.pulses import ContinuousWave as ContinuousWave
    from evenly.fdtd.sources.pulses import CustomPulse as CustomPulse
    from evenly.fdtd.sources.pulses import GaussianPulse as GaussianPulse
    from evenly.fdtd.sources.source import Source as Source
    from evenly.fdtd.stepping.timing import PhaseTimer as PhaseTimer
    from evenly.fdtd.storage.checkpoint import Checkpoints as Checkpoints
    from evenly.fdtd.storage.output_places import check_writable as check_writable

_HOMES = {
    "Absorber": "evenly.fdtd.cell.boundaries",
    "Absorption": "evenly.fdtd.monitors.energy",
    "ArrayMaterial": "evenly.fdtd.media.geometry",
    "BinaryPartition": "evenly.fdtd.cell.partition",
    "Bloch": "evenly.fdtd.cell.boundaries",
    "Block": "evenly.fdtd.media.geometry",
    "Box": "evenly.fdtd.cell.box",
    "Checkpoints": "evenly.fdtd.storage.checkpoint",
    "ContinuousWave": "evenly.fdtd.sources.pulses",
    "Counts": "evenly.fdtd.counting.counts",
    "CustomPulse": "evenly.fdtd.sources.pulses",
    "Cylinder": "evenly.fdtd.media.geometry",
    "DftDecayed": "evenly.fdtd.running.decays",
    "DftFields": "evenly.fdtd.monitors.fields",
    "DrudePole": "evenly.fdtd.media.materials",
    "Energy": "evenly.fdtd.monitors.energy",
    "EnergyDecayed": "evenly.fdtd.running.decays",
    "FieldRecorder": "evenly.fdtd.monitors.recorder",
    "FieldsDecayed": "evenly.fdtd.running.decays",
    "Flux": "evenly.fdtd.monitors.flux",
    "FunctionMaterial": "evenly.fdtd.media.geometry",
    "GaussianPulse": "evenly.fdtd.sources.pulses",
    "Grid": "evenly.fdtd.cell.grid",
    "LorentzPole": "evenly.fdtd.media.materials",
    "Measurement": "evenly.fdtd.measurement.measurement",
    "Medium": "evenly.fdtd.media.materials",
    "Metal": "evenly.fdtd.cell.boundaries",
    "NearToFar": "evenly.fdtd.monitors.near_to_far",
    "Options": "evenly.fdtd.fields",
    "PML": "evenly.fdtd.cell.boundaries",
    "Periodic": "evenly.fdtd.cell.boundaries",
    "PhaseTimer": "evenly.fdtd.stepping.timing",
    "Prism": "evenly.fdtd.media.geometry",
    "Resonance": "evenly.fdtd.monitors.resonance",
    "ScalingStudy": "evenly.fdtd.scaling.study",
    "Simulation": "evenly.fdtd.simulation",
    "Source": "evenly.fdtd.sources.source",
    "SourcesEnded": "evenly.fdtd.running.conditions",
    "Sphere": "evenly.fdtd.media.geometry",
    "Structure": "evenly.fdtd.media.structure",
    "UntilTime": "evenly.fdtd.running.conditions",
    "WallTime": "evenly.fdtd.running.conditions",
    "all_wait": "evenly.fdtd.ranks.parallel",
    "am_master": "evenly.fdtd.ranks.parallel",
    "am_really_master": "evenly.fdtd.ranks.parallel",
    "at_beginning": "evenly.fdtd.running.callbacks",
    "at_end": "evenly.fdtd.running.callbacks",
    "at_every": "evenly.fdtd.running.callbacks",
    "at_time": "evenly.fdtd.running.callbacks",
    "check_writable": "evenly.fdtd.storage.output_places",
    "count": "evenly.fdtd.counting.counts",
    "count_processors": "evenly.fdtd.ranks.parallel",
    "directions": "evenly.fdtd.monitors.near_to_far",
    "divide_parallel_processes": "evenly.fdtd.ranks.parallel",
    "global_communications": "evenly.fdtd.ranks.parallel",
    "library": "evenly.fdtd.media.library",
    "master_print": "evenly.fdtd.ranks.parallel",
    "merge_subgroup_data": "evenly.fdtd.ranks.parallel",
    "my_rank": "evenly.fdtd.ranks.parallel",
    "only_master_prints": "evenly.fdtd.ranks.parallel",
    "resonances": "evenly.fdtd.monitors.resonance",
    "run_study": "evenly.fdtd.scaling.runs",
    "shared_random": "evenly.fdtd.ranks.parallel",
    "vacuum": "evenly.fdtd.media.materials",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy(__name__, _HOMES)
