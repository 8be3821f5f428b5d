"""Makes wheels of a ROCm SDK from files built elsewhere; so far from the packages of a Debian system.

Needs the extra `packaging` and nothing else of this project: not the extension module, and no ROCm.
"""
