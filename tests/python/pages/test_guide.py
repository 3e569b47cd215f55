"""The names and commands that the pages mention exist; test_pages.py runs the programs of the pages."""

import re
from pathlib import Path

import pytest

from pycuda import _check_command, _profile_command

GUIDE = Path(__file__).parents[3] / "docs" / "user_guide.md"


@pytest.mark.parametrize("document", ["user_guide.md", "migration.md"])
def test_names_in_the_text_exist(document):
    import pycuda.driver as cuda

    text = (GUIDE.parent / document).read_text()
    if document == "migration.md":  # the names of other libraries
        text = re.sub(r"^```py\n.*?^```$|^\|[^|]*\|", "", text, flags=re.M | re.S)
    missing = {
        name
        for name in re.findall(r"\bcuda\.(\w+)", text)
        if not hasattr(cuda, name)
        and name not in ("core", "h")  # cuda.core and <cuda.h>
        and f"torch.cuda.{name}" not in text
    }
    assert not missing


PAGES = [GUIDE.parents[1] / "README.md", *sorted(GUIDE.parent.glob("*.md"))]
COMMANDS = sorted(
    {
        command
        for page in PAGES
        for command in re.findall(
            r"-m pycuda ((?:check|profile) [^`\n]+)", page.read_text()
        )
    }
)


@pytest.mark.parametrize("command", COMMANDS)
def test_options_come_before_the_program(command):
    """The words after the program are the program's own arguments."""
    name, *words = command.split()
    options = {"check": _check_command, "profile": _profile_command}[name]._parser()
    program = options.parse_args(words).program
    assert program and not any(word.startswith("-") for word in program), command
