"""The parameters of the functions that softcuda's cuBLAS and so on export, read from their source."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[3] / "softcuda/libraries"
FOLDERS = ("cublas", "cublaslt", "cufft", "curand", "cusolver", "cusparse")
EXPORTED = re.compile(
    r'extern "C" __attribute__\(\(visibility\("default"\)\)\)\s*([\w:<>\s]+?[\s*&]+)(\w+)\s*\('
)
# Words that end a type. Another word at the end of a parameter is its name.
TYPE_WORDS = {"int", "long", "char", "void", "unsigned", "double", "float", "size_t"}


@dataclass
class Function:
    library: str  # the folder of its source
    file: str
    returns_status: bool
    parameters: list[str]  # types, as "int" or "float *"


def type_of(parameter):
    """The type of a parameter, without const, namespaces and the parameter's name."""
    text = " ".join(re.sub(r"\bconst\b|\w+::", " ", parameter).split())
    named = re.match(r"^(.*[\w>*\s][\s*]+)(\w+)$", text)
    if named and named[2] not in TYPE_WORDS and re.search(r"\w", named[1]):
        text = named[1]
    return re.sub(r"\s*\*", " *", text.strip())


def parameters(text):
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "(<") - (letter in ")>")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [type_of(part) for part in parts if part.strip() not in ("", "void")]


def closing(text, start):
    """The place of the parenthesis that closes the one before `start`."""
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[start], 0)
        start += 1
    return start - 1


def signatures(folder):
    """The functions by their names. `folder` is for a copy of the source.

    Macros make most functions, so the preprocessor reads the source: without headers of the system, in about a second.
    """
    copy = Path(folder) / "libraries"
    shutil.copytree(SOURCE, copy)
    for path in [*copy.rglob("*.h"), *copy.rglob("*.cpp")]:
        text = path.read_text()
        path.write_text(re.sub(r"^\s*#\s*include\s*<.*$", "", text, flags=re.MULTILINE))
    found = {}
    for library in FOLDERS:
        for path in sorted((copy / library).glob("*.cpp")):
            text = subprocess.run(
                ["c++", "-E", "-P", str(path)],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for match in EXPORTED.finditer(text):
                inside = text[match.end() : closing(text, match.end())]
                found[match[2]] = Function(
                    library, path.name, match[1].strip() == "int", parameters(inside)
                )
    return found
