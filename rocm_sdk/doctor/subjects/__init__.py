"""The subjects of the self test, one module each.

`check(installation, recorder, options)` checks one aspect of an installation and reports to the recorder. The function
changes nothing and trusts no file: anything in an installation may be damaged. `process` is different: it checks a
running process and returns problems. Beside them are the modules that only subjects use: a table of libraries, the
reasons why libraries are not loaded, the program that compiles a kernel.
"""
