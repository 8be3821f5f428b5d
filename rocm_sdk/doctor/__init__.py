"""The self test, which checks an installation and shows how to fix its faults.

`run` runs the subjects of `subjects/` on an `Installed`; each reports to a `Recorder`, and `report/` prints the
results. `loading` loads libraries in separate processes.
"""
