"""A whole task without a model: add a CSV export of users to a small shop.

    python -m examples.csv_export

The example writes a project of about fifty files into a temporary folder. A scripted endpoint plays the model; everything
else is real: the agent indexes, recalls, switches files, edits, runs the tests and writes a note. At the end it prints
the token ledger, and what the same rounds would have cost with all files in every round.
"""

import sys
import tempfile
from pathlib import Path

from codecards.router.compress.token_count import estimate_tokens
from codecards.router.session import Session
from examples.agent import Endpoint, Log, Task, run_task
from examples.scripted_endpoint import ScriptedEndpoint, Step

GOAL = "给用户模块增加导出 CSV 功能 (add CSV export to the user module)"
OPENED = "app/user_routes.py"
TESTS = "python -m unittest -q"

FILES = {
    "app/__init__.py": "",
    "app/user_routes.py": '''\
"""Routes of the user module."""

from services.user_service import UserService
from utils.pages import page_of


def list_users(request, service: UserService):
    """Show one page of the users."""
    return page_of(service.active_users(), request.page)
''',
    "services/__init__.py": "",
    "services/user_service.py": '''\
"""User service: who the shop's users are."""

from dataclasses import dataclass


@dataclass
class User:
    """A user of the shop."""

    number: int
    name: str
    email: str
    active: bool = True


class UserService:
    """Finds and changes users."""

    def __init__(self, users):
        self._users = {user.number: user for user in users}

    def active_users(self):
        """Return the active users by number."""
        return [self._users[number] for number in sorted(self._users) if self._users[number].active]

    def find_user(self, number):
        """Return a user, None if there is none."""
        return self._users.get(number)

    def deactivate(self, number):
        """Close the account of a user; the record stays."""
        self._users[number].active = False
''',
    "utils/__init__.py": "",
    "utils/exporter.py": '''\
"""Exporter: rows are written one by one, so that a long table never lies in memory."""


def stream_rows(header, rows, write_row):
    """Write a header and then row after row; return the number of rows."""
    write_row(header)
    n_rows = 0
    for row in rows:
        write_row(row)
        n_rows += 1
    return n_rows
''',
    "utils/pages.py": '''\
"""Pages of a list."""

PAGE_SIZE = 50


def page_of(items, number):
    """Return one page of the items, the first is 1."""
    return items[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
''',
    "reports/__init__.py": "",
    "reports/excel_export.py": '''\
"""Export of users as an Excel sheet."""

from utils.exporter import stream_rows


def export_users_excel(service, sheet):
    """Export the active users of the user service into a sheet, row by row."""
    rows = ([user.number, user.name, user.email] for user in service.active_users())
    return stream_rows(["number", "name", "email"], rows, sheet.append)
''',
    "tests/__init__.py": "",
    "tests/test_user_service.py": '''\
"""Tests of the user service."""

import unittest

from services.user_service import User, UserService


class TestUserService(unittest.TestCase):
    """Who is active."""

    def test_a_closed_account_is_not_active(self):
        service = UserService([User(1, "Ada", "ada@example.org"), User(2, "Bob", "bob@example.org")])
        service.deactivate(2)
        self.assertEqual([user.name for user in service.active_users()], ["Ada"])
''',
}
"""The files that the task is about."""

THINGS = (
    "address basket brand cart category coupon courier currency customs delivery discount gift invoice label locale mail "
    "order parcel payment price product profile promotion receipt refund region return review season shelf shipment "
    "shop stock supplier tax ticket voucher warehouse wishlist"
).split()
BACKGROUND = '''\
"""{Thing} service: keeps each {thing} of the shop."""


class {Thing}Service:
    """Finds and changes {thing} records."""

    def __init__(self, store, clock, log):
        self._store, self._clock, self._log = store, clock, log

    def find_{thing}(self, number):
        """Return one {thing}, None if there is none."""
        record = self._store.get("{thing}", number)
        if record is None:
            self._log.info("no {thing} %s", number)
        return record

    def open_{thing}(self, number, **values):
        """Start a new {thing}; a number is used once."""
        if self._store.get("{thing}", number) is not None:
            raise ValueError(f"{thing} {{number}} exists")
        record = {{"number": number, "created": self._clock.now(), **values}}
        self._store.put("{thing}", number, record)
        return record

    def close_{thing}(self, number, reason):
        """End a {thing} and say why; closed ones stay for the audit."""
        record = self.find_{thing}(number)
        if record is None or record.get("closed"):
            return False
        record |= {{"closed": self._clock.now(), "reason": reason}}
        self._store.put("{thing}", number, record)
        self._log.info("closed {thing} %s: %s", number, reason)
        return True

    def merge_{thing}(self, number, other):
        """Take what another {thing} has and this one lacks; the other one is closed."""
        record, source = self.find_{thing}(number), self.find_{thing}(other)
        if record is None or source is None:
            raise KeyError(f"{thing} {{number}} or {{other}} is missing")
        for name, value in source.items():
            record.setdefault(name, value)
        self._store.put("{thing}", number, record)
        self.close_{thing}(other, f"merged into {{number}}")
        return record
'''
"""The other services of the shop, which must stay out of view."""

