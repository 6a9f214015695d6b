"""Write must_pass.txt anew, after cases were added or renamed."""

from importlib.resources import files
from pathlib import Path

from plugrad_conformance.catalogue import all_cases
from plugrad_conformance.must_pass import HEADER, chosen

if __name__ == "__main__":
    ids = chosen(case.id for case in all_cases())
    path = Path(str(files("plugrad_conformance"))) / "must_pass.txt"
    path.write_text(HEADER + "\n".join(ids) + "\n", encoding="utf-8")
    print(f"{len(ids)} cases in {path}")
