"""Whether files load with an SDK and run on GPUs: a file, a wheel, a directory, an installed distribution, the SDK.

Files are read and never loaded. What they say of themselves is hostile.
"""

from .judge import Question, Verdict, judge

__all__ = ["Question", "Verdict", "judge"]
