"""Waits for changes of a project's files: by the system's events, or by looking where there are none.

Network drives give no events for what other machines do, and a system limits how many folders are watched. There the files
are looked at every few seconds, and whoever waits is told why.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from codecards.errors import CodecardsError

STEP_MS = 50
"""A change is told when no other has followed for so long."""
LONGEST_GROUP_MS = 400
"""Changes that go on without a pause are told this often."""
POLL_S = 2.0
"""How often files are looked at where there are no events."""
SHARE_OF_A_CORE = 0.02
"""Looking takes at most this part of one core, so that large trees are looked at less often."""
RETRY_EVENTS_S = 300.0
"""How often events are tried again after the system refused them."""
MOUNTS = Path("/proc/self/mountinfo")
_WITHOUT_EVENTS = frozenset(
    """
    nfs nfs4 cifs smb3 smbfs 9p afs ceph glusterfs lustre gpfs beegfs fuse.sshfs fuse.rclone fuse.s3fs fuse.glusterfs
    fuse.gvfsd-fuse davfs vboxsf prl_fs fuse.vmhgfs-fuse drvfs virtiofs
    """.split()
)


@dataclass
class FileWatch:
    """Watches one project.

    Attributes:
        polls_because: Why files are looked at instead of waiting for events; "" while there are events.
    """

    root: Path
    ignored: Path
    """The index folder, which changes with every run."""
    may_have_changed: Callable[[], bool]
    """Looks at the files; called where there are no events."""
    told: Callable[[str], object] = lambda _: None
    """Called with a sentence when polling begins."""
    stopping: threading.Event = field(default_factory=threading.Event)
    polls_because: str = ""

    def changes(self) -> Iterator[None]:
        """Yield whenever files have changed and settled, until `stopping` is set or the root is gone."""
        while not self.stopping.is_set() and self.root.exists():
            reason = file_system_without_events(self.root)
            if not reason:
                reason = yield from self._by_events()
            if self.stopping.is_set() or not self.root.exists():
                return
            if reason != self.polls_because:
                self.polls_because = reason
                self.told(f"{self.root}: no file events here ({reason}); the files are looked at every {POLL_S:.0f} s")
            yield  # what changed meanwhile was not seen
            yield from self._by_looking()

    def _by_events(self) -> Generator[None, None, str]:
        """Yield changes that the system tells; return why it does not any more, "" at the end."""
        from watchfiles import watch

        try:
            for _ in watch(
                self.root,
                watch_filter=self._is_of_interest,
                debounce=LONGEST_GROUP_MS,
                step=STEP_MS,
                stop_event=self.stopping,
                raise_interrupt=False,
            ):
                self.polls_because = ""
                yield
                if not self.root.exists():
                    break
        except (OSError, RuntimeError) as error:
            return why_no_events(error)
        return ""

    def _by_looking(self) -> Iterator[None]:
        until = time.monotonic() + RETRY_EVENTS_S
        pause_s = POLL_S
        while time.monotonic() < until and not self.stopping.wait(pause_s) and self.root.exists():
            started = time.thread_time()
            try:
                has_changed = self.may_have_changed()
            except CodecardsError:
                has_changed = True  # whoever indexes says what is wrong
            pause_s = max(POLL_S, (time.thread_time() - started) / SHARE_OF_A_CORE)
            if has_changed:
                yield

    def _is_of_interest(self, _: object, path: str) -> bool:
        return not path.startswith(str(self.ignored)) and ".git" not in Path(path).parts


def why_no_events(error: Exception) -> str:
    """Return in words why the system gives no events."""
    text = str(error)
    if "limit" in text or "No space left" in text or "os error 28" in text:
        return "the system's limit on watched folders is reached; raise fs.inotify.max_user_watches"
    if "Too many open files" in text or "os error 24" in text:
        return "the limit on watchers or open files is reached; raise fs.inotify.max_user_instances or `ulimit -n`"
    return text or type(error).__name__


def file_system_without_events(root: Path) -> str:
    """Return why events of a folder can't be relied on, "" if they can or if the system does not tell."""
    if sys.platform != "linux":
        return ""
    try:
        mounts = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    place = os.path.realpath(root)
    best, kind = "", ""
    for line in mounts:
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        at = fields[4].replace("\\040", " ") if len(fields) > 4 else ""
        inside = place == at or place.startswith(at.rstrip("/") + "/")
        if at and inside and len(at) >= len(best):
            best, kind = at, after.split(" ")[0]
    return f"{best} is a {kind} file system" if kind in _WITHOUT_EVENTS else ""
