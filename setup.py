# SPDX-License-Identifier: MIT
"""How is the compiled core built?

There is one extension, `regions._core`: the Cython binding and every C++ file in csrc/. Everything else is in
pyproject.toml.

The signs that decide a count are only right in strict floating point, so contraction (fused multiply-add) and
fast-math are switched off after all flags of the environment. There is no -march: the same wheel
must run everywhere, and the files that gain from wider vectors choose their instructions at run time.

The recursion is compiled for several generations of processors (KERNELS). REGIONS_KERNELS says for which ones:
- native: the generation of this machine; the default, because it takes half of the time. On a machine that cannot run
  it, the import fails with an explanation (regions/core.py).
- all: every generation, as in wheels. The default if SOURCE_DATE_EPOCH is set, because such a build must not depend on
  its machine.
- the name of a kernel, such as avx2: for valgrind, which has no AVX-512.

REGIONS_SANITIZE=1 builds the core for the address and undefined-behaviour sanitizers, REGIONS_SANITIZE=thread for
the thread sanitizer, with assertions on; see CONTRIBUTING.md. The latter has only the baseline kernel, because all
kernels share memory in the same way. The former has the baseline kernel and the one for the widest vectors of this
machine. It looks for undefined behaviour everywhere but in the latter kernel, which is made of the same templates and
would take twice as long. REGIONS_KERNELS changes neither.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
from glob import glob
from multiprocessing.pool import ThreadPool
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CCompilerError, ExecError, PlatformError

COMPILE = ["-std=c++17", "-O3", "-ffp-contract=off", "-fno-fast-math", "-fvisibility=hidden"]
# Python's own flags ask for debugging symbols, which are ten times the size of the code and double the build time.
COMPILE += ["-g0"]
# gcc warns that passing wide vectors depends on the instruction set. No vectors are passed between files.
COMPILE += ["-Wno-psabi"]
# All cells and collectors are templates, in one file for each instruction set. gcc stops inlining once such a file has
# grown by 40%, even in hot code: additional code elsewhere made counts of small networks a fifth slower.
COMPILE += ["--param", "inline-unit-growth=100"]
LINK: list[str] = []
# The hot loops of the kernels have arrays on the stack, and would run slower with these flags (csrc/TRIED.md).
OUTSIDE_KERNELS: list[str] = []
OUTSIDE_AVX: list[str] = []
# Each kernel, the fastest first, with its files in csrc/kernel/. Boxes gain nothing from AVX-512.
KERNELS = {
    "avx512": ["kernel_avx512", "polytopes_avx2", "dictionaries_avx2"],
    "avx2": ["kernel_avx2", "polytopes_avx2", "dictionaries_avx2"],
    "baseline": ["kernel_baseline", "polytopes_baseline", "dictionaries_baseline"],
}
# The compiler's macros for the instructions of a kernel (csrc/api/bridge.cpp asks the processor for the same).
INSTRUCTIONS = {
    "avx512": ["AVX512F", "AVX512VL", "AVX512DQ", "AVX512BW", "FMA"],
    "avx2": ["AVX2", "FMA"],
    "baseline": [],
}
# The processor that is compiled for. On macOS, python.org's Python compiles for both: "universal2".
TARGET = sysconfig.get_platform().rsplit("-", 1)[-1]
RUNNABLE = list(KERNELS) if TARGET in ("x86_64", "universal2") else ["baseline"]
# Ends of names of files, without ".cpp".
AVX = ("_avx2", "_avx512")
# Files that gain little from -O3, which takes twice as long. On x86-64 only processors from before 2013 run the
# baseline kernels. In seven dimensions and more, most of the time goes into exact arithmetic. The binding only calls.
LEVELS = {"_wide": "-O1", "_core": "-O1"}
if TARGET == "x86_64":
    LEVELS["_baseline"] = "-O2"


def native_kernel() -> str:
    """Return the fastest kernel that this machine can run, according to the compiler."""
    compiler = shlex.split(os.environ.get("CXX") or sysconfig.get_config_var("CXX") or "c++")
    question = [*compiler, "-march=native", "-dM", "-E", "-x", "c++", os.devnull]
    try:
        macros = subprocess.run(question, capture_output=True, text=True, check=False).stdout.split()
    except OSError:  # there is no compiler, so the build will fail and say so
        return "baseline"
    return next(name for name in RUNNABLE if all(f"__{macro}__" in macros for macro in INSTRUCTIONS[name]))


def chosen_kernels() -> list[str]:
    """Return the kernels that REGIONS_KERNELS asks for."""
    asked = os.environ.get("REGIONS_KERNELS") or ("all" if "SOURCE_DATE_EPOCH" in os.environ else "native")
    if asked not in ("native", "all", *RUNNABLE):
        raise SystemExit(f"REGIONS_KERNELS is {asked!r}. Use native, all or {' or '.join(RUNNABLE)}.")
    if asked == "all" or TARGET == "universal2":
        return RUNNABLE
    return [native_kernel() if asked == "native" else asked]


ASKED = os.environ.get("REGIONS_SANITIZE", "0")
if ASKED == "0":
    CHOSEN = chosen_kernels()
    KERNEL_FILES = {"polytopes_wide"}.union(*(KERNELS[name] for name in CHOSEN))
    # Object files do not record for which kernels they are, and would pass for up to date on another machine.
    BUILD_FOLDER = f"build/{CHOSEN[0] if len(CHOSEN) == 1 else 'all'}"
    # Copies into arrays of known size, and return addresses, are checked. After loading, no pointer to a function of
    # another library can be changed.
    COMPILE += ["-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]
    OUTSIDE_KERNELS += ["-fstack-protector-strong"]
    if sys.platform == "linux":
        LINK += ["-Wl,-z,relro,-z,now"]
else:
    # Later flags override earlier ones. Python's own switch assertions off and, with -fwrapv, hide signed overflow:
    # undo both.
    LEVELS = {}
    COMPILE += ["-O1", "-g1", "-fno-omit-frame-pointer", "-fno-wrapv", "-UNDEBUG", "-D_GLIBCXX_ASSERTIONS"]
    # Separate folders, because object files do not record their flags, and would pass for up to date.
    if ASKED == "thread":
        SANITIZERS = ["-fsanitize=thread"]
        KERNEL_FILES = set(KERNELS["baseline"])
        BUILD_FOLDER = "build/threads"
    else:
        SANITIZERS = ["-fsanitize=address"]
        OUTSIDE_AVX += ["-fsanitize=undefined", "-fno-sanitize-recover=undefined"]
        # The code with special instructions is in rows/, which both kinds of kernels share, so one kind has it.
        KERNEL_FILES = {*KERNELS["baseline"], KERNELS[native_kernel()][0]}
        # The environment variable REGIONS_KERNEL chooses the kernel, so that tests can run every kernel of the machine.
        COMPILE += ["-DREGIONS_KERNEL_FROM_ENVIRONMENT"]
        BUILD_FOLDER = "build/sanitized"
    COMPILE += SANITIZERS
    LINK += [*SANITIZERS, *OUTSIDE_AVX]

SOURCES = [*sorted(glob("csrc/*/*.cpp")), "regions/_core.pyx"]
LEFT_OUT = {"polytopes_wide"}.union(*KERNELS.values()) - KERNEL_FILES
SOURCES = [source for source in SOURCES if Path(source).stem not in LEFT_OUT]
# The linker takes the first copy of each inline function: one with -O3, or with sanitizers one that is checked.
SOURCES.sort(key=lambda source: Path(source).stem.endswith(tuple(LEVELS) or AVX))
COMPILE += [f"-DREGIONS_HAS_{name.upper()}" for name in sorted(KERNEL_FILES)]


NO_COMPILER = """
The core of relu-regions could not be compiled. It needs a C++17 compiler and the headers of Python:
    Debian, Ubuntu: apt-get install g++ python3-dev
    Fedora:         dnf install gcc-c++ python3-devel
    macOS:          xcode-select --install
