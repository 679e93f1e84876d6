"""Answers of the engine come from one generation and are checked against the files on disk."""

import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from codecards import Engine, Settings
from codecards.errors import (
    AmbiguousTargetError,
    OutsideProjectError,
    ProjectNotFoundError,
    TargetNotFoundError,
    UsageError,
)
from codecards.project.lifecycle import ProjectIndex
from codecards.wire.answers import shown_json
from tests.support.indexed import write_repository
from tests.support.shop import SHOP


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Return an engine over a small repository; tests must not change its files."""
    root = write_repository(tmp_path_factory.mktemp("shop"), SHOP)
    with Engine(root, Settings(n_workers=1)) as engine:
        engine.refresh()
        yield engine


@pytest.mark.seed("S2-23", "S2-53")
@pytest.mark.parametrize(
    ("query", "kind", "first"),
    [
        ("purge_expired", "symbol", "TokenStore.purge_expired"),
        ("TokenStore.purge_expired", "symbol", "TokenStore.purge_expired"),
        ("where are expired tokens removed", "question", "TokenStore.purge_expired"),
        ("登录超时", "question", "showTimeout"),
    ],
)
def test_the_right_card_comes_first(shop: Engine, query: str, kind: str, first: str) -> None:
    recall = shop.recall(query)
    assert (recall.kind, recall.verdict, recall.hits[0].card.qualified_name) == (kind, "found", first)


def test_scores_are_the_sum_of_their_terms(shop: Engine) -> None:
    for hit in shop.recall("expired tokens").hits:
        assert sum(term.value for term in hit.terms) == pytest.approx(hit.score, abs=1e-4)


def test_nonsense_finds_nothing(shop: Engine) -> None:
    assert shop.recall("zqxv wkjhg").verdict == "none"


def test_callers_carry_their_evidence(shop: Engine) -> None:
    calls = shop.callers("TokenStore.purge_expired")
    assert [(one.name, one.path, one.confidence) for one in calls.calls] == [("log_out", "shop/login.py", "exact")]
    assert [one.name for one in shop.callees("log_out").calls] == ["TokenStore", "TokenStore.purge_expired"]


def test_an_unknown_name_has_no_target_but_similar_names(shop: Engine) -> None:
    calls = shop.callers("purge_expird")
    assert (calls.target, calls.total, calls.suggestions) == (None, 0, ("TokenStore.purge_expired",))


def test_the_call_graph_has_symbols_as_nodes(shop: Engine) -> None:
    graph = shop.call_graph()
    assert graph.has_edge("shop/login.py::log_out", "shop/tokens.py::TokenStore.purge_expired")


@pytest.mark.seed("S0-9")
@pytest.mark.parametrize(
    "target",
    [
        "shop/tokens.py",
        "tokens.py",
        "tokens",
        "shop.tokens",
        "TOKENS.PY",
        "shop/tokens.py:4",
        "TokenStore",
        "tokens.TokenStore",
    ],
)
def test_targets_are_found_as_agents_write_them(shop: Engine, target: str) -> None:
    assert shop.show(target).path == "shop/tokens.py"


@pytest.mark.seed("S0-12")
@pytest.mark.parametrize(
    ("lines", "first", "last", "starts"),
    [("4-6", 4, 6, "    def purge_expired"), ("5-999", 5, 6, "        '''Remove"), ("400-500", 6, 6, "        return")],
)
def test_a_block_of_lines_is_shown_as_far_as_the_file_goes(
    shop: Engine, lines: str, first: int, last: int, starts: str
) -> None:
    shown = shop.show(f"shop/tokens.py:{lines}")
    assert (shown.first_line, shown.last_line) == (first, last)
    assert shown.text.startswith(starts)


@pytest.mark.parametrize("target", ["/etc/passwd", "../../etc/passwd", "shop/../../x", "a\0b"])
def test_paths_outside_the_project_are_refused(shop: Engine, target: str) -> None:
    with pytest.raises(OutsideProjectError):
        shop.show(target)


def test_an_unknown_target_is_an_error_with_similar_names(shop: Engine) -> None:
    with pytest.raises(TargetNotFoundError) as caught:
        shop.show("TokenStor")
    assert caught.value.suggestions == ("TokenStore",)


@pytest.mark.parametrize(("query", "limit"), [("", 8), ("  ", 8), ("x", 0), ("x", 1000)])
def test_wrong_usage_is_an_error(shop: Engine, query: str, limit: int) -> None:
    with pytest.raises(UsageError):
        shop.recall(query, limit=limit)


def test_a_moved_symbol_is_found_at_its_new_place_and_a_vanished_one_is_dropped(tmp_path: Path) -> None:
    root = write_repository(tmp_path, SHOP)
    with Engine(root, Settings(n_workers=1)) as engine:
        engine.refresh()
        tokens = root / "shop" / "tokens.py"
        tokens.write_text("# one\n# two\n\n\n" + tokens.read_text())
        moved = engine.recall("purge_expired").hits[0]
        assert (moved.card.first_line, moved.fresh) == (8, True)
        tokens.write_text("class TokenStore:\n    pass\n")
        names = [hit.card.qualified_name for hit in engine.recall("purge_expired").hits]
        assert "TokenStore.purge_expired" not in names


@pytest.mark.seed("S0-10")
def test_two_things_of_one_name_are_offered(tmp_path: Path) -> None:
    root = write_repository(tmp_path, "#- a.py\ndef run():\n    return 1\n#- b.py\ndef run():\n    return 2\n")
    with Engine(root, Settings(n_workers=1)) as engine:
        engine.refresh()
        with pytest.raises(AmbiguousTargetError) as caught:
            engine.show("run")
        assert caught.value.candidates == ("a.py::run", "b.py::run")
        assert len(engine.callers("run").candidates) == 2


def test_without_an_index_the_files_themselves_are_searched(tmp_path: Path) -> None:
    root = write_repository(tmp_path, SHOP)
    with Engine(root, Settings(n_workers=1)) as engine:
        recall = engine.recall("purge expired tokens")
        assert recall.generation == 0
        assert recall.hits[0].card.path == "shop/tokens.py"
        assert "no index" in recall.notices[0]


def test_the_first_question_waits_for_an_index_that_is_nearly_there(tmp_path: Path) -> None:
    root = write_repository(tmp_path, SHOP)
    with Engine.open(root, settings=Settings(n_workers=1, first_answer_wait_s=60)) as engine:
        recall = engine.recall("purge expired tokens")
        assert recall.generation == 1
        assert not recall.notices


def test_an_answer_without_the_index_says_how_long_it_waited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write_repository(tmp_path, SHOP)
    may_build = threading.Event()
    monkeypatch.setattr(ProjectIndex, "refresh", lambda *_args, **_options: may_build.wait(60))
    with Engine.open(root, settings=Settings(n_workers=1, first_answer_wait_s=0.05)) as engine:
        first, second = engine.recall("purge expired tokens"), engine.recall("purge expired tokens")
        may_build.set()
    assert (first.generation, second.generation) == (0, 0)
    assert "waited 0." in first.notices[-1]
    assert not any("waited" in notice for notice in second.notices)  # who was answered once need not wait again


def test_the_folder_that_an_index_is_named_for_is_the_root(tmp_path: Path) -> None:
    root = write_repository(tmp_path / "outer" / "tree", SHOP)
    (tmp_path / "outer" / ".git").mkdir()
    settings = Settings(n_workers=1, index=tmp_path / "elsewhere")
    with Engine.open(root, settings=settings, build=False) as engine:
        assert engine.root == root.resolve()
        engine.refresh()
        assert engine.recall("purge expired tokens").verdict == "found"
    with Engine.open(root, settings=Settings(n_workers=1), build=False) as engine:
        assert engine.root == (tmp_path / "outer").resolve()


def test_kept_contents_are_limited_told_and_removed_on_demand(tmp_path: Path) -> None:
    root = write_repository(tmp_path, "#- a.py\ndef a0(): pass\n")
    with Engine(root, Settings(n_workers=1)) as engine:
        for number in range(12):
            (root / "a.py").write_text(f"def a{number}():\n    return {number}\n" * 30)
            engine.refresh()
            storage = engine.status().storage
            assert storage.kept_bytes <= storage.live_bytes
        assert storage.n_kept > 0
        assert storage.peak_mb > 0
        engine.clean_kept()
        storage = engine.status().storage
        assert (storage.kept_bytes, storage.n_kept) == (0, 0)
        assert engine.recall("a11").hits


def test_contents_that_went_out_of_use_first_are_removed_first(tmp_path: Path) -> None:
    root = write_repository(tmp_path, "#- a.py\ndef a0(): pass\n#- b.py\n" + "def b(): pass\n" * 60)
    with Engine(root, Settings(n_workers=1)) as engine:
        texts = [f"def a{number}():\n    return {number}\n" * 20 for number in range(4)]
        for text in texts:
            (root / "a.py").write_text(text)
            engine.refresh()
        (root / "a.py").write_text(texts[2])
        assert engine.refresh().n_read == 0


def test_opening_builds_a_missing_index_in_the_background(tmp_path: Path) -> None:
    root = write_repository(tmp_path, SHOP)
    with Engine.open(root, settings=Settings(n_workers=1)) as engine:
        assert engine.wait_until_built(60)
        assert engine.status().n_files == 4


@pytest.mark.parametrize("name", ["missing", "file.txt"])
def test_a_root_that_is_not_a_folder_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(ProjectNotFoundError):
        Engine.open(tmp_path / name)


@pytest.mark.parametrize(
    ("path", "reason"),
    [("shop/tokens.py", "found"), ("gone.py", "not_in_project"), ("ignored.py", "ignored"), ("image.py", "binary")],
)
def test_why_not_tells_the_reason(tmp_path: Path, path: str, reason: str) -> None:
    root = write_repository(tmp_path, SHOP + "#- ignored.py\nx = 1\n#- .gitignore\nignored.py\n")
    (root / "image.py").write_bytes(bytes(range(32)) * 20)
    with Engine(root, Settings(n_workers=1)) as engine:
        engine.refresh()
        assert engine.why_not(path, "expired tokens").reason == reason


def test_an_index_that_was_removed_and_rebuilt_is_reopened(tmp_path: Path) -> None:
    write_repository(tmp_path, "#- a.py\ndef first():\n    return 1\n")
    with Engine.open(tmp_path, build=False) as engine:
        engine.refresh()
        assert engine.recall("first").hits
        shutil.rmtree(tmp_path / ".codecards")
        (tmp_path / "a.py").write_text("def second():\n    return 2\n", encoding="utf-8")
        engine.refresh()
        assert engine.status().generation == 1
        assert engine.recall("second").hits[0].card.name == "second"


def test_a_change_that_keeps_size_and_time_is_seen(tmp_path: Path) -> None:
    root = write_repository(tmp_path, SHOP)
    path = root / "shop" / "tokens.py"
    os.utime(path, (10**9, 10**9))
    with Engine(root, Settings(n_workers=1)) as engine:
        engine.refresh()
        assert engine.recall("purge_expired").hits[0].fresh
        path.write_text(path.read_text().replace("older", "newer"))
        os.utime(path, (10**9, 10**9))
        hit = engine.recall("purge_expired").hits[0]
        assert not hit.fresh
        assert "newer" in hit.text


def test_a_hit_keeps_the_text_that_it_was_found_with(tmp_path: Path) -> None:
    root = write_repository(tmp_path, SHOP)
    with Engine(root, Settings(n_workers=1)) as engine:
        engine.refresh()
        hit = engine.recall("purge_expired").hits[0]
        (root / "shop" / "tokens.py").unlink()
        assert "def purge_expired" in hit.text


@pytest.mark.seed("S2-26")
def test_the_profile_of_the_article_takes_ten_files_by_words_and_twenty_by_vectors(tmp_path: Path) -> None:
    text = "".join(f"#- m{number}.py\ndef purge_{number}():\n    return 'purge'\n" for number in range(40))
    root = write_repository(tmp_path, text)
    with Engine(root, Settings(n_workers=1, embedder="none")) as engine:
        engine.refresh()
        assert len(engine.recall("what does purge", limit=50).hits) == 40
    with Engine(root, Settings(n_workers=1, embedder="none", profile="article")) as engine:
        assert len(engine.recall("what does purge", limit=50).hits) == 10


@pytest.mark.seed("S2-52")
def test_a_shown_card_has_what_it_brings_in_what_it_calls_and_its_place(shop: Engine) -> None:
    shown = shop.show("log_out")
    assert [(one.module, one.name) for one in shown.imports] == [("shop.tokens", "TokenStore")]
    assert [one.name for one in shown.calls] == ["TokenStore", "TokenStore.purge_expired"]
    card = shown_json(shown)["card"]
    assert isinstance(card, dict)
    assert card["place"] == "shop/login.py:4"
    assert shop.show(card["place"]).card == shown.card


def test_the_digest_of_a_file_has_its_imports_and_signatures(shop: Engine) -> None:
    for target in ("shop/login.py", "log_out"):
        rows = shop.digest(target).split("\n")
        assert rows[0] == "needs: shop.tokens (TokenStore)"
        assert any(row.startswith("4: ") and "def log_out(now)" in row for row in rows)


def test_an_index_of_another_extractor_version_is_refreshed_by_a_question(tmp_path: Path) -> None:
    root = write_repository(tmp_path, SHOP)
    with Engine(root, Settings(n_workers=1, embedder="none")) as engine:
        before = engine.refresh()
        assert engine.refresh_if_small() == ""
        assert engine.status().generation == before.generation
        manifest = engine.folder.read_manifest()
        engine.folder.write_manifest(replace(manifest, extractor=manifest.extractor - 1))
    with Engine(root, Settings(n_workers=1, embedder="none")) as engine:
        assert engine.refresh_if_small() == ""
        assert engine.folder.read_manifest().extractor == manifest.extractor
