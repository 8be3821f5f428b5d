"""A virtual environment was moved: the first line of its scripts names a Python that does not exist."""

from sample_report import install, run_test
from sample_site import Site


def test_the_script_is_named(linked_site: Site) -> None:
    install(linked_site)
    info = linked_site.path / "rocm_sdk_core-7.10.0.dist-info"
    (info / "entry_points.txt").write_text("[console_scripts]\nrocminfo = x:y\nhipcc = x:z\n")
    script = linked_site.write("../bin/rocminfo", "#!/gone/bin/python\n")
    script.chmod(0o755)
    with (info / "RECORD").open("a") as record:
        record.write("../bin/rocminfo,,\n../bin/hipcc,,\n")
    said = run_test(linked_site.path, "--only", "tools")
    assert said.codes == {"E-TOOL-002"}
    causes = {found["title"]: found["cause"] for found in said.problems}
    assert "the interpreter in the first line" in causes["the program rocminfo leads to nothing"]
    assert causes["the program hipcc leads to nothing"].endswith("bin/hipcc is not there")
