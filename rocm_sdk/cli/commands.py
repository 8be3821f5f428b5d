"""The table of subcommands, and their modules."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

# Subcommand -> summary. The subcommand's module is rocm_sdk.cli.NAME, "_" in it for "-", with add_arguments(parser),
# run(options) and EXAMPLE.
COMMANDS = {
    "adopt": "take over the files that AMD's distribution rocm also installs",
    "check": "say whether a file, wheel, directory or distribution loads and runs here",
    "check-gpu": "check whether the installed libraries have code for a GPU",
    "code": "print the GPU code that files hold: targets, sizes, containers",
    "completion": "print the completion script for a shell",
    "env": "print the variables that a build or a choice of GPUs needs, for a shell to evaluate",
    "explain": "explain a problem code of `rocm-sdk test` or of an error",
    "gpus": "print the GPUs of this machine, and why one cannot be used",
    "info": "show everything about this installation",
    "init": "extract the development tree, or update it",
    "install": "install torch, JAX or the SDK for the GPUs of this machine",
    "list": "print the libraries that have a short name, and their files",
    "path": "print the files of libraries, or a directory of the SDK",
    "run": "run a program that finds this SDK's libraries and tools",
    "store": "manage the store of development files that environments share",
    "targets": "print the gfx targets that the SDK was built for, or flags to build for targets",
    "test": "check the installation and show how to fix what is wrong",
    "tree": "show what loading libraries brings into a process",
    "version": "print the version of the installed SDK",
}

# Command of another tool -> the command that does the same here.
OF_OTHER_TOOLS = {
    "activate": "env",
    "build": "rocm-sdk-build",
    "config": "env",
    "devices": "gpus",
    "doctor": "test",
    "exec": "run",
    "fix": "test --fix",
    "ldd": "tree",
    "pytorch": "install torch",
    "remove": "pip uninstall NAME (`pip list | grep -i rocm` prints the names)",
    "repair": "test --fix",
    "rocminfo": "run rocminfo",
    "show": "info",
    "smi": "gpus",
    "status": "info",
    "torch": "install torch",
    "uninstall": "pip uninstall NAME (`pip list | grep -i rocm` prints the names)",
    "update": "install --upgrade",
    "upgrade": "install --upgrade",
    "validate": "test",
    "verify": "test",
    "which": "path --tool NAME",
}

# Subcommand -> the exit statuses that only this subcommand has, and their meanings.
STATUSES = {
    "check": {3: "no verdict is possible"},
    "run": {126: "the program cannot be started", 127: "there is no such program"},
}

# Purpose of the user -> the same in a few words, and the subcommands for it.
GROUPS = {
    "get": ("install and set up", ("install", "completion")),
    "load": ("use the SDK", ("run", "env", "path", "list", "version")),
    "look": ("see what is here", ("info", "gpus", "targets", "tree", "check", "check-gpu", "code", "explain")),
    "mend": ("find and fix faults", ("test", "init", "store", "adopt")),
}


def module_of(name: str) -> "ModuleType":
    """Import the module of one subcommand, and no other, and return it."""
    module: ModuleType = __import__(f"{__package__}.{name.replace('-', '_')}", fromlist=["run"])
    return module
