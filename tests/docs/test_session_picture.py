"""The picture of the README shows commands that exist."""

import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.report.terminal_svg import COMMANDS, PICTURE, copy_package, run_command


@pytest.mark.parametrize("line", COMMANDS)
def test_each_command_exists_with_its_options(line: str) -> None:
    program, name, *arguments = shlex.split(line)
    options = [argument for argument in arguments if argument.startswith("--")]
    command = [sys.executable, "-m", program, name, "--help"]
    described = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert [option for option in options if option not in described] == []


def test_the_picture_shows_each_command() -> None:
    texts = ElementTree.parse(PICTURE).iter("{http://www.w3.org/2000/svg}text")
    shown = "\n".join("".join(text.itertext()).replace("\xa0", " ") for text in texts)
    assert [line for line in COMMANDS if line not in shown] == []


def test_it_can_be_drawn_again(tmp_path: Path) -> None:
    project = copy_package("click", tmp_path)
    (project / ".codecards").mkdir()
    assert "generation 1: " in run_command("codecards index", project)
    assert "click/" in run_command('codecards recall "where is an option read from the environment"', project)