What went wrong: {error}
"""


def rank(source: str) -> int:
    """Return a smaller number for files that take longer to compile."""
    slowest = ["kernel_", "polytopes_", "_core", "dictionaries_"]
    return next((place for place, start in enumerate(slowest) if Path(source).name.startswith(start)), len(slowest))


class BuildInParallel(build_ext):
    """Compile the files of one extension in parallel; setuptools only parallelises whole extensions."""

    def run(self) -> None:
        try:
            super().run()
        except (CCompilerError, ExecError, PlatformError, FileNotFoundError) as error:
            raise SystemExit(NO_COMPILER.format(error=error)) from error

    def build_extensions(self) -> None:
        compile_serially = self.compiler.compile

        def compile_in_parallel(sources: list[str], *, extra_postargs: list[str], **options: object) -> list[str]:
            def compiled(source: str) -> list[str]:
                more = [*([] if source.startswith("csrc/kernel/") else OUTSIDE_KERNELS)]
                more += [] if Path(source).stem.endswith(AVX) else OUTSIDE_AVX
                more += [level for end, level in LEVELS.items() if Path(source).stem.endswith(end)]
                return compile_serially([source], extra_postargs=[*extra_postargs, *more], **options)

            with ThreadPool(self.parallel or os.cpu_count() or 1) as pool:
                # If the longest file came last, it would run alone.
                started = {source: pool.apply_async(compiled, [source]) for source in sorted(sources, key=rank)}
                return [path for source in sources for path in started[source].get()]

        self.compiler.compile = compile_in_parallel
        super().build_extensions()


core = Extension(
    "regions._core",
    sources=SOURCES,
    # All headers, because Cython only knows the headers that it names itself, not those included by a .cpp.
    depends=["regions/_core.pxd", *sorted(glob("regions/*.pxi")), *sorted(glob("csrc/*/*.hpp"))],
    include_dirs=["csrc"],
    language="c++",
    extra_compile_args=COMPILE,
    extra_link_args=LINK,
)

setup(
    ext_modules=[core],
    cmdclass={"build_ext": BuildInParallel},
    options={"build": {"build_base": BUILD_FOLDER}},
)
