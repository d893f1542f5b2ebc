"""How many simulations a script makes, as its text tells: none is run for this.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     script = Path(folder) / "sweep.py"
...     _ = script.write_text("for size in (2, 3): mp.Simulation(size)")
...     simulations_in(script), makes_several(script)
(2, True)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

__all__ = ["makes_others_after", "makes_several", "simulations_in"]

_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.Lambda)
_BLOCKS = ("body", "orelse", "finalbody")
Names = set[str]


def simulations_in(path: Path) -> int:
    """Return how many simulations the text of a script makes at most in one place: itself, or one of its functions.

    A call of a function that makes one counts as one, a call in a loop as two. It is 0 if the script isn't Python, or
    makes none.
    """
    tree = _tree(path)
    if tree is None:
        return 0
    makers = _makers(tree)
    return max(_calls(scope, makers) for scope in (tree, *_functions(tree)))


def makes_several(path: Path) -> bool:
    """Return whether a script may make several simulations: in a loop, or by a function that isn't called just once."""
    tree = _tree(path)
    if tree is None:
        return False
    used = [_name(node) for node in ast.walk(tree)]
    called = [_name(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    functions = _makers(tree) - {"Simulation"}
    return simulations_in(path) > 1 or any((used.count(name), called.count(name)) != (1, 1) for name in functions)


def _tree(path: Path) -> ast.Module | None:
    try:
        return ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # Python itself reports the error when it runs the script


def _makers(tree: ast.Module) -> Names:
    """Return the names of what makes a simulation: the class, and functions that call one of these."""
    makers = {"Simulation"}
    while True:
        more = {getattr(function, "name", "lambda") for function in _functions(tree) if _calls(function, makers)}
        if more <= makers:
            return makers
        makers |= more


def _functions(tree: ast.Module) -> list[ast.AST]:
    return [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]


def _calls(scope: ast.AST, names: Names, times: int = 1) -> int:
    """Return how often a module or a function, without the functions in it, calls one of these names."""
    count = 0
    for node in ast.iter_child_nodes(scope):
        if not isinstance(node, _FUNCTIONS):
            count += times * (isinstance(node, ast.Call) and _name(node.func) in names)
            count += _calls(node, names, 2 if isinstance(node, _LOOPS) else times)
    return count


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def makes_others_after(script: str, frame: FrameType | None, trusted: Sequence[str], repeating: str) -> bool:
    """Return whether a script may make another simulation, or reset one, after the point at which it is.

    Parameters
    ----------
    script : str
        The script, as the frames name it.
    frame : frame, optional
        The innermost frame of the stack.
    trusted : sequence of str
        Folders of packages that call no function of the script twice. Any other code may.
    repeating : str
        Folder of a package that runs each simulation several times: ``meep.adjoint`` runs it forwards, then backwards.
    """
    tree = _tree(Path(script))
    if tree is None:
        return False
    makers, others = _makers(tree) | {"reset_meep"}, False
    while frame is not None:
        file, name = frame.f_code.co_filename, frame.f_code.co_name
        if file.startswith(repeating):
            return True
        if file == script:
            blocks = [tree.body] if name == "<module>" else _bodies(tree, name)
            if others or any(_follows(block, frame.f_lineno, makers) for block in blocks):
                return True
        others = others or (file != script and not file.startswith(tuple(trusted)))
        frame = frame.f_back
    return False


def _bodies(tree: ast.Module, name: str) -> list[list[ast.stmt]]:
    return [node.body for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name]


def _follows(block: Sequence[ast.stmt], line: int, makers: Names) -> bool:
    """Return whether a statement of a block that may come after the one at a line uses one of some names."""
    for number, statement in enumerate(block):
        if _holds([statement], line):
            inner = next((part for part in _parts(statement) if _holds(part, line)), None)
            if inner is None:
                here = _calls(statement, makers) > 1 or _uses(statement, makers) > _calls(statement, makers)
            else:
                here = (
                    bool(_uses(statement, makers)) if isinstance(statement, _LOOPS) else _follows(inner, line, makers)
                )
            return here or any(_uses(later, makers) for later in block[number + 1 :])
    return False


def _holds(block: Sequence[ast.stmt], line: int) -> bool:
    return block[0].lineno <= line <= (block[-1].end_lineno or line)


def _parts(statement: ast.stmt) -> list[list[ast.stmt]]:
    """Return the blocks of statements in a statement."""
    inside = [*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]
    parts = [getattr(one, name, []) for one in (statement, *inside) for name in _BLOCKS]
    return [part for part in parts if part]


def _uses(scope: ast.AST, names: Names) -> int:
    """Return how often a statement uses one of some names, without the functions that it defines."""
    if isinstance(scope, ast.FunctionDef):
        return 0
    return (_name(scope) in names) + sum(_uses(node, names) for node in ast.iter_child_nodes(scope))
