"""`plugrad viz`: show a recording in a browser, or write a page or a trace."""

import argparse
import json
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from plugrad_viz.compare import compare_kernels
from plugrad_viz.page import write_page
from plugrad_viz.recording import latest_recording, read_recording
from plugrad_viz.server import Server
from plugrad_viz.trace import make_trace


def main(words: Sequence[str]) -> int:
    """Run the words behind `plugrad viz` and return the exit status.

    Example:
        >>> main(["--export", "page.html"])  # doctest: +SKIP
        0
    """
    arguments = make_parser().parse_args(words)
    recording: Path = arguments.recording or latest_recording()
    if arguments.export is not None:
        write_page(recording, arguments.export)
        print(f"wrote {arguments.export}")
    if arguments.perfetto is not None:
        trace = make_trace(read_recording(recording))
        arguments.perfetto.write_text(json.dumps(trace), encoding="utf-8")
        print(f"wrote {arguments.perfetto}; open it at https://ui.perfetto.dev")
    if arguments.against is not None:
        print(*compare_kernels(read_recording(arguments.against), read_recording(recording)), sep="\n")
    if not (arguments.export or arguments.perfetto or arguments.against):
        serve(recording, arguments.port, opens_browser=not arguments.no_browser)
    return 0


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    parser = argparse.ArgumentParser(
        "plugrad viz",
        description="Look at what VIZ=1 recorded, in a browser. Nothing leaves this machine.",
    )
    parser.add_argument("recording", nargs="?", type=Path, help="a recording; the latest one if left out")
    parser.add_argument("--port", type=int, default=0, help="serve there; a free port if left out")
    parser.add_argument("--no-browser", action="store_true", help="only say the address")
    parser.add_argument("--export", type=Path, metavar="PAGE.html", help="write one page that holds it all")
    parser.add_argument(
        "--against",
        type=Path,
        metavar="OTHER",
        help="print how kernels differ from another recording",
    )
    parser.add_argument("--perfetto", type=Path, metavar="TRACE.json", help="write a trace for Perfetto")
    return parser


def serve(recording: Path, port: int, *, opens_browser: bool) -> None:
    """Serve a recording until the user interrupts."""
    with Server(recording, port) as server:
        print(f"{recording}\nserved at {server.url}, Ctrl-C ends it", flush=True)
        if opens_browser:
            webbrowser.open(server.url)
        try:
            server.serve()
        except KeyboardInterrupt:
            print()
