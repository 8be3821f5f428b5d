"""The command `rocm-sdk install`, which installs torch, JAX or the SDK for the GPUs of this machine, by pip or uv."""

import sys

from rocm_sdk.terminal.output import complain, complain_fix, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from rocm_sdk.index.choice import Choice
    from rocm_sdk.index.destination import Destination
    from rocm_sdk.index.install_errors import InstallRefusedError
    from rocm_sdk.index.install_targets import InstallTargets
    from rocm_sdk.index.request import Index

EXAMPLE = "rocm-sdk install torch --print"
DESCRIPTION = """\
Install torch, torchvision, torchaudio, apex, JAX, the SDK or wheels, with the packages for the GPUs of this machine, in
the exact versions that the installer finds on AMD's index. The command shows its plan, asks, runs the installer, and
checks the result. With --dry-run it only shows what it would do; with --print it prints the command, or another form.
Both run code of AMD's source distribution `rocm`, but of no other. Exit status 1 if nothing fits."""

_CHECK_SECONDS = 60  # time limit of the check whether this package has taken over its files
_FORMATS = ("command", "requirements", "pyproject", "lock", "uv.lock", "environment")


def add_arguments(parser: "ArgumentParser") -> None:
    """Add the arguments: what to install, for which GPUs, of which release, and how."""
    parser.add_argument(
        "things", nargs="*", metavar="NAME", help="torch, torchvision, torchaudio, apex, jax, sdk (default), or a wheel"
    )
    parser.add_argument(
        "--gpu",
        metavar="GPU",
        help="targets or families, separated by commas; `discrete` or `integrated`: such GPUs of this machine;"
        " `machine` (the default): all of its GPUs",
    )
    parser.add_argument("--rocm", metavar="VERSION", help="a release (10.0, 10.0.1) or a stream (nightly, rc, bkc)")
    showing = parser.add_mutually_exclusive_group()
    showing.add_argument("--print", action="store_true", help="change nothing, and print the form on stdout")
    showing.add_argument("--dry-run", action="store_true", help="change nothing, and print all commands that would run")
    parser.add_argument(
        "--installer", choices=("pip", "uv", "conda-pip"), help="by default the installer of the environment"
    )
    parser.add_argument("--format", choices=_FORMATS, help="the form that --print prints; by default the command")
    parser.add_argument(
        "--python", metavar="FILE", help="the interpreter of the environment; by default the active one"
    )
    parser.add_argument("--upgrade", action="store_true", help="look for a newer release, even if all is installed")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(options: "Namespace") -> int:
    """Print or install. Return status 1 with the reason on stderr if nothing fits, or if something fails."""
    from rocm_sdk.errors import UnknownTargetError
    from rocm_sdk.index.install_errors import InstallRefusedError, WrongWordError

    if (options.format is not None and not options.print) or (options.installer == "conda-pip" and not options.print):
        complain("--format and --installer conda-pip print a text", "add --print")
        return 2
    try:
        return _run(options)
    except InstallRefusedError as error:
        _tell_refusal(error)
        return 2 if isinstance(error, WrongWordError) else 1
    except UnknownTargetError as error:
        complain(f"--gpu: {error.message}", error.fix)
        return 2


def _tell_refusal(error: "InstallRefusedError") -> None:
    first, *said = error.message.splitlines()  # an installer's own words follow the first line
    complain(first)
    for line in said:
        complain(f"  {line}")
    if error.fix is not None:
        complain_fix(error.fix)


def _run(options: "Namespace") -> int:
    from rocm_sdk import _native
    from rocm_sdk.errors import RocmSdkError
    from rocm_sdk.fit.known_faults import known_faults, processors_of
    from rocm_sdk.index.install_errors import InstallRefusedError
    from rocm_sdk.index.install_targets import choose_gpus
    from rocm_sdk.index.request import refuse_unknown

    from .arguments import with_gpu

    refuse_unknown(options.things)
    gpus = choose_gpus(options.gpu, with_gpu(options.typed))
    try:
        real = processors_of(_native.gpus()) if options.gpu is None else ()
    except RocmSdkError:
        real = ()
    for found in known_faults((*gpus.targets, *real), options.rocm):
        complain(f"{found.title}: {found.cause} [{found.code}]", found.fix)
    fitting = (options.rocm,) if options.rocm is not None else _fitting_releases(options.things)
    try:
        return _run_for_counting(fitting[0] if fitting else None, gpus, options)
    except InstallRefusedError as error:
        if len(fitting) < 2:
            raise
        complain(error.message.splitlines()[0])
    label, whole = fitting
    complain(f"the name of a wheel says ROCm {label}, and no index has that; its files also fit ROCm {whole}")
    return _run_for_counting(whole, gpus, options)


