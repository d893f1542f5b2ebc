"""Names of parameters that count what computes: cores, nodes, ranks, threads, GPUs."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["COUNT_KINDS", "kind_of", "letters"]

#: The kinds of what counts, with their names in lower case and without signs.
COUNT_KINDS: dict[str, tuple[str, ...]] = {
    "cores": (
        "cores", "ncores", "ncore", "numcores", "nrcores", "numberofcores", "totalcores", "corestotal", "corecount",
        "nucleos", "numerodenucleos", "nuclei", "kerne", "anzahlkerne", "anzahlderkerne", "rechenkerne", "coeurs",
        "nbdecoeurs", "aantalcores", "rdzenie", "liczbardzeni",
        "nombredecoeurs", "nbcoeurs",
        "cpus", "ncpus", "ncpu", "numcpus", "numberofcpus", "totalcpus", "cpucount", "cpucores", "alloccpus",
        "resourcelistncpus", "slots", "nslots",
    ),
    "nodes": ("nodes", "nnodes", "nnode", "numnodes", "nodecount", "numberofnodes", "allocnodes", "hosts",
              "nodos", "numerodenodos", "nodi", "knoten", "anzahlknoten", "noeuds", "nombredenoeuds"),
    "ranks": (
        "mpi", "ranks", "nranks", "numranks", "mpiranks", "numberofranks", "np", "nproc", "nprocs", "procs", "numprocs",
        "mpiprocs", "mpinp", "processes", "nprocesses", "numprocesses", "numberofprocesses", "mpiprocesses",
        "processors", "nprocessors", "numprocessors", "numberofprocessors", "tasks", "ntasks", "mpitasks", "numtasks",
        "procesos", "numerodeprocesos", "processi", "numerodiprocessi", "processos", "pes", "npes", "prozesse",
        "anzahlprozesse", "processus", "nombredeprocessus",
    ),
    "per node": (
        "taskspernode", "ntaskspernode", "rankspernode", "procspernode", "processespernode", "mpipernode", "ppn", "tpn",
        "corespernode", "cpuspernode",
        "tasksnode", "ranksnode", "procsnode", "processesnode", "mpinode", "coresnode", "cpusnode",
    ),
    "per rank": (
        "omp", "openmp", "hilos", "threads", "nthreads", "numthreads", "ompthreads", "ompnumthreads", "threadsperrank",
        "threadsperprocess",
        "threadspertask", "cpuspertask", "corespertask", "coresperrank", "cpusperrank", "coresperprocess",
    ),
    "gpus": ("gpus", "ngpus", "numgpus", "totalgpus", "gpuspernode", "gpuspertask", "accelerators"),
}  # fmt: skip
_KIND_OF = {name: kind for kind, names in COUNT_KINDS.items() for name in names}


def kind_of(name: str) -> str:
    """Return what a parameter counts by its name: cores, nodes, ranks, per node, per rank, gpus; "" if unknown.

    Examples
    --------
    >>> [kind_of(name) for name in ("n_cores", "MPI ranks", "tasks-per-node", "OMP_NUM_THREADS", "grid")]
    ['cores', 'ranks', 'per node', 'per rank', '']
    """
    plain = letters(name)
    return _KIND_OF.get(plain) or (
        "per rank" if re.fullmatch(r"(open)?mp.*threads|threads.*(rank|task)s?", plain) else ""
    )


def letters(name: str) -> str:
    """Return the letters of a name in lower case, without accents and signs, to look it up.

    Examples
    --------
    >>> letters("Número de núcleos"), letters("Job-ID")
    ('numerodenucleos', 'jobid')
    """
    bare = unicodedata.normalize("NFKD", name.lower().replace("œ", "oe"))  # núcleos: nucleos
    return re.sub(r"[^a-z]", "", bare)
