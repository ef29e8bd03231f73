#!/usr/bin/env python3
"""Makes situations with a known cause on private PostgreSQL servers, and prints the first sentence of `why`.

Each situation lasts about half a minute. `slow_fsync` delays the server's fsync calls by a library that it preloads
(needs a C compiler), `neighbour` runs two busy processes in the second half of the run. A situation passes if the sentence
has all of its words. Where the cause is not the log, commits do not wait for the disk, or they would be the cause.

    TRIPHAMMER=target/debug/triphammer bench/why.py [SITUATION ...]
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time

from lib import Postgres, program, run, triphammer

LOAD = ["--rampup", "2s", "--duration", "24s"]
# When what is done in the middle of a run begins, and how long it lasts, in seconds after the start.
BEGIN, LAST = 14, 11


class Situation:
    """A server with settings, a load, what is done meanwhile, and the words of its cause."""

    def __init__(self, words, settings=None, load=(), meanwhile=None, prepare=None, preload=None):
        self.words, self.settings, self.load = words, settings or {}, list(load)
        self.meanwhile, self.prepare, self.preload = meanwhile, prepare, preload

    def explain(self, store):
        """Runs the load; returns the document of `why`."""
        environment = {**os.environ, "XDG_DATA_HOME": store}
        before = os.environ.get("LD_PRELOAD")
        if self.preload:
            os.environ["LD_PRELOAD"] = self.preload(store)
        try:
            server = Postgres(**self.settings)
        finally:
            os.environ.pop("LD_PRELOAD", None)
            if before:
                os.environ["LD_PRELOAD"] = before
        with server:
            server.fresh("why")
            target = server.url("why")
            run([triphammer(), "build", target, "--scale", "2"], env=environment)
            if self.prepare:
                self.prepare(server)
            other = threading.Thread(target=self.meanwhile or (lambda _: None), args=[server])
            load = subprocess.Popen([triphammer(), "run", target, *LOAD, *self.load], env=environment,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            other.start()
            code = load.wait()
            other.join()
            if code not in (0, 1):
                sys.exit(f"the run failed with exit code {code}")
            return json.loads(run([triphammer(), "why", "last", "--json"], env=environment))


def checkpoints(server):
    """A checkpoint per second from the middle of the run on."""
    time.sleep(BEGIN)
    for _ in range(LAST):
        server.psql("why", "CHECKPOINT")
        time.sleep(1)


def neighbour(_):
    """Two processes that use all the CPU that they get."""
    time.sleep(BEGIN)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]
    time.sleep(LAST)
    for process in busy:
        process.kill()
        process.wait()


def foreign(server):
    """A session of another program that locks a table."""
    time.sleep(BEGIN)
    server.psql("why", f"BEGIN; LOCK TABLE district; SELECT pg_sleep({LAST}); COMMIT")


def drop_index(server):
    """An index that a statement needs is dropped."""
    time.sleep(BEGIN)
    indexes = server.psql("why", "SELECT indexname FROM pg_indexes WHERE tablename = 'customer' AND indexdef LIKE '%c_last%'")
    for index in indexes.split():
        server.psql("why", f"DROP INDEX {index}")


def bloat(server):
    """A big table full of dead rows, which autovacuum may clean only from the middle of the run on."""
    server.psql("why", "CREATE TABLE bloated (id int, filler text) WITH (autovacuum_enabled = off); "
                "INSERT INTO bloated SELECT g, repeat('x', 500) FROM generate_series(1, 400000) g; "
                "CREATE INDEX ON bloated (id); DELETE FROM bloated WHERE id % 2 = 0; CHECKPOINT")


def vacuum(server):
    """Lets autovacuum clean the table."""
    time.sleep(BEGIN - 4)
    server.psql("why", "ALTER TABLE bloated SET (autovacuum_enabled = on, autovacuum_vacuum_cost_delay = 0, "
                "autovacuum_vacuum_threshold = 10)")


def slow_fsync(folder):
    """A library whose fsync and fdatasync take 20 ms longer; returns its path."""
    source, library = os.path.join(folder, "slow.c"), os.path.join(tempfile.mkdtemp(), "slow.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write("#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <unistd.h>\n"
                   + "".join(f"int {name}(int fd) {{ static int (*real)(int); "
                             f"if (!real) real = dlsym(RTLD_NEXT, \"{name}\"); usleep(20000); return real(fd); }}\n"
                             for name in ("fsync", "fdatasync")))
    run(["cc", "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"])
    os.chmod(os.path.dirname(library), 0o755)
    return library


NO_WAIT = {"synchronous_commit": "off"}
ONE_WAREHOUSE = ["--vus", "32", "--mix", "0,100,0,0,0"]
SITUATIONS = {
    "one_warehouse": Situation(["row locks"], load=ONE_WAREHOUSE),
    "foreign_lock": Situation(["locks", "another program"], load=["--vus", "8"], meanwhile=foreign),
    "dropped_index": Situation(["CPU"], load=["--vus", "4"], meanwhile=drop_index),
    "checkpoints": Situation(["checkpoint"], load=["--vus", "8"], meanwhile=checkpoints),
    "slow_fsync": Situation(["commit log"], load=["--vus", "8"], preload=slow_fsync),
    "autovacuum": Situation(["autovacuum"], settings={**NO_WAIT, "autovacuum_naptime": "1s", "shared_buffers": "64MB"},
                            load=["--vus", "4"], prepare=bloat, meanwhile=vacuum),
    "neighbour_and_syncs": Situation(["other processes"], load=["--vus", "2"], meanwhile=neighbour),
    "neighbour": Situation(["CPU", "other processes"], settings=NO_WAIT, load=["--vus", "2"], meanwhile=neighbour),
    "little_memory": Situation(["data I/O"], settings={**NO_WAIT, "shared_buffers": "1MB"}, load=["--vus", "8"]),
}


def main():
    missed = 0
    print(f"triphammer {run([triphammer(), '--version']).split()[-1]}, {run([program('postgres'), '--version']).strip()}, "
          f"{os.cpu_count()} CPUs")
    for name in sys.argv[1:] or SITUATIONS:
        situation = SITUATIONS[name]
        with tempfile.TemporaryDirectory() as store:
            found = situation.explain(store)
        words = found["words"]
        is_named = all(word.lower() in words.lower() for word in situation.words)
        missed += not is_named
        print(f"{'named ' if is_named else 'MISSED'}  {name}: {words}", flush=True)
    return missed > 0


if __name__ == "__main__":
    sys.exit(main())
