"""Stubs of an older glibc: what wheels are linked against (cmake/old_glibc)."""

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "cmake/old_glibc"
sys.path.insert(0, str(FOLDER))

from make_stubs import symbols_until, version_script  # noqa: E402

TABLE = """
  1: 0000000000089380  3821 FUNC    GLOBAL DEFAULT   16 pthread_create@GLIBC_2.2.5
  2: 0000000000089380  3821 FUNC    GLOBAL DEFAULT   16 pthread_create@@GLIBC_2.34
  3: 00000000000a2d70    40 FUNC    GLOBAL DEFAULT   16 memcpy@GLIBC_2.2.5
  4: 000000000009be70   265 IFUNC   GLOBAL DEFAULT   16 memcpy@@GLIBC_2.14
  5: 00000000001db320     8 OBJECT  WEAK   DEFAULT   34 environ@@GLIBC_2.2.5
  6: 00000000000f77e0    18 FUNC    WEAK   DEFAULT   16 stat@@GLIBC_2.33
  7: 0000000000000010     4 TLS     GLOBAL DEFAULT   23 errno@@GLIBC_PRIVATE
  8: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND other@GLIBC_2.2.5
  9: 000000000000a000    16 FUNC    GLOBAL DEFAULT   12 __extendhfsf2@@GCC_12.0.0
 10: 000000000000b000    16 FUNC    GLOBAL DEFAULT   12 _Unwind_Resume@@GCC_3.0
 11: 000000000000c000    16 FUNC    GLOBAL DEFAULT   12 __cpu_indicator_init@GCC_4.8.0
"""

needs_linker = pytest.mark.skipif(
    platform.machine() != "x86_64" or not (shutil.which("cc") and shutil.which("ld")),
    reason="needs a C compiler on x86-64",
)


def test_a_symbol_has_the_newest_version_that_is_old_enough():
    found = {symbol.name: symbol for symbol in symbols_until(TABLE, (2, 28))}
    assert {name: symbol.version for name, symbol in found.items()} == {
        "pthread_create": (2, 2, 5),
        "memcpy": (2, 14),
        "environ": (2, 2, 5),
        "_Unwind_Resume": (3, 0),
    }
    assert found["environ"].size == 8 and not found["environ"].is_function
    assert "GLIBC_2.14 { global: memcpy; local: *; };" in version_script(
        [*found.values()]
    )


@pytest.fixture(scope="module")
def stubs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stubs")
    subprocess.run(
        [sys.executable, FOLDER / "make_stubs.py", "2.27", folder], check=True
    )
    return folder


def link(stubs, folder, source):
    """The linker's messages for a library made from `source`; the library is in `folder`."""
    (folder / "source.c").write_text(source)
    # With libgcc as g++ links it: first the shared one.
    options = ["-shared-libgcc", "-Wl,-z,defs"]
    command = ["cc", "-shared", "-fPIC", "-w", *options, "-L", stubs]
    return subprocess.run(
        [*command, "-o", folder / "library.so", folder / "source.c"],
        capture_output=True,
        text=True,
    )


@needs_linker
def test_clones_of_a_function_ask_no_other_library_for_the_processor(stubs, tmp_path):
    # A loader with lazy binding runs the resolver before it can call another library.
    source = """
    __attribute__((target_clones("avx2", "default"))) int twice(int x) { return 2 * x; }
    """
    assert link(stubs, tmp_path, source).returncode == 0
    command = ["readelf", "-W", "--dyn-syms", tmp_path / "library.so"]
    table = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "twice" in table and "__cpu_" not in table


@needs_linker
def test_a_newer_function_is_an_error_of_the_linker(stubs, tmp_path):
    done = link(stubs, tmp_path, "int gettid(void); int f(void) { return gettid(); }")
    assert done.returncode != 0 and "gettid" in done.stderr


@needs_linker
def test_functions_are_linked_in_their_old_versions(stubs, tmp_path):
    source = """
    #include <dlfcn.h>
    #include <math.h>
    double f(double x) { return dlsym(RTLD_DEFAULT, "f") ? x : 0; }
    """
    assert link(stubs, tmp_path, source).returncode == 0
    command = ["readelf", "-W", "--dyn-syms", tmp_path / "library.so"]
    table = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "dlsym@GLIBC_2.2.5" in table


@needs_linker
def test_bad_arguments_are_refused(tmp_path):
    command = [sys.executable, FOLDER / "make_stubs.py", "two", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "VERSION" in done.stderr


@pytest.mark.skipif(
    not shutil.which("aarch64-linux-gnu-gcc"), reason="needs a cross compiler"
)
def test_stubs_for_another_processor(tmp_path):
    compiler = "aarch64-linux-gnu-gcc"
    make = [sys.executable, FOLDER / "make_stubs.py", "2.27", tmp_path, compiler]
    subprocess.run(make, check=True)
    source, library = tmp_path / "source.c", tmp_path / "library.so"
    command = [compiler, "-shared", "-fPIC", "-w", "-L", tmp_path, "-Wl,-z,defs"]
    command += ["-o", library, source]
    source.write_text("int f(void) { return getpid(); }")
    subprocess.run(command, check=True)
    table = ["readelf", "-hW", "--dyn-syms", library]
    shown = subprocess.run(table, check=True, capture_output=True, text=True).stdout
    assert "AArch64" in shown and "getpid@GLIBC_2.17" in shown
    source.write_text("int f(void) { return gettid(); }")
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "gettid" in done.stderr


@needs_linker
@pytest.mark.skipif(not shutil.which("g++"), reason="needs a C++ compiler")
def test_files_are_described_without_the_functions_of_a_new_glibc(tmp_path):
    file, link_to_it = tmp_path / "file", tmp_path / "link"
    file.write_bytes(bytes(12345))
    link_to_it.symlink_to(file)
    (tmp_path / "main.cpp").write_text("""
    #include <cstdio>
    #include <fcntl.h>
    #include <sys/stat.h>
    int main(int, char **names) {
        struct stat a{}, b{}, c{}, d{}, e{};
        const int failed = stat(names[2], &a) | lstat(names[2], &b) | fstat(open(names[1], 0), &c) |
                           fstatat(AT_FDCWD, names[2], &d, AT_SYMLINK_NOFOLLOW);
        const int missing = stat("missing", &e);
        std::printf("%d %d %ld %d %ld %d", failed, missing, a.st_size, S_ISLNK(b.st_mode) != 0,
                    c.st_size, S_ISLNK(d.st_mode) != 0);
    }
    """)
    program = tmp_path / "program"
    sources = [tmp_path / "main.cpp", FOLDER / "newer_functions.cpp"]
    subprocess.run(["g++", "-std=c++20", "-o", program, *sources], check=True)
    done = subprocess.run([program, file, link_to_it], capture_output=True, text=True)
    assert done.stdout == "0 -1 12345 1 12345 1"
    symbols = ["nm", "-C", program]
    defined = subprocess.run(symbols, check=True, capture_output=True, text=True).stdout
    assert " T stat\n" in defined and "__xstat" not in defined
