"""Mesh headers: the top-level number of elements."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenly.errors import ReadError
from evenly.readers.apes.seeder_header import MeshHeader, read_mesh_header


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "header.lua"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("name", "elements"), [("header_3field_mesh_euler.lua", 448), ("header_shear_layer_Q4.lua", 128)]
)
def test_real_headers(samples: Path, name: str, elements: int) -> None:
    assert read_mesh_header(samples / "seeder" / name) == MeshHeader(elements, 4, 4)


def test_other_elements_within_properties_do_not_count(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        " property = {\n    {\n  nElems = 7\n }\n}\n-- nElems = 1\n text = 'nElems = 2 {'\n nElems = 32768 -- all\n",
    )
    header = read_mesh_header(path)
    assert (header.elements, header.level) == (8**5, 5.0)


@settings(deadline=None)
@given(st.integers(0, 15))
def test_the_level_of_a_full_cube_is_whole(level: int) -> None:
    assert MeshHeader(8**level).level == level


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("a = 1\n", "there is no top-level nElems"),
        ("property = {\n nElems = 4\n}\n", "there is no top-level nElems"),
        ("nElems = many\n", "line 1: nElems must be a positive whole number, but got 'many'"),
        ("\nnElems = 0\n", "line 2: nElems must be a positive whole number"),
        ("nElems = 1.5\n", "got '1.5'"),
        ("nElems = 4\nminLevel = x\n", "line 2: minLevel"),
        ("nElems = 4\nproperty = {\n {\n", "the file ends within a table: it was cut off"),
        ("nElems = 4\n}\n", "line 2: a brace is closed that was never opened"),
    ],
)
def test_a_broken_header_says_where_and_why(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read_mesh_header(write(tmp_path, content))


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.binary(max_size=60), st.text("nElems =123{}'\"-\n\\", max_size=60).map(str.encode)))
def test_only_read_errors_escape(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = write(tmp_path_factory.getbasetemp(), b"nElems = 8\n" + content)
    try:
        header = read_mesh_header(path)
    except ReadError as error:
        assert str(path) in str(error)  # noqa: PT017 - both ways are allowed
    else:
        assert header.elements >= 1
