"""A real Slurm on this machine: its own key, controller and node, on ports of its own, in a folder of its own."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

CPUS = 8
_DAEMONS = ("munged", "slurmctld", "slurmd")


def missing() -> str:
    """Return what of Slurm isn't installed here; "" if all is, and this is root, which starts jobs of others."""
    if os.geteuid() != 0:
        return "root"
    return next((name for name in (*_DAEMONS, "sbatch") if shutil.which(name) is None), "")


class Cluster:
    """A cluster of nodes, all on this machine, that say they have more CPUs than it has."""

    def __init__(self, folder: Path, nodes: int = 1, cpus: int = CPUS) -> None:
        self.folder, self.conf = folder, folder / "slurm.conf"
        host = socket.gethostname().partition(".")[0]
        self.nodes = [host] if nodes == 1 else [f"{host}-{at}" for at in range(nodes)]
        for name in ("munge", "state", "spool", *(f"spool/{node}" for node in self.nodes)):
            (folder / name).mkdir(parents=True, mode=0o755)
        key = folder / "munge" / "key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o600)
        self.conf.write_text(_configuration(folder, self.nodes, cpus))

    @property
    def environment(self) -> dict[str, str]:
        return {"SLURM_CONF": str(self.conf)}

    def start(self) -> None:
        munge = self.folder / "munge"
        files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        self._do("munged", "--force", *(f"--{option}={munge / name}" for option, name in files.items()))
        self.start_controller()
        for node in self.nodes:
            self._do(_real("slurmd"), "-N", node)
        self.wait_for("idle")

    def start_controller(self) -> None:
        self._do(_real("slurmctld"))

    def stop_controller(self) -> None:
        self._kill("slurmctld")

    def stop(self) -> None:
        with suppress(subprocess.CalledProcessError):
            self._do("scancel", "--user=root", check=False)
        for name in ("slurmctld", *(f"slurmd.{node}" for node in self.nodes)):
            self._kill(name)
        _end(self.folder / "munge" / "pid")

    def _kill(self, name: str) -> None:
        _end(self.folder / f"{name}.pid")

    def wait_for(self, state: str) -> None:
        until = time.monotonic() + 60
        while state not in self.ask("sinfo", "--noheader", "--format=%t"):
            if time.monotonic() > until:
                raise TimeoutError((self.folder / "slurmctld.log").read_text()[-2000:])
            time.sleep(0.1)

    def ask(self, *command: str) -> str:
        return self._do(*command, check=False)

    def jobs(self) -> list[str]:
        return self.ask("squeue", "--noheader", "--format=%i").split()

    def _do(self, *command: str, check: bool = True) -> str:
        environment = {**os.environ, **self.environment}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=check, timeout=60)
        return done.stdout


def _real(name: str) -> str:
    """Return Debian's daemon itself: its emulator may be installed, too, and take its name."""
    return shutil.which(f"{name}-wlm") or name


def _end(pid_file: Path) -> None:
    with suppress(OSError, ValueError):
        pid = int(pid_file.read_text())
        os.kill(pid, signal.SIGTERM)
        until = time.monotonic() + 20
        while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
            time.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _configuration(folder: Path, nodes: list[str], cpus: int) -> str:
    host = socket.gethostname().partition(".")[0]
    rows = "\n".join(
        f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={_free_port()} CPUs={cpus} "
        f"RealMemory={500 * cpus} State=UNKNOWN"
        for node in nodes
    )
    return f"""
ClusterName=evenly
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={_free_port()}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
ReturnToService=2
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
MpiDefault=none
SchedulerParameters=sched_interval=1,bf_interval=1,bf_hetjob_immediate
KillWait=3
MinJobAge=60
DefMemPerCPU=200
{rows}
PartitionName=main Nodes={",".join(nodes)} Default=YES MaxTime=INFINITE State=UP
"""
