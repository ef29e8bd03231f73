"""Does `compare --ab` call it rightly? Two private PostgreSQL servers, fsync on, compared blind: one that waits
for the disk at commit beside one that does not, and one that waits beside its twin.

    bench/compare.py [--pairs 7] [--seconds 10] [--scale 2]
"""

import argparse
import json
import subprocess
import sys

import lib


def compare(binary, a, b, options):
    """The document of a comparison."""
    command = [binary, "compare", "--ab", a, b, "-w", "tpc-b", "--vus", "4", "--json", "--store", options.store,
               "--pairs", str(options.pairs), "--rampup", "2s", "--duration", f"{options.seconds}s",
               "--cool-down", "2s"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--scale", type=int, default=2)
    options = parser.parse_args()
    binary = lib.triphammer()
    small = {"shared_buffers": "128MB", "fsync": "on"}
    servers = {"waits": {**small, "synchronous_commit": "on"}, "twin": {**small, "synchronous_commit": "on"},
               "does not wait": {**small, "synchronous_commit": "off"}}
    right = True
    with lib.memory_folder() as folder:
        options.store = f"{folder}/jobs.sqlite"
        for name, expected in (("does not wait", {"faster"}), ("twin", {"equivalent", "inconclusive"})):
            with lib.Postgres(**servers["waits"]) as a, lib.Postgres(**servers[name]) as b:
                for server in (a, b):
                    server.fresh("bench")
                    lib.run([binary, "build", server.url("bench"), "-w", "tpc-b", "--scale", str(options.scale),
                             "--store", options.store])
                found = compare(binary, a.url("bench"), b.url("bench"), options)
                verdict = found["verdict"]["kind"]
                right &= verdict in expected
                differs = [d["name"] for d in found["differences"] if d["subject"] == "server_setting"]
                print(f"A waits, B {name}: {found['words']}")
                print(f"  {'right' if verdict in expected else 'WRONG'}; server settings that differ: "
                      f"{', '.join(differs) or 'none'}")
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
