#!/usr/bin/env python3
"""A board of 1,000 bundles: how long it takes to build, and how soon a browser shows it.

    bench/board.py [--bundles 1000] [--rounds 5] [--keep DIR] [--pictures DIR]

Two short runs on the null database and on SQLite are the models; bench/long-job writes variations of each to the store
(other hosts, servers, levels and noise), through the store's own code. Each is bundled by `bundle`, every third one with a
label beside it. `board` verifies all of them. Chromium opens the site from a file server, with and without JavaScript;
--pictures writes what it shows at three widths, light and dark.
"""

import argparse
import functools
import http.server
import json
import os
import subprocess
import tempfile
import threading

import lib

# A ramp-up of a minute, as long-job has it, and a window that is long enough for a rank.
SECONDS = 125


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bundles", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", default="")
    parser.add_argument("--pictures", default="")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = args.keep or folder
        results, site = os.path.join(folder, "results"), os.path.join(folder, "site")
        if not os.path.isdir(results):
            bundles(folder, results, args.bundles)
        board = [lib.triphammer(), "board", results, "-o", site, "--title", "Database results"]
        built = lib.timed(board)
        print(built["out"].strip())
        print(f"{args.bundles} bundles: built in {built['wall']:.1f} s (at most 60), with {built['memory']:.0f} MB")
        files = [os.path.join(at, name) for at, _, names in os.walk(site) for name in names]
        print(f"{len(files)} files, {sum(map(os.path.getsize, files)) / 1e6:.0f} MB; index.html "
              f"{os.path.getsize(os.path.join(site, 'index.html')) / 1e6:.1f} MB")
        look(site, args.rounds, args.pictures)


def bundles(folder, results, count):
    """Writes bundles with labels."""
    triphammer = lib.triphammer()
    writer = os.path.join(os.path.dirname(triphammer), "triphammer-bench-long-job")
    store = os.path.join(folder, "jobs.sqlite")
    environment = {**os.environ, "TRIPHAMMER_STORE": store}
    bank = "sqlite:" + os.path.join(folder, "bank.sqlite")
    os.makedirs(results)
    lib.run([triphammer, "run", "null:?service=1ms", "--rampup", "1s", "--duration", "3s"], env=environment)
    lib.run([triphammer, "build", bank, "-w", "tpc-b", "--scale", "1"], env=environment)
    lib.run([triphammer, "run", bank, "-w", "tpc-b", "--rampup", "1s", "--duration", "3s"], env=environment)
    models = ["1", "3"]
    for place, model in enumerate(models):
        share = count // len(models) + (place < count % len(models))
        jobs = lib.run([writer, store, model, str(SECONDS), "0", str(share)]).split()
        for number, job in enumerate(jobs):
            path = os.path.join(results, f"{model}-{number:04}")
            lib.run([triphammer, "bundle", job, "-o", path + ".zip"], env=environment)
            if number % 3:
                kind = ["vendor", "community"][number % 2]
                with open(path + ".toml", "w", encoding="utf-8") as label:
                    label.write(f'submitter = "Submitter {number % 17}"\nkind = "{kind}"\n')
    print(f"{count} bundles written: {sum(e.stat().st_size for e in os.scandir(results)) / 1e6:.0f} MB")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A file server that does not log."""

    def log_message(self, *_):
        pass


def look(site, rounds, pictures):
    """Opens the site in a browser."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    script = os.path.join(lib.ROOT, "bench/board.mjs")
    environment = {**os.environ, "BASE": f"http://127.0.0.1:{server.server_port}", "ROUNDS": str(rounds), "PICTURES": pictures}
    try:
        done = subprocess.run(["node", script], env=environment, text=True, stdout=subprocess.PIPE, check=True)
    finally:
        server.shutdown()
    for line in map(json.loads, done.stdout.splitlines()):
        values = sorted(line["values"])
        print(f"{line['what']:44} {values[len(values) // 2]:8.0f} {line['unit']} ({values[0]:.0f} to {values[-1]:.0f}) "
              f"{line['wanted']}")


if __name__ == "__main__":
    main()
