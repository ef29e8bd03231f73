"""Exceptions. Their messages are those of the command line, where each of them is exit code 2."""

from __future__ import annotations


class Error(Exception):
    """A job or request that failed: what failed, where, and what to do next."""


class SettingError(Error, ValueError):
    """A request that cannot be fulfilled: a setting that is unknown or invalid, or nothing to work on."""


class DatabaseError(Error):
    """The database reported an error, or could not be reached."""

    #: The database's own code of an error of a statement: SQLSTATE, or a number.
    code: str | None = None


class HostError(Error, OSError):
    """The operating system reported an error."""


class Cancelled(Error):
    """The job was stopped before it had a result."""


def check_compiled(folder):
    """Explains an import of sources that were never compiled, which hide an installed package of the same name."""
    import os

    if not any(name.startswith("_native.") and name.endswith(".so") for name in os.listdir(folder)):
        raise ImportError(
            f"{folder} is the source of the package triphammer, without its compiled part, and hides an installed one: "
            f"start Python in another folder than {os.path.dirname(folder)}; `pip install ./python` installs this source"
        ) from None
