"""A pytest plugin: tests fail if their kernels have defects: ``pytest --cuda-check=mem,race``.

If softcuda's check modes find a defect during a test, the test fails, and the findings are the failure's text.
Findings in its fixtures belong to the test. A marker allows some kinds, or whole modes, in one test:

    @pytest.mark.cuda_check_allow("uninitialized", "race")
    def test_with_a_known_race(): ...

Without the option the plugin does nothing.
"""

from __future__ import annotations

import os

import pytest

from pycuda._check_command import check_driver_setting
from softcuda import _findings
from softcuda._checked_run import modes_in

_ALLOWED = frozenset(_findings.MODES).union(*_findings.KINDS.values())


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("pycuda")
    group.addoption(
        "--cuda-check",
        metavar="MODES",
        default="",
        help="check the kernels of each test on softcuda: mem, race, init, sync or all",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Selects the driver before a conftest.py can open one."""
    if _modes(early_config):
        check_driver_setting(_refuse)
        os.environ.setdefault("PYCUDA_DRIVER", "softcuda")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "cuda_check_allow(*kinds): kinds of findings, or modes, that --cuda-check permits in a test",
    )
    modes = _modes(config)
    if modes:
        # Also for plugins that are loaded after the hook above: -p in a conftest.
        check_driver_setting(_refuse)
        os.environ.setdefault("PYCUDA_DRIVER", "softcuda")
        config.pluginmanager.register(_Checking(modes), "pycuda-checking")


def _refuse(why: str) -> None:
    raise pytest.UsageError(f"--cuda-check: {why}")


def _modes(config: pytest.Config) -> tuple[str, ...]:
    text = getattr(config.known_args_namespace, "cuda_check", "")
    try:
        return modes_in(text) if text else ()
    except ValueError as error:
        raise pytest.UsageError(f"--cuda-check: {error}") from None


def _allowed(item: pytest.Item) -> set[str]:
    kinds = {kind for m in item.iter_markers("cuda_check_allow") for kind in m.args}
    if unknown := kinds - _ALLOWED:
        raise pytest.UsageError(
            f"{item.nodeid}: cuda_check_allow: no kind or mode {min(unknown)!r}; expected one of "
            + ", ".join(sorted(_ALLOWED))
        )
    return kinds


class _Checking:
    """Enables the modes for the session, and assigns findings to tests."""

    def __init__(self, modes: tuple[str, ...]) -> None:
        self.modes = modes
        self.known: list[_findings.Finding] = []

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        from pycuda import check, driver

        try:
            self.checks = check.Checks(*self.modes)
            self.checks.__enter__()
        except driver.Error as error:
            raise pytest.UsageError(f"--cuda-check: {error}") from None

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.checks.__exit__(None, None, None)

    def _take_new(self) -> tuple[list[_findings.Finding], Exception | None]:
        """The findings since the last call, and the failure of the work that was waited for."""
        from pycuda import check, driver

        failure = None
        try:
            check.wait_for_work()
        except driver.Error as error:
            failure = error
        found = self.checks.findings
        new = _findings.since(found, self.known)
        self.known = found
        return new, failure

    def _judge(self, item: pytest.Item) -> None:
        allowed = _allowed(item)
        new, failure = self._take_new()
        bad = [f for f in new if f.kind not in allowed and f.mode not in allowed]
        if bad:
            pytest.fail("kernels have defects\n" + _findings.report(bad), pytrace=False)
        if failure is not None:
            raise failure

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item):
        self._take_new()  # earlier findings: of collection, and of fixtures of a wider scope that ended
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item):
        try:
            result = yield
        except BaseException as error:
            _allowed(item)
            new, _ = self._take_new()
            if new:
                item.add_report_section("call", "cuda-check", _findings.report(new))
            raise error
        self._judge(item)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item):
        result = yield
        self._judge(item)
        return result
