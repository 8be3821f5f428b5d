"""The options of output that this run was given."""


class Given:
    """The options of this run. The variables of the environment count where an option says nothing."""

    program = "rocm-sdk"  # the beginning of messages
    quiet = False
    verbose = False
    progress = False
    color = "auto"


given = Given()
