"""The check whether the versions that the files of a prefix say agree."""

from __future__ import annotations

import os

from rocm_sdk.doctor.recorder import Recorder
from rocm_sdk.installed.prefix import Prefix
from rocm_sdk.installed.prefix_versions import RELEASE, Said, agree, versions


def check_versions(prefix: Prefix, recorder: Recorder) -> None:
    """Compare the versions of one thing, as far as both say it: 5.2.21153 fits 5.2."""
    by_subject: dict[str, list[Said]] = {}
    for said in versions(prefix):
        by_subject.setdefault(said.about, []).append(said)
    for about, said_of_it in by_subject.items():
        usual = max(said_of_it, key=lambda said: sum(agree(said, other) for other in said_of_it))
        if len(said_of_it) == 1:
            recorder.skip(f"version of {about}: only {os.path.relpath(usual.path, prefix.root)} says one")
        for other in (each for each in said_of_it if each is not usual):
            if agree(usual, other):
                names = (os.path.relpath(each.path, prefix.root) for each in (usual, other))
                recorder.good(f"{' and '.join(names)} say version {usual.version}")
            else:
                _complain(prefix, other, usual, recorder)
    release, hip = (by_subject.get(about) for about in (RELEASE, "hip"))
    if release and hip and release[0].version.split(".")[0] != hip[0].version.split(".")[0]:
        _complain(prefix, hip[0], release[0], recorder)
    if not by_subject:
        recorder.skip("versions: no file says one")


def _complain(prefix: Prefix, said: Said, other: Said, recorder: Recorder) -> None:
    facts = {"version": said.version, "other": other.path, "wanted": other.version, "name": said.about}
    recorder.bad("E-PREFIX-007", said.path, **facts, **prefix.facts)
