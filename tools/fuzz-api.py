#!/usr/bin/env python3
"""Sends requests that schemathesis generates from the OpenAPI document to the real server. No response may be a 5xx,
violate the document or contain a secret, and no request may make the server panic or exit.

    tools/fuzz-api.py [--examples 60] [--seed 1] [FOLDER]      FOLDER keeps requests and responses

This is not part of `make test`. schemathesis is downloaded once from PyPI, pinned, into $XDG_CACHE_HOME/triphammer or
~/.cache/triphammer; SCHEMATHESIS names an installed one.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
import venv

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VERSION = "4.32.5"
PASSWORD, TOKEN = "s3cret-pa55word-held", "a-token-that-is-long-enough"
# Streams have no end to wait for; a session that is ended would reject all that follows; a new
# password would hide whether the old one is revealed.
LEFT_OUT = ["/api/v1/events", "/api/v1/activities/{id}/events", "/api/v1/session"]
# Not the checks that treat a rejection as wrong: a form's settings must be consistent, which a
# schema cannot express; and what is not JSON is rejected before the path's methods are checked.
CHECKS = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
          "response_headers_conformance", "ignored_auth"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("folder", nargs="?")
    options = parser.parse_args()
    schemathesis = os.environ.get("SCHEMATHESIS") or fetched()
    binary = os.path.abspath(os.environ.get("TRIPHAMMER", os.path.join(ROOT, "target/debug/triphammer")))
    with tempfile.TemporaryDirectory() as temporary:
        folder = os.path.abspath(options.folder or temporary)
        os.makedirs(folder, exist_ok=True)
        said = os.path.join(folder, "server.log")
        with open(said, "w", encoding="utf-8") as log:
            server, base = serve(binary, temporary, log)
            try:
                prepare(base)
                code = fuzz(schemathesis, base, folder, options)
                alive = server.poll() is None and ask(base, "GET", "about")["version"]
            finally:
                server.terminate()
                server.wait(60)
        trouble = found(folder, said, alive)
    for line in trouble:
        print(f"TROUBLE: {line}")
    print("the server passed" if not trouble else "the server failed", f"(schemathesis: exit code {code})")
    sys.exit(1 if trouble or code else 0)


def fetched():
    """The program; downloads it from PyPI if it is not in the cache."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.path.join(base, "triphammer", f"schemathesis-{VERSION}")
    program = os.path.join(folder, "bin/schemathesis")
    if not os.path.exists(program):
        venv.create(folder, with_pip=True)
        subprocess.run([os.path.join(folder, "bin/pip"), "install", "-q", f"schemathesis=={VERSION}"], check=True)
    return program


def serve(binary, folder, log):
    """A server with a token, in a folder for whatever it is made to build."""
    environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(folder, "jobs.sqlite"), "TRIPHAMMER_TOKEN": TOKEN,
                   "RUST_BACKTRACE": "1"}
    server = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0"], cwd=folder, text=True, env=environment,
                              stdout=subprocess.PIPE, stderr=log)
    return server, server.stdout.readline().split()[3].rstrip("/")


def ask(base, method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json", "authorization": f"Bearer {TOKEN}"}
    request = urllib.request.Request(f"{base}/api/v1/{path}", data, headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or "null")


def prepare(base):
    """A target with a password, and a job, so that requests find something."""
    ask(base, "PUT", "targets/held", {"url": f"postgres://u:{PASSWORD}@127.0.0.1:1/d"})
    ask(base, "PUT", "targets/null", {"url": "null:"})
    settings = {"rampup": "0s", "duration": "1s", "vus": "1"}
    activity = ask(base, "POST", "activities", {"command": "run", "target": "null", "settings": settings})["id"]
    while ask(base, "GET", f"activities/{activity}")["activity"]["ended_at"] is None:
        pass


def fuzz(schemathesis, base, folder, options):
    leave_out = [word for path in LEFT_OUT for word in ("--exclude-path", path)]
    command = [schemathesis, "run", f"{base}/api/v1/openapi.json", "--header", f"Authorization: Bearer {TOKEN}",
               "--checks", ",".join(CHECKS), "--max-examples", str(options.examples), "--seed", str(options.seed),
               "--continue-on-failure", "--request-timeout", "60", "--suppress-health-check", "all",
               "--warnings", "off", "--report", "ndjson", "--report-ndjson-path", os.path.join(folder, "sent.ndjson"),
               "--output-sanitize", "false", *leave_out]
    return subprocess.run(command, check=False, cwd=folder).returncode


def found(folder, said, alive):
    """Problems that schemathesis may not notice even if it passes."""
    trouble = [] if alive else ["the server has ended"]
    with open(said, encoding="utf-8") as log:
        said = log.read()
    trouble += [f"its output: {line}" for line in said.splitlines() if "panicked" in line]
    secrets = {"the password": PASSWORD}
    with open(os.path.join(folder, "sent.ndjson"), encoding="utf-8", errors="replace") as sent:
        for number, line in enumerate(sent, 1):
            trouble += [f"{name} in line {number} of sent.ndjson" for name, it in secrets.items() if it in line]
    trouble += [f"{name} in its output" for name, it in {**secrets, "the token": TOKEN}.items() if it in said]
    return trouble


if __name__ == "__main__":
    main()
