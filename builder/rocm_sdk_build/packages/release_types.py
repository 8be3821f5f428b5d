"""The kinds of builds, apart from what computes their versions: the parser of the command needs their names alone."""

RELEASE_TYPES = ("ci", "dev", "dev-bkc", "nightly", "nightly-bkc", "prerelease", "release")
