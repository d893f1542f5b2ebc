"""Detects, without importing MPI, whether an MPI launcher started this process, and on how many ranks.

>>> launched_ranks({"PMI_RANK": "3", "PMI_SIZE": "8"}), launched_ranks({})
(8, None)

The environment variable ``EVENLY_MPI`` overrides what is found: 0 never uses MPI, 1 always does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from evenly.errors import InputError

__all__ = ["UNKNOWN", "forced", "launched_ranks", "without_launcher"]

# Environment variables in which launchers give a process's rank, and the number of ranks (empty if they don't).
_MARKS = (
    ("PMI_RANK", "PMI_SIZE"),
    ("PMI_ID", "PMI_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"),
    ("FLUX_TASK_RANK", "FLUX_JOB_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
    ("PMIX_RANK", ""),
    ("PALS_RANKID", ""),
    ("MPI_LOCALRANKID", ""),
)
_PREFIXES = (
    "PMI_",
    "PMIX_",
    "OMPI_",
    "PALS_",
    "MPI_LOCAL",
    "HYDI_",
    "HYDRA_",
    "MV2_COMM",
    "PRTE_",
    "JSM_NAMESPACE",
    "FLUX_TASK",
)
# Prefixes of variables that users set for Open MPI; those in _OF_A_JOB are set by its launcher for one job.
_SETTINGS = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_MCA_")
_OF_A_JOB = ("OMPI_MCA_ess", "OMPI_MCA_orte", "OMPI_MCA_pmix")
UNKNOWN = 0


def launched_ranks(environment: Mapping[str, str] | None = None) -> int | None:
    """Return how many ranks the launcher started; None without a launcher, `UNKNOWN` (0) if the number isn't given.

    A Slurm step counts as a launcher only if it has several processes: batch scripts and interactive shells have one.

    Parameters
    ----------
    environment : mapping, optional
        Environment variables; default: those of this process.

    Examples
    --------
    >>> launched_ranks({"SLURM_PROCID": "0"}), launched_ranks({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "4"})
    (None, 4)
    >>> launched_ranks({"PMIX_RANK": "0"})
    0
    """
    environment = os.environ if environment is None else environment
    found = [environment.get(size, "") for rank, size in _MARKS if rank in environment]
    if not found or (_only_slurm(environment) and environment.get("SLURM_STEP_NUM_TASKS", "1") == "1"):
        return None
    sizes = [int(size) for size in found if size.isdecimal()]
    return max(sizes, default=UNKNOWN)


def forced(environment: Mapping[str, str] | None = None) -> bool | None:
    """Return the setting of ``EVENLY_MPI``: True (always use MPI), False (never), None (detect a launcher).

    Raises
    ------
    InputError
        If it is set to something else than 0 or 1.

    Examples
    --------
    >>> forced({"EVENLY_MPI": "0"}), forced({})
    (False, None)
    """
    environment = os.environ if environment is None else environment
    value = environment.get("EVENLY_MPI", "")
    if value not in ("", "0", "1"):
        raise InputError(f"The environment variable EVENLY_MPI must be 0 or 1 (or not be set), but got {value!r}.")
    return {"": None, "0": False, "1": True}[value]


def without_launcher(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables without those that a launcher sets for its ranks, to start another job from a rank.

    Examples
    --------
    >>> without_launcher({"PMI_RANK": "0", "HOME": "/home/me", "OMPI_MCA_btl": "self"})
    {'HOME': '/home/me', 'OMPI_MCA_btl': 'self'}
    """
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(_PREFIXES) or (name.startswith(_SETTINGS) and not name.startswith(_OF_A_JOB))
    }


def _only_slurm(environment: Mapping[str, str]) -> bool:
    return {rank for rank, _ in _MARKS if rank in environment} == {"SLURM_PROCID"}
