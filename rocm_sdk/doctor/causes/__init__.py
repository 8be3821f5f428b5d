"""Causes: what the subjects have seen, and why.

Subjects report what they see. `finding` asks what explains it: a file that is damaged (`comparing`), what a program has
from its surroundings (`trying`), a limit or a device that the system has or lacks (`looking`), another problem
(`grouping`, by `problems.cause_table`). What a cause explains is no problem of its own. What is left is said as it was
seen.
"""
