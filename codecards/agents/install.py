"""Install: plans what is written into agents' files, shows it as a diff, writes all of it or nothing, and takes it back.

**Invariant:** uninstalling gives back every byte that installing changed. A file that was not touched since gets exactly
the inserted parts removed (they are on record); from any other only our block or our entries are taken.
"""

import difflib
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from codecards.agents.catalog import Agent, InstallTarget, JsonEntries
from codecards.agents.file_edits import content_hash, with_ours, without_ours
from codecards.agents.record import InstalledFile, Record
from codecards.errors import ConfigurationError, OutsideProjectError, StateFileError
from codecards.indexer.atomic_files import write_atomic

MAX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """One file as it is and as it is to be."""

    path: Path
    """Where its bytes lie, links followed."""
    name: str
    """As the user knows it: from the project's root or the home folder."""
    before: bytes | None
    """None where there is no file."""
    after: bytes | None
    """None if it is to be removed."""

    @property
    def action(self) -> str:
        """One of "create", "change", "remove", "keep"."""
        if self.before == self.after:
            return "keep"
        return "create" if self.before is None else "remove" if self.after is None else "change"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be written."""

    base: Path
    changes: tuple[PlannedChange, ...]
    record: Record
    """As it is to be afterwards."""
    notes: tuple[str, ...] = ()
    inside: bool = True
    """Whether nothing out of the base may be touched."""

    def diff(self) -> str:
        """Return the changes as a unified diff; "" if there are none."""
        return "".join(_diff(change) for change in self.changes)


@dataclass(slots=True)
class _Draft:
    """The plan while it is made."""

    base: Path
    inside: bool
    """Whether links may not lead out of the base."""
    record: dict[str, InstalledFile]
    before: dict[Path, bytes | None] = field(default_factory=dict)
    after: dict[Path, bytes | None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def place(self, name: str) -> Path:
        """Return where the bytes of a file lie."""
        try:
            path = (self.base / name).resolve()
        except (OSError, RuntimeError) as error:
            raise ConfigurationError(f"{self.base / name} can't be followed: {error}. Nothing was changed.") from error
        if self.inside and not path.is_relative_to(self.base.resolve()):
            raise OutsideProjectError(
                f"{self.base / name} leads out of the project, to {path}. Nothing was changed; "
                "write it there yourself, or use --scope user."
            )
        if path not in self.before:
            self.before[path] = self.after[path] = _read(path)
        return path

    def key(self, path: Path) -> str:
        """Return the name of a place in the record."""
        root = self.base.resolve()
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)

    def files(self) -> tuple[InstalledFile, ...]:
        """Return the record's files, by path."""
        return tuple(self.record[key] for key in sorted(self.record))

    def all_notes(self) -> tuple[str, ...]:
        """Return the notes, each once."""
        return tuple(dict.fromkeys(self.notes))

    def folders(self, path: Path) -> tuple[str, ...]:
        """Return the folders of a place that are ours: not there yet, or made for another file; the deepest first."""
        ours = {folder for one in self.record.values() for folder in one.folders}
        names = ((self.key(folder), folder.exists()) for folder in path.parents)
        return tuple(name for name, exists in names if not exists or name in ours)


def detect(agents: Iterable[Agent], root: Path, home: Path) -> list[Agent]:
    """Return the agents of which there is a sign: in the project, in the home folder, or on the search path."""
    return [
        agent
        for agent in agents
        if any((root / sign).exists() for sign in agent.signs)
        or any((home / sign).exists() for sign in agent.home_signs)
        or any(shutil.which(program) for program in agent.programs)
    ]


def plan_install(agents: Iterable[Agent], scope: str, base: Path, record: Record, command: str) -> Plan:
    """Return what is to be written so that these agents know codecards.

    Args:
        agents: Rows of the table.
        scope: "project" or "user".
        base: The project's root, or the home folder.
        record: Of what was installed before in this scope.
        command: How codecards is called, for the record.

    Raises:
        ConfigurationError: A file can't be read or changed.
        OutsideProjectError: A link of the project leads out of it.
    """
    draft = _Draft(base, scope == "project", {one.path: one for one in record.files})
    for agent in agents:
        for target in agent.targets(scope):
            name = _chosen(draft, target)
            path = draft.place(name)
            known = draft.record.get(draft.key(path))
            data = draft.after[path]
            if known is None and isinstance(target, JsonEntries):
                undone, created = data, data is None
            else:
                undone, created = without_ours(data, target, known, name, record.command)
            done, written = with_ours(undone, target, name, command)
            draft.notes += [f"{name}: {note}" for note in written.notes]
            draft.after[path] = done
            if done == undone and known is None:
                continue  # all was there already, but not by our hand
            draft.record[draft.key(path)] = replace(
                written,
                path=draft.key(path),
                agents=tuple(dict.fromkeys((*(known.agents if known else ()), agent.name))),
                created=created,
                folders=known.folders if known else draft.folders(path),
                after=content_hash(done),
            )
        note = agent.notes.get(scope)
        draft.notes += [f"{agent.title}: {note}"] if note else []
    return Plan(
        base, _changes(draft), replace(record, command=command, files=draft.files()), draft.all_notes(), draft.inside
    )


