"""JSON shapes of kept outputs and of commands that were run."""

from codecards.outputs.run import CommandRun
from codecards.outputs.store import OutputLine, StoredOutput
from codecards.untrusted_text import utf8_safe
from codecards.wire.answers import Json


def run_json(done: CommandRun) -> Json:
    """Return a command's short output; `failures` counts lines that say what failed, kept and in all."""
    short = done.short
    return {
        "command": utf8_safe(done.command),
        "exit_code": done.exit_code,
        "tool": short.tool,
        "text": utf8_safe(short.text),
        "lines": {"total": short.n_lines, "left_out": short.n_left_out},
        "failures": {"total": short.n_failures, "kept": short.n_failures_kept},
        "handle": done.handle,
    }


def output_json(output: StoredOutput) -> Json:
    """Return what is known of a kept output, without its text."""
    return {
        "handle": output.handle,
        "created": output.created,
        "source": utf8_safe(output.source),
        "exit_code": output.exit_code,
    }


def output_line_json(line: OutputLine) -> Json:
    """Return a found line."""
    return {"handle": line.handle, "line": line.line, "source": utf8_safe(line.source), "text": utf8_safe(line.text)}
