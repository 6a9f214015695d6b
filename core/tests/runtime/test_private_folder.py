"""Folders of code are for one user; each folder that others may change is named."""

import os
from pathlib import Path

import pytest

from plugrad.runtime.private_folder import exposure, make_private

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are those of POSIX")


def test_each_folder_that_is_made_is_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_private(tmp_path / "top" / "middle" / "leaf")
    finally:
        os.umask(before)
    for name in ("top", "top/middle", "top/middle/leaf"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o700


def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_private(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_file_in_the_way_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        make_private(tmp_path / "file")


def test_folders_up_to_the_top_are_looked_at(tmp_path: Path) -> None:
    top, leaf = tmp_path / "top", tmp_path / "top" / "leaf"
    make_private(leaf)
    assert exposure(leaf, top) == ""
    for folder in (leaf, top):
        folder.chmod(0o770)
        assert exposure(leaf, top) == f"others may write to {folder}, whose mode is 0770"
        folder.chmod(0o755)
    tmp_path.chmod(0o777)
    assert exposure(leaf, top) == ""


def test_a_folder_that_is_not_there_is_no_risk(tmp_path: Path) -> None:
    assert exposure(tmp_path / "top" / "leaf", tmp_path / "top") == ""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the superuser gives away")
def test_a_folder_of_another_user_is_named(tmp_path: Path) -> None:
    os.chown(tmp_path, 12345, -1)
    assert exposure(tmp_path, tmp_path) == f"{tmp_path} belongs to user 12345"
