"""What an installed program must do in a system of its own: load, serve, report, databases, manual pages, completions."""

import json
import platform
import re
import sys
import urllib.request

from .chroot import check
from .common import ROOT, output

BYTES_MAX = 35_000_000  # of the installed program
PAGES = ("triphammer", "triphammer-run", "triphammer-serve")
COMPLETIONS = {  # of `triphammer pro` and Tab
    "bash": "source {share}/bash-completion/completions/triphammer; COMP_WORDS=(triphammer pro); COMP_CWORD=1; "
            "_triphammer triphammer pro triphammer; echo ${{COMPREPLY[@]}}",
    # Where zsh looks on systems with RPM packages, and Debian's does not.
    "zsh": "fpath+=({share}/zsh/site-functions); autoload -Uz compinit && compinit -D && echo ${{_comps[triphammer]}} "
           "&& autoload -Uz +X _triphammer && functions _triphammer | grep -o 'profile' | head -1",
    "fish": "complete --do-complete 'triphammer pro'",
}
ODBC = "odbc:Driver={SQLite3};Database=odbc.db"
QUICK = ("-w", "tpc-b", "--vus", "1", "--rampup", "0s", "--duration", "1s", "--json")


def program(system, *command):
    """Builds, runs, checks, reports and serves."""
    system.run(*command, "build", "sqlite:use.db", "-w", "tpc-b", "--scale", "1", "--replace")
    result = json.loads(system.run(*command, "run", "sqlite:use.db", *QUICK))
    check(result["primary_metric"]["value"] > 0, "build and run measure something")
    check("hold" in system.run(*command, "check", "sqlite:use.db", "-w", "tpc-b"), "check verifies the data")
    check(json.loads(system.run(*command, "report", "--format", "json")), "report shows the stored job")
    serve(system, *command, "serve", "--listen", "127.0.0.1:0")


def serve(system, *command):
    """The server has its page."""
    server = system.start(*command)
    try:
        url = re.search(r"http://\S+?(?=/\?token)", server.stdout.readline()).group()
        with urllib.request.urlopen(url, timeout=30) as answer:
            page = answer.read().decode()
        check("/assets/" in page, "serve has its page")
    finally:
        server.kill()  # unshare ignores gentler signals; its child ends with it
        server.wait(timeout=60)


def size(file):
    """The program is not larger than it was meant to be."""
    check(file.stat().st_size <= BYTES_MAX, f"the program has {file.stat().st_size / 1e6:.1f} MB")


def missing(system, *command):
    """Without their libraries, DuckDB and ODBC are refused by a sentence that says what to install."""
    for target, needed in (("duckdb:d.db", "npm install"), (ODBC, "install unixODBC")):
        done = system.attempt(*command, "build", target, "-w", "tpc-b", "--scale", "1")
        kind = target.split(":")[0]
        check(done.returncode == 2 and needed in done.stderr, f"{kind}: without its library, exit code 2 and what to install")


def prepare(system):
    """Installs what the checks below need: ODBC with a driver, DuckDB, man and shells."""
    system.put(ROOT / "docs/examples/sqlite-odbc", "/opt")
    system.install("unixodbc", "libsqliteodbc", "libstdc++6", "man-db", "zsh", "fish")
    if platform.machine() == "x86_64":  # tools/fetch-duckdb.py has no library for others
        library = output(sys.executable, ROOT / "tools/fetch-duckdb.py", "--print", "1.5")
        system.put(library, "/opt/duckdb")
        system.variables["TRIPHAMMER_DUCKDB"] = f"/opt/duckdb/{library.rsplit('/', 1)[1]}"


def databases(system, *command):
    """With their libraries, DuckDB and ODBC work."""
    duckdb = [("duckdb:d.db",)] if "TRIPHAMMER_DUCKDB" in system.variables else []
    for target, *options in (*duckdb, (ODBC, "--dialect-dir", "/opt/sqlite-odbc")):
        options += ["-w", "tpc-b"]
        system.run(*command, "build", target, "--scale", "1", "--replace", *options)
        result = json.loads(system.run(*command, "run", target, *QUICK, *options[:-2]))
        check(result["primary_metric"]["value"] > 0, f"{target.split(':')[0]}: its library is loaded, and a run measures something")


def reading(system, share="/usr/share"):
    """Manual pages and completions work where man and the shells look."""
    for page in PAGES:
        text = system.run("man", "--warnings", page)
        check("NAME" in text and "OPTIONS" in text, f"man {page}")
    for shell, script in COMPLETIONS.items():
        # Without this variable, fish looks in /usr/share only.
        shown = system.run("env", f"XDG_DATA_DIRS={share}:/usr/share", shell, "-c", script.format(share=share))
        check("profile" in shown, f"{shell} completes a command")
