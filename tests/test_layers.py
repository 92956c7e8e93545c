"""Data flows one way: the import layers, who may import what, and the public names."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import aggmc

ROOT = Path(aggmc.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))

# A module imports its own package and lower layers only; what is not named here stands above the checker.
LAYERS = {
    "errors": 0,
    "boolean": 0,
    "model": 1,
    "ltl": 1,
    "limits": 1,
    "progress": 1,
    "files": 1,
    "pool": 2,
    "live": 2,
    "properties": 2,
    "symbolic": 2,
    "products": 3,
    "fullsymbolic": 3,
    "emptiness": 4,
    "pictures": 3,
    "trace": 5,
    "html": 6,
    "checker": 6,
    "racing": 7,
    "contest": 7,
    "run": 8,
    "info": 8,
    "report": 9,
    "bench": 10,
    "batch": 10,
    "cli": 12,
    "__main__": 13,
}
ABOVE_CHECKER = 9


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def unit(module: str) -> str:
    """The package or top-level module below aggmc."""
    return module.split(".")[1] if "." in module else ""


def layer(module: str) -> int:
    return LAYERS.get(unit(module), ABOVE_CHECKER)


def imports(path: Path) -> set[str]:
    """Every module that is imported, at the top or in a function; `from aggmc import x` counts as aggmc.x."""
    known = {name_of(p) for p in MODULES}
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            module = node.module or ""
            for alias in node.names:
                found.add(f"{module}.{alias.name}" if f"{module}.{alias.name}" in known else module)
    return found


IMPORTS = {name_of(path): imports(path) for path in MODULES}
OWN = {name: {i for i in found if i.split(".")[0] == "aggmc"} for name, found in IMPORTS.items()}


@pytest.mark.parametrize("module", [name for name in OWN if name != "aggmc"])
def test_layers(module: str) -> None:
    for imported in OWN[module] - {"aggmc"}:
        same = unit(imported) == unit(module)
        assert same or layer(imported) < layer(module), f"{module} imports {imported}"


def test_packages_are_imported_by_module() -> None:
    """No import of a whole package: its `__init__` gathers nothing."""
    for module, found in OWN.items():
        packages = {i for i in found if (ROOT.parent / Path(*i.split("."))).is_dir()} - {"aggmc"}
        languages = {i for i in packages if i.startswith("aggmc.model.")}
        assert packages == languages, f"{module} imports {packages}"


def test_no_cycles() -> None:
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path, module))
        if module not in done:
            for imported in OWN.get(module, set()) - {"aggmc"}:
                visit(imported, (*path, module))
            done.add(module)

    for module in OWN:
        if module != "aggmc":
            visit(module, ())


@pytest.mark.parametrize(("library", "package"), [("dd", "symbolic"), ("spot", "ltl"), ("buddy", "ltl")])
def test_engines_have_one_home(library: str, package: str) -> None:
    users = {unit(m) for m, found in IMPORTS.items() if library in {i.split(".")[0] for i in found}}
    assert users <= {package}
    assert users or library == "buddy"


def test_emptiness_knows_the_protocol_only() -> None:
    for module, found in OWN.items():
        if unit(module) == "emptiness":
            assert {i for i in found if unit(i) != "emptiness"} <= {"aggmc.products.protocol", "aggmc.errors"}


def test_products_do_not_know_each_other() -> None:
    for module, found in OWN.items():
        if unit(module) == "products":
            assert {i for i in found if unit(i) == "products"} <= {"aggmc.products.protocol"}, module


def test_languages_are_known_to_the_loader_only() -> None:
    """Encoder, interpreter of the core, products, traces: none of them knows a language."""
    for module, found in OWN.items():
        for imported in found:
            parts = imported.split(".")
            if len(parts) > 2 and parts[1] == "model" and (ROOT / "model" / parts[2]).is_dir():
                contest = unit(module) == "contest" and parts[2] == "pnml"  # whose models are nets
                assert contest or module.startswith(f"aggmc.model.{parts[2]}"), f"{module} imports {imported}"


def test_only_the_command_line_prints() -> None:
    for path in MODULES:
        if unit(name_of(path)) in ("cli", "__main__", "progress", "bench"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                assert ast.unparse(node.func) not in ("print", "sys.exit", "exit", "quit"), f"{path}:{node.lineno}"


def test_public_names() -> None:
    assert set(aggmc.__all__) == {
        "PRODUCTS",
        "AggmcError",
        "InputError",
        "InternalError",
        "LimitReached",
        "Model",
        "ModelError",
        "RaceVerdict",
        "Trace",
        "UnsupportedError",
        "Verdict",
        "automaton",
        "check",
        "load_model",
        "race",
    }
    assert len(aggmc.__all__) == len(set(aggmc.__all__))
    for name in aggmc.__all__:
        value = getattr(aggmc, name)
        assert name == "PRODUCTS" or value.__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'chek'"):
        _ = aggmc.chek  # type: ignore[attr-defined]


def test_import_is_lazy() -> None:
    """`import aggmc` loads no engine."""
    code = "import sys, aggmc; print(sorted({'spot', 'dd', 'lark', 'typer', 'rich'} & set(sys.modules)))"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT.parent
    ).stdout
    assert found.strip() == "[]"
