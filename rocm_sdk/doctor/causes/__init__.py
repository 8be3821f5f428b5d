"""The causes: the observations of the subjects, and their reasons.

Subjects report what they see. `finding` asks what explains it: a file that is damaged (`comparing`), a fact that a
program has from its surroundings (`trying`), a limit or a device that the system has or lacks (`looking`), another
problem (`grouping`, by `problems.cause_table`). An observation that a cause explains is not a separate problem. The
others are reported as they were seen.
"""
