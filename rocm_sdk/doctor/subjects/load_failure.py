"""The reasons why libraries cannot be loaded: a missing RPATH, or the problem behind the failure."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cached_property

from rocm_sdk import _native
from rocm_sdk.base.files import is_below
from rocm_sdk.doctor.load_results import LoadResult, load_all, search_path
from rocm_sdk.doctor.recorder import Options
from rocm_sdk.doctor.surroundings import Child, Surroundings
from rocm_sdk.installed.needed_libraries import NeededLibraries, names_needed
from rocm_sdk.installed.shared_objects import SharedObject
from rocm_sdk.installed.view import Installed
from rocm_sdk.problems import Problem, problem, problem_of

_OF_SYSTEMS = "rocm_sysdeps"  # the directory with libraries that systems have, too
_MISSING = re.compile(r"(?:^|: )([^\s:]+): cannot open shared object file: No such file")


class LoadFailures:
    """The explanation of load failures, given all shared objects of an installation."""

    def __init__(self, installation: Installed, objects: Sequence[SharedObject], options: Options) -> None:
        self._installation = installation
        self._options = options
        self._objects = objects
        self.needed = NeededLibraries(objects)

    @cached_property
    def directories(self) -> list[str]:
        """The directories with libraries."""
        return list(dict.fromkeys(os.path.dirname(each.path) for each in self._objects))

    def is_unaided(self, result: LoadResult) -> bool:
        """Return whether a load failed only because the linker does not search a directory that the loader searches.

        There are three cases. No RPATH leads into the SDK. The library is in another package, and no RPATH of this one
        leads to others: RPATHs that lead into their own package are upstream's, not the packager's. The SDK brings a
        system library that this system lacks, and the RPATH leads only to ROCm's own libraries.
        """
        match = _MISSING.search(result.dlerror_text) if result.outcome == "refused" else None
        present = [each for each in self.directories if match and os.path.exists(os.path.join(each, match[1]))]
        if match is None or not present:
            return False
        site = self._installation.site
        needing = [each for each in self.needed.of(result.path) if match[1] in names_needed(each)]
        if all(_OF_SYSTEMS in each.split(os.sep) for each in present):
            return True
        packages = {each.package(site) for each in needing}
        if any(is_below(place, package) for place in present for package in packages):
            return not any(each.searches_in(site) for each in needing)
        of_packages = [each for each in self._objects if each.package(site) in packages]
        return not any(each.searches_in_other_packages(site) for each in of_packages)

    def problem_of(self, result: LoadResult) -> Problem:
        """Return the problem behind a refusal, in the words of the exception that would be raised."""
        site = self._installation.site
        fallback = self._installation.fallback
        match = _MISSING.search(result.dlerror_text)
        if self._installation.prefix is not None and match is not None:
            needing = next((each for each in self.needed.of(result.path) if match[1] in names_needed(each)), None)
            place = needing.path if needing is not None else result.path
            facts = {**self._installation.owner_of(place), "needing": os.path.basename(place), "name": match[1]}
            return problem("E-PREFIX-005", place, self._installation.site, **facts)
        return problem_of(_native.explain_load(site, result.path, result.dlerror_text, fallback), site)

    def child_of(self, result: LoadResult) -> Child | None:
        """Return the load as a child, which can run again if it has ended; None in a prefix."""
        if self._installation.prefix is not None:
            return None
        return Child(result.path, result.seconds, None if result.outcome == "stuck" else self._again, (result.path,))

    def _again(self, paths: Sequence[str], surroundings: Surroundings, seconds: float) -> list[bool]:
        """Return which of these libraries load in other surroundings, with the SDK's directories where needed."""
        limit = max(1, int(seconds))
        results = {each.path: each for each in load_all(paths, limit, self._options.parallel, None, surroundings)}
        unaided = [path for path in paths if self.is_unaided(results[path])]
        with search_path(self.directories) as library_path:
            aided = load_all(unaided, limit, self._options.parallel, library_path, surroundings)
            results.update({each.path: each for each in aided})
        return [results[path].outcome == "loaded" for path in paths]
