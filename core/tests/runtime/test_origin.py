"""A call site is the user's line, not one of plugrad's."""

import inspect
import threading

from plugrad.runtime.origin import CallSite, Origin, call_site
from plugrad.uop.node.walk import __file__ as a_file_of_ours


def test_the_line_is_that_of_the_caller() -> None:
    site, line = call_site(), inspect.currentframe().f_lineno  # type: ignore[union-attr]
    assert site is not None
    assert site.line == line
    assert str(site) == f"{__file__}:{line} in test_the_line_is_that_of_the_caller"


def test_lines_of_plugrad_are_passed_over() -> None:
    scope: dict[str, object] = {"call_site": call_site}
    exec(compile("def ours():\n    return call_site()", a_file_of_ours, "exec"), scope)
    site = scope["ours"]()  # type: ignore[operator]
    assert site.code.co_name == "test_lines_of_plugrad_are_passed_over"


def test_threads_have_lines_of_their_own() -> None:
    found: list[CallSite | None] = []

    def work() -> None:
        found.append(call_site())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found[0] is not None
    assert found[0].code is work.__code__


def test_a_line_of_many_statements_over_several_lines_is_found() -> None:
    site = (
        None,
        call_site(),
    )[1]
    assert site is not None
    assert site.line == site.code.co_firstlineno + 3


def test_an_origin_without_a_line_says_nothing() -> None:
    assert str(Origin((2, 3), None)) == ""
