# setup.sh -- sourced by ./run and ./test: system packages, Python environment, build.
#
# Each stage first checks whether its work is already done, prints in one line what it does and why,
# and writes the full output of the commands to build/log. All stages run under one lock, so that
# any number of ./run may start at once.
# shellcheck shell=bash

# shellcheck disable=SC2154  # $root is set by the script that sources this one
build=$root/build/release
log=$root/build/log
softcuda=${PYCUDA_SOFTCUDA:-auto}
llvm_dir=${PYCUDA_LLVM_DIR:-/usr/lib/llvm-19/lib/cmake/llvm}

# ccache must not depend on the checkout's folder.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1}
# Without this, ccache does not store results of compilations with a precompiled header.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}

say() { printf 'pycuda: %s\n' "$*" >&2; }

fail() {
    printf 'pycuda: error: %s\n' "$*" >&2
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# logged COMMAND...: output to the log; on failure show the log's tail and stop.
logged() {
    printf '\n$ %s\n' "$*" >>"$log"
    "$@" >>"$log" 2>&1 </dev/null || show_failure "$*"
}

show_failure() {
    {
        printf 'pycuda: error: this failed: %s\n\n' "$1"
        # A compiler's first error is more useful than its last.
        if tac "$log" | sed '/^\$ /q' | tac | grep -n -m1 '^FAILED:' >/dev/null; then
            tac "$log" | sed '/^\$ /q' | tac | sed -n '/^FAILED:/,$p' | head -n 40
        else
            tail -n 30 "$log"
        fi
        printf '\npycuda: the full log is %s\n' "$log"
    } >&2
    exit 1
}

# ---------------------------------------------------------------------------------------------
# Tests whether everything is built and newer than the sources, without starting cmake, ninja or Python.

case ${PYCUDA_VENV:-} in
"") python=$root/.venv/bin/python ;;
system) python=$(command -v python3 || true) ;;
*) python=${PYCUDA_VENV%/}/bin/python ;;
esac
stamp_key="$root $python $softcuda"

# is_current GROUP: whether this group of targets is built. `clients` contains `runtime` (CMakeLists.txt).
is_current() {
    local stamp=$root/build/.built-$1
    [[ -f $stamp && -x $python && $(<"$stamp") == "$stamp_key" ]] || return 1
    # Python files are linked into the build, not copied: only new or removed ones matter, and
    # those change their folder's time.
    [[ -z $(find "$root"/{CMakeLists.txt,CMakePresets.json,cmake,abi,core,softcuda,python} \
        "$root"/tools/{setup.sh,requirements/run.txt} \
        -newer "$stamp" ! -name '*.py' -print -quit 2>&1) ]]
}

# ---------------------------------------------------------------------------------------------
# System packages

python_is_recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; }

# The newest Python that is at least 3.10, python3 first.
find_python() {
    local name
    for name in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
        if have "$name" && python_is_recent "$name"; then
            command -v "$name"
            return
        fi
    done
}

python_has_headers() {
    "$1" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))'
}

cmake_is_recent() {
    local version
    have cmake || return 1
    version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')
    [[ $(printf '%s\n' 3.25 "$version" | sort -V | head -n 1) == 3.25 ]]
}

base_packages() {
    local found
    have g++ || echo g++
    cmake_is_recent || echo cmake
    have ninja || echo ninja-build
    if [[ -z ${PYCUDA_VENV:-} ]]; then
        found=$(find_python)
        [[ -n $found ]] || echo python3
        [[ -n $found ]] && "$found" -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
        [[ -n $found ]] && python_has_headers "$found" || echo python3-dev
    fi
}

llvm_packages() {
    [[ $softcuda != OFF ]] || return 0
    [[ -e $llvm_dir/LLVMConfig.cmake ]] || echo llvm-19-dev
    [[ -e /usr/include/zstd.h ]] || echo libzstd-dev
    [[ -e /usr/include/zlib.h ]] || echo zlib1g-dev
    have ld.lld || echo lld # other linkers need a minute for LLVM's libraries
}

