"""Damaged files of campaigns are refused, told, and salvaged; those of older versions of evenly are taken over."""

from __future__ import annotations

import shutil
import sqlite3
import warnings
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evenly.campaign import Campaign, Study
from evenly.campaign.checking import check
from evenly.campaign.record import Record
from evenly.campaign.rows import checksum, write
from evenly.campaign.store import Store
from evenly.errors import EvenlyWarning, InputError, ReadError

#: The tables of a file of format version 1.
OLD = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE configurations (id INTEGER PRIMARY KEY, parameters TEXT NOT NULL UNIQUE);
CREATE TABLE records (
    configuration INTEGER NOT NULL REFERENCES configurations, repetition INTEGER NOT NULL, status TEXT NOT NULL,
    quantities TEXT NOT NULL, purpose TEXT NOT NULL, exit_code INTEGER, message TEXT NOT NULL, output TEXT NOT NULL,
    started REAL NOT NULL, took REAL NOT NULL, other_load REAL, machine TEXT NOT NULL,
    PRIMARY KEY (configuration, repetition)
);
CREATE TABLE running (mark TEXT PRIMARY KEY, launcher TEXT NOT NULL, configuration INTEGER NOT NULL);
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a study, and the file of its campaign, which is over: 12 runs of 4 configurations."""
    folder = tmp_path_factory.mktemp("campaign")
    (folder / "study.toml").write_text(
        "[program]\ncommand = 'echo took {n}'\n[parameters]\nn = [1, 2, 3, 4]\n"
        "[time]\npattern = 'took (.*)'\nunit = 's'\n"
        "[repetitions]\nleast = 3\nmost = 3\n[plan]\nanchor_every = 0\n"
    )
    with Campaign(Study.load(folder / "study.toml")) as campaign:
        campaign.run()
        campaign.store.note("anchor", 3)
    return folder


@pytest.fixture
def study(folder: Path, tmp_path: Path) -> Study:
    return Study.load(shutil.copy(folder / "study.toml", tmp_path))


@pytest.fixture
def measured(folder: Path, tmp_path: Path) -> Path:
    """A copy of the campaign's file."""
    return Path(shutil.copy(folder / "study.db", tmp_path))


