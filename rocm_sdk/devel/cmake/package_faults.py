"""The check that a tree has the files and packages that its packages for CMake and pkg-config require and name."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from rocm_sdk.base.value_text import counted, one_line
from rocm_sdk.installed.prefix import is_own_package

from .pkgconfig import ENDING, MOST_LONG, needs_of
from .text_reader import FATAL, PACKAGE, PATH, TARGET, Need, Place, Reader

_CONFIG = re.compile(r"(.+)-config\.cmake|(.+)Config\.cmake")
_SHOWN = 3
_ASKED = 128  # packages that are looked for elsewhere
_LONGEST = 128  # characters of their names
_MESSAGE = 200  # characters of CMake's message that are shown
_OF_SYSTEMS = re.compile(r"/((usr|lib\w*|s?bin|etc|proc|sys|dev|run)(/.*)?)?")  # what another machine may have
# The packages that CMake 4.4 has modules for: cmake --help-module-list.
_OF_CMAKE = re.compile(
    r"ALSA|ASPELL|AVIFile|Armadillo|BISON|BLAS|BZip2|Backtrace|Boost|Bullet|CABLE|CUDA(?:Toolkit)?|CURL|CVS|Coin3D|"
    r"Cups|Curses|CxxTest|Cygwin|DCMTK|Dart|DevIL|Doxygen|EXPAT|EnvModules|FLEX|FLTK2?|Fontconfig|Freetype|GCCXML|"
    r"GDAL|GIF|GLEW|GLUT|GSL|GTK2?|GTest|Gettext|Git|GnuTLS|Gnuplot|HDF5|HSPELL|HTMLHelp|Hg|ICU|ITK|Ice|Iconv|Icotool|"
    r"ImageMagick|Intl|JNI|JPEG|Jasper|Java|KDE[34]|LAPACK|LATEX|LTTngUST|LibArchive|LibLZMA|LibXml2|LibXslt|Libinput|"
    r"Lua(?:5[01])?|MFC|MPEG2?|MPI|Matlab|Motif|Msys|ODBC|OpenACC|OpenAL|OpenCL|OpenGL|OpenMP|OpenSP|OpenSSL|"
    r"OpenSceneGraph|OpenThreads|PHP4|PNG|Patch|Perl(?:Libs)?|PhysFS|Pike|PkgConfig|PostgreSQL|Producer|Protobuf|"
    r"Python[23]?|PythonInterp|PythonLibs|Qt[34]?|QuickTime|RTI|Ruby|SDL(?:_\w+)?|SQLite3|SWIG|SelfPackers|Squish|"
    r"Subversion|TCL|TIFF|TclStub|Tclsh|Threads|UnixCommands|VTK|Vulkan|Wget|Wish|X11|XCTest|XMLRPC|XalanC|XercesC|"
    r"ZLIB|osg\w*|wxWidgets|wxWindows"
)


class Fault(NamedTuple):
    """A package, target or path that packages require or name, and that is not there."""

    path: str  # the text that says so, or the first of several
    name: str  # of the package or target, or a path, or the message with which CMake ends
    said: str  # "package hip requires hsa-runtime64, which the tree lacks"
    is_of_files: bool  # files are missing, not a package


class Checked(NamedTuple):
    """The result of a check: the faults, and the number of paths that were looked at."""

    faults: list[Fault]  # each package and target once, of each text the first path
    foreign: list[Fault]  # required packages that are neither ROCm's nor CMake's, and not there
    counted: dict[str, int]  # text that is read -> how many paths it names
    unread: str  # words for the texts that were not read to the end; "" if all were


def package_of(path: str) -> str | None:
    """Return the package that find_package finds by the file at this path; None if it finds none."""
    match = _CONFIG.fullmatch(posixpath.basename(path))
    return None if match is None else match[1] or match[2]


def texts_of(package: str) -> tuple[str, ...]:
    """Return the names of files by which find_package finds a package, or pkg-config `package`.pc."""
    if package.endswith(ENDING):
        return (package,)
    return f"{package}Config.cmake", f"{package.lower()}-config.cmake", f"Find{package}.cmake"


def check_packages(place: Place, where: str) -> Checked:
    """Look for everything that the texts of a place require or name, and return what is missing.

    where: "which the tree lacks", for the sentences. Parts that only CMake can tell do not count.
    """
    reader = _read(place)
    needs = [*reader.needs]
    for path in (each for each in place.texts if each.endswith(ENDING)):
        text = place.text(path) or ""
        needs += needs_of(path, text, reader.spend)
        if len(text) > MOST_LONG or not reader.spend(0):
            reader.unread[path] = None
    present = {posixpath.basename(path) for path in place.texts}
    required = {name: files for name, files in _named(needs, PACKAGE).items() if present.isdisjoint(texts_of(name))}
    faults, foreign = list(_faults_of_files(place, needs, where)), list[Fault]()
    for number, (name, files) in enumerate(required.items()):
        if number >= _ASKED or len(name) > _LONGEST:
            reader.unread |= dict.fromkeys(files)
            continue
        is_own = is_own_package(name.removeprefix("lib"))
        is_judged = is_own or not (name.endswith(ENDING) or _OF_CMAKE.fullmatch(name))
        if is_judged and place.has_package(name) is False:
            said = f"{_told(files, 'requires', 'require', name)}, {where}"
            (faults if is_own else foreign).append(Fault(files[0], name, said, is_of_files=False))
    for name, files in _named(() if reader.unread else needs, TARGET).items():
        scope = name.partition("::")[0]
        # Nobody knows the targets of a package that is not here.
        if name not in reader.targets and is_own_package(scope) and _defines(reader.targets, scope):
            said = f"{_told(files, 'links', 'link', name)}, {where}"
            faults.append(Fault(files[0], name, said, is_of_files=False))
    read = Counter(need.file for need in needs if need.kind == PATH and need.file not in reader.unread)
    unread = "".join(islice(reader.unread, 1))
    unread += f" and {counted(len(reader.unread) - 1, 'more text')}" if len(reader.unread) > 1 else ""
    unread += ": not read to the end: the texts for CMake and pkg-config take too much work" if unread else ""
    return Checked(faults, foreign, dict(read), unread)


def _named(needs: Iterable[Need], kind: str) -> dict[str, list[str]]:
    """Return the names of a kind, each with the texts that name it."""
    names: dict[str, list[str]] = {}
    for need in needs:
        if need.kind == kind:
            names.setdefault(need.name, []).append(need.file)
    return names


def _faults_of_files(place: Place, needs: Iterable[Need], where: str) -> Iterator[Fault]:
    """Yield the first missing path of each text, and each message with which CMake ends for another cause."""
    lacking = dict[str, Need]()
    for need in needs:
        if need.kind == PATH and need.file not in lacking and _lacks(place, need.name):
            lacking[need.file] = need
    for path, need in lacking.items():
        yield Fault(path, need.name, f"{need.what} is {need.name}, {where}", is_of_files=True)
    directories = {posixpath.dirname(path) for path in lacking}
    for name, files in _named(needs, FATAL).items():
        if directories.isdisjoint(map(posixpath.dirname, files)):
            message = one_line(name)[:_MESSAGE]
            yield Fault(files[0], message, f'CMake ends there with "{message}"', is_of_files=True)


def _lacks(place: Place, path: str) -> bool:
    """Return whether a path is missing. Of paths outside the place, only the system's may exist without being known."""
    is_there = place.exists(path)
    return not is_there and (is_there is False or _OF_SYSTEMS.fullmatch(path) is None)


