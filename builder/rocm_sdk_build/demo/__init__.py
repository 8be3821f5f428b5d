"""The demonstration: SDK wheels of Debian's ROCm, a virtual environment with them, their libraries preloaded in it."""
