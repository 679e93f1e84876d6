"""Plans the changes of agents' files, shows them as a diff, carries them out completely or not at all, and reverts them.

**Invariant:** `uninstall` restores every byte that `install` changed. If a file did not change since, exactly the inserted
spans on record are removed; from other files only the block or the entries of codecards.
"""

import difflib
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from codecards.agents.file_edits import content_hash, with_ours, without_ours
from codecards.agents.record import InstalledFile, Record
from codecards.agents.targets import Agent, InstallTarget, JsonEntries
from codecards.errors import ConfigurationError, OutsideProjectError, StateFileError
from codecards.indexer.atomic_files import write_atomic

MAX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """A file before and after a plan."""

    path: Path
    """The real path, with links resolved."""
    name: str
    """The path for messages: relative to the project's root or the home folder."""
    before: bytes | None
    """None if the file does not exist."""
    after: bytes | None
    """None to remove the file."""

    @property
    def action(self) -> str:
        """One of "create", "change", "remove", "keep"."""
        if self.before == self.after:
            return "keep"
        return "create" if self.before is None else "remove" if self.after is None else "change"


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes to carry out."""

    base: Path
    changes: tuple[PlannedChange, ...]
    record: Record
    """The record after the changes."""
    notes: tuple[str, ...] = ()
    inside: bool = True
    """Whether all changes must stay inside the base."""

    def diff(self) -> str:
        """Return the changes as a unified diff; "" if there are none."""
        return "".join(_diff(change) for change in self.changes)


@dataclass(slots=True)
class _Draft:
    """A plan in the making."""

    base: Path
    inside: bool
    """Whether links out of the base are refused."""
    record: dict[str, InstalledFile]
    before: dict[Path, bytes | None] = field(default_factory=dict)
    after: dict[Path, bytes | None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def place(self, name: str) -> Path:
        """Return the real path of a file, and read the file."""
        try:
            path = (self.base / name).resolve()
        except (OSError, RuntimeError) as error:
            raise ConfigurationError(f"{self.base / name} can't be resolved: {error}. Nothing was changed.") from error
        if self.inside and not path.is_relative_to(self.base.resolve()):
            raise OutsideProjectError(
                f"{self.base / name} is a link out of the project, to {path}. Nothing was changed; "
                "edit that file yourself, or use --scope user."
            )
        if path not in self.before:
            self.before[path] = self.after[path] = _read(path)
        return path

    def key(self, path: Path) -> str:
        """Return the key of a path in the record."""
        root = self.base.resolve()
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)

    def files(self) -> tuple[InstalledFile, ...]:
        """Return the files of the record, sorted by path."""
        return tuple(self.record[key] for key in sorted(self.record))

    def all_notes(self) -> tuple[str, ...]:
        """Return the notes without duplicates."""
        return tuple(dict.fromkeys(self.notes))

    def folders(self, path: Path) -> tuple[str, ...]:
        """Return the folders of a path that codecards creates or has created, deepest first."""
        ours = {folder for one in self.record.values() for folder in one.folders}
        names = ((self.key(folder), folder.exists()) for folder in path.parents)
        return tuple(name for name, exists in names if not exists or name in ours)


def detect(agents: Iterable[Agent], root: Path, home: Path) -> list[Agent]:
    """Return the agents with a sign in the project, in the home folder, or on the search path."""
    return [
        agent
        for agent in agents
        if any((root / sign).exists() for sign in agent.signs)
        or any((home / sign).exists() for sign in agent.home_signs)
        or any(shutil.which(program) for program in agent.programs)
    ]


def plan_install(agents: Iterable[Agent], scope: str, base: Path, record: Record, command: str) -> Plan:
    """Plan to add codecards to the files of these agents.

    Args:
        agents: Agents of the catalog.
        scope: "project" or "user".
        base: The project's root, or the home folder.
        record: The record of earlier installs in this scope.
        command: The command line of codecards, for the record.

    Raises:
        ConfigurationError: A file can't be read or changed.
        OutsideProjectError: A file is a link out of the project.
    """
    draft = _Draft(base, scope == "project", {one.path: one for one in record.files})
    for agent in agents:
        for target in agent.targets(scope):
            name = _target_file(draft, target)
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
                continue  # everything existed already, added by someone else
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
    """Plan to remove codecards from the files of these agents.

    Raises:
        ConfigurationError: A file can't be read or changed.
        OutsideProjectError: A file is a link out of the project.
    """
    draft = _Draft(base, scope == "project", {one.path: one for one in record.files})
    for agent in agents:
        for target in agent.targets(scope):
            for name in target.paths:
                _plan_removal(draft, agent.name, target, name, record.command)
    return Plan(base, _changes(draft), replace(record, files=draft.files()), draft.all_notes(), draft.inside)


def _plan_removal(draft: _Draft, agent: str, target: InstallTarget, name: str, command: str) -> None:
    """Remove the parts of an agent from a file, unless another agent needs them too."""
    try:
        path = draft.place(name)
        known = draft.record.get(draft.key(path))
        if known is None:
            draft.after[path], _ = without_ours(draft.after[path], target, None, name, command)
            return
    except (ConfigurationError, OutsideProjectError) as error:
        # The record does not list the file, so it need not stop the removal.
        draft.notes.append(f"skipped: {error}")
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
    """Carry out a plan, completely or not at all.

    Args:
        plan: The plan.
        save_record: Saves a record, or deletes it if it is empty.
        old_record: The record before the plan; folders that were created for its files are removed once empty.

    Raises:
        ConfigurationError: A file can't be written, or changed after the plan was made.
    """
    for change in plan.changes:
        if _read(change.path) != change.before:
            raise ConfigurationError(f"another program has just changed {change.name}; run the command again.")
    # Save the record first, so that `uninstall` works even if this process dies now.
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


def _target_file(draft: _Draft, target: InstallTarget) -> str:
    """Return the file of a target: the first that exists or is planned, else the last one in an existing folder."""
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
            raise ConfigurationError(f"{path} is not a file. Nothing was changed.")
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
    """Return the umask of this process, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _remove_folders(plan: Plan, record: Record) -> None:
    """Remove the empty folders that were created for these files.

    The record may come with a foreign project, so only folders above the files on record are removed.
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
    """Return the files of both records; the new record wins."""
    files = {one.path: one for one in old.files} | {one.path: one for one in new.files}
    return tuple(files[key] for key in sorted(files))


def _diff(change: PlannedChange) -> str:
    if change.action == "keep":
        return ""
    before, after = (_lines(data) for data in (change.before, change.after))
    lines = difflib.unified_diff(
        before,
        after,
        "/dev/null" if change.before is None else f"a/{change.name}",
        "/dev/null" if change.after is None else f"b/{change.name}",
    )
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


def _lines(data: bytes | None) -> Sequence[str]:
    text = (data or b"").decode("utf-8", "backslashreplace").replace("\r\n", "\n").replace("\r", "\n")
    return text.splitlines(keepends=True) if data else []
