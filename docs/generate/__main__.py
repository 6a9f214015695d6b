"""Write the pages of docs/ that are made from the code: `python docs/generate`."""

from pathlib import Path

import api
import architecture
import error_reference
import internals
import migrating

DOCS = Path(__file__).resolve().parents[1]


def pages() -> dict[str, str]:
    """Return the text of each generated page by its path in docs/."""
    return {
        **api.pages(),
        **internals.pages(),
        "api/errors.md": error_reference.page(),
        "images/architecture.svg": architecture.picture(),
        "migrating.md": migrating.page(),
    }


def main() -> None:
    """Write all pages, and remove those of docs/api that are no longer generated."""
    made = pages()
    for old in DOCS.glob("api/*.md"):
        if old.relative_to(DOCS).as_posix() not in made:
            old.unlink()
    for name, text in made.items():
        (DOCS / name).parent.mkdir(exist_ok=True)
        (DOCS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