def _read(place: Place) -> Reader:
    """Read all texts: first those of packages, then those that these do not certainly include."""
    reader = Reader(place)
    texts = [path for path in place.texts if path.endswith(".cmake")]
    texts.sort(key=lambda path: path.removesuffix(".cmake"))
    for path in texts:
        if (package := package_of(path)) is not None:
            reader.read_package(path, package)
    for path in texts:
        if path not in reader.read:
            reader.read_text(path)
    return reader


def _defines(targets: Iterable[str], scope: str) -> bool:
    return any(each.startswith(f"{scope}::") for each in targets)


def _told(files: Iterable[str], verb: str, plural: str, name: str) -> str:
    """Return a sentence about the packages that require a name."""
    owners = list(dict.fromkeys(_owners(files)))
    if len(owners) == 1:
        return f"package {owners[0]} {verb} {name}"
    more = f" and {len(owners) - _SHOWN} more" if len(owners) > _SHOWN else ""
    shown = ", ".join(owners[:_SHOWN]) if more else f"{', '.join(owners[:-1])} and {owners[-1]}"
    return f"packages {shown}{more} {plural} {name}"


def _owners(files: Iterable[str]) -> Iterator[str]:
    for path in files:
        is_of_cmake = not path.endswith(ENDING)
        yield package_of(path) or posixpath.basename(posixpath.dirname(path) if is_of_cmake else path)
