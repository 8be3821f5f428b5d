"""The demonstration: SDK wheels from Debian's ROCm, a virtual environment with them, their libraries preloaded in it.

A package, so that its modules are not among those that decide whether existing wheels are out of date.
"""
