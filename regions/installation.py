# SPDX-License-Identifier: MIT
"""Is the imported package really this one, and complete?

Another project, affiliated with astropy, is also imported as `regions`. If both are installed, they silently overwrite
each other's files, and uninstalling one removes the files that both have. In a source checkout, the compiled core may
not have been built. In each case the import fails somewhere inside; this file explains why.
"""

from __future__ import annotations

from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

__all__ = ["explain_missing_core", "lost_files", "other_owners"]

DISTRIBUTION = "relu-regions"


def other_owners() -> list[str]:
    """Return the names of other installed distributions that provide an import package called ``regions``."""
    from importlib.metadata import packages_distributions  # slow to import, and only needed when something is wrong

    return sorted(set(packages_distributions().get("regions", [])) - {DISTRIBUTION})


def lost_files() -> list[str]:
    """Return the files of this package that were installed and no longer exist."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        files = distribution(DISTRIBUTION).files or []
    except PackageNotFoundError:
        return []
    return sorted(str(file) for file in files if file.parts[0] == "regions" and not Path(str(file.locate())).exists())


def explain_missing_core(error: ImportError) -> ImportError:
    """Turn a failed import inside this package into an error that explains the cause and the remedy."""
    others = other_owners()
    if others:
        return ImportError(
            f"{DISTRIBUTION} and {', '.join(others)} are both imported as 'regions' and have overwritten each "
            f"other's files. Keep one to an environment: pip uninstall {DISTRIBUTION} {' '.join(others)}, then "
            f"pip install the one you want. (The import failed with: {error})"
        )
    lost = lost_files()
    if lost:
        return ImportError(
            f"{len(lost)} of the installed files of {DISTRIBUTION} are gone, such as {lost[0]}: another package that "
            "is imported as 'regions' had overwritten them, and its uninstallation removed them. Reinstall: "
            f"pip uninstall {DISTRIBUTION}, then pip install it again from its source. (The import failed "
            f"with: {error})"
        )
    folder = Path(__file__).parent
    if not any((folder / f"_core{suffix}").exists() for suffix in EXTENSION_SUFFIXES) and "_core" in str(error):
        return ImportError(
            f"the compiled core of {DISTRIBUTION} is missing in {folder}: this is a source folder that has not been "
            "built. Run 'pip install -e .' in it, or import from another folder to use an installed copy."
        )
    return ImportError(f"importing {DISTRIBUTION} failed: {error}")
