"""Makes wheels of a ROCm SDK from files built elsewhere; so far from the packages of a Debian system.

Needs no ROCm. ELF files are read by the loader, rocm_sdk.
"""
