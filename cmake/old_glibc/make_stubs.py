#!/usr/bin/env python3
"""Make libraries to link against, with only the symbols of an older glibc.

    make_stubs.py VERSION FOLDER [COMPILER]        e.g. make_stubs.py 2.28 build/glibc-2.28

COMPILER is a C or C++ compiler, by default cc; the stubs are for the processor for which it compiles.
glibc never drops a symbol: a newer one has all versions of all symbols of an older one. So the
older one's table of symbols is this machine's without the versions after VERSION. For a symbol
with several versions the newest remaining one is the one that programs were linked to then.
libgcc_s, which glibc's thread functions need, is limited to the version of those years. Its symbols
without a default version (one @) are only for programs of GCC 4: since then GCC has them in libgcc.a, and they
must come from there. The resolvers of target_clones call __cpu_indicator_init before the loader has bound any call
to another library.

The libraries in FOLDER have these symbols and no code. A library that is linked with
`-L FOLDER` needs nothing that glibc VERSION does not have: a missing symbol is an error of the
linker. Needs readelf.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

# name for -l -> the library that is loaded
LIBRARIES = {
    "c": "libc.so.6",
    "m": "libm.so.6",
    "pthread": "libpthread.so.0",
    "dl": "libdl.so.2",
    "rt": "librt.so.1",
    "gcc_s": "libgcc_s.so.1",
}
LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
NEWEST_GCC = (7, 0, 0)  # symbols of later ones are also in libgcc.a
# Symbols of a library that are in an archive next to it, such as atexit().
ARCHIVES = {"c": "libc_nonshared.a", "gcc_s": "libgcc.a"}
# The last three columns of `readelf --dyn-syms`: size, type, and name@version or name@@version.
SYMBOL = re.compile(
    r"^\s*\d+:\s+[0-9a-f]+\s+(\d+|0x[0-9a-f]+)\s+(FUNC|IFUNC|OBJECT)\s+(?:GLOBAL|WEAK)\s+DEFAULT"
    r"\s+(?!UND)\S+\s+([^@\s]+)(@@?)(GLIBC|GCC)_([0-9.]+)$"
)


@dataclass(frozen=True)
class Symbol:
    """A symbol in the version that the older glibc's linker would select."""

    name: str
    family: str  # GLIBC or GCC
    version: tuple[int, ...]
    size: int
    is_function: bool


def parse_version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def symbols_until(table: str, newest_glibc: tuple[int, ...]) -> list[Symbol]:
    """The symbols in readelf's `table`, each in its newest allowed version."""
    newest = {"GLIBC": newest_glibc, "GCC": NEWEST_GCC}
    found: dict[str, Symbol] = {}
    for line in table.splitlines():
        if match := SYMBOL.match(line):
            size, kind, name, at, family, text = match.groups()
            if family == "GCC" and at == "@":
                continue
            version = parse_version(text)
            known = found.get(name)
            if version <= newest[family] and (known is None or known.version < version):
                is_function = kind != "OBJECT"
                found[name] = Symbol(name, family, version, int(size, 0), is_function)
    return sorted(found.values(), key=lambda symbol: symbol.name)


def assembly(symbols: list[Symbol]) -> str:
    """Source that defines each symbol: functions without code, objects of zeros."""
    lines = []
    for symbol in symbols:
        kind, section = (
            ("function", ".text") if symbol.is_function else ("object", ".bss")
        )
        size = 1 if symbol.is_function else max(symbol.size, 1)
        lines += [
            section,
            f".globl {symbol.name}",
            f".type {symbol.name}, @{kind}",
            f".size {symbol.name}, {size}",
            f"{symbol.name}: .skip {size}",
        ]
    return "\n".join([*lines, '.section .note.GNU-stack,"",@progbits', ""])


def version_script(symbols: list[Symbol]) -> str:
    """A version script for the linker: the version of each symbol."""
    versions: dict[str, list[str]] = defaultdict(list)
    for symbol in symbols:
        version = ".".join(map(str, symbol.version))
        versions[f"{symbol.family}_{version}"].append(f"{symbol.name};")
    return "".join(
        f"{version} {{ global: {' '.join(names)} local: *; }};\n"
        for version, names in versions.items()
    )


def output_of(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def path_of(library: str, compiler: str) -> str:
    """The path at which the compiler finds a library."""
    return output_of(compiler, f"-print-file-name={library}").strip()


def loader_of(compiler: str) -> str:
    """The name of the dynamic loader on the compiler's processor."""
    processor = output_of(compiler, "-dumpmachine").split("-")[0]
    if processor not in LOADERS:
        raise SystemExit(
            f"make_stubs.py: {compiler} compiles for {processor}, not for {' or '.join(LOADERS)}"
        )
    return LOADERS[processor]


def make_stub(
    library: str, newest: tuple[int, ...], folder: Path, compiler: str
) -> None:
    table = output_of("readelf", "-W", "--dyn-syms", path_of(library, compiler))
    symbols = symbols_until(table, newest)
    with tempfile.TemporaryDirectory() as temporary:
        source, script = Path(temporary, "stub.s"), Path(temporary, "stub.map")
        source.write_text(assembly(symbols))
        script.write_text(version_script(symbols))
        options = [f"-Wl,-soname,{library}"]
        if symbols:
            options.append(f"-Wl,--version-script={script}")
        subprocess.run(
            [
                *(compiler, "-shared", "-nostdlib", *options),
                *("-o", folder / library, source),
            ],
            check=True,
        )


def main(arguments: list[str]) -> int:
    if len(arguments) not in (2, 3) or not re.fullmatch(r"2\.\d+", arguments[0]):
        print(__doc__, file=sys.stderr)
        return 2
    newest, folder = parse_version(arguments[0]), Path(arguments[1]).resolve()
    compiler = arguments[2] if len(arguments) == 3 else "cc"
    libraries = {**LIBRARIES, "ld": loader_of(compiler)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, library in libraries.items():
        make_stub(library, newest, folder, compiler)
        link = folder / f"lib{name}.so"
        link.unlink(missing_ok=True)
        if archive := ARCHIVES.get(name):
            paths = f"{folder / library} {path_of(archive, compiler)}"
            loader = folder / libraries["ld"]
            link.write_text(f"GROUP ( {paths} AS_NEEDED ( {loader} ) )\n")
        else:
            link.symlink_to(library)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
