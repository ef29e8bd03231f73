"""The log of virtual users that `vuset logtotemp 1` asks for: what they print, in a file in the folder TMP."""

from __future__ import annotations

import os
import time
import uuid


class Log:
    """A file that is open while its virtual users exist."""

    def __init__(self, options):
        unique = f"_{uuid.uuid4().hex[:24].upper()}" if options["unique_log_name"] == "1" else ""
        self.path = os.path.join(os.environ["TMP"], f"hammerdb{unique}.log")
        self._has_times = options["log_timestamps"] == "1"
        self._file = open(self.path, "a", encoding="utf-8", buffering=1)
        print(f"Hammerdb Log @ {time.asctime()}", "+-" * 33 + "+", sep="\n", file=self._file)

    def write(self, text):
        """Adds the lines of virtual users."""
        for line in text.splitlines():
            user, colon, _ = line.partition(":")
            if colon and user.startswith(("Vuser ", "Error in Virtual User ")):
                if self._has_times:
                    print(f"Timestamp {user.split()[-1]} @ {time.asctime()}", file=self._file)
                print(line, file=self._file)

    def close(self):
        """Closes the file."""
        self._file.close()
