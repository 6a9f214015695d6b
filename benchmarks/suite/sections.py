"""Pages of several sections, each written by a program of its own."""

import re


def sections_behind(page: str) -> str:
    """Return everything from the first heading of the second level on."""
    found = re.search(r"^## ", page, re.MULTILINE)
    return page[found.start() :] if found else ""


def with_section(page: str, title: str, body: str) -> str:
    """Return a page with a section exchanged, or added at the end."""
    section = f"## {title}\n\n{body.strip()}\n"
    pattern = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    if pattern.search(page):
        return pattern.sub(lambda _: f"{section}\n", page).rstrip() + "\n"
    return f"{page.rstrip()}\n\n{section}"
