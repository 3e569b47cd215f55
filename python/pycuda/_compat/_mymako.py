"""Mako's templates, which some programs import from this module. PyCUDA itself does not need them."""

import importlib

try:
    mako = importlib.import_module("mako")
    template = importlib.import_module("mako.template")
except ImportError as error:
    raise ImportError(
        "this module needs the Mako template engine: pip install mako"
    ) from error
