"""The hook: compilers are wrapped when their device opens, if a setting asks for it."""

from collections.abc import Generator
from pathlib import Path

from plugrad.plugin import hookimpl
from plugrad.runtime.compiler import Compiler
from plugrad.settings import Setting
from plugrad.target import Target
from plugrad_compile_log.compilers import CachingCompiler, LoggingCompiler


class CompileLogSettings:
    """The table. Each attribute is one setting, and the name of its environment variable."""

    COMPILE_LOG = Setting("", "Append a line for each compiled kernel to this file.", live=True)
    COMPILE_CACHE = Setting("", "Take compiled kernels from this directory, and store them there.", live=True)


settings = CompileLogSettings()


@hookimpl(wrapper=True)
def plugrad_compiler(target: Target) -> Generator[None, Compiler | None, Compiler | None]:
    """Put a log around the compiler of `target`, and a cache around both.

    What is found in the cache is not compiled, and so not logged.
    """
    compiler = yield
    if compiler is not None and settings.COMPILE_LOG:
        compiler = LoggingCompiler(compiler, target.name, Path(settings.COMPILE_LOG))
    if compiler is not None and settings.COMPILE_CACHE:
        compiler = CachingCompiler(compiler, Path(settings.COMPILE_CACHE))
    return compiler
