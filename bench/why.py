#!/usr/bin/env python3
"""Makes situations with a known cause on private servers, and prints the first sentence of `why`.

Each situation lasts about a minute: the noise of a shared host hides a drop in a shorter run. `slow_fsync` delays the
server's fsync calls by a library that it preloads (needs a C compiler), `neighbour` runs busy processes in the second
half of the run. A situation passes if the sentence has all of its words. Where the cause is not the log, commits do not wait for the disk, or they would be the cause.
Those that end with `_mariadb` need MariaDB, all others PostgreSQL. With `--without-rights`, triphammer's user owns its
database and nothing else: the sentence must name the cause as far as such a user can know it.

    TRIPHAMMER=target/debug/triphammer bench/why.py [--keep FOLDER] [--without-rights] [SITUATION ...]

With `--keep`, each run stays in a job store of its own in that folder, so that another version of `why` can explain it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

from lib import Mariadb, Postgres, program, run, triphammer

LOAD = ["--rampup", "2s", "--duration", "58s"]
# When what is done in the middle of a run begins, and how long it lasts, in seconds after the start.
BEGIN, LAST = 32, 25


class Situation:
    """A server with settings, a load, what is done meanwhile, and the words of its cause; `hidden` are those for a user
    without rights, if other ones."""

    def __init__(self, words, settings=None, load=(), meanwhile=None, prepare=None, preload=None,
                 product=Postgres, hidden=None):
        self.words, self.settings, self.load = words, settings or {}, list(load)
        self.hidden = hidden or words
        self.meanwhile, self.prepare, self.preload, self.product = meanwhile, prepare, preload, product

    def explain(self, store, with_rights):
        """Runs the load; returns the document of `why`."""
        environment = {**os.environ, "XDG_DATA_HOME": store}
        before = os.environ.get("LD_PRELOAD")
        if self.preload:
            os.environ["LD_PRELOAD"] = self.preload()
        try:
            server = self.product(**self.settings)
        finally:
            os.environ.pop("LD_PRELOAD", None)
            if before:
                os.environ["LD_PRELOAD"] = before
        with server:
            server.fresh("why")
            target = server.url("why") if with_rights else plain(server)
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


def plain(server):
    """The target for a user who has a database and no right to observe others."""
    if isinstance(server, Postgres):
        server.psql("why", "CREATE ROLE plain LOGIN; ALTER DATABASE why OWNER TO plain")
        return server.url("why").replace("//postgres@", "//plain@")
    server.sql("why", "CREATE USER plain; GRANT ALL ON why.* TO plain")
    return server.url("why").replace("//root@", "//plain@")


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


def foreign_rows(server):
    """A session of another program that locks the rows of a table, on MariaDB: another user, or it counts as the run's."""
    server.sql("why", "CREATE USER other; GRANT ALL ON why.* TO other")
    time.sleep(BEGIN)
    lock = f"BEGIN; SELECT count(*) FROM district FOR UPDATE; SELECT SLEEP({LAST}); COMMIT"
    run([*server.client("why"), "--user=other", "-e", lock])


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


def slow_fsync():
    """A library whose fsync and fdatasync take 20 ms longer; returns its path."""
    folder = tempfile.mkdtemp()
    source, library = os.path.join(folder, "slow.c"), os.path.join(folder, "slow.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write("#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <unistd.h>\n"
                   + "".join(f"int {name}(int fd) {{ static int (*real)(int); "
                             f"if (!real) real = dlsym(RTLD_NEXT, \"{name}\"); usleep(20000); return real(fd); }}\n"
                             for name in ("fsync", "fdatasync")))
    run(["cc", "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"])
    os.chmod(folder, 0o755)
    return library


NO_WAIT = {"synchronous_commit": "off"}
NO_WAIT_MARIADB = {"innodb-flush-log-at-trx-commit": 0}
ONE_WAREHOUSE = ["--vus", "32", "--mix", "0,100,0,0,0"]
SITUATIONS = {
    "one_warehouse": Situation(["row locks"], load=ONE_WAREHOUSE),
    "foreign_lock": Situation(["locks", "another program"], load=["--vus", "8"], meanwhile=foreign),
    "dropped_index": Situation(["CPU:", "mostly in `payment.call`"], settings=NO_WAIT, load=["--vus", "4"], meanwhile=drop_index),
    "checkpoints": Situation(["checkpoint"], load=["--vus", "8"], meanwhile=checkpoints),
    "slow_fsync": Situation(["commit log"], load=["--vus", "8"], preload=slow_fsync),
    "autovacuum": Situation(["autovacuum"], settings={**NO_WAIT, "autovacuum_naptime": "1s", "shared_buffers": "64MB"},
                            load=["--vus", "4"], prepare=bloat, meanwhile=vacuum),
    "neighbour_and_syncs": Situation(["other processes"], load=["--vus", "2"], meanwhile=neighbour),
    "neighbour": Situation(["CPU", "other processes"], settings=NO_WAIT, load=["--vus", "2"], meanwhile=neighbour),
    "little_memory": Situation(["too little memory"], settings={**NO_WAIT, "shared_buffers": "1MB"}, load=["--vus", "8"]),
    "one_warehouse_mariadb": Situation(["row locks"], settings=NO_WAIT_MARIADB, load=ONE_WAREHOUSE, product=Mariadb),
    "foreign_lock_mariadb": Situation(["row locks", "another program"], load=["--vus", "8"], meanwhile=foreign_rows,
                                      product=Mariadb, hidden=["row locks", "hidden"]),
    "slow_fsync_mariadb": Situation(["commit log"], load=["--vus", "8"], preload=slow_fsync, product=Mariadb),
    "little_memory_mariadb": Situation(["too little memory"], settings={**NO_WAIT_MARIADB, "innodb-buffer-pool-size": "6M"},
                                       load=["--vus", "8"], product=Mariadb),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", metavar="FOLDER", help="keep the job stores here")
    parser.add_argument("--without-rights", action="store_true", help="run as a user who may not observe others")
    parser.add_argument("situations", nargs="*", metavar="SITUATION", help=", ".join(SITUATIONS))
    args = parser.parse_args()
    missed = 0
    print(f"triphammer {run([triphammer(), '--version']).split()[-1]}, {run([program('postgres'), '--version']).strip()}, "
          f"{os.cpu_count()} CPUs")
    for name in args.situations or SITUATIONS:
        situation = SITUATIONS[name]
        with tempfile.TemporaryDirectory() as store:
            store = os.path.join(args.keep, name) if args.keep else store
            found = situation.explain(store, not args.without_rights)
        words = found["words"]
        expected = situation.hidden if args.without_rights else situation.words
        is_named = all(word.lower() in words.lower() for word in expected)
        missed += not is_named
        print(f"{'named ' if is_named else 'MISSED'}  {name}: {words}", flush=True)
    return missed > 0


if __name__ == "__main__":
    sys.exit(main())
