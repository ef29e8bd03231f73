"""Arguments: values as the command line has them, and signatures. Names and documentation come from the program's
declarations of its settings."""

from __future__ import annotations

import functools
import json
import numbers
import os

from . import _native
from ._errors import SettingError
from ._job import Job

#: Separator between the values of a repeated setting.
_REPEATED = ", "


def given(command, positional, settings):
    """The settings of a call as pairs of names and texts; ``None`` means not given."""
    names = [_identifier(one) for one in parameters(command)[1] if one["positional"]]
    if len(positional) > len(names):
        most = f"at most {len(names)} by position: {', '.join(names)}" if names else "none by position"
        raise SettingError(f"`{command}` accepts {most}; name the other settings, such as vus=8")
    by_name = dict(zip(names, positional))
    for name, value in settings.items():
        if name in by_name:
            raise SettingError(f"`{name}` is given by position and by name; give it once")
        by_name[name] = value
    if isinstance(by_name.get("workload"), type):
        from ._workload import settings as of_class

        by_name = of_class(by_name["workload"], by_name)
    return [(name.replace("_", "-"), _encodable(name, text(name, value)))
            for name, value in by_name.items() if value is not None and not _is_empty(value)]


def _is_empty(value):
    """Whether it is a list of no values: a repeated setting that is not given."""
    return isinstance(value, (list, tuple, range)) and not value


def _encodable(name, value):
    try:
        value.encode()
    except UnicodeEncodeError:
        raise SettingError(f"`{name}` contains {ascii(value)}, which is not Unicode text") from None
    return value


def text(name, value):
    """The value of a setting as it is typed on the command line. A job or its result is its number; a job that runs is
    waited for."""
    if isinstance(value, Job):
        value = value.result()
    if hasattr(type(value), "_number"):
        return value._number()
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays.
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (list, tuple, range)):
        return _REPEATED.join(text(name, one) for one in value)
    if hasattr(value, "total_seconds"):
        return f"{round(value.total_seconds() * 1e6)}us"
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (str, numbers.Number)):
        return str(value)
    raise SettingError(f"`{name}` cannot be of type {type(value).__name__}: give a text, a number, a path, a timedelta, or a "
                       "list of them")


@functools.lru_cache(maxsize=None)
def parameters(command):
    """Title and parameters of a command."""
    title, found = _native.parameters(command)
    return title, json.loads(found)


def documented(command, returns):
    """Gives a function the name, the signature and the documentation of a command."""

    def decorate(function):
        title, found = parameters(command)
        lines = [f"{title}.", "", returns, "", "Settings:", ""]
        lines += [f"{_identifier(one)}: {one['help']}" for one in found]
        function.__doc__ = "\n".join(lines)
        function.__name__ = function.__qualname__ = command
        function.__module__ = "triphammer"
        function.__signature__ = _signature(found)
        return function

    return decorate


def _signature(found):
    from inspect import Parameter, Signature

    def one(parameter):
        kind = Parameter.POSITIONAL_OR_KEYWORD if parameter["positional"] else Parameter.KEYWORD_ONLY
        return Parameter(_identifier(parameter), kind, default=None)

    return Signature([one(parameter) for parameter in found])


def _identifier(parameter):
    return parameter["name"].replace("-", "_")
