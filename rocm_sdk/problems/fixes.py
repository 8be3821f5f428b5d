"""The commands that install and reinstall packages, for messages that no code of the table has."""

from rocm_sdk.installed.distributions import sdk_distributions

from .problem import fix_of, problem


def install_fix(requirement: str, site: str | None = None) -> str:
    """Return the command that installs a requirement."""
    return fix_of(problem("E-PKG-014", None, site, requirement=requirement))


def reinstall_fix(distribution: str, site: str) -> str:
    """Return the command that installs a distribution again, in the version that it has in `site`."""
    version = next((found.version for found in sdk_distributions(site) if found.name == distribution), None)
    requirement = f"{distribution}=={version}" if version else distribution
    facts = {"distribution": distribution, "version": version, "requirement": requirement}
    return fix_of(problem("E-FILE-001", None, site, **facts))