# Kept objects serve several builds: a second checkout, and the parts of ./test that compile the same sources.
cache_packages() { have ccache || echo ccache; }

mpi_packages() { have mpirun || echo openmpi-bin; }

test_packages() {
    [[ -e /usr/include/gtest/gtest.h ]] || echo libgtest-dev
    [[ -e /usr/include/gmock/gmock.h ]] || echo libgmock-dev
    # For tests/python/compile/test_header_libraries.py, which skips a library that is missing:
    [[ -d /usr/include/glm ]] || echo libglm-dev
    [[ -d /usr/include/eigen3 ]] || echo libeigen3-dev
    [[ -d /usr/include/Random123 ]] || echo librandom123-dev
    [[ -d /usr/include/boost ]] || echo libboost-dev
    [[ -d /usr/include/stb ]] || echo libstb-dev
    [[ -d /usr/include/Imath ]] || echo libimath-dev
    [[ -d /usr/include/tl ]] || echo libexpected-dev
    [[ -d /usr/include/gsl ]] || echo libmsgsl-dev
    [[ -d /usr/include/date ]] || echo libhowardhinnant-date-dev
    [[ -e /usr/include/units.h ]] || echo libunits-cpp-dev
    [[ -e /usr/include/xxhash.h ]] || echo libxxhash-dev
    [[ -d /usr/include/wyhash ]] || echo libwyhash-dev
    [[ -d /usr/include/cglm ]] || echo libcglm-dev
    mpi_packages
    have doxygen || echo doxygen # for tools/cpp_reference.py
    # For tools/free_threaded_python:
    have curl || echo curl
    have make || echo make
    have xz || echo xz-utils
}

has_gpu() {
    [[ -e /dev/nvidiactl || -e /dev/dxg ]] || ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'
}

# install_packages NAME...: false if it is not allowed, or fails.
install_packages() {
    local as_root=()
    have apt-get || return 1
    if [[ $(id -u) != 0 ]]; then
        have sudo && sudo -n true 2>/dev/null || return 1
        as_root=(sudo -n)
    fi
    say "installing system packages with apt-get: $*"
    printf '\n$ apt-get install %s\n' "$*" >>"$log"
    # A new machine's own updates hold the lock for some minutes.
    local wait=(-o DPkg::Lock::Timeout=600)
    local install=(env DEBIAN_FRONTEND=noninteractive apt-get "${wait[@]}" install -y --no-install-recommends)
    { "${as_root[@]}" "${install[@]}" "$@" || {
        "${as_root[@]}" apt-get "${wait[@]}" update && "${as_root[@]}" "${install[@]}" "$@"
    }; } >>"$log" 2>&1 </dev/null
}

# missing_packages [FUNCTION...]: the missing packages of the build and of the named functions' lists, on one line.
missing_packages() {
    local list
    for list in base_packages llvm_packages "$@"; do "$list"; done | xargs
}

# ensure_packages [FUNCTION...]: install the missing packages, or stop with a message that lists them.
# shellcheck disable=SC2120  # ./test gives a function
ensure_packages() {
    local missing
    missing=$(missing_packages "$@")
    [[ -n $missing ]] || return 0
    # The compiler cache comes with other packages: a build does without it.
    # shellcheck disable=SC2046,SC2086  # lists of names
    ! install_packages $missing $(cache_packages) || missing=$(missing_packages "$@")
    [[ -n $missing ]] || return 0
    if [[ $softcuda == auto && $missing == "$(llvm_packages | xargs)" ]] && has_gpu; then
        say "no LLVM 19 here: building for the GPU only, without softcuda"
        softcuda=OFF
        return 0
    fi
    packages_message "$missing"
}

