"""Job files: settings as text that `triphammer COMMAND -f FILE` reads."""

from __future__ import annotations

import json
import re

from . import owner

#: Commands, in the order in which a file has them, with the flags that no job file may contain.
_COMMANDS = {"build": " --create-database", "check": "", "run": "", "profile": "", "drop": " --yes"}

_TABLE = re.compile(r"""\s*\[\s*["']?([\w-]+)["']?\s*\]""")
_KEY = re.compile(r"""\s*["']?([\w-]+)["']?\s*=\s*([^#]*)""")


def text(title, given, tables):
    """The text of a file that begins with this comment, for the target of options, without its password, and settings by
    command."""
    tables = {command: _given(settings) for command, settings in tables.items()}
    # All commands of a script have the same, unless it changes the benchmark.
    workloads = {table.get("workload") for table in tables.values()}
    common = {"workload": workloads.pop()} if len(workloads) == 1 and None not in workloads else {}
    lines = [f"# {title} Its password is not here: use TRIPHAMMER_PASSWORD or password-file.",
             *_values({"target": given.target(with_password=False), **common})]
    for command, flags in _COMMANDS.items():
        if command in tables:
            own = {name: value for name, value in tables[command].items() if name not in common}
            if command == "build" and given.superuser is not None:
                lines += ["", f"# As {given.superuser}, before the build: {owner.statements(given)}"]
                flags = ""
            else:
                lines.append("")
            lines += [f"# triphammer {command} -f FILE{flags}", f"[{command}]", *_values(own)]
    return "\n".join(lines) + "\n"


def setting(text, name):
    """The value that the text of a file has for a run, without quotes; ``None`` if it has none."""
    return next((value for _, key, value in _lines_of_run(text) if key == name), None)


def without(text, names):
    """The text without these settings of a run."""
    return "".join(line for line, key, _ in _lines_of_run(text) if key not in names)


def _lines_of_run(text):
    """The lines of a file, each with name and value of the setting for a run that it begins, if any."""
    table = "run"
    for line in text.splitlines(keepends=True):
        found = _TABLE.match(line)
        table = found[1] if found else table
        key = _KEY.match(line) if table == "run" else None
        yield line, *((key[1], key[2].strip().strip("\"'")) if key else (None, None))


def _given(settings):
    return {name: value for name, value in settings.items() if value is not None}


def _values(settings):
    return [f"{name.replace('_', '-')} = {_value(value)}" for name, value in settings.items()]


def _value(value):
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    # TOML has no numbers with leading zeros.
    is_number = isinstance(value, str) and value.isdecimal()
    return json.dumps(int(value) if is_number else value, ensure_ascii=False)
