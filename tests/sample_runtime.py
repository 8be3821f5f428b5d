"""A libhsa-runtime64 that shows by which rules it reads variables, as AMD's does: by what it imports and its texts."""

from pathlib import Path

from sample_site import Site

NAMES = ("HSA_OVERRIDE_GFX_VERSION", "HSA_OVERRIDE_GFX_VERSION_%d")
MESSAGE = "HSA_OVERRIDE_GFX_VERSION %s is invalid\\n"
ASSERTION = 'props->EngineId.ui32.Major && \\"HSA_OVERRIDE_GFX_VERSION may be needed\\"'
TEXTS_OF_643 = (*NAMES, MESSAGE, ASSERTION)


def runtime(site: Site, *texts: str, strtol: str = "__isoc23_strtol") -> Path:
    """Compile an HSA runtime with texts.

    Debian's 6.4.3 and 7.2.4 import __isoc23_strtol; a runtime that is built with an older glibc imports strtol.
    """
    values = ", ".join(f'"{text}"' for text in texts)
    source = f"""
    extern long {strtol}(const char *, char **, int);
    static const char *volatile texts[] = {{{values}}};
    long number(int index) {{ return {strtol}(texts[index], 0, 0); }}
    """
    return site.library("libhsa-runtime64.so.1", source, flags=("-fno-builtin",))
