"""Tests of plugrad.settings."""

import contextvars
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from plugrad.errors import SettingsError
from plugrad.settings import Settings, cache_dir, context, settings


@pytest.fixture(autouse=True)
def _fresh_environment() -> Iterator[None]:
    settings.refresh()
    yield
    settings.refresh()


def test_a_setting_without_environment_has_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEBUG", raising=False)
    assert settings.DEBUG == 0


def test_a_setting_is_parsed_from_the_environment_to_its_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEBUG", "3")
    monkeypatch.setenv("NOOPT", "true")
    assert settings.DEBUG == 3
    assert settings.NOOPT is True


def test_an_empty_integer_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JIT", "")
    assert settings.JIT == 1


def test_a_changed_environment_is_seen_after_refresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEBUG", "3")
    assert settings.DEBUG == 3
    monkeypatch.setenv("DEBUG", "4")
    assert settings.DEBUG == 3
    settings.refresh()
    assert settings.DEBUG == 4


def test_the_device_is_looked_up_at_every_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEVICE", "NULL")
    assert settings.DEVICE == "NULL"
    monkeypatch.setenv("DEVICE", "PYTHON")
    assert settings.DEVICE == "PYTHON"


def test_context_overrides_and_restores() -> None:
    before = settings.DEBUG
    with context(DEBUG=2, NOOPT=1):
        assert settings.DEBUG == 2
        assert settings.NOOPT is True
        with context(DEBUG=5):
            assert settings.DEBUG == 5
            assert settings.NOOPT is True
        assert settings.DEBUG == 2
    assert settings.DEBUG == before


def test_context_restores_after_an_exception() -> None:
    before = settings.DEBUG
    with pytest.raises(KeyError), context(DEBUG=2):
        raise KeyError
    assert settings.DEBUG == before


def test_context_decorates_a_function() -> None:
    @context(DEBUG=6)
    def read() -> int:
        return settings.DEBUG

    assert (read(), read()) == (6, 6)


def test_another_thread_does_not_see_the_context() -> None:
    before = settings.DEBUG
    seen: list[int] = []
    with context(DEBUG=7):
        thread = threading.Thread(target=lambda: seen.append(settings.DEBUG))
        thread.start()
        thread.join()
    assert seen == [before]


def test_an_unknown_name_raises_with_the_closest_one() -> None:
    with pytest.raises(SettingsError, match="Did you mean 'DEBUG'"), context(DEBGU=1):
        pass


@pytest.mark.parametrize("values", [{"DEBUG": 8}, {"DEBUG": -1}, {"DEBUG": "x"}, {"NOOPT": 2}, {"DEVICE": 3}])
def test_an_illegal_value_raises_with_name_and_type(values: dict[str, object]) -> None:
    (name,) = values
    with (
        pytest.raises(SettingsError, match=rf"{name}=.* is not legal: it takes") as caught,
        context(**values),
    ):
        pass
    assert caught.value.name == name


def test_an_illegal_environment_raises_when_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEAM", "wide")
    with pytest.raises(SettingsError, match="BEAM='wide' is not legal: it takes int >= 0"):
        _ = settings.BEAM


def test_assigning_a_setting_points_to_context() -> None:
    with pytest.raises(SettingsError, match=r"with context\(DEBUG=2\)"):
        settings.DEBUG = 2


def test_describe_shows_values_and_where_they_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEAM", "4")
    monkeypatch.setenv("THREADS", "many")
    monkeypatch.delenv("VIZ", raising=False)
    with context(DEBUG=1):
        rows = {row.name: row for row in settings.describe()}
    assert list(rows) == list(Settings.table())
    assert (rows["BEAM"].value, rows["BEAM"].origin) == (4, "environment")
    assert (rows["THREADS"].value, rows["THREADS"].origin) == ("many", "environment (illegal)")
    assert (rows["DEBUG"].value, rows["DEBUG"].origin) == (1, "context")
    assert (rows["VIZ"].value, rows["VIZ"].origin) == (False, "default")
    assert rows["DEBUG"].type_name == "int 0..7"


def test_replay_records_as_viz_does_unless_viz_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIZ", raising=False)
    monkeypatch.setenv("REPLAY", "1")
    settings.refresh()
    assert settings.VIZ
    (row,) = (row for row in settings.describe() if row.name == "VIZ")
    assert (row.value, row.origin) == (True, "environment")
    monkeypatch.setenv("VIZ", "0")
    settings.refresh()
    assert not settings.VIZ


@pytest.mark.parametrize(
    ("name", "meant"),
    [("PLUGRAD_CAHCE", "PLUGRAD_CACHE"), ("PLUGRAD_DEBUG", "DEBUG"), ("PLUGRAD_XYZZY_17", None)],
)
def test_a_misspelled_variable_is_reported(
    name: str, meant: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "1")
    assert settings.unknown_variables()[name] == meant


def test_the_cache_directory_can_be_moved(tmp_path: Path) -> None:
    with context(PLUGRAD_CACHE=tmp_path):
        assert cache_dir() == tmp_path


def test_the_cache_directory_is_the_users_by_default() -> None:
    with context(PLUGRAD_CACHE=""):
        assert cache_dir().name == "plugrad"


def test_a_setting_that_was_read_before_is_overridden_in_a_context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plugrad.settings._overridden", set[str]())
    before = settings.BEAM, settings.BEAM
    with context(BEAM=7):
        assert settings.BEAM == 7
    assert (settings.BEAM, settings.BEAM) == before


def test_a_copied_context_overrides_after_its_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plugrad.settings._overridden", set[str]())
    with context(BEAM=7):
        copied = contextvars.copy_context()
    assert settings.BEAM == 0
    assert copied.run(lambda: settings.BEAM) == 7
    assert settings.BEAM == 0