packages_message() {
    say "these system packages are missing and could not be installed (not root, or apt-get failed): $1"
    if have apt-get; then
        say "install them yourself, then start again:"
        printf '\n    sudo apt-get update && sudo apt-get install -y --no-install-recommends %s\n\n' "$1" >&2
    else
        say "the names are Debian's and Ubuntu's; install the corresponding packages of your system, then start again"
    fi
    case " $1 " in *" llvm-19-dev "*)
        say "with an NVIDIA GPU, PYCUDA_SOFTCUDA=OFF builds without LLVM" ;;
    esac
    fail "cannot build yet (log: $log)"
}

# ---------------------------------------------------------------------------------------------
# Python

# has_list LIST: whether the packages of tools/requirements/LIST.txt are in .venv. The copy there is
# made after the installation: it lists the environment's packages.
has_list() { cmp -s "$root/tools/requirements/$1.txt" "$root/.venv/$1.txt"; }

# ensure_python LIST...: a virtual environment with the packages of tools/requirements/LIST.txt.
ensure_python() {
    local list files=()
    if [[ -n ${PYCUDA_VENV:-} ]]; then
        [[ -x $python ]] || fail "PYCUDA_VENV=$PYCUDA_VENV names no Python: '$python' is not there"
        "$python" -c 'import numpy, nanobind.stubgen' 2>>"$log" ||
            fail "$python must have numpy, nanobind and, before 3.11, typing_extensions (PYCUDA_VENV is set, so nothing is installed)"
        return
    fi
    if [[ -x $python ]] && ! "$python" -c 'import pip' 2>/dev/null; then
        say "the virtual environment $root/.venv is broken; making it anew"
        rm -rf "$root/.venv"
    fi
    if [[ ! -x $python ]]; then
        say "making the virtual environment .venv with $("$(find_python)" --version)"
        logged "$(find_python)" -m venv "$root/.venv"
    fi
    for list in "$@"; do
        has_list "$list" || files+=("$root/tools/requirements/$list.txt")
    done
    [[ ${#files[@]} -gt 0 ]] || return 0
    say "installing Python packages into .venv (${files[*]#"$root/"})"
    # --no-compile: Python compiles the modules that programs import, which are a part.
    logged "$python" -m pip install --disable-pip-version-check --no-compile "${files[@]/#/-r}"
    cp "${files[@]}" "$root/.venv"
}

# ---------------------------------------------------------------------------------------------
# Packages for a program that ./run starts

# program_list FILE: the list of Python packages for a program: for an example it is named after the example's
# folder, for a tool after the tool. The course is read with Jupyter.
program_list() {
    local folder=
    case $1 in jupyter | jupyter-lab | jupytext) echo course && return ;; esac
    if [[ $(readlink -f -- "$1") == "$root/tools/wheel" ]]; then
        echo wheel
        return
    fi
    [[ $1 == *.py ]] && folder=$(dirname "$(readlink -f "$1")")
    [[ $folder == "$root"/examples/* && -e $root/tools/requirements/${folder##*/}.txt ]] || return 0
    echo "${folder##*/}"
}

# group_of PROGRAM [ARGUMENT...]: what must be built. softcuda's libraries for other programs, such as its cuBLAS,
# take minutes more: they are built when something other than a Python program may need them.
group_of() {
    case $1 in
    -m | -c | *.py | python | python3 | ipython | jupyter | jupyter-* | jupytext)
        if [[ $* == *softcuda* ]]; then echo clients; else echo runtime; fi
        ;;
    mpirun | mpiexec)
        if [[ " $* " == *" python "* && $* != *softcuda* ]]; then echo runtime; else echo clients; fi
        ;;
    *) echo clients ;;
    esac
}

program_packages() {
    case $program in mpirun | mpiexec) have "$program" || echo openmpi-bin ;; esac
}

# ensure_program PROGRAM: install the packages that it needs in addition to the build.
ensure_program() {
    local program=$1 list
    if [[ -n $(program_packages) ]]; then
        (
            flock 9
            prepare_log
            ensure_packages program_packages
        ) 9>"$root/build/.lock"
    fi
    list=$(program_list "$program")
    if [[ -n $list && -z ${PYCUDA_VENV:-} ]] && ! has_list "$list"; then
        (
            flock 9
            prepare_log
            ensure_python "$list"
        ) 9>"$root/build/.lock"
    fi
}

