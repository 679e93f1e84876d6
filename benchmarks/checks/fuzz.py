"""Fuzzes the extractor, guided by coverage: `python -m benchmarks fuzz --seeds TREES`.

Each language runs in a separate process under atheris (`pip install atheris`; it has wheels for Linux), which changes real files byte by
byte and keeps inputs that reach new code of `codecards.indexer`. A find is an input that raises, breaks a rule of `broken_rule`, takes over
`SLOW_S` or kills the process; it is written below `--finds`.
"""

import argparse
import faulthandler
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from codecards.indexer.parse.languages import HEAD_BYTES, LANGUAGES, detect_language

SLOW_S = 5
"""Longest time for a file of `MAX_INPUT_BYTES`; usual code of that size takes some milliseconds."""
MAX_INPUT_BYTES = 6_000
N_SEEDS = 150
CORE = tuple(language.name for language in LANGUAGES)
_word = re.compile(rb"[A-Za-z_@#$]{2,20}|[^\sA-Za-z0-9_]{1,4}")


def main(argv: Sequence[str]) -> int:
    """Fuzz each language for an equal time; print inputs, time and finds; return 1 if there are finds, 3 without atheris."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=Path, required=True, help="folder of source trees whose files are the seeds")
    parser.add_argument("--minutes", type=float, default=35.0, help="total time, divided among the languages")
    parser.add_argument("--language", action="append", choices=CORE, help="only this language; may be given again")
    parser.add_argument("--finds", type=Path, default=Path(tempfile.gettempdir()) / "codecards-fuzz")
    options = parser.parse_args(argv)
    if find_spec("atheris") is None:
        print(
            "Fuzzing needs the package 'atheris', which has wheels for Linux only: run `pip install atheris` in the"
            " environment that runs this command.",
            file=sys.stderr,
        )
        return 3
    languages = options.language or list(CORE)
    seeds = seeds_of(options.seeds, languages)
    n_finds = 0
    for language in languages:
        n_finds += _run(language, seeds[language], options.minutes * 60 / len(languages), options.finds / language)
    return 1 if n_finds else 0


def seeds_of(trees: Path, languages: Sequence[str]) -> dict[str, list[bytes]]:
    """Return language -> pieces of real files, drawn with a fixed seed."""
    found: dict[str, list[Path]] = {language: [] for language in languages}
    for path in sorted(trees.rglob("*")):
        if not path.suffix or path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as stream:
            language = detect_language(path.name, stream.read(HEAD_BYTES) if path.suffix == ".h" else b"")
        if language in found:
            found[language].append(path)
    chance = random.Random(1)
    return {
        language: [_piece(path.read_bytes(), chance) for path in chance.sample(paths, min(N_SEEDS, len(paths)))]
        for language, paths in found.items()
    }


def _piece(data: bytes, chance: random.Random) -> bytes:
    """Return at most `MAX_INPUT_BYTES` of whole lines of a file."""
    start = data.rfind(b"\n", 0, chance.randrange(max(1, len(data) - MAX_INPUT_BYTES // 2))) + 1
    return data[start : start + MAX_INPUT_BYTES]


def _run(language: str, seeds: Sequence[bytes], seconds: float, finds: Path) -> int:
    """Fuzz one language until its time is over, restarting after each find; print a line and return the number of finds."""
    finds.mkdir(parents=True, exist_ok=True)
    before = set(finds.iterdir())
    with tempfile.TemporaryDirectory(prefix="codecards-fuzz-") as name:
        folder = Path(name)
        corpus = folder / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(seeds):
            (corpus / f"seed-{number}").write_bytes(seed)
        words = _write_words(folder / "words.dict", seeds)
        n_inputs, started = 0, time.monotonic()
        while (left := seconds - (time.monotonic() - started)) > 1:
            command = [
                sys.executable,
                "-m",
                "benchmarks.checks.fuzz",
                language,
                str(folder / "count"),
                str(corpus),
                f"-max_total_time={int(left)}",
                f"-artifact_prefix={finds}/",
                *words,
                f"-timeout={SLOW_S * 6}",
                f"-max_len={MAX_INPUT_BYTES}",
                "-rss_limit_mb=4096",
                "-verbosity=0",
                "-report_slow_units=100000",
                "-print_final_stats=0",
            ]
            run = subprocess.run(command, capture_output=True, check=False)
            count = folder / "count"
            n_inputs += json.loads(count.read_text()) if count.exists() else 0
            if run.returncode:
                (finds / f"log-{int(time.time())}.txt").write_bytes(run.stderr[-20_000:])
        n_new = sum(not path.name.startswith("log-") for path in set(finds.iterdir()) - before)
        n_kept = sum(1 for _ in corpus.iterdir())
    print(f"{language:12} {n_inputs:9,} inputs {seconds:6.0f} s {n_kept:6,} kept {n_new:3} finds", flush=True)
    return n_new


def _write_words(path: Path, seeds: Sequence[bytes]) -> list[str]:
    """Write the most frequent words and signs of a language as a dictionary; return libFuzzer's option for it."""
    counts: dict[bytes, int] = {}
    for seed in seeds:
        for word in set(_word.findall(seed)):
            counts[word] = counts.get(word, 0) + 1
    words = sorted(counts, key=lambda word: (-counts[word], word))[:300]
    escaped = ("".join(f"\\x{byte:02x}" for byte in word) for word in words)
    path.write_text("".join(f'"{word}"\n' for word in escaped), encoding="ascii")
    return [f"-dict={path}"] if words else []


