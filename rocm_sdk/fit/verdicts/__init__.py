"""The verdict on files: a file, a wheel, a directory, an installed distribution, the SDK.

The verdict says whether the files load with an SDK and run on GPUs. Files are read and never loaded. What they say
about themselves may be hostile.
"""

from .judge import Question, Verdict, judge

__all__ = ["Question", "Verdict", "judge"]
