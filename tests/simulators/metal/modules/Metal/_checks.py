"""What the stand-in refuses, complains of and can be told by the environment."""

import os
import sys
from typing import NoReturn

import objc


class Misuse(Exception):
    """A call that Metal's validation layer would end the process for."""


def refuse(what: str) -> NoReturn:
    complain(what)
    raise Misuse(what)


def complain(what: str) -> None:
    print(f"Metal stand-in: {what}", file=sys.stderr, flush=True)


def setting(name: str, otherwise: int) -> int:
    return int(os.environ.get(name) or otherwise)


def is_a(thing: object, kind: type, what: str) -> None:
    if not isinstance(thing, kind):
        refuse(f"{what} takes a {kind.__name__}, not {thing!r}")


def needs_a_pool(what: str) -> None:
    if not objc.pool_depth():
        complain(f"{what} was made without an autorelease pool, and will never go")
