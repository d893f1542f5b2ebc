"""What Grid Engine's qacct prints about jobs."""

from __future__ import annotations

from pathlib import Path

from evenly.readers.scanning import scan

_JOB = """==============================================================
qname        all.q
hostname     node{n:02}.cluster
group        users
owner        ada
project      NONE
department   defaultdepartment
jobname      wave
jobnumber    {number}
taskid       undefined
account      sge
priority     0
qsub_time    Mon Mar  3 08:00:{n:02} 2025
start_time   Mon Mar  3 08:01:{n:02} 2025
end_time     Mon Mar  3 08:{minute:02}:{n:02} 2025
granted_pe   mpi
slots        {slots}
failed       {failed}
exit_status  {status}
ru_wallclock {wall}s
ru_utime     {utime:.3f}s
ru_stime     {n}.5s
ru_maxrss    {n}12.000KB
ru_minflt    {n}4711
ru_nvcsw     {n}21
cpu          {utime:.3f}s
mem          {n}.250TBs
io           {n}.011GB
iow          0.000s
maxvmem      {n}.100GB
arid         undefined
ar_sub_time  undefined
category     -pe mpi {slots}
"""


def test_jobs_as_qacct_prints_them(tmp_path: Path) -> None:
    path = tmp_path / "jobs.txt"
    path.write_text("".join(
        _JOB.format(n=n, number=4710 + n, slots=8 << n, wall=wall, minute=1 + wall // 60, utime=wall * (8 << n) * 0.97,
                    failed="100 : assumedly after job" if n == 4 else 0, status="137 (Killed)" if n == 4 else 0)
        for n, wall in enumerate((2400, 1260, 660, 360, 60))
    ))  # fmt: skip
    found = scan(path)
    runs = found.runs[""]
    assert runs.parameters == ["slots"]
    assert runs.ok.values.tolist() == [2400, 1260, 660, 360]
    assert "failed, so not learned from: 1 × 100 ('failed')" in " ".join(found.notes)
