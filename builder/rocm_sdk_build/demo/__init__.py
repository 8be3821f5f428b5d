"""The demonstration: SDK wheels of Debian's ROCm in a virtual environment, in which their libraries are preloaded."""
