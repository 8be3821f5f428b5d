"""The subjects of the self test, one module each.

`check(installation, recorder, options)` checks one aspect of an installation and reports to the recorder. It changes
nothing and trusts no file: anything in an installation may be damaged. `process` is different: it checks a running
process and returns problems. Beside them is what only subjects use: a table of libraries, why libraries are not loaded,
the program that compiles a kernel.
"""
