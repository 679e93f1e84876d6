"""Digests of files and folders that are not shown whole, and memos of closed files."""

import re
from collections.abc import Mapping, Sequence

from codecards.router.compress.excerpts import notice
from codecards.router.compress.signatures import SIGNATURE
from codecards.router.compress.summaries import SummariserConfig, Summary, summarise
from codecards.router.compress.token_count import TokenCounter, estimate_tokens

MEMO_TOKENS = 160
"""Most tokens of a memo."""
DIGEST_TOKENS = 400
"""Most tokens of one file's digest in the context."""
SIGNATURE_POINTS = 1.0
COMMENT_POINTS = 0.5
WORD_POINTS = 3.0
"""Points of a line in a memo. A word of the purpose outweighs a signature and a comment together."""

_import = re.compile(r"^\s*(?:import|from|use|require|#include|package|using|export \* from)\b.*")
REMARK = re.compile(
    r"\b(?:TODO|FIXME|XXX|HACK|WARNING|NOTE|IMPORTANT|SAFETY|INVARIANT|Deprecated|must not|never)\b|注意|重要|禁止|必须"
)
"""Marks of an important comment."""
_word = re.compile(r"[A-Za-z][a-z]+|[A-Z]+(?![a-z])|[\u4e00-\u9fff]{2}")
_comment = re.compile(r"^\s*(?:#|//|/\*|\*|--|;|\"\"\"|''')")


class OutlineDigester:
    """Makes digests line by line, without a parser; for projects and files without an index."""

    def digest(self, path: str, text: str) -> str:
        """Return dependencies, signatures and important comments, with line numbers."""
        del path
        lines = text.splitlines()
        imports = [line.strip() for line in lines if _import.match(line)]
        rows = [f"needs: {'; '.join(imports)[:300]}"] if imports else []
        for number, line in enumerate(lines, 1):
            if SIGNATURE.match(line) or (_comment.match(line) and REMARK.search(line)):
                rows.append(f"{number}: {line.rstrip()[:160]}")
        return "\n".join(rows) or "\n".join(line[:160] for line in lines[:5])


def fit_digest(digest: str, budget_tokens: int, count: TokenCounter = estimate_tokens) -> str:
    """Return the digest within a budget: the most indented lines leave first, and a notice counts them.

    Methods therefore leave before classes and functions. If not even one line fits, the result is "…", since a notice
    alone is not informative.
    """
    if count(digest) <= budget_tokens:
        return digest
    lines = digest.splitlines()
    depths = [_depth(line) for line in lines]
    for depth in sorted(set(depths), reverse=True):
        kept = [line for line, own in zip(lines, depths, strict=True) if own < depth]
        shorter = "\n".join(kept) + "\n" + notice(f"{len(lines) - len(kept)} inner lines").rstrip()
        if kept and count(shorter) <= budget_tokens:
            return shorter
    low, high, best = 1, len(lines), ""
    while low <= high:
        n_kept = (low + high) // 2
        shorter = "\n".join([*lines[:n_kept], notice(f"{len(lines) - n_kept} lines").rstrip()])
        if count(shorter) <= budget_tokens:
            best, low = shorter, n_kept + 1
        else:
            high = n_kept - 1
    return best or "…"


def digest_tree(digests: Mapping[str, str], budget_tokens: int, count: TokenCounter = estimate_tokens) -> str:
    """Return one digest of many files: all their digests if they fit, else folders collapsed from the bottom up.

    The files of the deepest folders become one line with their names, then those of their parents, and so on. At the
    end, each top-level folder is one line with its number of files.
    """
    rows = {path: f"{path}\n{digest}" for path, digest in digests.items()}
    text = "\n".join(rows[path] for path in sorted(rows))
    if count(text) <= budget_tokens:
        return text
    groups: dict[str, list[str]] = {path: [path] for path in digests}
    while True:
        depth = max((path.count("/") for path in groups), default=0)
        deepest = [path for path in groups if path.count("/") == depth]
        for path in deepest:
            folder = path.rpartition("/")[0] or "."
            members = groups.pop(path)
            groups.setdefault(folder + "/…", []).extend(members)
            if depth:
                groups.setdefault(folder, []).extend(groups.pop(folder + "/…"))
        text = "\n".join(_group_row(path, members, rows) for path, members in sorted(groups.items()))
        if count(text) <= budget_tokens or depth == 0:
            break
    return fit_digest(text, budget_tokens, count)


def memo_for(
    text: str,
    purpose: str,
    budget_tokens: int = MEMO_TOKENS,
    *,
    count: TokenCounter = estimate_tokens,
    summariser: SummariserConfig | None = None,
) -> Summary:
    """Return the memo of a closed file: the lines that are relevant to the purpose for which it was opened.

    Lines with words of the purpose are chosen first, then signatures; they keep the order of the file and have their
    line numbers. If a summariser is given, its summary is the memo; if the summary is not usable, the notice says why.
    """
    notice = ""
    if summariser is not None and text.strip():
        summary = summarise(f"Purpose: {purpose}\n\n{text}", budget_tokens, summariser, count=count)
        if summary.words:
            return summary
        notice = summary.notice
    lines = text.splitlines()
    wanted = _words(purpose)
    scored = sorted(((_points(line, wanted), -number) for number, line in enumerate(lines)), reverse=True)
    chosen: list[int] = []
    used = 0
    for points, number in scored:
        cost = count(_memo_row(lines, -number)) + 1
        if points <= 0 or used + cost > budget_tokens:
            break
        used += cost
        chosen.append(-number)
    return Summary("\n".join(_memo_row(lines, number) for number in sorted(chosen)), notice)


def _memo_row(lines: Sequence[str], number: int) -> str:
    return f"{number + 1}: {lines[number].strip()[:160]}"


def _points(line: str, wanted: frozenset[str]) -> float:
    if not line.strip():
        return 0.0
    points = WORD_POINTS * len(wanted & _words(line))
    points += SIGNATURE_POINTS if SIGNATURE.match(line) else 0.0
    return points + (COMMENT_POINTS if _comment.match(line) and REMARK.search(line) else 0.0)


def _words(text: str) -> frozenset[str]:
    """Return the informative words of a text, casefolded and cut to five letters, so that "purged" matches "purge"."""
    found = (word.casefold() for word in _word.findall(text))
    return frozenset(word[:5] for word in found if word not in _COMMON and (len(word) > 2 or not word.isascii()))


_COMMON = frozenset(
    ["the", "and", "for", "how", "see", "what", "where", "with", "this", "that", "find", "look", "into"]
)


def _depth(line: str) -> int:
    body = re.sub(r"^\s*\d+(?:-\d+)?: ?", "", line)
    return len(body) - len(body.lstrip())


def _group_row(path: str, members: Sequence[str], rows: Mapping[str, str]) -> str:
    if list(members) == [path]:
        return rows[path]
    names = ", ".join(sorted(member.rpartition("/")[2] for member in members)[:12])
    return f"{path.removesuffix('/…')}/: {len(members)} files: {names}{' …' if len(members) > 12 else ''}"
