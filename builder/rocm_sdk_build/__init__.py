"""The maker of wheels of a ROCm SDK from files that were built elsewhere: artifacts, a prefix or Debian's packages.

The package needs no ROCm. The loader, rocm_sdk, reads ELF files.
"""
