"""Tests of plugrad.cli.env."""

import json
from collections.abc import Iterator

import pytest

from plugrad.cli import main
from plugrad.settings import Settings, context, settings


@pytest.fixture(autouse=True)
def _fresh_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("COLUMNS", "250")
    settings.refresh()
    yield
    settings.refresh()


def test_every_setting_is_listed_with_its_doc(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["env"]) == 0
    text = capsys.readouterr().out
    for name, setting in Settings.table().items():
        assert name in text
        assert setting.doc in text


def test_json_has_values_and_origins(capsys: pytest.CaptureFixture[str]) -> None:
    with context(BEAM=3):
        assert main(["env", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert (rows["BEAM"]["value"], rows["BEAM"]["origin"], rows["BEAM"]["default"]) == (3, "context", 0)


def test_an_illegal_value_is_shown_and_not_raised(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEAM", "wide")
    assert main(["env"]) == 0
    assert "environment (illegal)" in capsys.readouterr().out


def test_a_misspelled_setting_is_pointed_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLUGRAD_CAHCE", "/tmp")
    monkeypatch.setenv("PLUGRAD_XYZZY_17", "somebody else's")
    main(["env"])
    text = capsys.readouterr().out
    assert "did you mean PLUGRAD_CACHE?" in text
    assert "XYZZY" not in text
