"""Each statement of README.md is run by a test: the table names the tests for each paragraph, item and row."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# A text that a statement contains, and its tests: FILE::FUNCTION below tests/, or a path of the repository that is
# itself run (a part of ./test, a job of CI).
TESTS = {
    "Write a kernel in CUDA C++ and call it from Python": [
        "python/pages/test_pages.py::test_a_program_of_a_page"
    ],
    "![Two galaxies": ["python/pages/test_gallery.py::test_n_body_follows_newton"],
    "PyCUDA is for you if you": [],
    "learn CUDA and have no NVIDIA GPU": ["python/pages/test_course.py::test_chapter"],
    "have programs for the original PyCUDA": [
        "python/pages/test_tutorials.py",
        "python/packages/test_pycuda_contract.py",
    ],
    "NumPy's functions on the device as well": [
        "python/arrays/test_numpy_functions.py",
        "python/arrays/test_array_api.py",
    ],
    "write C++": ["tools/test_cpp_reference.py", ".github/workflows/test.yml"],
    "| Linux on x86-64": [".github/workflows/test.yml"],
    "| Windows, in WSL 2": [],  # the page says that nobody has tested it
    "| macOS on Intel": [],
    "| Linux on 64-bit ARM": [],
    "| macOS on Apple silicon": [],
    "On Debian 12 or 13 or Ubuntu 24.04": [".github/workflows/test.yml"],
    "The first run installs missing system packages": [
        "tools/test_run.py::test_a_system_package_that_cannot_be_installed_is_named",
        "tools/test_run.py::test_start_costs_little",
    ],
    "build wheels with `./run tools/wheel`": [
        "tools/test_wheel_lists.py::test_an_environment_with_the_list_of_run_alone_gets_the_rest",
        "tools/test_old_glibc.py::test_functions_are_linked_in_their_old_versions",
    ],
    "Save the program as `scale.py`": [
        "tools/test_run.py::test_program_with_arguments_in_the_callers_folder"
    ],
    "An array on the device has NumPy's arithmetic": [
        "python/arrays/test_gpuarray_like_numpy.py"
    ],
    "| a launch from Python": ["tools/test_readme.py::test_the_launch"],
    "| `x + y` of 1 GiB": ["tools/test_readme.py::test_the_sum_of_arrays"],
    "| 17 kernels on the CPU": ["tools/test_readme.py::test_the_kernels_on_the_cpu"],
    "[Benchmarks](docs/benchmarks.md) has charts": ["tools/test_benchmark_charts.py"],
    "**Which drivers and compilers": [
        "python/tools/test_main.py::test_shows_the_available_devices",
        "python/tools/test_main.py::test_names_missing_libraries",
    ],
    "**A kernel does not compile.**": [
        "python/compile/test_beginner_errors.py::test_syntax_error"
    ],
    "**An argument is wrong.**": [
        "python/compile/test_beginner_errors.py::test_wrong_type",
        "python/compile/test_beginner_errors.py::test_wrong_size",
    ],
    "**A kernel accesses memory out of bounds.**": [
        "python/pages/test_pages.py::test_the_fault_of_the_tutorial",
        "python/softcuda/test_past_the_end.py::test_the_message_names_the_array_and_the_way_out",
        "python/checks/test_check.py::test_the_end_of_an_array_that_is_older_than_the_check",
    ],
    "**Results are wrong without an error": [
        "python/checks/test_check.py::test_command",
        "python/checks/test_check.py::test_the_page",
        "python/kernels/test_missing_barriers.py",
        "python/kernels/test_undefined_values.py",
    ],
    "**A program does not end.**": [
        "python/driver/test_interrupt.py::test_an_endless_kernel_is_named_once",
        "python/driver/test_interrupt.py::test_interrupt",
    ],
    "**A kernel is slow.**": [
        "python/tools/test_profile.py::test_command_writes_a_page_and_a_trace",
        "python/tools/test_profile.py::test_command_prints_text",
    ],
    "**You want to see variables": [
        "python/tools/test_gdb.py::test_a_breakpoint_at_a_line_stops_and_bt_names_the_kernel",
        "python/tools/test_gdb.py::test_a_variable_has_a_value_in_each_lane",
    ],
    "**An error appears at a line after": [
        "python/compile/test_beginner_errors.py::test_launch_blocking_names_the_kernel",
        "python/compile/test_beginner_errors.py::test_expected_results_in_a_trace",
    ],
    "**The build fails.**": [
        "tools/test_run.py::test_a_failed_step_shows_the_end_of_the_log"
    ],
    "On a GPU, a program needs NVIDIA's driver and NVRTC": [
        "core/library_test.cpp",
        "python/packages/test_import.py::test_no_driver_at_all",
        "python/arrays/test_devices.py",
        "python/packages/test_multiple_devices.py::test_mpi_stencil",
    ],
    "`./run` installs MPI": [
        "tools/test_run.py::test_mpirun_is_installed_if_it_is_missing",
        "tools/test_run.py::test_help_lists_each_setting",
    ],
    "| [tutorial]": ["python/pages/test_pages.py::test_the_fault_of_the_tutorial"],
    "| [course]": [
        "python/pages/test_course.py::test_there_are_twelve_chapters_with_two_exercises_each"
    ],
    "| [gallery]": [
        "python/pages/test_gallery.py::test_programs_are_short_and_have_small_pictures"
    ],
    "| [user guide]": ["python/pages/test_guide.py"],
    "| [arrays]": ["python/pages/test_pages.py::test_a_program_of_a_page"],
    "| [more than one device]": [
        "python/packages/test_multiple_devices.py::test_nccl_fit"
    ],
    "| [the C++ library]": ["tools/test_cpp_reference.py"],
    "| [test CUDA code without a GPU]": [
        "python/packages/test_testing_without_a_gpu.py"
    ],
    "| [migration]": ["python/pages/test_pages.py::test_pages_have_programs"],
    "| [CONTRIBUTING.md]": ["tools/test_links.py"],
    "`./test docs` builds a site": [
        "python/tools/test_main.py::test_docs_print_their_path",
        "tools/test_reference.py",
        "tools/test_check_layers.py",
    ],
    "License: [MIT]": [],
}


def statements(text: str) -> list[str]:
    """Paragraphs, items of lists and rows of tables, without headings, programs and heads of tables."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    found: list[str] = []
    ended = True
    for line in text.splitlines():
        if not line.strip() or line.startswith(("#", "    ", "|---")):
            ended = True
        elif line.startswith(("- ", "| ")) or ended:
            found.append(line)
            ended = line.startswith("| ")
        else:
            found[-1] += " " + line.strip()
    heads = {
        "| system | command, in a clone of this repository |",
        "| measurement | result | command |",
        "| page | for |",
    }
    return [one for one in found if one not in heads]


README = statements((ROOT / "README.md").read_text())


@pytest.mark.parametrize("statement", README, ids=lambda one: one[:40])
def test_a_statement_has_its_tests(statement):
    names = [tests for text, tests in TESTS.items() if text in statement]
    assert len(names) == 1, statement
    for name in names[0]:
        file, _, function = name.partition("::")
        path = ROOT / file if file.startswith(".") else ROOT / "tests" / file
        assert path.exists(), name
        if function:
            functions = {
                node.name
                for node in ast.parse(path.read_text()).body
                if isinstance(node, ast.FunctionDef)
            }
            assert function in functions, name


def test_a_text_of_the_table_is_in_the_page():
    for text in TESTS:
        assert sum(text in statement for statement in README) == 1, text


def test_statements_are_found():
    text = "# A\n\none\ntwo\n\n- three\n  four\n- five\n\n| a | b |\n|---|---|\n| c | d |\n\n```py\nx\n```\n"
    assert statements(text) == [
        "one two",
        "- three four",
        "- five",
        "| a | b |",
        "| c | d |",
    ]
