"""A program was frozen: it carries the SDK, and pip does not know of it."""

from sample_report import install
from sample_site import Site


def test_it_works_and_is_said(linked_site: Site) -> None:
    linked_site.library("libamdhip64.so.7", "int hipGetDeviceCount;")
    install(linked_site)
    code = """
        import sys
        sys.frozen = True
        import rocm_sdk
        from rocm_sdk.cli import main
        rocm_sdk.initialize_process(preload_shortnames=["amdhip64"])
        sys.exit(main(["test", "--skip", "gpus"]))
    """
    output = linked_site.output(code)
    assert "W-PKG-012  this program is frozen" in output
    assert "--collect-all rocm_sdk" in output