def broken_rule(data: bytes, language: str) -> str:
    """Return the rule that the record of a content breaks, "" if all hold."""
    from codecards.indexer.cards.chunking import text_lines
    from codecards.indexer.cards.file_cards import record_of_bytes
    from codecards.indexer.cards.record import pack, unpack
    from codecards.indexer.text.decoding import DecodedText, decode

    record = record_of_bytes(data, language)
    if unpack(pack(record)) != record:
        return "a record is read back as it was stored"
    decoded = decode(data)
    if not isinstance(decoded, DecodedText) or not record.contents.has_text:
        return ""
    n_lines = len(text_lines(decoded.text))
    owned: dict[int, int] = {}
    for draft in record.contents.drafts:
        if not 1 <= draft.lead_line <= draft.first_line <= draft.last_line <= n_lines:
            return f"the lines of {draft.qualified_name!r} are in the file, in order"
        if not draft.first_line <= draft.name_line <= draft.last_line:
            return f"the name of {draft.qualified_name!r} is within its lines"
        for first, last in draft.own_lines:
            for line in range(first, last + 1):
                owned[line] = owned.get(line, 0) + 1
    if any(n_owners > 1 for n_owners in owned.values()):
        return "no line belongs to two cards"
    if language != "jupyter" and decoded.text.strip() and set(owned) != set(range(1, n_lines + 1)):
        return "each line belongs to a card"
    return ""


def _fuzz_one(language: str, count_path: Path, arguments: Sequence[str]) -> None:
    """Run as the process that atheris drives."""
    import atheris  # type: ignore[import-not-found,import-untyped,unused-ignore]

    with atheris.instrument_imports(include=["codecards.indexer"]):
        import codecards.indexer.cards.file_cards  # noqa: F401
    n_inputs = 0

    def one_input(data: bytes) -> None:
        nonlocal n_inputs
        n_inputs += 1
        if n_inputs % 100 == 0:
            count_path.write_text(json.dumps(n_inputs), encoding="ascii")
        started = time.process_time()
        rule = broken_rule(data, language)
        if rule:
            raise AssertionError(f"this does not hold: {rule}")
        if time.process_time() - started > SLOW_S:
            raise AssertionError(f"{len(data)} bytes took over {SLOW_S} s")

    faulthandler.enable()
    atheris.Setup([sys.argv[0], *arguments], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    _fuzz_one(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
