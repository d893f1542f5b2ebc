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
    from evenly.fdtd import library as library
    from evenly.fdtd.boundaries import PML as PML
    from evenly.fdtd.boundaries import Absorber as Absorber
    from evenly.fdtd.boundaries import Bloch as Bloch
    from evenly.fdtd.boundaries import Metal as Metal
    from evenly.fdtd.boundaries import Periodic as Periodic
    from evenly.fdtd.box import Box as Box
    from evenly.fdtd.callbacks import at_beginning as at_beginning
    from evenly.fdtd.callbacks import at_end as at_end
    from evenly.fdtd.callbacks import at_every as at_every
    from evenly.fdtd.callbacks import at_time as at_time
    from evenly.fdtd.checkpoint import Checkpoints as Checkpoints
    from evenly.fdtd.conditions import SourcesEnded as SourcesEnded
    from evenly.fdtd.conditions import UntilTime as UntilTime
    from evenly.fdtd.conditions import WallTime as WallTime
    from evenly.fdtd.counts import Counts as Counts
    from evenly.fdtd.counts import count as count
    from evenly.fdtd.decays import DftDecayed as DftDecayed
    from evenly.fdtd.decays import EnergyDecayed as EnergyDecayed
    from evenly.fdtd.decays import FieldsDecayed as FieldsDecayed
    from evenly.fdtd.energy import Absorption as Absorption
    from evenly.fdtd.energy import Energy as Energy
    from evenly.fdtd.fields import DftFields as DftFields
    from evenly.fdtd.flux import Flux as Flux
    from evenly.fdtd.geometry import ArrayMaterial as ArrayMaterial
    from evenly.fdtd.geometry import Block as Block
    from evenly.fdtd.geometry import Cylinder as Cylinder
    from evenly.fdtd.geometry import FunctionMaterial as FunctionMaterial
    from evenly.fdtd.geometry import Prism as Prism
    from evenly.fdtd.geometry import Sphere as Sphere
    from evenly.fdtd.grid import Grid as Grid
    from evenly.fdtd.materials import DrudePole as DrudePole
    from evenly.fdtd.materials import LorentzPole as LorentzPole
    from evenly.fdtd.materials import Medium as Medium
    from evenly.fdtd.materials import vacuum as vacuum
    from evenly.fdtd.measurement import Measurement as Measurement
    from evenly.fdtd.near_to_far import NearToFar as NearToFar
    from evenly.fdtd.near_to_far import directions as directions
    from evenly.fdtd.output_places import check_writable as check_writable
    from evenly.fdtd.parallel import all_wait as all_wait
    from evenly.fdtd.parallel import am_master as am_master
    from evenly.fdtd.parallel import am_really_master as am_really_master
    from evenly.fdtd.parallel import count_processors as count_processors
    from evenly.fdtd.parallel import divide_parallel_processes as divide_parallel_processes
    from evenly.fdtd.parallel import global_communications as global_communications
    from evenly.fdtd.parallel import master_print as master_print
    from evenly.fdtd.parallel import merge_subgroup_data as merge_subgroup_data
    from evenly.fdtd.parallel import my_rank as my_rank
    from evenly.fdtd.parallel import only_master_prints as only_master_prints
    from evenly.fdtd.parallel import shared_random as shared_random
    from evenly.fdtd.partition import BinaryPartition as BinaryPartition
    from evenly.fdtd.pulses import ContinuousWave as ContinuousWave
    from evenly.fdtd.pulses import CustomPulse as CustomPulse
    from evenly.fdtd.pulses import GaussianPulse as GaussianPulse
    from evenly.fdtd.recorder import FieldRecorder as FieldRecorder
    from evenly.fdtd.resonance import Resonance as Resonance
    from evenly.fdtd.resonance import resonances as resonances
    from evenly.fdtd.scaling import ScalingStudy as ScalingStudy
    from evenly.fdtd.scaling_runs import run_study as run_study
    from evenly.fdtd.simulation import Options as Options
    from evenly.fdtd.simulation import Simulation as Simulation
    from evenly.fdtd.sources import Source as Source
    from evenly.fdtd.structure import Structure as Structure
    from evenly.fdtd.timing import PhaseTimer as PhaseTimer

