"""Tables of jobs as people keep them: what the columns are, units that values settle, and what is asked."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenly.errors import EvenlyError
from evenly.readers.jobs.job_files import read_jobs
from evenly.readers.jobs.jobs import Jobs

HOUR = 3600


@pytest.fixture
def truth() -> pd.DataFrame:
    """Sixty jobs of two users, every fifteenth of which was stopped at its limit."""
    rng = np.random.default_rng(4)
    rows = []
    for i in range(60):
        submit = datetime(2024, 3, 14, 8) + timedelta(minutes=137 * i)
        start = submit + timedelta(seconds=int(rng.integers(0, 900)))
        limit = (2, 4)[i % 2] * HOUR
        stopped = i % 15 == 14
        took = limit if stopped else int(rng.integers(900, 7000))
        rows.append({
            "id": str(1000 + i), "user": ("ada", "bob")[i % 3 == 0], "name": "wave", "cores": (8, 16, 32)[i % 3],
            "submit": submit, "start": start, "end": start + timedelta(seconds=took), "took": took, "limit": limit,
            "state": "TIMEOUT" if stopped else "COMPLETED",
        })  # fmt: skip
    return pd.DataFrame(rows)


def written(folder: Path, columns: dict[str, object], sep: str = ",", name: str = "jobs.csv") -> Path:
    path = folder / name
    pd.DataFrame(columns).to_csv(path, sep=sep, index=False)
    return path


def dates(column: pd.Series, form: str = "%Y-%m-%d %H:%M:%S") -> list[str]:
    return [moment.strftime(form) for moment in column]


def hms(seconds: pd.Series) -> list[str]:
    return [f"{s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}" for s in seconds]


def is_true(jobs: Jobs, truth: pd.DataFrame, *, submit: str = "submit", start: str = "start") -> bool:
    table = jobs.table
    return (
        table["id"].tolist() == truth["id"].tolist()
        and table["user"].tolist() == truth["user"].tolist()
        and table["state"].tolist() == truth["state"].tolist()
        and np.array_equal(table["cores"], truth["cores"])
        and np.array_equal(table["elapsed_s"], truth["took"])
        and np.array_equal(table["limit_s"], truth["limit"])
        and np.array_equal(table["submit"], [t.timestamp() for t in truth[submit].dt.tz_localize("UTC")])
        and np.array_equal(table["start"], [t.timestamp() for t in truth[start].dt.tz_localize("UTC")])
    )


GERMAN, US = "%d.%m.%Y %H:%M:%S", "%m/%d/%Y %I:%M:%S %p"
STATES = {
    "de": {"COMPLETED": "fertig", "TIMEOUT": "timeout"},
    "fr": {"COMPLETED": "terminé", "TIMEOUT": "timeout"},
    "es": {"COMPLETED": "completado", "TIMEOUT": "timeout"},
}


def test_german(truth: pd.DataFrame, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"Job-Nr.": truth.id, "Benutzer": truth.user, "Kerne": truth.cores,
         "Eingereicht am": dates(truth.submit, GERMAN), "Beginn": dates(truth.start, GERMAN),
         "Ende": dates(truth.end, GERMAN), "Zeitlimit (h)": truth.limit // HOUR,
         "Status": truth.state.map(STATES["de"])}, sep=";",
    )  # fmt: skip
    assert is_true(read_jobs(path), truth)


def test_french_without_an_end(truth: pd.DataFrame, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"Tâche": truth.id, "Utilisateur": truth.user, "Cœurs": truth.cores, "Soumis le": dates(truth.submit),
         "Début": dates(truth.start), "Durée (min)": truth.took / 60, "Temps limite (min)": truth.limit // 60,
         "État": truth.state.map(STATES["fr"])}, sep=";",
    )  # fmt: skip
    jobs = read_jobs(path)
    truth["took"] = jobs.number("elapsed_s").round()  # minutes are told with many digits, not exactly
    assert np.abs(jobs.number("elapsed_s") - truth["took"]).max() < 1e-6
    assert np.allclose(jobs.number("end"), jobs.number("start") + jobs.number("elapsed_s"))
    assert jobs.table["state"].tolist() == truth["state"].tolist()


def test_spanish_with_hours_and_minutes(truth: pd.DataFrame, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"Trabajo": truth.id, "Usuario": truth.user, "Núcleos": truth.cores, "Enviado": dates(truth.submit, US),
         "Inicio": dates(truth.start, US), "Fin": dates(truth.end, US), "Límite de tiempo": hms(truth.limit),
         "Estado": truth.state.map(STATES["es"])},
    )  # fmt: skip
    assert is_true(read_jobs(path), truth)


def test_an_hour_without_its_zero(truth: pd.DataFrame, tmp_path: Path) -> None:
    """`8:00` was read behind 01.02.2025, but not behind 2025-02-01."""
    hours = {name: [cell.replace(" 0", " ") for cell in dates(truth[name])] for name in ("submit", "start", "end")}
    assert hours["submit"][0].endswith(" 8:00:00")
    path = written(tmp_path, {"job": truth.id, "user": truth.user, "cores": truth.cores, "submitted": hours["submit"],
                              "start": hours["start"], "end": hours["end"], "state": truth.state,
                              "timelimit (s)": truth.limit})  # fmt: skip
    assert is_true(read_jobs(path), truth)


def plain(truth: pd.DataFrame, **others: object) -> dict[str, object]:
    return {"job": truth.id, "user": truth.user, "cores": truth.cores, "submitted": dates(truth.submit),
            "start": dates(truth.start), "end": dates(truth.end), "state": truth.state, **others}  # fmt: skip


def test_stopped_jobs_settle_the_unit_of_the_limit(truth: pd.DataFrame, tmp_path: Path) -> None:
    jobs = read_jobs(written(tmp_path, plain(truth, timelimit=truth.limit // 60)))
    assert is_true(jobs, truth)
    assert "'timelimit' is the limit in min (stopped jobs took as long" in jobs.notes[0]


def test_the_unit_of_the_limit_is_asked_where_several_fit(truth: pd.DataFrame, tmp_path: Path) -> None:
    columns = plain(truth, timelimit=truth.limit // 60)
    del columns["state"]
    path = written(tmp_path, columns)
    with pytest.raises(EvenlyError, match="'timelimit', as '120', can't be known: say --quantity timelimit=min or"):
        read_jobs(path)
    assert is_true(read_jobs(path, quantities={"timelimit": "min"}), truth)  # those at their limit were stopped
    with pytest.raises(EvenlyError, match="--quantity says the unit of the time limit here"):
        read_jobs(path, quantities={"cores": "min"})


def test_two_fields_are_settled_by_what_jobs_took(truth: pd.DataFrame, tmp_path: Path) -> None:
    jobs = read_jobs(written(tmp_path, plain(truth, timelimit=[f"{s // HOUR:02d}:00" for s in truth.limit])))
    assert is_true(jobs, truth)
    assert "'timelimit' is the limit in hh:mm" in jobs.notes[0]


def test_the_unit_of_the_time_is_settled_by_start_and_end(truth: pd.DataFrame, tmp_path: Path) -> None:
    jobs = read_jobs(written(tmp_path, plain(truth, limit_h=truth.limit // HOUR, walltime=truth.took / 60)))
    np.testing.assert_allclose(jobs.number("elapsed_s"), truth.took)
    assert "'walltime' is what jobs took, in min, as from 'start' to 'end'" in jobs.notes[0]


def test_no_limit(truth: pd.DataFrame, tmp_path: Path) -> None:
    limits = ["UNLIMITED", "Partition_Limit", "", *hms(truth.limit[3:])]
    jobs = read_jobs(written(tmp_path, plain(truth, Timelimit=limits)))
    assert jobs.number("limit_s")[:2].tolist() == [np.inf, np.inf]
    assert np.isnan(jobs.number("limit_s")[2])
    np.testing.assert_array_equal(jobs.number("limit_s")[3:], truth.limit[3:])
    with pytest.raises(EvenlyError, match="line 4: a time limit was expected in column 'Timelimit', but got 'much'"):
        read_jobs(written(tmp_path, plain(truth, Timelimit=[*limits[:2], "much", *limits[3:]])))


def test_ends_of_jobs(truth: pd.DataFrame, tmp_path: Path) -> None:
    truth.loc[3:8, "state"] = ["FAILED", "CANCELLED by 12", "RUNNING", "abgebrochen", "", "OUT_OF_MEMORY"]
    jobs = read_jobs(written(tmp_path, plain(truth, limit_h=truth.limit // HOUR)))
    told = ["FAILED", "CANCELLED", "RUNNING", "abgebrochen", "COMPLETED", "OUT_OF_MEMORY"]
    assert jobs.table["state"].tolist()[3:9] == told
    assert any(note.startswith("1 job has no state: those that ended are taken as completed") for note in jobs.notes)


def test_failed_at_the_limit_is_stopped_there(truth: pd.DataFrame, tmp_path: Path) -> None:
    found = truth.state.replace({"TIMEOUT": "failed", "COMPLETED": "ok"})
    jobs = read_jobs(written(tmp_path, {**plain(truth, limit_h=truth.limit // HOUR), "state": found}))
    assert is_true(jobs, truth)
    assert "4 jobs failed at the time limit, and count as stopped there" in jobs.notes[0]


def test_dates_are_told_apart_by_values(truth: pd.DataFrame, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"job": truth.id, "user": truth.user, "cores": truth.cores, "A": dates(truth.end), "B": dates(truth.submit),
         "C": dates(truth.start), "runtime_s": truth.took, "limit_h": truth.limit // HOUR, "state": truth.state},
    )  # fmt: skip
    assert is_true(read_jobs(path), truth)


def test_a_date_of_which_nothing_tells_what_it_is(truth: pd.DataFrame, tmp_path: Path) -> None:
    columns = {"job": truth.id, "user": truth.user, "cores": truth.cores, "date": dates(truth.submit),
               "runtime_s": truth.took, "limit_h": truth.limit // HOUR, "state": truth.state}  # fmt: skip
    path = written(tmp_path, columns)
    with pytest.raises(EvenlyError, match="whether 'date' is when they were submitted, began or ended is open"):
        read_jobs(path)
    jobs = read_jobs(path, submit="date")
    assert is_true(jobs, truth, start="submit")
    assert "no column says when jobs began" in jobs.notes[0]


def test_day_or_month(truth: pd.DataFrame, tmp_path: Path) -> None:
    few = truth[[t.day <= 12 for t in truth.submit - timedelta(days=12)]].reset_index(drop=True)
    few["submit"] -= timedelta(days=12)
    few = few[few.submit.dt.day <= 12]
    path = written(tmp_path, {"job": few.id, "user": few.user, "cores": few.cores, "runtime_s": few.took,
                              "submitted": dates(few.submit, "%d/%m/%Y %H:%M:%S"), "limit_h": few.limit // HOUR,
                              "state": few.state})  # fmt: skip
    with pytest.raises(EvenlyError, match="say -O dates='day first' or -O dates='month first'"):
        read_jobs(path)
    assert is_true(read_jobs(path, dates="day first"), few, start="submit")


def test_zones(truth: pd.DataFrame, tmp_path: Path) -> None:
    zoned = {name: [f"{(t + timedelta(hours=i % 3)).isoformat()}+0{i % 3}:00" for i, t in enumerate(truth[name])]
             for name in ("submit", "start", "end")}  # fmt: skip
    columns = plain(truth, limit_h=truth.limit // HOUR)
    path = written(tmp_path, {**columns, "submitted": zoned["submit"], "start": zoned["start"], "end": zoned["end"]})
    assert is_true(read_jobs(path), truth)
    with pytest.raises(EvenlyError, match="tell their time zone and those in 'start' don't"):
        read_jobs(written(tmp_path, {**columns, "submitted": zoned["submit"]}))


def test_steps_and_rows_that_tell_of_a_job_again(truth: pd.DataFrame, tmp_path: Path) -> None:
    table = pd.DataFrame(plain(truth, limit_h=truth.limit // HOUR))
    steps = table.assign(job=table["job"] + ".batch", user="", limit_h="")
    path = tmp_path / "jobs.csv"
    pd.concat([table, steps, table[10:15]]).to_csv(path, index=False)
    jobs = read_jobs(path)
    assert is_true(Jobs(jobs.table.iloc[np.argsort(jobs.table["id"].astype(str))].reset_index(drop=True)), truth)
    assert "60 rows are steps of jobs, and left out" in jobs.notes
    assert "5 rows tell of a job again, and are counted once" in jobs.notes


def test_cores_are_asked_or_said(truth: pd.DataFrame, tmp_path: Path) -> None:
    columns = plain(truth, limit_h=truth.limit // HOUR, nodes=truth.cores // 8)
    del columns["cores"]
    path = written(tmp_path, columns)
    with pytest.raises(EvenlyError, match="whether nodes is the cores is open: say it with --cores-are 'nodes "):
        read_jobs(path)
    assert is_true(read_jobs(path, cores_are="nodes * 8"), truth)
    assert is_true(read_jobs(written(tmp_path, {**columns, "tasks_per_node": 8})), truth)
    del columns["nodes"]
    assert np.isnan(read_jobs(written(tmp_path, columns)).number("cores")).all()
    assert (read_jobs(written(tmp_path, columns), constants={"cores": 4}).number("cores") == 4).all()


def test_conditions_on_own_and_on_known_columns(truth: pd.DataFrame, tmp_path: Path) -> None:
    columns = plain(truth, limit_h=truth.limit // HOUR)
    path = written(tmp_path, {"Benutzer" if name == "user" else name: column for name, column in columns.items()})
    theirs = truth[truth.user == "ada"]
    for where in ("Benutzer == 'ada'", "user == 'ada'"):
        assert is_true(read_jobs(path, where=where), theirs), where


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"limit": "limt"}, "names the column 'limt'"),
        ({"parameters": "cores"}, "was read as table, which has no use for 'parameters'"),
        ({"unit": "min"}, "no column holds the time from 'start' to 'end' in min"),
        ({"dates": "dmy"}, "takes 'day first' or 'month first', but got 'dmy'"),
        ({"format": "sacct"}, "no table of jobs"),
        ({"format": "log"}, "log is no format of jobs"),
    ],
)
def test_what_is_refused(truth: pd.DataFrame, tmp_path: Path, options: dict[str, str], said: str) -> None:
    path = written(tmp_path, plain(truth, limit_h=truth.limit // HOUR))
    with pytest.raises(EvenlyError, match=said):
        read_jobs(path, **options)


def test_cores_of_slurms_jobs_can_be_said(tmp_path: Path) -> None:
    path = tmp_path / "jobs.txt"
    path.write_text("JobID|Elapsed|AllocCPUS|NNodes|State\n7|00:01:02|4|2|COMPLETED\n8|00:01:02|4|3|COMPLETED\n")
    assert read_jobs(path, cores_are="nodes * 48").number("cores").tolist() == [96.0, 144.0]
    with pytest.raises(EvenlyError, match="must be made of columns of numbers"):
        read_jobs(path, cores_are="sockets * 48")


def test_numbers_of_repeated_runs_number_no_jobs(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(
        "run,user,submitted,cores,runtime_min\n1,ada,2026-03-01,8,30\n2,ada,2026-03-01,8,31\n1,ada,2026-03-01,8,45\n"
    )
    assert len(read_jobs(path).table) == 3


def test_a_unit_beside_a_table_of_jobs_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("# all times in minutes\nuser,submitted,cores,runtime\nada,2026-03-01 08:00,8,30\n")
    with pytest.raises(EvenlyError, match="'times in minutes' stands beside the table"):
        read_jobs(path)


@pytest.mark.parametrize(("done", "is_read"), [("erledigt", True), ("gut gelaufen", False)])
def test_states_in_german_are_read_or_asked_about(
    truth: pd.DataFrame, tmp_path: Path, done: str, *, is_read: bool
) -> None:
    # A column of states that wasn't understood was left out, and jobs that had failed counted as completed.
    path = written(
        tmp_path,
        {
            "Job": truth.id, "eingereicht": dates(truth.submit), "Knoten": truth.cores // 8,
            "Kerne je Knoten": [8] * len(truth), "Laufzeit [h]": truth.took / HOUR,
            "Zeitgrenze [h]": truth.limit // HOUR, "Zustand": [done, "abgebrochen", done] * (len(truth) // 3),
        },
    )  # fmt: skip
    if not is_read:
        with pytest.raises(EvenlyError, match="the status in column 'Zustand' must be"):
            read_jobs(path)
        return
    table = read_jobs(path).table
    assert table["cores"].tolist() == truth["cores"].tolist()
    assert table["limit_s"].tolist() == truth["limit"].tolist()
    assert table["state"].value_counts().to_dict() == {"COMPLETED": 40, "abgebrochen": 20}


def test_cores_in_labels_are_asked_for(truth: pd.DataFrame, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {
            "job": truth.id,
            "submit": dates(truth.submit),
            "runtime_s": truth.took,
            "resources": ["4 nodes x 48 cores"] * 60,
        },
    )
    with pytest.raises(EvenlyError, match="'resources', named in --cores-are, holds no numbers"):
        read_jobs(path, cores_are="resources")
