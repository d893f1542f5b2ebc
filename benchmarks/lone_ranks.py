"""One rank of an MPI program alone: a library between the program and Open MPI that plays all the other ranks.

With more ranks than cores, ranks take turns on them and find their caches cold. Alone, a rank runs as on a core of its
own. The program must not depend on what its neighbours send: that is zero here. What all ranks agree on
(MPI_Allreduce, MPI_Bcast) is recorded first by one process that does the work of all, and replayed; after the file's
end, it is the rank's own value.

`lone_ranks_record` and `lone_ranks_play` of the library begin this, with the file, the rank, and how many there are.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef void *p;
enum { APART, RECORD, REPLAY };
static int mode = APART, rank, count;
static FILE *file;
extern int PMPI_Comm_rank(p, int *), PMPI_Comm_size(p, int *), PMPI_Type_size(p, int *);

void lone_ranks_record(const char *path) { mode = RECORD, file = fopen(path, "wb"); }
void lone_ranks_play(const char *path, int rank_, int count_) {
  mode = REPLAY, rank = rank_, count = count_, file = fopen(path, "rb");
}
static int how(p comm) {
  if (mode == APART || comm != dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world")) return APART;
  return mode;
}
static size_t bytes(int many, p type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return (size_t)many * size;
}
static void record(const void *data, size_t size) {
  fwrite(&size, sizeof size, 1, file);
  fwrite(data, 1, size, file);
  fflush(file);
}
static void replay(void *data, size_t size, const void *own) {
  size_t known = 0;
  int more = fread(&known, sizeof known, 1, file) == 1;
  /* A table of what each rank sends to each other one has one entry for one process. */
  int table = more && known != size && size == known * count * count;
  if (table) fseek(file, known, SEEK_CUR);
  if (table || !more) {
    if (own && own != (void *)1) memmove(data, own, size);
    return;
  }
  if (known != size || fread(data, 1, size, file) != size) {
    fprintf(stderr, "Error: the rank alone calls MPI in another order than one process does\n");
    abort();
  }
}
#define AGREED(name, parameters, arguments, comm, data, size, own)      \
  extern int P##name parameters;                                        \
  int name parameters {                                                 \
    if (how(comm) == REPLAY) { replay(data, size, own); return 0; }     \
    int result_ = P##name arguments;                                    \
    if (how(comm) == RECORD) record(data, size);                        \
    return result_;                                                     \
  }
#define PLAYED(name, parameters, arguments, comm, instead)              \
  extern int P##name parameters;                                        \
  int name parameters {                                                 \
    if (how(comm) == REPLAY) { instead; return 0; }                     \
    return P##name arguments;                                           \
  }
AGREED(MPI_Allreduce, (p a, p b, int c, p d, p e, p f), (a, b, c, d, e, f), f, b, bytes(c, d), a)
AGREED(MPI_Scan, (p a, p b, int c, p d, p e, p f), (a, b, c, d, e, f), f, b, bytes(c, d), a)
AGREED(MPI_Bcast, (p a, int b, p c, int d, p e), (a, b, c, d, e), e, a, bytes(b, c), 0)
PLAYED(MPI_Comm_size, (p a, int *b), (a, b), a, *b = count)
PLAYED(MPI_Comm_rank, (p a, int *b), (a, b), a, *b = rank)
PLAYED(MPI_Barrier, (p a), (a), a, (void)0)
PLAYED(MPI_Reduce, (p a, p b, int c, p d, p e, int f, p g), (a, b, c, d, e, f, g), g, memmove(b, a, bytes(c, d)))
PLAYED(MPI_Isend, (p a, int b, p c, int d, int e, p f, p g), (a, b, c, d, e, f, g), f, (void)0)
PLAYED(MPI_Irecv, (p a, int b, p c, int d, int e, p f, p g), (a, b, c, d, e, f, g), f, memset(a, 0, bytes(b, c)))
PLAYED(MPI_Send, (p a, int b, p c, int d, int e, p f), (a, b, c, d, e, f), f, (void)0)
PLAYED(MPI_Recv, (p a, int b, p c, int d, int e, p f, p g), (a, b, c, d, e, f, g), f, memset(a, 0, bytes(b, c)))
extern int PMPI_Waitsome(int, p, int *, int *, p);
int MPI_Waitsome(int a, p b, int *c, int *d, p e) {
  if (mode != REPLAY) return PMPI_Waitsome(a, b, c, d, e);
  *c = a;
  for (int i = 0; i < a; i++) d[i] = i;
  return 0;
}
"""


def build_lone_ranks(folder: Path, mpi: Path) -> Path:
    """Compile the library into a folder, for an Open MPI library, and return its path."""
    source, library = folder / "lone_ranks.c", folder / "lone_ranks.so"
    source.write_text(SOURCE, encoding="utf-8")
    command = ["cc", "-O2", "-w", "-shared", "-fPIC", str(source), "-o", str(library), str(mpi)]
    subprocess.run(command, check=True)
    return library
