"""The panel in headless Chromium: with and without scripts, light and dark."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from codecards import Engine, Settings
from tests.support.indexed import write_repository

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
CHROMIUM = next((path for path in map(shutil.which, NAMES) if path), None)
needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium is installed; install one (Debian: apt-get install chromium) to run this test"
)
REPO = (
    "#- shop/orders.py\ndef place_order(cart):\n    return charge(cart)\n\n\ndef charge(cart):\n    return sum(cart)\n"
)


def settings() -> Settings:
    return Settings(embedder="none", n_workers=1, traces_turns=True)


@contextmanager
def served(root: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run `codecards panel` and return its address."""
    command = [sys.executable, "-m", "codecards", "-C", str(root), "panel", "--no-browser"]
    environment = os.environ | {"CODECARDS_EMBEDDER": "none"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_repository(tmp_path_factory.mktemp("shop"), REPO)
    with Engine(root, settings()) as engine:
        engine.refresh()
        session = engine.session("task", goal="charge once")
        session.open_file("shop/orders.py", "see charge")
        session.before_generation("why is it charged twice")
    return root


@pytest.fixture(scope="module")
def address(project: Path) -> Iterator[str]:
    with served(project) as (address, _):
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    from playwright.sync_api import sync_playwright

    # The sandbox needs a user that is not root, as containers have.
    sandbox = os.name != "posix" or os.geteuid() != 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, chromium_sandbox=sandbox)
        yield browser
        browser.close()


@contextmanager
def opened(browser: "Browser", address: str, **options: object) -> Iterator["Page"]:
    """Open a page, and check that the browser logs no errors."""
    complaints = []
    context = browser.new_context(**options)  # type: ignore[arg-type]
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.goto(address)
    yield page
    context.close()
    assert complaints == []


@needs_browser
@pytest.mark.parametrize("scripts", [True, False])
def test_the_bar_links_to_the_text_of_a_block(browser: "Browser", address: str, scripts: bool) -> None:
    with opened(browser, f"{address}session/task", java_script_enabled=scripts) as page:
        widths = [box["width"] for one in page.locator(".bar a rect").all() if (box := one.bounding_box()) is not None]
        shares = [one.inner_text() for one in page.locator(".block .number:not(.share)").all()]
        assert len(widths) == len(shares) > 3  # so short a session has no folded blocks
        assert min(widths) > 0
        page.locator(".bar rect.c-files").click()
        text = page.locator("pre:target")
        assert text.is_visible()
        assert "def charge(cart)" in text.inner_text()


@needs_browser
def test_every_page_has_a_search_that_works_without_scripts(browser: "Browser", address: str) -> None:
    with opened(browser, address, java_script_enabled=False) as page:
        page.get_by_role("searchbox").fill("place order")
        page.get_by_role("searchbox").press("Enter")
        assert page.locator(".hit h2").first.inner_text().startswith("1")
        assert page.locator(".terms rect").count() > 1


@needs_browser
def test_the_page_reports_a_newer_turn(browser: "Browser", address: str, project: Path) -> None:
    with opened(browser, f"{address}session/task") as page:
        assert not page.locator("#news").is_visible()
        with Engine(project, settings()) as engine:
            engine.session("task").before_generation("go on")
        page.locator("#news a").click(timeout=15_000)
        page.get_by_role("heading", name="Context of turn 2").wait_for()


@needs_browser
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_is_wider_than_its_window_in_light_and_dark(
    browser: "Browser", address: str, scheme: str, width: int
) -> None:
    papers = {"light": "rgb(253, 253, 252)", "dark": "rgb(22, 23, 26)"}
    size = {"width": width, "height": 800}
    for path in ("", "session/task", "notes", "search?q=charge"):
        with opened(browser, address + path, color_scheme=scheme, viewport=size) as page:
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == papers[scheme]
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_other_commands_do_not_load_the_web_server() -> None:
    modules = ", ".join(f"codecards.cli.{name}" for name in ("app", "index", "query", "serve", "note", "session"))
    code = f"import sys, {modules}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"starlette", "uvicorn", "jinja2"} & set(loaded)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal that ends one process in this way")
def test_an_interrupt_ends_the_panel(project: Path) -> None:
    with served(project) as (address, process):
        assert address.startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


def test_a_port_in_use_is_an_error_with_a_message(project: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        command = [sys.executable, "-m", "codecards", "-C", str(project), "panel", "--no-browser", "--port", port]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"can't listen on port {port}" in done.stderr
