"""Names of parameters that count what computes: cores, nodes, ranks, threads, GPUs."""

from __future__ import annotations

import re
import unicodedata

__all__ = [
    "COUNT_KINDS", "cores_of_each", "factor_of", "kind_of", "kind_of_parameter", "letters", "was_requested", "was_used",
]  # fmt: skip

#: The kinds of what counts, with their names in lower case and without signs.
COUNT_KINDS: dict[str, tuple[str, ...]] = {
    "cores": (
        "cores", "ncores", "ncore", "numcores", "nrcores", "numberofcores", "totalcores", "corestotal", "corecount",
        "nucleos", "numerodenucleos", "nuclei", "kerne", "kernen", "anzahlkerne", "anzahlderkerne", "rechenkerne",
        "coeurs", "nbdecoeurs", "aantalcores", "rdzenie", "liczbardzeni",
        "nombredecoeurs", "nbcoeurs",
        "cpus", "ncpus", "ncpu", "numcpus", "numberofcpus", "totalcpus", "cpucount", "cpucores",
        "resourcelistncpus", "slots", "nslots", "vcpu", "vcpus", "totalvcpu", "totalvcpus",
        "totalthreads", "threadstotal", "allthreads",
    ),
    "nodes": ("nodes", "nnodes", "nnode", "numnodes", "nodecount", "numberofnodes", "hosts",
              "machines", "nummachines", "numberofmachines", "nds",
              "nodos", "numerodenodos", "numerodenos", "nodi", "knoten", "anzahlknoten", "noeuds", "noeud",
              "nombredenoeuds"),
    "ranks": (
        "mpi", "ranks", "nranks", "numranks", "mpiranks", "numberofranks", "np", "nproc", "nprocs", "procs", "numprocs",
        "numproc",
        "mpiprocs", "mpinp", "processes", "nprocesses", "numprocesses",
        "numberofprocesses", "mpiprocesses",
        "processors", "nprocessors", "numprocessors", "numberofprocessors", "tasks", "ntasks", "mpitasks", "numtasks",
        "tsk",
        "procesos", "numerodeprocesos", "processi", "numerodiprocessi", "processos", "pes", "npes", "prozesse",
        "anzahlprozesse", "processus", "nombredeprocessus", "prozessoren", "anzahlprozessoren", "processeurs",
        "nombredeprocesseurs", "processori", "numerodiprocessori", "procesadores", "numerodeprocesadores",
        "processadores", "rangs", "rangsmpi", "rangos", "rangosmpi",
    ),
    "per node": (
        "taskspernode", "ntaskspernode", "rankspernode", "procspernode", "processespernode", "mpipernode", "ppn", "tpn",
        "corespernode", "cpuspernode",
        "prozesseknoten", "prozesseproknoten", "kerneknoten", "kerneproknoten", "kernejeknoten",
        "prozessejeknoten", "processusparnoeud", "coeursparnoeud",
        "nucleosporno", "processosporno", "procesospornodo", "nucleospornodo", "processipernodo",
        "vcpunode", "vcpusnode", "vcpupernode", "vcpuspernode",
        "tasksnode", "ranksnode", "procsnode", "processesnode", "mpinode", "coresnode", "cpusnode",
    ),
    "per rank": (
        "omp", "openmp", "hilos", "anzahlthreads", "anzahlderthreads", "nombredethreads", "numerodehilos",
        "numerodethreads", "threads", "nthreads", "nthrds", "numthreads", "ompthreads", "ompnumthreads",
        "threadsperrank", "threadsperprocess",
        "threadspertask", "cpuspertask", "corespertask", "coresperrank", "cpusperrank", "coresperprocess",
    ),
    "gpus": ("gpus", "ngpus", "numgpus", "totalgpus", "gpuspernode", "gpuspertask", "accelerators"),
}  # fmt: skip
_KIND_OF = {name: kind for kind, names in COUNT_KINDS.items() for name in names}


#: In the name of what was asked for: ``cores_requested``, ``ReqCPUS``.
_REQUESTED = re.compile(r"[\W_]*requested[\W_]*|^req[\W_]*|[\W_]+req$", re.IGNORECASE)
#: At the ends of the name of what runs had: ``cores_actually_used``, ``AllocCPUS``; see `letters`.
_HAD = re.compile(r"^(?:actual|used|alloc(?:ated)?)+|(?:actual(?:ly)?|used|alloc(?:ated)?)+$")
#: What each of them has: ``nodes (128 cores each)``, ``nodes [2x64 cores]``, ``nodes of 48 cores``.
_WHAT_EACH_HAS = re.compile(
    r"(?:[(\[,@×*]|(?<=[\s\d])x(?=\s)|\b(?:of|with|à|avec|zu|mit|de|con|da)\b)\s*(?P<n>\d+)"
    r"(?:\s*(?:sockets?|cpus?)?\s*[x×*]\s*(?P<m>\d+))?[\s-]*"
    r"(?P<what>[^\W\d_]+)[^()\[\]]*[)\]]?\s*$",
    re.IGNORECASE,
)
#: The threads, or cores, of each rank: ``OpenMP threads per process``, ``Threads pro Prozess``.
_OF_EACH_RANK = re.compile(
    r"(open)?mp.*threads|((open)?mp)?(threads?|cores|cpus|hilos|kerne|coeurs|nucleos).*"
    r"(ranks?|tasks?|procs?|process(es|us|o)?|prozess|proceso)"
)
#: ``MPI processes (np)``
_NAMED_TWICE = re.compile(r"(?P<name>[^(\[]*\w)\s*[(\[](?P<short>[A-Za-z_]+)[)\]]")
_NUMBER_OF = re.compile(r"^(?:number|num|no|nr|nb|n)?(?:of)?(?:total|overall)?")
#: A factor in a name: ``cores [10^3]``, ``cores (k)``, ``cores x100``, ``cores [thousands]``.
_FACTOR = re.compile(
    r"[\[(\s/](?:(?:in\s+)?(?P<word>k|tsd\.?|thousands?|hundreds?)|(?:[x×*]\s*)?10\s*(?:\^|\*\*)\s*(?P<power>\d)"
    r"|(?:[x×*]\s*)?1e(?P<e>\d)|[x×*]\s*(?P<times>\d+))\s*[\])]?\s*$",
    re.IGNORECASE,
)