def _run_for_counting(rocm: "str | None", gpus: "InstallTargets", options: "Namespace") -> int:
    """Run for the GPUs, without integrated ones for which the index has nothing. Return the status.

    An integrated GPU is left out only if there is another GPU.
    """
    from rocm_sdk.index.install_errors import InstallRefusedError

    try:
        return _run_for(rocm, gpus, options)
    except InstallRefusedError as error:
        if error.target not in gpus.beside:
            raise
        complain(error.message.splitlines()[0])
        return _run_for_counting(rocm, gpus.without(error.target), options)


def _fitting_releases(things: list[str]) -> tuple[str, ...]:
    """Return the releases that the named wheels fit, the best first."""
    if not any(thing.endswith(".whl") for thing in things):
        return ()
    from rocm_sdk.base.scratch import removed_at_signals
    from rocm_sdk.fit.verdicts.wheel_releases import releases_of_wheels

    with removed_at_signals():
        return releases_of_wheels(things)


def _run_for(rocm: "str | None", gpus: "InstallTargets", options: "Namespace") -> int:
    from rocm_sdk.terminal.progress import waiting

    with waiting("looking at the environment", at_once=True):
        from rocm_sdk.index.choice import Choice, is_final, works
        from rocm_sdk.index.destination import find_destination, unfinished
        from rocm_sdk.index.forms import UNPINNED, refuse_pair
        from rocm_sdk.index.install_errors import OWN_ENVIRONMENT, InstallRefusedError, UnreachedIndexError
        from rocm_sdk.index.public_part import choose_all
        from rocm_sdk.index.request import choose_index, make_requirements

        index = choose_index(rocm)
        requirements = make_requirements(options.things, gpus.targets, rocm, index)
        destination = find_destination(options.python, "pip" if options.installer == "conda-pip" else options.installer)
        half = unfinished(destination)
    if options.print:
        is_conda = options.installer == "conda-pip"
        usual = "environment" if is_conda else "command"
        refuse_pair("conda-pip" if is_conda else destination.installer, options.format or usual, index)
    elif not (half or options.upgrade):
        release = works(requirements, gpus.targets, destination)
        # Of the streams, only `stable` can be told from a version.
        if release is not None and (rocm != index.stream or (index.is_stable and is_final(release))):
            return _keep(options, release, destination, "--upgrade looks for a newer release")
    if trouble := half or (destination.obstacle and (destination.obstacle, OWN_ENVIRONMENT)):
        if not options.print:
            raise InstallRefusedError(*trouble)
        complain(*trouble)
    try:
        choice = choose_all(requirements, gpus.targets, destination, index)
    except UnreachedIndexError as error:
        if not options.print or options.format not in (None, *UNPINNED):
            raise
        _warn_of_no_answer(error, gpus)
        return _print(options, Choice(requirements, {}, ()), destination, index)
    _explain(choice, gpus, destination, index)
    if options.print:
        return _print(options, choice, destination, index)
    if choice.is_in(destination.versions):
        return _keep(options, choice.release, destination, f"{index.shown} has no newer release of what was asked for")
    return _install(options, choice, gpus, destination, index)


def _is_adopted(adopting: list[str]) -> bool:
    """Return whether an earlier installation has taken the files over; False if the check does not end."""
    from rocm_sdk.base.processes import run

    try:
        return run([*adopting, "--check"], seconds=_CHECK_SECONDS).returncode == 0
    except TimeoutError:
        return False


