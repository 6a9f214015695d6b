"""Guard the hooks of a plugin, so that each failure is recorded under its name.

pluggy calls each hook once, through every plugin of the device. Registered with it are not the plugin's own
functions but guards around them, which know whose code runs. An implementation that fails refuses the device.
A wrapper that fails is left out from then on, and the device goes on with what it would have wrapped.

A probe asks a driver, which may never answer, so it runs in a thread that can be left behind.
"""

import threading
from collections.abc import Callable, Generator
from contextvars import copy_context
from functools import update_wrapper
from typing import Any

from plugrad.errors import PlugradError
from plugrad.plugin.contracts import check_result
from plugrad.plugin.failures import FailureLog, PluginRefused, broken, failure_of
from plugrad.plugin.hookspecs import hookimpl
from plugrad.plugin.loader import LoadedPlugin
from plugrad.plugin.source import PluginSource

# a probe returns within a second, as the hooks say; a machine may be busy
PROBE_SECONDS = 20.0
_ALWAYS_ANSWERED = frozenset({"plugrad_backend_info", "plugrad_probe"})
_MAY_WITHDRAW = frozenset({"plugrad_graph"})
_YIELDED = object()


class GuardedHooks:
    """The guarded hooks of one plugin, which pluggy finds as attributes by name."""

    def __init__(self, plugin: LoadedPlugin, failures: FailureLog) -> None:
        for name, options in plugin.options.items():
            function = getattr(plugin.module, name)
            guard = _Guard(options["specname"] or name, function, plugin.source, failures)
            guarded = _wrapper_of(guard) if options["wrapper"] else _implementation_of(guard)
            setattr(self, name, hookimpl(**options)(update_wrapper(guarded, function)))


class _Guard:
    """One hook of one plugin."""

    def __init__(
        self, hook: str, function: Callable[..., Any], source: PluginSource, failures: FailureLog
    ) -> None:
        self._hook = hook
        self._function = function
        self._source = source
        self._failures = failures

    def answer(self, *arguments: object) -> Any:
        """Call an implementation and check the result."""
        result = self._run(self._function, *arguments)
        if result is None and self._hook not in _ALWAYS_ANSWERED:
            return None
        return self._checked(result)

    def begin(self, *arguments: object) -> Generator[None, Any, Any] | None:
        """Run a wrapper up to its yield; None leaves it out."""
        if self._source in self._failures:
            return None
        wrapper = self._function(*arguments)
        try:
            if self._run(_resume, wrapper.send, None) is not _YIELDED:
                raise broken(self._source, f"its wrapper of {self._hook} returned without a yield")
        except PluginRefused as refused:
            self._failures.drop(refused.failure)
            return None
        return wrapper

    def finish(
        self, wrapper: Generator[None, Any, Any] | None, answer: Any, error: PlugradError | None
    ) -> Any:
        """Resume a wrapper after its yield; return its result, or `answer` where it is broken.

        Args:
            wrapper: what `begin` returned.
            answer: the result of what it wraps.
            error: what was raised instead of a result.
        """
        if wrapper is not None:
            try:
                result = self._finish(wrapper, answer, error)
            except PluginRefused as refused:
                if refused is error:
                    raise
                self._failures.drop(refused.failure)
            else:
                if result is not None or error is None:
                    return result
        if error is not None:
            raise error
        return answer

    def _finish(self, wrapper: Generator[None, Any, Any], answer: Any, error: PlugradError | None) -> Any:
        resume, value = (wrapper.send, answer) if error is None else (wrapper.throw, error)
        result = self._run(_resume, resume, value, passing=error)
        if result is _YIELDED:
            wrapper.close()
            raise broken(self._source, f"its wrapper of {self._hook} yields twice")
        if result is not None:
            return self._checked(result)
        if answer is not None and self._hook not in _MAY_WITHDRAW:
            raise broken(self._source, f"its wrapper of {self._hook} returned None: return what `yield` gave")
        return None

    def _run(self, function: Callable[..., Any], *arguments: Any, passing: PlugradError | None = None) -> Any:
        """Call code of the plugin, and blame the plugin for exceptions other than `passing`."""
        try:
            if self._hook == "plugrad_probe":
                return self._with_timeout(function, *arguments)
            return function(*arguments)
        except KeyboardInterrupt:
            raise
        except PlugradError as error:
            # it says enough of what happened; the traceback says where
            if error is not passing:
                error.add_note(f"{self._hook} of {self._source} raised this.")
            raise
        except BaseException as error:
            raise PluginRefused(failure_of(self._source, f"{self._hook} raised", error)) from error

    def _with_timeout(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the answer of a probe, or abandon its thread after `PROBE_SECONDS`."""
        answers: list[tuple[Any, BaseException | None]] = []
        context = copy_context()

        def ask() -> None:
            try:
                answers.append((context.run(function, *arguments), None))
            except BaseException as error:
                answers.append((None, error))

        thread = threading.Thread(target=ask, daemon=True, name=str(self._source))
        thread.start()
        thread.join(PROBE_SECONDS)
        if not answers:
            late = f"plugrad_probe did not answer within {PROBE_SECONDS:g} seconds, and should within one"
            raise broken(self._source, late)
        value, error = answers[0]
        if error is not None:
            raise error
        return value

    def _checked(self, result: Any) -> Any:
        wrong = check_result(self._hook, result)
        if wrong is not None:
            raise broken(self._source, wrong)
        return result


def _implementation_of(guard: _Guard) -> Callable[..., Any]:
    def implementation(*arguments: object) -> Any:
        return guard.answer(*arguments)

    return implementation


def _wrapper_of(guard: _Guard) -> Callable[..., Generator[None, Any, Any]]:
    def wrapper(*arguments: object) -> Generator[None, Any, Any]:
        inner = guard.begin(*arguments)
        answer, error = None, None
        try:
            answer = yield
        except PlugradError as raised:
            error = raised
        return guard.finish(inner, answer, error)

    return wrapper


def _resume(resume: Callable[[Any], None], value: object) -> Any:
    try:
        resume(value)
    except StopIteration as end:
        return end.value
    return _YIELDED
