from __future__ import annotations

import json
import re
import threading
from dataclasses import replace
from typing import Any

import pytest

from ownership.resolution import (
    Difference,
    Resolution,
    ResolutionFrozenError,
    freeze,
    labelled,
    observe,
    owned_by,
    permit,
    report,
)
from ownership.resolution._history import BUCKETS, OTHER, History, history


def resolve(program: str = "engine.fold", seconds: float = 0.02, **more: Any) -> None:
    observe(resolver="test", program=program, specialization={"n": "16"}, **more).done(seconds)


def sample() -> None:
    with labelled("tests/test_engine.py::test_fold"), owned_by("engine-a"):
        resolve(action="compile")
    with freeze("serving"):
        with pytest.raises(ResolutionFrozenError):
            resolve(differences=[Difference("n", "16", "3")])
        with permit("a new adapter"):
            resolve("engine.pack", 3.0)


def test_the_text_is_a_table_of_what_was_resolved_when_and_by_whom() -> None:
    sample()
    with freeze("again", mode="warn") as guard:
        text = report().text()
    assert text.startswith("3 resolutions: 2 allowed, 1 refused.\n")
    assert f"In force: freeze 'again' at {guard.info.place} (warn)." in text
    first, second, third = text.splitlines()[-3:]
    for part in ("20.0", "allowed", "compile", "engine.fold (test)", "engine-a", "test_engine.py::test_fold", __file__):
        assert part in first
    assert "refused" in second
    assert "n: 16 where prepared: 3" in second
    assert "permitted: a new adapter" in third
    assert "3000.0" in third


def test_an_empty_report_says_so() -> None:
    assert report().text() == "0 resolutions.\n"


def test_the_json_has_all_of_it() -> None:
    sample()
    content = json.loads(report().json())
    assert [one["verdict"] for one in content["resolutions"]] == ["allowed", "refused", "allowed"]
    assert content["resolutions"][1]["differences"] == [{"argument": "n", "asked": "16", "prepared": "3"}]
    assert content["resolutions"][1]["freezes"][0]["reason"] == "serving"
    assert content["resolutions"][0]["thread"] == threading.current_thread().name
    assert content["freezes"] == []
    assert sum(total["begun"] for total in content["totals"]) == 3
    assert content["version"] == 1


#: The grammar of the text exposition format, as far as samples go.
SAMPLE = re.compile(
    r'(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(?P<labels>(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? '
    r"(?P<value>[-+]?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|Inf)|NaN)\Z"
)
UNESCAPED = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}
LABEL = re.compile(r'(?P<name>\w+)="(?P<value>(?:[^"\\\n]|\\[\\"n])*)"')


def parsed(page: str) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """The samples of a page by name and labels; fails on whatever Prometheus would not take."""
    assert page.endswith("\n")
    samples: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    typed: set[str] = set()
    for line in page.splitlines():
        if line.startswith("# TYPE "):
            name = line.split(" ")[2]
            assert name not in typed
            typed.add(name)
        if line.startswith("#"):
            continue
        match = SAMPLE.match(line)
        assert match, line
        labels = tuple(
            (label["name"], re.sub(r"\\.", lambda found: UNESCAPED[found[0]], label["value"]))
            for label in LABEL.finditer(match["labels"] or "")
        )
        assert re.sub(r"_(bucket|sum|count)$", "", match["name"]) in typed
        assert labels not in samples.setdefault(match["name"], {})
        samples[match["name"]][labels] = float(match["value"])
    return samples


def test_the_prometheus_page_is_valid_and_counts() -> None:
    sample()
    nasty = 'a "quoted" \\ back\nslash'
    resolve(nasty)
    with freeze("serving", owner="engine-a"):
        samples = parsed(report().prometheus())
    totals = {dict(labels)["program"]: value for labels, value in samples["kernel_resolutions_total"].items()}
    assert totals[nasty] == 1
    assert totals["engine.pack"] == 1
    assert sum(samples["kernel_resolutions_total"].values()) == 4
    assert samples["kernel_resolution_freezes"] == {(("owner", "engine-a"), ("mode", "error")): 1}


def test_the_histogram_is_cumulative_and_sums_up() -> None:
    for seconds in (0.0005, 0.02, 0.02, 3.0, 1000.0):
        resolve(seconds=seconds)
    samples = parsed(report().prometheus())
    buckets = {dict(labels)["le"]: value for labels, value in samples["kernel_resolution_seconds_bucket"].items()}
    assert list(buckets.values()) == sorted(buckets.values())
    assert buckets["0.001"] == 1
    assert buckets["0.025"] == 3
    assert buckets["10.0"] == 4
    assert buckets["+Inf"] == 5
    assert list(samples["kernel_resolution_seconds_count"].values()) == [5]
    assert list(samples["kernel_resolution_seconds_sum"].values()) == [pytest.approx(1003.0405)]


def test_a_bound_belongs_to_its_bucket() -> None:
    resolve(seconds=BUCKETS[0])
    samples = parsed(report().prometheus())
    assert next(iter(samples["kernel_resolution_seconds_bucket"].values())) == 1


def test_an_empty_page_is_valid() -> None:
    assert parsed(report().prometheus()) == {}


def test_memory_is_bounded_and_totals_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "limit", 10)
    for number in range(1000):
        resolve(f"program {number}")
    resolve("program 999")
    kept = report()
    assert [one.program for one in kept.resolutions][-2:] == ["program 999", "program 999"]
    assert len(kept.resolutions) == 10
    assert kept.forgotten == 991
    assert kept.count() == 1001
    assert "The first 991 are not listed." in kept.text()
    samples = parsed(kept.prometheus())["kernel_resolutions_total"]
    assert len(samples) == 11
    assert max(samples.values()) == 991
    assert OTHER in {dict(labels)["program"] for labels in samples}


def test_one_that_ends_after_it_was_forgotten_is_counted() -> None:
    small = History(limit=1)
    resolution = Resolution(
        resolver="test",
        program="p",
        specialization={},
        action="resolve",
        owner=None,
        thread="t",
        caller="c",
        started=0.0,
        verdict="allowed",
    )
    first = small.add(resolution)
    small.add(resolution)
    small.finish(first, replace(resolution, seconds=1.5, replay={"data": "x"}))
    kept = small.snapshot()
    assert [one.seconds for one in kept.resolutions] == [None]
    assert kept.forgotten == 1
    assert [tuple(total) for total in kept.totals.values()] == [(2, 1, 1.5)]
    assert kept.replays == ({"data": "x"},)


def test_thousands_of_events_a_second_from_many_threads_are_all_counted() -> None:
    def work() -> None:
        for number in range(1000):
            resolve(f"program {number % 7}", 0.001)

    with freeze("serving", mode="record"):
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert report().count("recorded") == 8000
    assert len(report().resolutions) == history.limit
