"""How long does a restore of TPROC-C take beside a build? A private PostgreSQL, fsync on.

    bench/restore.py [--scale 10] [--rounds 5] [--repeatable]

Wanted: a restore takes at most a quarter of a build. With `--repeatable`, also: two runs, each from the restored
state, differ by no more than two runs in a row of a load that only reads.
"""

import argparse
import json
import statistics
import sys

import lib

WANTED = 0.25


def tpm(binary, url, store, *more):
    """Transactions per minute of a run of 20 seconds."""
    out = lib.run([binary, "run", url, "--vus", "4", "--rampup", "5s", "--duration", "20s", "--json",
                   "--store", store, *more])
    return json.loads(out)["tpm_client"]


def spread(values):
    """Relative differences between neighbours, as a median."""
    return statistics.median(abs(a - b) / ((a + b) / 2) for a, b in zip(values, values[1:]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeatable", action="store_true")
    options = parser.parse_args()
    binary = lib.triphammer()
    is_good = True
    with lib.Postgres(fsync="on") as server:
        store = f"{server.folder}/jobs.sqlite"
        builds = []
        for _ in range(min(options.rounds, 3)):
            server.fresh("bench")
            url = server.url("bench")
            command = [binary, "build", url, "--scale", str(options.scale), "--store", store]
            builds.append(lib.timed(command)["wall"])
        made = lib.timed([binary, "snapshot", url, "--make", "clean"])["wall"]
        restores = []
        for _ in range(options.rounds):
            tpm(binary, url, store)
            restores.append(lib.timed([binary, "snapshot", url, "--restore", "clean"])["wall"])
        build, restore = statistics.median(builds), statistics.median(restores)
        ratio = restore / build
        is_good &= ratio <= WANTED
        print(f"TPROC-C, {options.scale} warehouses: build {build:.1f} s, snapshot {made:.1f} s, restore "
              f"{restore:.1f} s = {ratio:.2f} x (wanted {WANTED}): {'good' if ratio <= WANTED else 'TOO SLOW'}")
        if options.repeatable:
            prepared = ["--restore", "copy=clean", "--warm", "tables,indexes", "--until-quiet", "2m"]
            restored = spread([tpm(binary, url, store, *prepared) for _ in range(options.rounds)])
            reads = ["-w", "kv", "--mix", "ycsb-c"]
            server.fresh("reads")
            of_reads = server.url("reads")
            lib.run([binary, "build", of_reads, "-w", "kv", "--scale", "1", "--store", store])
            reading = spread([tpm(binary, of_reads, store, *reads) for _ in range(options.rounds)])
            is_good &= restored <= reading
            print(f"runs in a row differ by {restored:.1%} from the restored state, by {reading:.1%} if they "
                  f"only read: {'good' if restored <= reading else 'NOT EQUAL'}")
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
