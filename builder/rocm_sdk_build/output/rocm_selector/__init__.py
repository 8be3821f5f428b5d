"""The part of the selector package `rocm` that runs on the user's machine."""