EXPORT = '''\
    def export_csv(self, file):
        """Write the active users as CSV, row by row; return how many."""
        rows = ([user.number, user.name, user.email] for user in self.active_users())
        return stream_rows(["number", "name", "email"], rows, csv.writer(file).writerow)
'''
TEST = '''\
"""Tests of the CSV export."""

import io
import unittest

from services.user_service import User, UserService


class TestExport(unittest.TestCase):
    """What the file holds."""

    def test_active_users_are_written_with_a_header(self):
        file = io.StringIO()
        service = UserService([User(1, "Ada", "ada@example.org"), User(2, "Bob, Jr.", "bob@example.org", active=False)])
        self.assertEqual(service.export_csv(file), 1)
        self.assertEqual(file.getvalue().splitlines(), ["number,name,email", "1,Ada,ada@example.org"])
'''
FIND_USER = """\
    def find_user(self, number):
"""
STEPS = (
    Step(
        needs=(GOAL, "from services.user_service import UserService"),
        says="First: how are users read, and how are other exports made?",
        calls=(
            ("recall", {"query": "export users excel csv rows"}),
            ("recall", {"query": "user_service active users export"}),
        ),
    ),
    Step(
        needs=(
            "reports/excel_export.py",
            # both must be shown in full by now, though nobody opened them: two questions in a row found them
            "return [self._users[number] for number in sorted(self._users)",
            "def stream_rows(header, rows, write_row):",
        ),
        says="The Excel export streams rows through utils/exporter.py; CSV can do the same.",
        calls=(
            (
                "replace",
                {
                    "path": "user_service.py",
                    "search": "from dataclasses import dataclass\n",
                    "replacement": "import csv\nfrom dataclasses import dataclass\n\nfrom utils.exporter import stream_rows\n",
                },
            ),
            (
                "replace",
                {"path": "services/user_service.py", "search": FIND_USER, "replacement": f"{EXPORT}\n{FIND_USER}"},
            ),
            ("write", {"path": "tests/test_csv_export.py", "content": TEST}),
            (
                "commit_note",
                {"title": "用户导出 CSV", "conclusion": "导出逻辑复用 utils/exporter.py 的流式写法 (stream_rows)"},
            ),
        ),
    ),
    Step(
        needs=('return stream_rows(["number", "name", "email"], rows, csv.writer(file).writerow)',),
        calls=(("run", {"command": TESTS}),),
    ),
    Step(
        needs=("exit 0", "OK"),
        says="UserService.export_csv writes the active users row by row, as the Excel export does; the tests pass.",
    ),
)


def write_project(root: Path) -> None:
    """Write the shop into a folder."""
    background = {
        f"services/{thing}_service.py": BACKGROUND.format(thing=thing, Thing=thing.capitalize()) for thing in THINGS
    }
    for path, text in (FILES | background).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8", newline="\n")


def replay(root: Path, log: Log = print) -> Session:
    """Do the task in a folder that holds the project, and return its session."""
    with ScriptedEndpoint(STEPS) as scripted:
        endpoint = Endpoint(scripted.base_url, "scripted")
        try:
            session = run_task(root, Task(GOAL, (TESTS,), (OPENED,)), endpoint, log)
        finally:
            endpoint.close()
    whole = sum(estimate_tokens(path.read_text(encoding="utf-8")) for path in root.rglob("*.py"))
    n_rounds = session.memory.turn
    log(f"with every file in every round: {whole * n_rounds} tokens ({n_rounds} × {whole}), without any history")
    return session


def main() -> int:
    """Replay the task in a temporary folder; return the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "shop"
        write_project(root)
        replay(root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
