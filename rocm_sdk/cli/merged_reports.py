"""The command `rocm-sdk test --merge DIR`, which compares the reports of many nodes."""

import os
import sys

from rocm_sdk.base.value_text import counted, harmless
from rocm_sdk.terminal.output import complain, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from rocm_sdk.doctor.nodes.comparison import Group

_SHOWN = 8  # names of nodes


def run(options: "Namespace") -> int:
    """Print the comparison. Return the status: 1 if nodes differ, are absent or have errors.

    The status is 2 for a wrong list or an empty directory.
    """
    from rocm_sdk.doctor.nodes.comparison import merge
    from rocm_sdk.doctor.nodes.host_list import BadHostListError, hosts
    from rocm_sdk.doctor.nodes.node_reports import COUNT_LIMIT, names_of_reports
    from rocm_sdk.terminal.progress import with_progress

    expected = options.expect if options.expect is not None else os.environ.get("SLURM_JOB_NODELIST", "")
    try:
        hosts_expected = hosts(expected)
        names = names_of_reports(options.merge)
    except BadHostListError as error:
        source = "--expect" if options.expect is not None else "SLURM_JOB_NODELIST"
        complain(f"{source}: {error}", "a list as Slurm writes it: node[001-128],login1")
        return 2
    except OSError as error:
        complain(f"--merge: {options.merge}: {error.strerror}", "name the directory with the reports")
        return 2
    if len(names) > COUNT_LIMIT:
        complain(f"--merge: {options.merge} has {len(names)} reports, more than {COUNT_LIMIT}", "merge some at a time")
        return 2
    if not names:
        complain(
            f"--merge: {options.merge} has no reports (*.json)",
            "write them: rocm-sdk test --json --node --output DIR/%n-%t.json",
        )
        return 2
    merged = merge(options.merge, with_progress("reading reports", names, len(names)), hosts_expected)
    if options.json:
        import json

        document = {
            "schema": 1,
            "reports": merged.report_count,
            "groups": [
                {
                    "of": group.of,
                    "is_norm": group.is_norm,
                    "reports": group.report_count,
                    "nodes": list(group.names),
                    "errors": list(group.errors),
                    "differences": [each._asdict() for each in group.differences],
                    "untold": group.untold or None,
                }
                for group in merged.groups
            ],
            "unreadable": [each._asdict() for each in merged.unreadable],
            "absent": list(merged.absent),
        }
        json.dump(document, sys.stdout, indent=2)
        print()
    else:
        groups = f" in {counted(len(merged.groups), 'group')} of equal outcome" if merged.groups else ""
        tell(f"{counted(merged.report_count, 'report')}{groups}")
        for group in merged.groups:
            _print_group(group)
        for each in merged.unreadable:
            tell(f"not readable: {harmless(each.file)}: {harmless(each.why)}")
        if merged.absent:
            tell(f"without a report: {_names(merged.absent)}")
    return 0 if merged.is_sound else 1


def _print_group(group: "Group") -> None:
    tell("")
    size = counted(group.report_count, group.of)
    tell(f"{size}{' (the largest group)' if group.is_norm else ''}: {_names(group.names)}")
    for error in group.errors:
        tell(f"  error: {harmless(error)}")
    for each in group.differences:
        tell(f"  {harmless(each.what)}: {harmless(each.value)}, and not {harmless(each.norm)}")
    if group.untold:
        tell(f"  not shown: {group.untold}")


def _names(names: "Sequence[str]") -> str:
    more = f", and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return harmless(", ".join(names[:_SHOWN])) + more