def plan_uninstall(agents: Iterable[Agent], scope: str, base: Path, record: Record) -> Plan:
    """Return what is to be written so that these agents know codecards no more, and all is as it was before.

    Raises:
        ConfigurationError: A file can't be read or changed.
        OutsideProjectError: A link of the project leads out of it.
    """
    draft = _Draft(base, scope == "project", {one.path: one for one in record.files})
    for agent in agents:
        for target in agent.targets(scope):
            for name in target.paths:
                _take_out(draft, agent.name, target, name, record.command)
    return Plan(base, _changes(draft), replace(record, files=draft.files()), draft.all_notes(), draft.inside)


def _take_out(draft: _Draft, agent: str, target: InstallTarget, name: str, command: str) -> None:
    """Take what an agent owns out of a file, unless another agent owns it too."""
    try:
        path = draft.place(name)
        known = draft.record.get(draft.key(path))
        if known is None:
            draft.after[path], _ = without_ours(draft.after[path], target, None, name, command)
            return
    except (ConfigurationError, OutsideProjectError) as error:
        # Nothing on record says that it was ever written; so it is no reason to stop.
        draft.notes.append(f"passed over: {error}")
        return
    others = tuple(one for one in known.agents if one != agent)
    if agent not in known.agents:
        return
    if others:
        draft.record[known.path] = replace(known, agents=others)
        return
    draft.after[path], _ = without_ours(draft.after[path], target, known, name, command)
    del draft.record[known.path]


def carry_out(plan: Plan, save_record: Callable[[Record], None], old_record: Record) -> None:
    """Write the plan: all of it, or nothing.

    Args:
        plan: What to write.
        save_record: Keeps a record, or removes an empty one.
        old_record: What it was planned on; folders that were made for its files go when they are empty.

    Raises:
        ConfigurationError: A file can't be written, or was changed since the plan was made.
    """
    for change in plan.changes:
        if _read(change.path) != change.before:
            raise ConfigurationError(f"{change.name} was changed by another program meanwhile; run this again.")
    # The record first: if this process dies now, what it may have written can still be taken back.
    save_record(replace(plan.record, files=_united(old_record, plan.record)))
    written: list[PlannedChange] = []
    try:
        for change in plan.changes:
            if change.action != "keep":
                written.append(change)
                _put(change.path, change.after)
    except (OSError, StateFileError) as error:
        for change in reversed(written):
            _put(change.path, change.before)
        _remove_folders(plan, plan.record)
        save_record(old_record)
        raise ConfigurationError(f"{written[-1].name} can't be written: {error} Nothing was changed.") from error
    kept = {one.path for one in plan.record.files}
    _remove_folders(plan, replace(old_record, files=tuple(one for one in old_record.files if one.path not in kept)))
    save_record(plan.record)


def _changes(draft: _Draft) -> tuple[PlannedChange, ...]:
    return tuple(
        PlannedChange(path, draft.key(path), draft.before[path], draft.after[path])
        for path in sorted(draft.after, key=str)
        if draft.before[path] != draft.after[path] or draft.key(path) in draft.record
    )


def _chosen(draft: _Draft, target: InstallTarget) -> str:
    """Return which of a target's files to write: the first that exists or is planned, else the last in a folder that exists."""
    if len(target.paths) == 1:
        return target.paths[0]
    existing = [name for name in target.paths if draft.after[draft.place(name)] is not None]
    near = [name for name in target.paths if (draft.base / name).parent.is_dir()]
    return (existing[:1] or near[-1:] or target.paths[-1:])[0]


def _read(path: Path) -> bytes | None:
    try:
        if path.is_file() and path.stat().st_size > MAX_BYTES:
            raise ConfigurationError(f"{path} is larger than {MAX_BYTES >> 20} MiB. Nothing was changed.")
        if path.exists() and not path.is_file():
            raise ConfigurationError(f"{path} is no file. Nothing was changed.")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigurationError(f"{path} can't be read: {error.strerror or error}. Nothing was changed.") from error


def _put(path: Path, data: bytes | None) -> None:
    if data is None:
        path.unlink(missing_ok=True)
    else:
        write_atomic(path, data, mode=path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~_umask())


def _umask() -> int:
    """Return what this process takes away from the rights of new files; it can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _remove_folders(plan: Plan, record: Record) -> None:
    """Remove the folders that were made for these files, where nothing is left in them.

    A project's record may have come with the project: what it says is believed of folders above its own files alone.
    """
    base = plan.base.resolve()
    folders = {
        base / folder
        for one in record.files
        for folder in one.folders
        if base / folder in (base / one.path).parents and (not plan.inside or (base / folder).is_relative_to(base))
    }
    for folder in sorted(folders - {base}, key=lambda one: len(one.parts), reverse=True):
        if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
            folder.rmdir()


def _united(old: Record, new: Record) -> tuple[InstalledFile, ...]:
    """Return the files of both records; of a file in both, the new one."""
    files = {one.path: one for one in old.files} | {one.path: one for one in new.files}
    return tuple(files[key] for key in sorted(files))


def _diff(change: PlannedChange) -> str:
    if change.action == "keep":
        return ""
    before, after = (_lines(data) for data in (change.before, change.after))
    lines = difflib.unified_diff(
        before, after,
        "/dev/null" if change.before is None else f"a/{change.name}",
        "/dev/null" if change.after is None else f"b/{change.name}",
    )  # fmt: skip
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


def _lines(data: bytes | None) -> Sequence[str]:
    text = (data or b"").decode("utf-8", "backslashreplace").replace("\r\n", "\n").replace("\r", "\n")
    return text.splitlines(keepends=True) if data else []
