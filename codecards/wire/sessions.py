"""The JSON shapes of notes, working memories, contexts and ledgers."""

from collections.abc import Iterable

import msgspec

from codecards.router.assemble.context import Context
from codecards.router.compress.compaction import Compaction
from codecards.router.memory.ledger import LedgerSummary, TokenLedger
from codecards.router.memory.state import SessionState
from codecards.router.memory.working_memory import WorkingMemory
from codecards.router.notes.archive import ReviewItem
from codecards.router.notes.note import Note, note_state
from codecards.router.notes.search import NoteHit
from codecards.router.policy.routing import ActionKind, RoutingAction
from codecards.untrusted_text import utf8_safe
from codecards.wire.answers import Json, path_json


def note_json(note: Note) -> Json:
    """Return a note with the states of its anchors."""
    return {
        "id": note.note_id,
        "title": utf8_safe(note.title),
        "text": utf8_safe(note.text),
        "anchors": [
            {
                "symbol": utf8_safe(anchor.symbol),
                **path_json(anchor.path),
                "state": anchor.state.value,
                **({"moved_from": utf8_safe(anchor.moved_from)} if anchor.moved_from else {}),
            }
            for anchor in note.anchors
        ],
        "state": note_state(note).value,
        "created": note.created,
        "updated": note.updated,
        "outcome": note.outcome,
        "rejected": [utf8_safe(option) for option in note.rejected],
        "archived": note.archived,
        "files": [utf8_safe(path) for path in note.files],
        "verification": utf8_safe(note.verification),
        "leftovers": utf8_safe(note.leftovers),
        "confidence": note.confidence,
        "source": utf8_safe(note.source),
        "history": [{"text": utf8_safe(old.text), "replaced": old.replaced} for old in note.history],
    }


def note_hits_json(query: str, hits: Iterable[tuple[NoteHit, Note]]) -> Json:
    """Return the notes that match a query, each with the current states of its anchors."""
    rows = [note_json(note) | {"score": round(hit.score, 4), "duplicates": list(hit.duplicates)} for hit, note in hits]
    return {"query": utf8_safe(query), "notes": rows}


def review_json(items: Iterable[ReviewItem]) -> Json:
    """Return the notes to review, each with the reason."""
    return {"notes": [note_json(item.note) | {"reason": utf8_safe(item.reason)} for item in items]}


def session_json(state: SessionState, summary: LedgerSummary, ratio: float | None, alarms: Iterable[str]) -> Json:
    """Return a session: its working memory, and facts about the session itself."""
    return memory_as_json(state.memory) | {
        "session": {
            "name": state.name,
            "created": state.created,
            "updated": state.updated,
            "revision": state.revision,
            "budget_tokens": state.budget_tokens,
            "outcome": state.outcome,
            "parent": state.parent,
            "turns": summary.n_turns,
            "mean_tokens": round(summary.mean_tokens, 1),
            "peak_tokens": summary.peak_tokens,
            "shares": {name: round(value, 4) for name, value in summary.shares.items()},
            "effective_ratio": None if ratio is None else round(ratio, 4),
            "alarms": list(alarms),
        }
    }


def context_json(context: Context, actions: Iterable[RoutingAction] = ()) -> Json:
    """Return a rendered context with its ledger, the router's decisions and the outcome of each item."""
    return {
        "text": utf8_safe(context.text),
        "messages": [{key: utf8_safe(value) for key, value in message.items()} for message in context.messages],
        "ledger": ledger_json(context.ledger),
        "files": [
            {
                **path_json(file.path),
                "shown": file.shown,
                "why": file.why,
                "lines": [list(run) for run in file.visible_lines],
            }
            for file in context.files
        ],
        "actions": [
            {
                "action": action.kind.value,
                **path_json(action.path),
                "reason": action.reason,
                "mode": action.mode.value if action.mode else None,
            }
            for action in actions
            if action.kind is not ActionKind.KEEP or action.reason
        ],
        "outcomes": [
            {"what": utf8_safe(one.what), "outcome": one.kind.value, "reason": one.reason} for one in context.outcomes
        ],
        "left_out": [utf8_safe(one) for one in context.left_out],
        "turn": context.turn,
        "version": context.version,
    }


def ledger_json(ledger: TokenLedger) -> Json:
    """Return where the tokens of a turn went."""
    return {
        "turn": ledger.turn,
        "budget_tokens": ledger.budget_tokens,
        "total_tokens": ledger.total_tokens,
        "by_category": {name: tokens for name, tokens in ledger.by_category().items() if tokens},
        "lines": [
            {"name": line.name, "category": line.category, "tokens": line.tokens, "source": utf8_safe(line.source)}
            for line in ledger.lines
        ],
    }


def compaction_json(compaction: Compaction) -> Json:
    """Return a compacted text: structured fields, what was left out, and the handle of the original."""
    return dict(compaction.as_json())


def memory_as_json(memory: WorkingMemory) -> dict[str, object]:
    """Return the working memory as JSON values."""
    task = memory.task
    return {
        "task": {"goal": task.goal, "status": task.status, "constraints": list(task.constraints)},
        "files": [
            {
                "path": entry.path,
                "relevance": round(entry.relevance, 4),
                "mode": entry.mode.value,
                "digest": entry.digest,
                "purpose": entry.purpose,
                "last_access_turn": entry.last_access_turn,
                "pinned": entry.pinned,
                "why": entry.why,
            }
            for entry in memory.files
        ],
        "changes": [msgspec.to_builtins(change) for change in memory.changes],
        "archive_refs": list(memory.archive_refs),
        "open_questions": list(memory.open_questions),
        "memos": [msgspec.to_builtins(memo) for memo in memory.memos],
        "todo": [msgspec.to_builtins(item) for item in memory.todo],
        "turn": memory.turn,
    }
