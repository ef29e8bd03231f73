"""HammerDB's step workload (`config/steps.xml`): more virtual users from time to time, as the levels of a profile."""

from __future__ import annotations

import os
from xml.etree import ElementTree

import triphammer

from .settings import minutes

#: Where HammerDB has the file, below the folder in which its scripts run.
FILE = os.path.join("config", "steps.xml")
#: The steps of HammerDB's own file: minutes after the one before, and virtual users.
_DEFAULT = [(1.0, 2)] * 4


def steps():
    """The steps of the file, or HammerDB's own if there is no such file."""
    if not os.path.exists(FILE):
        return _DEFAULT
    try:
        found = [_step(replica) for replica in ElementTree.parse(FILE).getroot()]
    except (ElementTree.ParseError, ValueError) as error:
        raise triphammer.Error(f"{FILE}: {error}") from None
    if not found:
        raise triphammer.Error(f"{FILE}: it has no steps")
    return found


def _step(replica):
    after, users = (replica.findtext(name) for name in ("start_after_prev", "virtual_users"))
    if after is None or users is None:
        raise ValueError(f"{replica.tag} needs start_after_prev and virtual_users")
    after, users = float(after), int(users)
    if not 0 < after < 1e6 or users < 1:
        raise ValueError(f"{replica.tag} needs a time and a number of virtual users above 0")
    return after, users


def profile(settings, users):
    """The settings of a profile, from those of a run with the users of the first step. Each level lasts as long as the
    longest time between two steps."""
    if "load" in settings:
        raise triphammer.Error("a step workload has no keying and thinking times: switch *_keyandthink off")
    found = steps()
    levels = [users]
    for _, more in found:
        levels.append(levels[-1] + more)
    longest = minutes("start_after_prev", str(max(after for after, _ in found)))
    return {**settings, "vus": levels, "duration": longest, "repeats": 1}
