"""The documentation as a site: every page is reached, and it works without any other host."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")
# what a browser asks for by itself, unlike links that a reader follows
ASKED_FOR = re.compile(r"""<(?:script|img|iframe|source)\b[^>]*\bsrc="?(?:https?:)?//[^"\s>]+""")
STYLES = re.compile(r"""<link\b[^>]*\brel="?(?:stylesheet|pre\w+|icon)[^>]*\bhref="?(?:https?:)?//""")
WITHOUT_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def links(page: Path) -> list[Path]:
    text = WITHOUT_CODE.sub("", page.read_text(encoding="utf-8"))
    return [(page.parent / target).resolve() for target in LINK.findall(text)]


def test_every_link_leads_to_a_file_of_the_site() -> None:
    # pages outside of docs/ are not part of the site: name them as code
    wrong = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in DOCS.rglob("*.md")
        for target in links(page)
        if not target.is_file() or not target.is_relative_to(DOCS)
    ]
    assert not wrong


def test_every_page_is_reached_from_the_navigation() -> None:
    config = tomllib.loads((ROOT / "zensical.toml").read_text())
    nav = re.findall(r"[\w/-]+\.md", str(config["project"]["nav"]))
    reached, waiting = set[Path](), [DOCS / name for name in nav]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            waiting += [target for target in links(page) if target.suffix == ".md"]
    assert not sorted(set(DOCS.rglob("*.md")) - reached)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly in a folder apart."""
    pytest.importorskip("zensical", reason="the site is built by zensical")
    folder = tmp_path_factory.mktemp("site")
    (folder / "zensical.toml").write_text((ROOT / "zensical.toml").read_text())
    shutil.copytree(DOCS, folder / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return folder / "site"


def test_pages_ask_no_other_host_for_anything(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 20
    asking = {page.name: found for page in pages if (found := _asked_for(page))}
    assert not asking
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(.?https?:|@import", style.read_text(encoding="utf-8")), style.name


def _asked_for(page: Path) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return [*ASKED_FOR.findall(text), *STYLES.findall(text)]
