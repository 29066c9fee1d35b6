# SPDX-License-Identifier: MIT
"""How is the compiled core built?

There is one extension, `regions._core`: the Cython binding and every C++ file in csrc/. Everything else is in
pyproject.toml.

The signs that decide a count are only right in strict floating point, so contraction (fused multiply-add) and
fast-math are switched off after all flags of the environment. There is no -march: the same wheel
must run everywhere, and the files that gain from wider vectors choose their instructions at run time.

REGIONS_SANITIZE=1 builds the core for the address and undefined-behaviour sanitizers, REGIONS_SANITIZE=thread for
the thread sanitizer, with assertions on; see CONTRIBUTING.md. The latter has only the baseline kernel, and no more than
three dimensions: all kernels share memory in the same way, and this takes a quarter of the time. The former has the
baseline kernel and the one for the widest vectors of this machine. It looks for undefined behaviour everywhere but in
the latter, which is made of the same templates and would take twice as long.
"""

from __future__ import annotations

import os
import platform
import sys
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
SOURCES = ["regions/_core.pyx", *sorted(glob("csrc/*/*.cpp"))]
AVX = ("_avx2.cpp", "_avx512.cpp")
WIDE = "_wide.cpp"
# Files that gain little from -O3, which takes twice as long. On x86-64 only processors from before 2013 run the
# baseline kernels. In seven dimensions and more, most of the time goes into exact arithmetic.
LEVELS = {WIDE: "-O1"}
if platform.machine() in ("x86_64", "AMD64"):
    LEVELS["_baseline.cpp"] = "-O2"
BUILD_FOLDER = "build"

ASKED = os.environ.get("REGIONS_SANITIZE", "0")
if ASKED == "0":
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
        COMPILE += ["-DREGIONS_BASELINE_ONLY"]
        SOURCES = [source for source in SOURCES if not source.endswith((*AVX, WIDE))]
        BUILD_FOLDER = "build/threads"
    else:
        SANITIZERS = ["-fsanitize=address"]
        OUTSIDE_AVX += ["-fsanitize=undefined", "-fno-sanitize-recover=undefined"]
        # The code with special instructions is in rows/, which both kinds of kernels share, so one kind has it.
        COMPILE += ["-DREGIONS_BASELINE_POLYTOPES"]
        SOURCES = [source for source in SOURCES if not (source.endswith((*AVX, WIDE)) and "polytopes" in source)]
        if sys.platform == "linux" and " avx512bw " in Path("/proc/cpuinfo").read_text():
            SOURCES.remove("csrc/kernel/kernel_avx2.cpp")
            COMPILE += ["-DREGIONS_WITHOUT_AVX2"]
        # The linker takes the first copy of each inline function: one that is checked.
        SOURCES.sort(key=lambda source: source.endswith(AVX))
        # The environment variable REGIONS_KERNEL chooses the kernel, so that tests can run every kernel of the machine.
        COMPILE += ["-DREGIONS_KERNEL_FROM_ENVIRONMENT"]
        BUILD_FOLDER = "build/sanitized"
    COMPILE += SANITIZERS
    LINK += [*SANITIZERS, *OUTSIDE_AVX]


NO_COMPILER = """
The core of relu-regions could not be compiled. It needs a C++17 compiler and the headers of Python:
    Debian, Ubuntu: apt-get install g++ python3-dev
    Fedora:         dnf install gcc-c++ python3-devel
    macOS:          xcode-select --install
What went wrong: {error}
"""


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
                more += [] if source.endswith(AVX) else OUTSIDE_AVX
                more += [level for end, level in LEVELS.items() if source.endswith(end)]
                return compile_serially([source], extra_postargs=[*extra_postargs, *more], **options)

            with ThreadPool(self.parallel or os.cpu_count() or 1) as pool:
                objects = pool.map(compiled, sources, chunksize=1)
            return [path for paths in objects for path in paths]

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