def _keep(options: "Namespace", release: str, destination: "Destination", why: str) -> int:
    """Install nothing, but take over the files of this package if no earlier installation did.

    Return the status.
    """
    from rocm_sdk.base.processes import run_shown
    from rocm_sdk.index.forms import in_words

    tell(f"nothing is changed: {destination.site} already has all of it, of ROCm {release}")
    tell(why)
    adopting = destination.adopting
    if not adopting or _is_adopted(adopting):
        return 0
    tell(in_words(adopting))
    if options.dry_run:
        return 0
    return run_shown(adopting) if _agreed(options) else 1


def _explain(choice: "Choice", gpus: "InstallTargets", destination: "Destination", index: "Index") -> None:
    """Say on stderr why this is what will be installed: stdout is for programs."""
    for note in gpus.notes:
        complain(note)
    complain(f"ROCm {choice.release}, with the packages for {', '.join(gpus.targets)}, from {index.shown}")
    if destination.further_places:
        complain(f"{destination.installer} is told to ignore {', '.join(destination.further_places)}")
    for note in choice.notes:
        complain(note)


def _warn_of_no_answer(error: "InstallRefusedError", gpus: "InstallTargets") -> None:
    """Say why the text that follows on stdout has no exact versions, and what is not known."""
    for note in gpus.notes:
        complain(note)
    complain(error.message.splitlines()[0].removesuffix(":"))
    complain(
        "the printed form has no pinned versions: the installer will take the newest ones when it runs, and it is not"
        f" known whether the index has packages for {', '.join(gpus.targets)}",
        error.fix,
    )


def _print(options: "Namespace", choice: "Choice", destination: "Destination", index: "Index") -> int:
    from rocm_sdk.index.forms import environment, form, in_words, refuse_joint

    refuse_joint("environment" if options.installer == "conda-pip" else options.format or "command", choice, index)
    if options.installer == "conda-pip":
        text = environment(choice, destination, index)
    else:
        text = form(options.format or "command", choice, destination, index)
    sys.stdout.write(text)
    if options.format not in (None, "command") and destination.adopting:
        complain(f"after the installation: {in_words(destination.adopting)}")
    return 0


def _install(
    options: "Namespace", choice: "Choice", gpus: "InstallTargets", destination: "Destination", index: "Index"
) -> int:
    """Show the commands, ask, and run them. Return the status."""
    from rocm_sdk.base.processes import run_shown
    from rocm_sdk.index.failure_reason import explained
    from rocm_sdk.index.forms import arguments, commands, in_words
    from rocm_sdk.index.installer_answer import INSTALLING, plain_options, start_options

    following, lacking = _following(gpus.targets, destination), ""
    installing = commands(choice, destination, index)
    for line in (*installing, *map(in_words, following)):
        tell(line)
    if options.dry_run:
        return 0
    if not _agreed(options):
        return 1
    for requirements, place in ((choice.requirements, index), *choice.further):
        words = [*destination.command, *plain_options(destination), *arguments(requirements, destination, place)]
        heard = bytearray()
        with start_options(destination, place, INSTALLING) as start:
            status = run_shown(words, heard=heard, **start)
        if status != 0:
            _tell_refusal(explained(destination, place, place.project, heard.decode(errors="replace")))
            if place is index:
                return 1
            lacking = ", ".join(map(str, requirements))
    statuses = [run_shown(words) for words in following]
    if lacking:
        complain(f"installed: {', '.join(map(str, choice.requirements))}; lacking: {lacking}", installing[-1])
    return 1 if lacking or any(statuses) else 0


def _following(targets: tuple[str, ...], destination: "Destination") -> list[list[str]]:
    """Return the commands to run afterwards.

    AMD's `rocm` overwrites files of this package, which are taken over again.
    """
    from rocm_sdk.base.processes import module_command

    checking = ["rocm_sdk", "check", "--gpu", ",".join(targets)]
    adopting = destination.adopting
    if not adopting:
        return [module_command(*checking, "--sdk", destination.site)]
    return [adopting, module_command(*checking, python=destination.python, minor=destination.minor)]


def _agreed(options: "Namespace") -> bool:
    """Return whether the user wants what was shown; say so if not."""
    if options.yes or _answered():
        return True
    complain("nothing was changed")
    return False


def _answered() -> bool:
    if not sys.stdin.isatty():
        complain("nobody can answer here", "add --yes, or --dry-run")
        return False
    try:
        return input("Run this? [y/N] ").strip().lower() in {"y", "yes"}
    except EOFError:
        return False
