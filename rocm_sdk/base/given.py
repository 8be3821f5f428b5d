"""The options of output that this run was given."""


class Given:
    """The options of this run. If an option is not given, the environment variables count."""

    program = "rocm-sdk"  # the beginning of messages
    quiet = False
    verbose = False
    progress = False
    color = "auto"


given = Given()
