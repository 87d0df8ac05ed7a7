"""Write `src/credimi/__init__.pyi`: the public names with all their keywords, as editors and type checkers read them.

    python3 tools/stubs.py            write the file
    python3 tools/stubs.py --check    only tell whether it is what would be written (exit code 1 if it is not)

The questions take their shared keywords from records (`core/keywords.py`), which a type checker cannot follow. Their
signatures are therefore written out here; everything else is imported from where it is.
"""

import ast
import inspect
import re
import sys
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import credimi

STUB = Path(credimi.__file__).with_suffix(".pyi")
_HEAD = '''"""The public names, for editors and type checkers. Written by tools/stubs.py."""\n'''
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


def module_of(name: str) -> str:
    """The module that a public name is loaded from."""
    return credimi._MODULE_OF[name]  # noqa: SLF001  (the list of public names)


def imported_by(module: str) -> dict[str, str]:
    """The names that a module imports or defines, those for type checkers too, and the module of each."""
    tree = ast.parse(Path(import_module(module).__file__ or "").read_text(encoding="utf-8"))
    found = {node.name: module for node in tree.body if isinstance(node, ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {each.asname or each.name: node.module for each in node.names}
        elif isinstance(node, ast.Import):
            found |= {each.asname or each.name: f"{each.name} as {each.asname or each.name}" for each in node.names}
    return found


def records_of(module: str) -> dict[str, str]:
    """What annotations of keywords may name: what the module of the function and those of the records import."""
    found: dict[str, str] = {}
    for each in ("credimi.counts.reading", "credimi.inference.belief", module):
        found |= imported_by(each)
    return found


def written(name: str, function: object, imports: dict[str, set[str]]) -> str:
    """The signature of a function; what its annotations name is noted in `imports`."""
    signature, known = inspect.signature(function), records_of(module_of(name))  # type: ignore[arg-type]
    annotations = [str(each.annotation) for each in signature.parameters.values()] + [str(signature.return_annotation)]
    for word in {word for each in annotations for word in _NAME.findall(each)} & set(known):
        module = known[word]
        imports[module].add("" if " as " in module else word)
    parts, starred = [], False
    for each in signature.parameters.values():
        if each.kind is each.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        default = "" if each.default is each.empty else " = ..."
        parts.append(f"{each.name}: {each.annotation}{default}")
    lines = "".join(f"    {part},\n" for part in parts)
    return f"def {name}(\n{lines}) -> {signature.return_annotation}: ...\n"


def stub() -> str:
    """The text of the file."""
    imports: dict[str, set[str]] = defaultdict(set)
    functions = []
    for name in credimi.__all__:
        if name == "__version__":
            continue
        value = getattr(credimi, name)
        if hasattr(value, "keywords") and not inspect.isclass(value):
            functions.append(written(name, value, imports))
        else:
            imports[module_of(name)].add(f"{name} as {name}")
    lines = [
        f"from {module} import {each}" if each else f"import {module.split(' as ')[0]}"
        for module, names in sorted(imports.items())
        for each in sorted(names)
        if f"{each} as {each}" not in names
    ]
    listed = "".join(f'    "{name}",\n' for name in credimi.__all__)
    return "\n".join([_HEAD, *lines, "", f"__all__ = [\n{listed}]\n__version__: str\n", *functions])


def main() -> int:
    """Write the file, or compare it."""
    text = stub()
    if sys.argv[1:] == ["--check"]:
        same = STUB.exists() and STUB.read_text(encoding="utf-8") == text
        if not same:
            print(f"{STUB.name} is older than the signatures: run python3 tools/stubs.py")
        return int(not same)
    STUB.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