def alter(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        assert database.execute(statement, values).rowcount


def records(path: Path) -> list[Record]:
    with Store(path) as store:
        return store.records()


def told(path: Path) -> list[str]:
    return [str(damage) for damage in check(path).damages]


def test_a_whole_file_is_not_altered(measured: Path) -> None:
    before = {file.name: file.read_bytes() for file in measured.parent.iterdir()}
    found = check(measured)
    assert (found.runs, found.stored, found.damages, found.has_checksums) == (12, 12, [], True)
    assert {file.name: file.read_bytes() for file in measured.parent.iterdir()} == before


def test_a_changed_time_is_refused_and_its_run_named(measured: Path, study: Study) -> None:
    alter(measured, "UPDATE records SET quantities = replace(quantities, '2.0', '1.0') WHERE quantities LIKE '%2.0%'")
    words = told(measured)
    assert len(words) == 3
    assert "(n = 2), repetition 0: its values are not those that evenly stored" in words[0]
    with pytest.raises(ReadError, match=r"study.db: it is damaged \(run of .*n = 2.*and 2 more.*evenly runs check"):
        Campaign(study)


@pytest.mark.parametrize("table", ["about", "configurations", "records"])
def test_a_deleted_row_is_noticed(table: str, measured: Path, study: Study) -> None:
    alter(measured, f"DELETE FROM {table} WHERE rowid = (SELECT max(rowid) FROM {table})")  # noqa: S608
    with pytest.raises(ReadError, match="evenly runs check"):
        Campaign(study)


def test_what_is_salvaged_is_continued(measured: Path, study: Study, tmp_path: Path) -> None:
    alter(measured, "UPDATE records SET took = took + 1 WHERE repetition = 1")
    new, before = tmp_path / "new.db", measured.read_bytes()
    found = check(measured, salvage=new)
    assert measured.read_bytes() == before
    assert (found.runs, found.stored, len(found.damages)) == (8, 12, 4)
    kept = records(new)
    with Campaign(study, new) as campaign:
        campaign.run()
        made = campaign.store.records()
    assert made[: len(kept)] == kept
    # The runs that were lost are made again, under numbers that no run had.
    assert len(made) == 12
    assert {r.repetition for r in made[len(kept) :]} == {3}


def test_a_run_that_ended_its_machine_gets_a_number_of_its_own(measured: Path, study: Study, tmp_path: Path) -> None:
    with Store(measured) as store:
        store.note("interrupted", {"2": 4})
    alter(measured, "UPDATE records SET took = took + 1 WHERE configuration = 2 AND repetition = 1")
    check(measured, salvage=tmp_path / "new.db")
    with pytest.warns(EvenlyWarning, match="killed 4 times"), Campaign(study, tmp_path / "new.db") as campaign:
        made = [(r.repetition, r.status) for r in campaign.store.records() if r.configuration == 2]
    assert made == [(0, "ok"), (2, "ok"), (3, "failed")]


def test_runs_without_their_configuration_are_lost(measured: Path, study: Study, tmp_path: Path) -> None:
    alter(measured, "UPDATE configurations SET parameters = replace(parameters, '{', '[') WHERE id = 3")
    words = told(measured)
    assert words[0] == "configuration 3: its values are not those that evenly stored"
    assert "run of configuration 3, repetition 0: configuration 3 is missing" in words
    assert "the note 'anchor': configuration 3 is missing" in words
    assert check(measured, salvage=tmp_path / "new.db").runs == 9
    with Campaign(study, tmp_path / "new.db") as campaign:
        assert campaign.store.count() == 9
        campaign.run()
        assert len(campaign.runs()) == 12


def test_a_salvaged_file_that_lost_what_was_measured_says_so(measured: Path, study: Study, tmp_path: Path) -> None:
    alter(measured, "DELETE FROM about WHERE key = 'measured_as'")
    check(measured, salvage=tmp_path / "new.db")
    with pytest.warns(EvenlyWarning, match="doesn't tell what its runs measured"), Campaign(study, tmp_path / "new.db"):
        pass
    Campaign(study, tmp_path / "new.db").store.close()


def test_the_new_file_may_not_be_there(measured: Path, tmp_path: Path) -> None:
    (tmp_path / "new.db").write_text("mine")
    for new in (tmp_path / "new.db", measured):
        with pytest.raises(InputError, match="is there already: give the name of a new file"):
            check(measured, salvage=new)
    assert (tmp_path / "new.db").read_text() == "mine"
    with pytest.raises(InputError, match="can't be written: No such file"):
        check(measured, salvage=tmp_path / "nowhere" / "new.db")


def test_what_cannot_be_checked(measured: Path, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="it is a folder: name a store of runs"):
        check(tmp_path)
    with pytest.raises(ReadError, match="there is no such file"):
        check(tmp_path / "gone.db")
    with Store(measured), pytest.raises(InputError, match="another campaign is writing"):
        check(measured)
    (tmp_path / "notes.db").write_text("notes, many notes, and more of them\n" * 100)
    with pytest.raises(ReadError, match="nothing of a campaign can be found in it"):
        check(tmp_path / "notes.db")
    with closing(sqlite3.connect(tmp_path / "other.db")) as database, database:
        database.execute("CREATE TABLE pigeons (name)")
    with pytest.raises(ReadError, match="nothing of a campaign can be found in it"):
        check(tmp_path / "other.db")


def test_an_emptied_file_is_no_new_one(measured: Path, study: Study) -> None:
    measured.write_bytes(b"")
    with pytest.raises(ReadError, match="it is empty"):
        Campaign(study)


def test_a_log_without_its_file_is_kept(measured: Path, study: Study) -> None:
    log = measured.with_name("study.db-wal")
    with Store(measured) as store:
        store.note("some", "note")
        data = log.read_bytes()
    measured.unlink()
    log.write_bytes(data)
    with pytest.raises(InputError, match=r"study.db is missing, but its log .*-wal is there and may hold runs"):
        Campaign(study)
    assert log.read_bytes() == data


def test_a_newer_file_is_not_called_damaged(measured: Path, study: Study) -> None:
    with Store(measured) as store:
        store.note("version", 99)
    alter(measured, "ALTER TABLE records ADD COLUMN energy")
    for use in (Campaign, lambda _: check(measured)):
        with pytest.raises(ReadError, match="format version 99 is not known: use a newer evenly"):
            use(study)


def test_an_interruption_between_writing_and_noting_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows in memory never differ from those of the file."""

    def interrupted(*arguments: Any) -> None:
        write(*arguments)
        raise KeyboardInterrupt

    with Store(tmp_path / "runs.db") as store:
        number = store.add_configurations([{"n": 1}])[0]
        with monkeypatch.context() as patch:
            patch.setattr("evenly.campaign.store.write", interrupted)
            with pytest.raises(KeyboardInterrupt):
                store.add(Record(number, 0, "ok", {"seconds": 1.0}))
        assert store.count() == 1
        store.add(Record(number, 1, "ok", {"seconds": 1.0}))
        with pytest.raises(InputError, match="repetition 1, is stored already"):
            store.add(Record(number, 1, "ok", {"seconds": 2.0}))
    assert check(tmp_path / "runs.db").damages == []
    stored = [(r.repetition, r.quantities) for r in records(tmp_path / "runs.db")]
    assert stored == [(0, {"seconds": 1.0}), (1, {"seconds": 1.0})]


# ---- files of older versions ------------------------------------------------------------------------------------


@pytest.fixture
def old(measured: Path) -> Path:
    """The same file as an older evenly would have written it."""
    new = measured.with_name("as-written-now.db")
    shutil.move(measured, new)
    with Store(new) as store:  # it kept no details
        store.put([record._replace(details={}) for record in store.records()])
    with closing(sqlite3.connect(new)) as source, closing(sqlite3.connect(measured)) as target, target:
        target.executescript(OLD)
        for table in ("about", "configurations", "records"):
            for row in source.execute(f"SELECT * FROM {table}"):  # noqa: S608
                if row[0] != "rows":
                    values = ("version", "1") if row[0] == "version" else row[: 12 if table == "records" else 2]
                    target.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)  # noqa: S608
    return measured


def written_to(study: Study) -> None:
    """Add something to the study's file."""
    with Campaign(study) as campaign:
        campaign.store.note("added", 1)


def test_an_old_file_is_taken_over_and_says_so_once(old: Path, study: Study) -> None:
    found = check(old)
    assert (found.runs, found.damages, found.has_checksums) == (12, [], False)
    with pytest.warns(EvenlyWarning, match="older evenly wrote .*its 12 runs are believed as they are"):
        written_to(study)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert records(old) == records(old.with_name("as-written-now.db"))
        assert len(Campaign(study).runs()) == 12
    assert check(old).has_checksums


def second_version(path: Path) -> None:
    """Write a file as the second version of evenly's files was: without details of runs."""
    with closing(sqlite3.connect(path)) as database, database:
        for rowid, *row in database.execute("SELECT rowid, * FROM records").fetchall():
            database.execute("UPDATE records SET checksum = ? WHERE rowid = ?", (checksum("records", row[:-2]), rowid))
        database.execute("ALTER TABLE records DROP COLUMN details")
        told = ("version", "2")
        database.execute(
            "UPDATE about SET value = ?, checksum = ? WHERE key = ?", ("2", checksum("about", told), "version")
        )


def test_a_file_of_the_second_version_is_read_and_taken_over(measured: Path, study: Study) -> None:
    made = [record._replace(details={}) for record in records(measured)]
    second_version(measured)
    before = measured.read_bytes()
    found = check(measured)
    assert (found.runs, found.damages, found.has_checksums) == (12, [], True)
    assert measured.read_bytes() == before
    with pytest.warns(EvenlyWarning, match="from now on, older versions of evenly can't open the file"):
        written_to(study)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert records(measured) == made


@pytest.mark.parametrize("version", [1, 2])
def test_who_only_looks_at_an_old_file_leaves_it_as_it_is(version: int, request: pytest.FixtureRequest) -> None:
    place: Path = request.getfixturevalue("old" if version == 1 else "measured")
    study: Study = request.getfixturevalue("study")
    if version == 2:
        second_version(place)
    before = place.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Campaign(study) as campaign:
            assert len(campaign.runs()) == 12
    assert place.read_bytes() == before


def test_the_good_rows_of_a_damaged_file_of_the_second_version_are_salvaged(measured: Path, tmp_path: Path) -> None:
    second_version(measured)
    alter(measured, "UPDATE records SET took = 7 WHERE rowid = 2")
    assert check(measured, salvage=tmp_path / "new.db").runs == 11
    assert len(records(tmp_path / "new.db")) == 11


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE records SET quantities = '{' WHERE rowid = 2", "run of configuration .*: its values are not those"),
        ("UPDATE records SET quantities = '{}' WHERE rowid = 2", "run of configuration .*: its values are not those"),
        ("UPDATE records SET took = 'long' WHERE rowid = 2", "run of configuration .*: its values are not those"),
        ("UPDATE records SET status = 'good' WHERE rowid = 2", "run of configuration .*: its values are not those"),
        ("UPDATE configurations SET parameters = '[]' WHERE id = 2", "configuration 2: its values are not those"),
        ("UPDATE configurations SET parameters = '{\"m\": 1}' WHERE id = 2", "configuration 2: it lacks n"),
        ("UPDATE about SET value = '[1]' WHERE key = 'measured_as'", "the note 'measured_as': its values"),
        ("UPDATE about SET value = '7' WHERE key = 'anchor'", "the note 'anchor': configuration 7 is missing"),
        ("DELETE FROM about WHERE key = 'version'", "the note 'version': it is missing"),
        ("DELETE FROM configurations WHERE id = 2", "configuration 2 is missing"),
        ("ALTER TABLE records RENAME COLUMN took TO lasted", "the table records: it lacks the column took"),
    ],
)
def test_a_damaged_old_file_is_refused_and_not_altered(statement: str, words: str, old: Path, study: Study) -> None:
    with closing(sqlite3.connect(old)) as database, database:
        database.execute(statement)
    before = old.read_bytes()
    with pytest.raises(ReadError, match=words):
        Campaign(study)
    assert old.read_bytes() == before
    assert told(old)


def test_the_good_rows_of_an_old_file_are_salvaged(old: Path, tmp_path: Path) -> None:
    alter(old, "UPDATE records SET quantities = '{' WHERE rowid = 2")
    assert check(old, salvage=tmp_path / "new.db").runs == 11
    assert len(records(tmp_path / "new.db")) == 11
