"""Memory that stays ours between two steps on the CPU."""

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # glibc's malloc.h
LARGE = 2**30


def keep_freed_memory() -> bool:
    """Tell glibc to keep freed blocks below 1 GiB instead of giving them back to the system.

    Every training step frees and allocates the same activations, megabytes each; by default each of them is unmapped and mapped
    again, page fault by page fault, thousands a step. Returns whether there was a glibc to tell.
    """
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None)
    return hasattr(libc, "mallopt") and all(libc.mallopt(name, LARGE) for name in (M_MMAP_THRESHOLD, M_TRIM_THRESHOLD))
