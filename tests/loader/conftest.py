"""A chain of libraries to load."""

import pytest
from sample_site import LIBRARIES, Site


@pytest.fixture
def chain(site: Site) -> Site:
    """Return an SDK whose libraries form a chain, without RPATHs.

    The library hipsparse needs rocsparse and amdhip64, rocsparse needs amdhip64, and amdhip64 needs hsa-runtime64.
    """
    hsa = site.library("libhsa-runtime64.so.1", "int hsa(void) { return 1; }")
    hip = site.library("libamdhip64.so.7", "int hsa(void); int hipGetVersion(void) { return 6 + hsa(); }", (hsa,))
    roc = site.library(
        "librocsparse.so.1", "int hipGetVersion(void); int roc(void) { return hipGetVersion(); }", (hip,), LIBRARIES
    )
    site.library("libhipsparse.so.4", "int roc(void); int sparse(void) { return roc(); }", (roc, hip), LIBRARIES)
    site.library("libamd_comgr.so.3")
    return site
