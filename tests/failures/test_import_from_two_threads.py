"""Two threads import and initialise at the same time."""

from sample_site import LIBRARIES, Site


def test_both_succeed(linked_site: Site) -> None:
    hip = linked_site.library("libamdhip64.so.7", "int answer(void) { return 42; }")
    linked_site.library("libhipsparse.so.1", needed=(hip,), package=LIBRARIES)
    code = """
        import threading
        answers, gate = [], threading.Barrier(8)
        def initialize():
            gate.wait()
            import rocm_sdk
            rocm_sdk.initialize_process(preload_shortnames=["hipsparse", "amdhip64"])
            answers.append(rocm_sdk._ALL_CDLLS["amdhip64"].answer())
        threads = [threading.Thread(target=initialize) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(answers)
    """
    assert linked_site.output(code) == str([42] * 8)