# ---------------------------------------------------------------------------------------------
# Build

build_jobs() {
    # A file that includes LLVM's headers takes about 1 GB to compile.
    local cores memory
    cores=$(nproc)
    memory=$(awk '/MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)
    [[ $memory -ge 1 ]] || memory=1
    echo "${PYCUDA_JOBS:-$((cores < memory ? cores : memory))}"
}

# configure PRESET [ARGUMENT...]: run cmake unless it ran with the same arguments before.
configure() {
    local preset=$1 folder=$root/build/$1 key
    shift
    local arguments=("-DPython_EXECUTABLE=$python" "$@")
    if [[ $softcuda == OFF || ! -e $llvm_dir/LLVMConfig.cmake ]]; then
        arguments+=(-DPYCUDA_SOFTCUDA=OFF)
    else
        arguments+=(-DPYCUDA_SOFTCUDA=ON "-DLLVM_DIR=$llvm_dir")
    fi
    key="$root ${arguments[*]}"
    [[ -f $folder/build.ninja && -f $folder/.configured && $(<"$folder/.configured") == "$key" ]] && return
    # A build folder that was made in another place or for another Python cannot be used.
    if [[ -f $folder/CMakeCache.txt ]] &&
        ! { grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt" &&
            grep -qE "^Python_EXECUTABLE:[A-Z]*=$python\$" "$folder/CMakeCache.txt"; }; then
        rm -rf "$folder"
    fi
    say "configuring build/$preset"
    logged cmake -S "$root" --preset "$preset" "${arguments[@]}"
    printf '%s\n' "$key" >"$folder/.configured"
}

# compile PRESET TARGET...: ninja, with one changing line on a terminal, and otherwise a line each minute.
compile() {
    local preset=$1 line last=$SECONDS width
    shift
    printf '\n$ ninja -C build/%s %s\n' "$preset" "$*" >>"$log"
    width=$(tput cols 2>/dev/null || echo 80)
    export NINJA_STATUS='[%f/%t %es] '
    if ! { ninja -C "$root/build/$preset" -j "$(build_jobs)" "$@" 2>&1 </dev/null || echo "ninja failed"; } |
        while IFS= read -r line; do
            [[ $line != "ninja failed" ]] || exit 1
            printf '%s\n' "$line" >>"$log"
            if [[ $line == \[* ]]; then
                if [[ -t 2 ]]; then
                    printf '\r\033[K%s' "${line:0:width-1}" >&2
                elif ((SECONDS - last >= 60)); then
                    say "building $line"
                    last=$SECONDS
                fi
            fi
        done; then
        [[ -t 2 ]] && printf '\r\033[K' >&2
        show_failure "ninja -C build/$preset $*"
    fi
    [[ -t 2 ]] && printf '\r\033[K' >&2
    return 0
}

# prepare_log: a new log for this start; the previous one is kept.
prepare_log() {
    mkdir -p "$root/build"
    [[ ! -s $log ]] || mv -f "$log" "$log.old"
    printf '# %s, in %s\n' "$(date)" "$root" >"$log"
}

# build_group GROUP: build what programs need (CMakeLists.txt names the groups); the caller holds the lock.
build_group() {
    local stamp=$root/build/.built-$1
    is_current "$1" && return
    prepare_log
    # shellcheck disable=SC2119  # this script's arguments are not packages
    ensure_packages
    ensure_python run
    # Written before the build, so that an edit made meanwhile counts as newer.
    printf '%s\n' "$stamp_key" >"$stamp.new"
    local tests=OFF
    # Keeps the choice of the tests: they share this build folder.
    grep -qs '^PYCUDA_TESTS:BOOL=ON' "$build/CMakeCache.txt" && tests=ON
    configure release "-DPYCUDA_TESTS=$tests"
    say "building (log: build/log)"
    compile release "$1"
    mv -f "$stamp.new" "$stamp"
}
