"""The subjects of the self test, one module each.

`check(installation, recorder, options)` looks at one aspect of an installation and tells the recorder what it finds.
It changes nothing and trusts no file: anything in an installation may be damaged. `process` is the exception: it
looks at a running process and returns problems.
"""
