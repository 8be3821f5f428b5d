"""The kinds of builds, apart from the computation of their versions: the command's parser needs their names alone."""

RELEASE_TYPES = ("ci", "dev", "dev-bkc", "nightly", "nightly-bkc", "prerelease", "release")
