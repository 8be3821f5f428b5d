"""The subcommands of `rocm-sdk-build`, a file each."""