_HOMES = {
    "Absorber": "evenly.fdtd.boundaries",
    "Absorption": "evenly.fdtd.energy",
    "ArrayMaterial": "evenly.fdtd.geometry",
    "BinaryPartition": "evenly.fdtd.partition",
    "Bloch": "evenly.fdtd.boundaries",
    "Block": "evenly.fdtd.geometry",
    "Box": "evenly.fdtd.box",
    "Checkpoints": "evenly.fdtd.checkpoint",
    "ContinuousWave": "evenly.fdtd.pulses",
    "Counts": "evenly.fdtd.counts",
    "CustomPulse": "evenly.fdtd.pulses",
    "Cylinder": "evenly.fdtd.geometry",
    "DftDecayed": "evenly.fdtd.decays",
    "DftFields": "evenly.fdtd.fields",
    "DrudePole": "evenly.fdtd.materials",
    "Energy": "evenly.fdtd.energy",
    "EnergyDecayed": "evenly.fdtd.decays",
    "FieldRecorder": "evenly.fdtd.recorder",
    "FieldsDecayed": "evenly.fdtd.decays",
    "Flux": "evenly.fdtd.flux",
    "FunctionMaterial": "evenly.fdtd.geometry",
    "GaussianPulse": "evenly.fdtd.pulses",
    "Grid": "evenly.fdtd.grid",
    "LorentzPole": "evenly.fdtd.materials",
    "Measurement": "evenly.fdtd.measurement",
    "Medium": "evenly.fdtd.materials",
    "Metal": "evenly.fdtd.boundaries",
    "NearToFar": "evenly.fdtd.near_to_far",
    "Options": "evenly.fdtd.simulation",
    "PML": "evenly.fdtd.boundaries",
    "Periodic": "evenly.fdtd.boundaries",
    "PhaseTimer": "evenly.fdtd.timing",
    "Prism": "evenly.fdtd.geometry",
    "Resonance": "evenly.fdtd.resonance",
    "ScalingStudy": "evenly.fdtd.scaling",
    "Simulation": "evenly.fdtd.simulation",
    "Source": "evenly.fdtd.sources",
    "SourcesEnded": "evenly.fdtd.conditions",
    "Sphere": "evenly.fdtd.geometry",
    "Structure": "evenly.fdtd.structure",
    "UntilTime": "evenly.fdtd.conditions",
    "WallTime": "evenly.fdtd.conditions",
    "all_wait": "evenly.fdtd.parallel",
    "am_master": "evenly.fdtd.parallel",
    "am_really_master": "evenly.fdtd.parallel",
    "at_beginning": "evenly.fdtd.callbacks",
    "at_end": "evenly.fdtd.callbacks",
    "at_every": "evenly.fdtd.callbacks",
    "at_time": "evenly.fdtd.callbacks",
    "check_writable": "evenly.fdtd.output_places",
    "count": "evenly.fdtd.counts",
    "count_processors": "evenly.fdtd.parallel",
    "directions": "evenly.fdtd.near_to_far",
    "divide_parallel_processes": "evenly.fdtd.parallel",
    "global_communications": "evenly.fdtd.parallel",
    "library": "evenly.fdtd.library",
    "master_print": "evenly.fdtd.parallel",
    "merge_subgroup_data": "evenly.fdtd.parallel",
    "my_rank": "evenly.fdtd.parallel",
    "only_master_prints": "evenly.fdtd.parallel",
    "resonances": "evenly.fdtd.resonance",
    "run_study": "evenly.fdtd.scaling_runs",
    "shared_random": "evenly.fdtd.parallel",
    "vacuum": "evenly.fdtd.materials",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy(__name__, _HOMES)
