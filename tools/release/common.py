"""Paths, commands and errors of the tools for releases."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "triphammer"
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
DIST = TARGET / "dist"


class Stop(Exception):
    """Why nothing is made, for the user."""


def run(*command, **options):
    """Runs a command that must succeed."""
    try:
        done = subprocess.run([str(word) for word in command], **options)
    except FileNotFoundError:
        raise Stop(f"{command[0]} is not installed") from None
    if done.returncode:
        raise Stop(f"{command[0]} ended with {done.returncode}\n{done.stderr or ''}".rstrip())
    return done


def output(*command, **options):
    """What a command prints."""
    return run(*command, capture_output=True, text=True, **options).stdout.strip()


def version():
    """The version of the workspace."""
    return re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]


def commit():
    """The commit, with `-dirty` if files that git knows are changed."""
    changed = output("git", "status", "--porcelain", "--untracked-files=no", cwd=ROOT)
    return output("git", "rev-parse", "HEAD", cwd=ROOT) + ("-dirty" if changed else "")


def epoch():
    """The time that every file of a release has, in seconds: that of the commit."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "log", "-1", "--format=%ct", cwd=ROOT))
