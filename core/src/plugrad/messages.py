"""Word the messages of errors: the method that was called, and the page that helps."""

import os
import re
import sys
from functools import cache

from plugrad._util import metadata

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_TENSOR = os.path.join(_PACKAGE, "tensor") + os.sep
_ARRAY_API = os.path.join(_PACKAGE, "array_api") + os.sep


def shortened(message: str) -> str:
    """Return a message without the middle of an argument that is too long to show."""
    return message if len(message) <= 2000 else f"{message[:1500]} ... {message[-400:]}"


def name_outer_method(message: str) -> str:
    """Name the outermost method, or array API function, in place of an inner one.

    before: "sum: axis 7 is out of range.", raised below `x.norm(axis=7)`
    after:  "norm: axis 7 is out of range."
    """
    # "operation" stands for the method in messages of helpers, which are not told its name
    inner = {"broadcast", "operation"}
    called = ""
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage] - what `logging` and `warnings` use as well
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        code = frame.f_code
        if code.co_filename.startswith(_TENSOR):
            # methods only: neither other functions nor what is defined inside of one
            if code.co_varnames[:1] in (("self",), ("cls",)) and "<" not in code.co_qualname:
                inner.add(called)
                called = code.co_name
        elif code.co_filename.startswith(_ARRAY_API):
            if code.co_name in frame.f_globals.get("__all__", ()):
                inner.add(called)
                called = code.co_name
        elif called:
            break
        frame = frame.f_back
    if not called or called.startswith("_"):
        return message
    first = re.match(r"\w+(?=:| of | over | with )", message)
    if first and first[0] in inner:
        return called + message[first.end() :]
    return message if re.search(rf"\b{called}\b", message) else f"{called}: {message}"


@cache
def documentation_address() -> str | None:
    """Return the address of the documentation of this version, None where no release was installed."""
    try:
        urls = metadata.metadata("plugrad-core").get_all("Project-URL", [])
    except ImportError:
        # not installed; or nothing can be imported any more, and the message is all there is
        return None
    return dict(url.split(", ", 1) for url in urls).get("Documentation")


def documentation_page(name: str) -> str:
    """Return the address of a page of the documentation, or its path in a checkout."""
    return f"{documentation_address() or 'docs'}/{name}"
