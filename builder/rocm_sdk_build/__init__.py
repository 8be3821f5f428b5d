"""Makes wheels of a ROCm SDK from files that were built elsewhere: artifacts, a prefix or Debian's packages.

Needs no ROCm. ELF files are read by the loader, rocm_sdk.
"""
