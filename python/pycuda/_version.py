"""The package's version. CMake and pyproject.toml read it from this file."""

__version__ = "2026.11.0"
