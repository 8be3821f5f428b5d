"""`rocm-sdk test`: proves an installation sound, or names what is wrong and how to mend it. One file per subject.

A subject is a function that looks at an Installation and tells a Recorder what it found. It changes nothing, and trusts
no file: whatever is in the installation may be damaged.
"""
