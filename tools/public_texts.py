#!/usr/bin/env python3
"""Draw kernel texts from checkouts of public repositories, and compile them with nvcc and with this package.

    ./run tools/public_texts.py FOLDER... --seed 20261129 --number 330

A FOLDER is a checkout. Its texts are the files .cu, and the strings of Python files and notebooks, that contain
__global__. At most --of-each texts of a folder are drawn. Names in templates of Python (%(name)s, ${name}, {name})
become 16. Names in capitals that nvcc finds undefined are defined as 16, because programs define them by -D. Headers
are found beside the text, in FOLDER, and in FOLDER's include, inc and src. --each prints a row for each FOLDER.

nvcc comes from PATH, or is the program --nvcc. This package compiles each text twice: without nvcc, and with nvcc.
The verdicts are printed as the table of docs/packages.md, failures first. The verdict and the first error of each text
are in build/public_texts/SEED.tsv, and the texts beside it, in the folder SEED.

Exits with 1 if nvcc accepts a text that this package refuses with nvcc.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pycuda.driver as cuda
from pycuda import compiler

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "public_texts"
ARCHITECTURE = "compute_80"
ROUNDS = 5  # in which nvcc names undefined names in capitals
PLACE = re.compile(r"%\(\w+\)[sdrif]|\$\{\w+\}|\$\w+\b|%[sd](?=\W)")
# Failures first.
VERDICTS = {
    "only nvcc": "refused here with nvcc, but accepted by nvcc",
    "only with nvcc": "refused here without nvcc, but compiled with nvcc",
    "only here": "accepted here without nvcc, but refused by nvcc",
    "neither": "refused by both",
    "both": "accepted by both",
}


@dataclass(frozen=True)
class Text:
    """A kernel's source, its repository and its file there."""

    repository: str
    file: Path
    source: str
    root: Path  # of the checkout

    @property
    def include_folders(self) -> list[Path]:
        parts = (self.root / part for part in ("", "include", "inc", "src"))
        return list(dict.fromkeys([self.file.parent, *filter(Path.is_dir, parts)]))

    @property
    def key(self) -> str:
        return hashlib.sha256(self.source.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Verdict:
    kind: str
    error: str = ""


def strings(source: str) -> Iterator[str]:
    """The strings of a Python program; those in triple quotes if only Python 2 reads the program."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError):
        quoted = r"(\"\"\"|''')(.*?)\1"
        yield from (found[2] for found in re.finditer(quoted, source, re.DOTALL))
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (getattr(part, "value", None) for part in node.values)
            yield "".join(part if isinstance(part, str) else "16" for part in parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def notebook_code(text: str) -> str:
    try:
        cells = json.loads(text).get("cells", [])
    except (ValueError, AttributeError):
        return ""
    code = ("".join(c.get("source", [])) for c in cells if c.get("cell_type") == "code")
    return "\n".join(code)


def filled(source: str) -> str:
    """The source with 16 in the places of a template."""
    source = PLACE.sub("16", source)
    if "{{" in source and "}}" in source:  # a text for str.format()
        source = re.sub(r"(?<!\{)\{\w+\}(?!\})", "16", source)
        source = source.replace("{{", "{").replace("}}", "}")
    return source


def texts_of(folder: Path) -> Iterator[Text]:
    for file in sorted(folder.rglob("*")):
        if file.suffix not in (".cu", ".py", ".ipynb") or not file.is_file():
            continue
        content = file.read_text(errors="replace")
        if "__global__" not in content:
            continue
        if file.suffix == ".cu":
            yield Text(folder.name, file, content, folder)
            continue
        code = notebook_code(content) if file.suffix == ".ipynb" else content
        for string in strings(code):
            if "__global__" in string and "{" in string:
                yield Text(folder.name, file, filled(string), folder)


def drawn(folders: list[Path], seed: int, number: int, of_each: int) -> list[Text]:
    chosen, seen = [], set()
    rng = random.Random(seed)
    for folder in sorted(folders):
        texts = {text.key: text for text in texts_of(folder)}
        new = [text for key, text in texts.items() if key not in seen]
        seen.update(texts)
        chosen += rng.sample(new, min(of_each, len(new)))
    print(f"{len(seen)} texts of {len(folders)} folders", file=sys.stderr)
    return rng.sample(chosen, min(number, len(chosen)))


def first_error(log: str) -> str:
    found = re.search(r"error\s*:\s*(.*)", log)
    lines = log.strip().splitlines()
    return found[1] if found else lines[-1] if lines else "no message"


def ask_nvcc(nvcc: str, file: Path, options: list[str]) -> str | None:
    """The messages if nvcc refuses the file."""
    with tempfile.TemporaryDirectory() as folder:
        command = [nvcc, "-arch=" + ARCHITECTURE, "-w", "--ptx", *options, str(file)]
        command += ["-o", folder + "/kernel.ptx"]
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=600
        )
        return None if done.returncode == 0 else done.stdout + done.stderr


def ask_package(nvcc: str, source: str, text: Text, options: list[str]) -> str | None:
    """The messages if this package refuses the text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiler.compile(
                source,
                nvcc=nvcc,
                options=options,
                arch=ARCHITECTURE,
                target="ptx",
                no_extern_c=True,
                cache_dir=False,
                include_dirs=[str(folder) for folder in text.include_folders],
            )
    except cuda.CompileError as reason:
        return str(reason)
    return None


def verdict(text: Text, nvcc: str, folder: Path) -> Verdict:
    file = folder / f"{text.repository}.{text.key}.cu"
    file.write_text(text.source)
    includes = [f"-I{part}" for part in text.include_folders]
    options = includes.copy()
    for _ in range(ROUNDS):
        refused = ask_nvcc(nvcc, file, options)
        names = re.findall(
            r'identifier "([A-Z][A-Z0-9_]+)" is undefined', refused or ""
        )
        if not names:
            break
        options += [f"-D{name}=16" for name in dict.fromkeys(names)]
    definitions = options[len(includes) :]
    alone = ask_package("nvrtc", text.source, text, definitions)
    if alone is None:
        return (
            Verdict("only here", first_error(refused)) if refused else Verdict("both")
        )
    if refused:
        return Verdict("neither", first_error(refused))
    with_nvcc = ask_package(nvcc, text.source, text, definitions)
    if with_nvcc is None:
        return Verdict("only with nvcc", first_error(alone))
    return Verdict("only nvcc", first_error(with_nvcc))


def table(verdicts: list[Verdict]) -> str:
    counts = Counter(verdict.kind for verdict in verdicts)
    rows = [f"| {words} | {counts[kind]} |" for kind, words in VERDICTS.items()]
    return "\n".join(["| texts | number |", "|-|-:|", *rows])


def table_of_each(texts: list[Text], verdicts: list[Verdict]) -> str:
    """A row for each repository: its texts that nvcc accepts, and those of them that compile here."""
    rows = [
        "| repository | texts | nvcc | here with nvcc | without |",
        "|-|-:|-:|-:|-:|",
    ]
    for name in dict.fromkeys(text.repository for text in texts):
        kinds = Counter(
            v.kind for t, v in zip(texts, verdicts, strict=True) if t.repository == name
        )
        alone, with_nvcc = kinds["both"], kinds["both"] + kinds["only with nvcc"]
        accepted = with_nvcc + kinds["only nvcc"]
        rows.append(
            f"| {name} | {kinds.total()} | {accepted} | {with_nvcc} | {alone} |"
        )
    return "\n".join(rows)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    options.add_argument("--seed", type=int, required=True)
    options.add_argument("--number", type=int, default=330)
    options.add_argument("--of-each", type=int, default=12)
    options.add_argument("--each", action="store_true")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--nvcc", default=shutil.which("nvcc"), metavar="PROGRAM")
    arguments = options.parse_args()
    if not arguments.nvcc:
        options.error("nvcc is not in PATH: name the program by --nvcc")
    kept = RESULTS / str(arguments.seed)
    kept.mkdir(parents=True, exist_ok=True)
    folders = [folder.resolve() for folder in arguments.folders]
    texts = drawn(folders, arguments.seed, arguments.number, arguments.of_each)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        verdicts = list(
            pool.map(lambda text: verdict(text, arguments.nvcc, kept), texts)
        )
    rows = zip(texts, verdicts, strict=True)
    lines = [f"{v.kind}\t{t.repository}.{t.key}\t{t.file}\t{v.error}" for t, v in rows]
    (RESULTS / f"{arguments.seed}.tsv").write_text("\n".join(sorted(lines)) + "\n")
    print(f"{len({text.repository for text in texts})} repositories", file=sys.stderr)
    print(table_of_each(texts, verdicts) if arguments.each else table(verdicts))
    return 1 if any(verdict.kind == "only nvcc" for verdict in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
