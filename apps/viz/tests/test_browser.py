"""Tests of the page in a headless Chromium."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plugrad_viz import write_page

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]

#: the pixels of the graph that are drawn, and those of them within ten pixels of its border
DRAWN_PIXELS = """() => {
    const canvas = document.querySelector(".graph canvas");
    const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const drawn = [...Array(width * height).keys()].filter((i) => data[4 * i + 3]);
    const isOutside = (at, size) => at < 10 || at >= size - 10;
    const isNearBorder = (i) => isOutside(i % width, width) || isOutside(Math.floor(i / width), height);
    return [drawn.length, drawn.filter(isNearBorder).length];
}"""
#: the mean milliseconds of a frame while the pointer moves or the wheel turns
TIME_OF_FRAME = """async (type) => {
    const canvas = document.querySelector(".graph canvas");
    const start = performance.now();
    for (let i = 0; i < 30; i++) {
        const at = { clientX: 500 + 5 * i, clientY: 400 + 3 * i, deltaY: i % 2 ? 20 : -20, cancelable: true };
        canvas.dispatchEvent(type === "wheel" ? new WheelEvent(type, at) : new PointerEvent(type, at));
        await new Promise(requestAnimationFrame);
    }
    return (performance.now() - start) / 30;
}"""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH or in CHROMIUM")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def open_page(browser: Any, recording: Path, folder: Path) -> Any:
    """Open the exported page of a recording; errors in it, and requests to anybody, fail the test."""
    write_page(recording, folder / "page.html")
    page = browser.new_page(viewport={"width": 1400, "height": 850})
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("request", lambda r: r.url.startswith("http") and page.problems.append(r.url))
    page.goto((folder / "page.html").as_uri())
    wait_for_graph(page)
    return page


def wait_for_graph(page: Any) -> int:
    """Return how many nodes are drawn, once they have their places."""
    page.wait_for_selector('.graph[data-state="ready"]', timeout=60_000)
    return int(page.locator(".graph").get_attribute("data-nodes"))


def open_entry(entry: Any) -> Any:
    """Open an entry of the list on the left, which shows it, and return it."""
    if entry.get_attribute("open") is None:
        entry.locator(":scope > summary").click()
    return entry


def click_node_in_the_middle(page: Any) -> None:
    """Search for a node, which puts the first hit in the middle, and click there."""
    box = page.locator(".graph canvas").bounding_box()
    page.wait_for_timeout(100)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def test_a_matmul_shows_its_schedule_kernel_passes_and_rules(
    browser: Any, matmul: Path, tmp_path: Path
) -> None:
    page = open_page(browser, matmul, tmp_path)
    realize = open_entry(page.locator(".tree > details").last)
    assert wait_for_graph(page) >= 3
    kernel = open_entry(realize.locator(":scope > details").last)
    assert wait_for_graph(page) > 8
    side = page.locator(".side")
    assert "the best of" in side.inner_text()
    assert "Why it is a kernel" in side.inner_text()
    page.get_by_role("tab", name="Source").click()
    assert side.locator("pre").inner_text().strip()
    kernel.get_by_role("button").filter(has_text="optimise").click()
    wait_for_graph(page)
    page.get_by_role("button", name="Before").click()
    before = wait_for_graph(page)
    page.get_by_role("button", name="After").click()
    after = wait_for_graph(page)
    page.get_by_role("button", name="Changes").click()
    assert wait_for_graph(page) >= max(before, after)
    changed = kernel.locator(":scope > details > summary").filter(has_text="rule").first
    changed.click()
    kernel.locator("details[open] > button").filter(has_text="→").first.click()
    wait_for_graph(page)
    assert "lambda" in side.inner_text() or "def " in side.inner_text()
    assert page.problems == []


def test_nodes_are_found_and_say_what_they_are(browser: Any, matmul: Path, tmp_path: Path) -> None:
    page = open_page(browser, matmul, tmp_path)
    open_entry(open_entry(page.locator(".tree > details").last).locator(":scope > details").last)
    wait_for_graph(page)
    page.get_by_label("search nodes").fill("STORE")
    assert "node" in page.locator(".results").inner_text()
    click_node_in_the_middle(page)
    assert page.locator(".side h3").first.inner_text() == "STORE"
    assert "void" in page.locator(".side .facts").first.inner_text()
    assert page.problems == []


def test_the_schedule_of_a_resnet_block_says_why_each_kernel_is_one(
    browser: Any, resnet_block: Path, tmp_path: Path
) -> None:
    page = open_page(browser, resnet_block, tmp_path)
    open_entry(page.locator(".tree > details").last)
    assert wait_for_graph(page) > 4
    page.get_by_label("search nodes").fill("reduce_")
    click_node_in_the_middle(page)
    text = page.locator(".side").inner_text()
    assert "Its value has memory because" in text
    assert "program.py:" in text
    assert page.problems == []


def test_a_training_step_has_a_timeline_with_memory(
    browser: Any, training_step: Path, tmp_path: Path
) -> None:
    page = open_page(browser, training_step, tmp_path)
    page.get_by_role("tab", name="Timeline").click()
    canvas = page.locator(".timeline canvas")
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] * 0.9, "y": box["height"] - 20})
    side = page.locator(".side").inner_text()
    assert "Alive at" in side
    assert "program.py:" in side
    page.mouse.wheel(0, -400)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save for Perfetto").click()
    trace = json.loads(Path(download.value.path()).read_text())
    assert {"kernel", "realize", "pass"} <= {event.get("cat") for event in trace["traceEvents"]}
    page.get_by_role("tab", name="Statistics").click()
    assert "expand" in page.locator(".statistics").inner_text()
    rules = page.locator(".statistics table").last
    for title in ("tries", "hits", "time"):
        rules.get_by_role("button", name=title, exact=True).click()
        column = rules.locator("th").all_inner_texts().index(title)
        shown = rules.locator(f"tbody td:nth-child({column + 1})").all_inner_texts()
        assert any(value not in ("0", "0 s") for value in shown)
        if title != "time":
            assert [*map(int, shown)] in (sorted(map(int, shown)), sorted(map(int, shown), reverse=True))
    assert page.problems == []


def test_eight_thousand_nodes_stay_fluid(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    lines: list[dict[str, Any]] = [
        {"kind": "plugrad-recording", "version": 2, "plugrad": "0", "program": ["large.py"], "time": ""},
        {"kind": "thread", "id": 0, "name": "MainThread"},
    ]
    for i in range(8000):
        src = sorted({max(0, i - 1 - i * 7 % 23), max(0, i - 1 - i * 13 % 37)}) if i > 3 else []
        lines.append({"kind": "node", "id": i, "op": "ADD", "dtype": "float32", "src": src})
    passed = {"pipeline": "codegen.lower", "name": "expand", "before": 7999, "after": 7999, "seconds": 0.5}
    at = {"t": 1.0, "thread": 0}
    lines.append({"kind": "pass", **at, **passed})
    lines.append(
        {"kind": "lower", **at, "name": "k", "device": "D", "ast": 7999, "seconds": 1.0, "listing": ""}
    )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    write_page(path, tmp_path / "page.html")
    page = browser.new_page(viewport={"width": 1400, "height": 850})
    page.goto((tmp_path / "page.html").as_uri())
    open_entry(page.locator(".tree > details > details"))
    assert wait_for_graph(page) > 7900
    canvas = page.locator(".graph canvas")
    canvas.focus()
    page.keyboard.press("0")
    page.wait_for_timeout(300)
    drawn, in_margin = page.evaluate(DRAWN_PIXELS)
    assert drawn > 1000
    assert in_margin == 0
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 300)
    page.mouse.down()
    milliseconds = {event: page.evaluate(TIME_OF_FRAME, event) for event in ("pointermove", "wheel")}
    page.mouse.up()
    # ten times what an idle machine takes
    assert max(milliseconds.values()) < 170, milliseconds
