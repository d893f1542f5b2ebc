"""Where tests find real measurement files, how many threads they take, and which of them may run at once."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# A timing is never a test, and the first example of a property may compile something. CI repeats the same examples in
# each run, so fewer do there.
settings.register_profile("evenly", deadline=None, max_examples=40 if os.environ.get("CI") else 100)
settings.load_profile("evenly")

# A library's threads wait for each other by spinning: where cores are shared, a small eigenvalue problem takes ten
# times as long on two threads as on one. Libraries read this when they are loaded, here and in processes of tests.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# A shell ignores Ctrl-C in what it runs in the background, and so would all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[1]


#: Tests that start several ranks, wait for them or stop them: one after the other, since ranks that wait for a core
#: make others wait. A folder stands for all that is in it.
WITH_RANKS = (
    "tests/parallel", "tests/adapters/meep", "tests/cli/commands/test_fdtd.py", "tests/docs",
    "tests/fdtd/running/test_compilation.py", "tests/demo", "tests/cli/commands/test_demo.py",
    "tests/chaos/test_kills.py",
)  # fmt: skip
#: What takes long as a whole, left out of make test-fast besides tests marked as slow.
LONG = (
    *WITH_RANKS, "tests/cli/test_forecast_input.py", "tests/fdtd/physics", "tests/fdtd/running/test_relayout.py",
    "tests/fdtd/storage/test_checkpoint.py", "tests/decomposition/forecasting", "tests/decomposition/rebalancing",
    "tests/models/neural_net",
    "tests/models/test_coverage.py", "tests/tuning", "tests/cli/commands/test_tune.py",
    "tests/cli/commands/test_sensitivity.py", "tests/launch", "tests/space/test_constrained_walks.py",
    "tests/campaign/test_campaign.py",
)  # fmt: skip


def _is_in(path: str, places: tuple[str, ...]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests with ranks together, and a module's, which share fixtures; leave coverage out where it costs much."""
    traced: set[str] = set()
    for item in items:
        path = item.path.relative_to(ROOT).as_posix()
        item.add_marker(pytest.mark.xdist_group("ranks" if _is_in(path, WITH_RANKS) else path))
        function = item.nodeid.partition("[")[0]
        if item.get_closest_marker("slow") or function in traced:  # its cases mostly run the same lines
            item.add_marker(pytest.mark.no_cover)
        if _is_in(path, LONG):
            item.add_marker(pytest.mark.long)
        traced.add(function)


def _folder(variable: str, default: Path) -> Path:
    folder = Path(os.environ.get(variable, default))
    if not folder.is_dir():
        pytest.fail(f"the folder {folder} is missing: set {variable} to where it is", pytrace=False)
    return folder


@pytest.fixture(scope="session")
def samples() -> Path:
    """Real log files of real programs."""
    return _folder("EVENLY_SAMPLES", ROOT.parent / "shared" / "samples")


@pytest.fixture(scope="session")
def strangers(samples: Path) -> Path:
    """Files of other people's programs, beside the samples; INDEX.md there has what is right."""
    return _folder("EVENLY_STRANGERS", samples.parent / "strangers")


@pytest.fixture(scope="session")
def data() -> Path:
    """Measured run times for benchmarks."""
    return _folder("EVENLY_DATA", ROOT.parent / "shared" / "data")
