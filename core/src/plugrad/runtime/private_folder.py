"""Folders for code that runs: private to their user, untrusted where others may write."""

from __future__ import annotations

import os
import stat

from plugrad._util import pathlib


def make_private(folder: pathlib.Path) -> None:
    """Make `folder` and each parent that is missing, with mode 0700."""
    try:
        folder.mkdir(mode=0o700)
    except FileNotFoundError:
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError:
        if not folder.is_dir():
            raise


def exposure(folder: pathlib.Path, top: pathlib.Path) -> str:
    """Return the others who may change files in `folder`, empty for nobody.

    All folders from `folder` up to `top` are looked at; one that does not exist is no risk. The superuser is
    trusted. Windows has no owners and modes of this kind: its folders of users are private.
    """
    if not hasattr(os, "geteuid"):
        return ""
    for each in (folder, *folder.parents[: len(folder.parts) - len(top.parts)]):
        try:
            info = each.stat()
        except OSError:
            continue
        if info.st_uid not in (os.geteuid(), 0):
            return f"{each} belongs to user {info.st_uid}"
        if info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return f"others may write to {each}, whose mode is {stat.S_IMODE(info.st_mode):04o}"
    return ""
