"""Values, errors and options of the framework."""

import os
from pathlib import Path
from typing import NamedTuple

from Metal._checks import refuse

MOST_BUFFERS = 31
MOST_THREADS = 1024
BAD_ADDRESS, MISUSE = 1, 3  # enum Fault of runtime.cpp


class MTLSize(NamedTuple):
    width: int
    height: int
    depth: int


def MTLSizeMake(width: int, height: int, depth: int) -> MTLSize:
    return MTLSize(width, height, depth)


class NSRange(NamedTuple):
    location: int
    length: int


def NSMakeRange(location: int, length: int) -> NSRange:
    return NSRange(location, length)


class Object:
    @classmethod
    def alloc(cls):
        return cls.__new__(cls)

    def init(self):
        self.__init__()
        return self


class NSError(Object):
    def __init__(self, text: str = "", code: int = 0) -> None:
        self._text, self._code = text, code

    def localizedDescription(self) -> str:
        return self._text

    def code(self) -> int:
        return self._code


class NSURL(Object):
    def __init__(self, path: str = "") -> None:
        self._path = Path(path)

    @classmethod
    def fileURLWithPath_(cls, path: str) -> "NSURL":
        return cls(path)


class MTLCompileOptions(Object):
    def __init__(self) -> None:
        major, _, minor = (os.environ.get("PLUGRAD_SIM_LANGUAGE") or "3.1").partition(".")
        self._newest = self._version = int(major) << 16 | int(minor)
        self._is_fast = True

    def languageVersion(self) -> int:
        return self._version

    def setLanguageVersion_(self, version: int) -> None:
        if version > self._newest:
            refuse(f"this macOS has no MSL {version >> 16}.{version & 0xFFFF}")
        self._version = version

    def setFastMathEnabled_(self, fast: bool) -> None:
        self._is_fast = bool(fast)

    def setMathMode_(self, mode: int) -> None:
        self._is_fast = mode != 0

    def setMathFloatingPointFunctions_(self, functions: int) -> None:
        if self._newest < (3 << 16 | 2):
            refuse("setMathFloatingPointFunctions: came with MSL 3.2")