def factor_of(name: str) -> float:
    """Return the factor that a name says its numbers must be multiplied by; 1 if it says none.

    Examples
    --------
    >>> [factor_of(name) for name in ("cores [10^3]", "cores (k)", "cores x100", "kcores", "cores")]
    [1000.0, 1000.0, 100.0, 1000.0, 1.0]
    """
    if name[:1] == "k" and re.sub(r"[^a-z]", "", name[1:].lower()) in _KIND_OF:
        return 1000.0
    match = _FACTOR.search(name)
    if match is None:
        return 1.0
    if match["word"]:
        return 100.0 if match["word"].lower().startswith("hundred") else 1000.0
    return float(match["times"] or 10 ** int(match["power"] or match["e"]))


def cores_of_each(name: str) -> int:
    """Return how many cores each node, or rank, has by the name of their number; 0 if it doesn't say so.

    Examples
    --------
    >>> [cores_of_each(name) for name in ("# nodes (128 cores each)", "Knoten (2x24 Kerne)", "nodes (4 GPUs)", "nodes")]
    [128, 48, 0, 0]
    """
    match = _WHAT_EACH_HAS.search(name)
    if match is None or "cores" not in (kind_of(match["what"]), kind_of(f"{match['what']}s")):
        return 0
    return int(match["n"]) * int(match["m"] or 1)


def kind_of(name: str) -> str:
    """Return what a parameter counts by its name: cores, nodes, ranks, per node, per rank, gpus; "" if unknown.

    A name with a factor counts nothing by itself.

    Examples
    --------
    >>> [kind_of(name) for name in ("n_cores", "MPI ranks", "tasks-per-node", "OMP_NUM_THREADS", "grid")]
    ['cores', 'ranks', 'per node', 'per rank', '']
    >>> kind_of("cores [10^3]"), kind_of("Num MPI ranks"), kind_of("total number")
    ('', 'ranks', '')
    >>> kind_of("# nodes (128 cores each)"), kind_of("Machines (num_machines)"), kind_of("nodes (np)")
    ('nodes', 'nodes', '')
    >>> kind_of("cores_actually_used"), kind_of("AllocNodes"), kind_of("memory used")
    ('cores', 'nodes', '')
    """
    if factor_of(name) != 1:
        return ""
    if (named_twice := _NAMED_TWICE.fullmatch(name)) is not None:
        one, other = map(kind_of, named_twice.groups())
        if one and one == other:
            return one
    plain = letters(_WHAT_EACH_HAS.sub("", name))
    bare = _NUMBER_OF.sub("", plain)  # Num MPI ranks, total ranks
    found = _KIND_OF.get(plain) or _KIND_OF.get(bare) or _KIND_OF.get(_HAD.sub("", bare))
    return found or ("per rank" if _OF_EACH_RANK.fullmatch(plain) else "")


def kind_of_parameter(name: str) -> str:
    """Return what `kind_of` does; counts that were requested are those of the runs, if they are a parameter.

    Examples
    --------
    >>> kind_of_parameter("cores_requested"), kind_of_parameter("requested nodes"), kind_of("cores_requested")
    ('cores', 'nodes', '')
    """
    return kind_of(_REQUESTED.sub("", name))


def was_requested(name: str) -> bool:
    """Tell whether a name is that of a count that was asked for, which may not be what a run had.

    Examples
    --------
    >>> [was_requested(name) for name in ("ReqCPUS", "nodes requested", "AllocCPUS", "ReqMem")]
    [True, True, False, False]
    """
    return bool(kind_of_parameter(name)) and not kind_of(name)


def was_used(name: str) -> bool:
    """Tell whether a name is that of a count that runs used or were given, by a word beside the name of the count.

    Examples
    --------
    >>> [was_used(name) for name in ("number of used cores", "AllocCPUS", "cores", "memory used")]
    [True, True, False, False]
    """
    return bool(kind_of(name)) and _HAD.search(_NUMBER_OF.sub("", letters(name))) is not None


def letters(name: str) -> str:
    """Return the letters of a name in lower case, without accents and signs, to look it up.

    Examples
    --------
    >>> letters("Número de núcleos"), letters("Job-ID")
    ('numerodenucleos', 'jobid')
    """
    bare = unicodedata.normalize("NFKD", name.lower().replace("œ", "oe"))  # núcleos: nucleos
    return re.sub(r"[^a-z]", "", bare)
