#!/usr/bin/env python3
"""Tests the web page in a real browser: starts a private PostgreSQL and `triphammer serve`, and uses the page in Chromium.

    tools/test-ui.py [FOLDER]        FOLDER keeps screenshots of every page
"""

import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import lib  # noqa: E402

PASSWORD = "s3cret-ü'\"%"
# All steps take two minutes on two cores.
STEPS_MAX_S = 900


def main():
    binary = os.environ.get("TRIPHAMMER", os.path.join(ROOT, "target/debug/triphammer"))
    shots = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="triphammer-ui-")
    os.makedirs(shots, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        with lib.Postgres(fsync="off") as postgres:
            postgres.psql("postgres", "CREATE ROLE bench LOGIN PASSWORD '" + PASSWORD.replace("'", "''") + "'")
            postgres.psql("postgres", "CREATE DATABASE tpcc OWNER bench")
            server = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0"], cwd=folder, text=True,
                                      stdout=subprocess.PIPE,
                                      env={**os.environ, "TRIPHAMMER_TOKEN": "", "TRIPHAMMER_STORE": os.path.join(folder, "jobs.sqlite")})
            try:
                base, token = server.stdout.readline().strip().split()[-1].split("/?token=")
                url = f"postgres://bench@127.0.0.1:{postgres.port}/tpcc?sslmode=disable"
                done = subprocess.run(["node", "--test", "--test-reporter=spec", "e2e/"], timeout=STEPS_MAX_S, cwd=os.path.join(ROOT, "ui"),
                                      env={**os.environ, "BASE": base, "TOKEN": token, "POSTGRES": url, "PASSWORD": PASSWORD,
                                           "SHOTS": shots, "TRIPHAMMER": binary})
            finally:
                end(server)
    sys.exit(done.returncode)


def end(server):
    """Stops the server as Ctrl-C does, and kills it if that takes too long."""
    server.terminate()
    try:
        server.wait(30)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main()
