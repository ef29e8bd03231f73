"""How long does a restore of TPROC-C take beside a build? A private PostgreSQL, fsync on.

    bench/restore.py [--scale 10] [--rounds 5] [--repeatable]

Wanted: a restore takes at most a quarter of a build. With `--repeatable`, also: two runs, each from the restored
state, differ by no more than two runs of a load that only reads, as far as the rounds can tell.
"""

import argparse
import json
import statistics
import sys
from random import Random

import lib

WANTED = 0.25


def tpm(binary, url, store, *more, seconds=20):
    """Transactions per minute of a run."""
    out = lib.run([binary, "run", url, "--vus", "4", "--rampup", "5s", "--duration", f"{seconds}s", "--json",
                   "--store", store, *more])
    return json.loads(out)["tpm_client"]


def differences(values):
    """Relative differences between neighbours."""
    return [abs(a - b) / ((a + b) / 2) for a, b in zip(values, values[1:])]


def ratio_interval(above, below, draws=4000):
    """95 % interval of the ratio of two medians, by resampling."""
    random = Random(1)
    def median(values):
        return statistics.median(random.choices(values, k=len(values)))
    ratios = sorted(median(above) / median(below) for _ in range(draws))
    return ratios[draws // 40], ratios[-draws // 40]


def repeats(binary, server, store, rounds):
    """Runs from the restored state and runs that only read, in turn, so that both meet the same host. As those that
    read do not wait for the disk, those that write do not wait for it either when they commit."""
    prepared = ["--restore", "copy=clean", "--warm", "tables,indexes", "--until-quiet", "2m"]
    server.psql("postgres", "ALTER DATABASE bench SET synchronous_commit = off")
    server.fresh("reads")
    reads = server.url("reads")
    lib.run([binary, "build", reads, "-w", "kv", "--scale", "1", "--store", store])
    restored, reading = [], []
    for _ in range(rounds):
        restored.append(tpm(binary, server.url("bench"), store, *prepared, seconds=10))
        reading.append(tpm(binary, reads, store, "-w", "kv", "--mix", "ycsb-c", seconds=10))
    print("per minute, from the restored state:", *(f"{value:.0f}" for value in restored))
    print("per minute, only reading:", *(f"{value:.0f}" for value in reading))
    both = differences(restored), differences(reading)
    low, high = ratio_interval(*both)
    medians = [statistics.median(values) for values in both]
    is_good = low <= 1
    print(f"runs in a row differ by {medians[0]:.1%} from the restored state, by {medians[1]:.1%} if they only read: "
          f"{medians[0] / medians[1]:.2f} x ({low:.2f} to {high:.2f}; wanted: an interval that holds 1 or less): "
          f"{'good' if is_good else 'THEY DIFFER MORE'}")
    return is_good


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
        for _ in range(min(options.rounds, 5)):
            tpm(binary, url, store)
            restores.append(lib.timed([binary, "snapshot", url, "--restore", "clean"])["wall"])
        build, restore = statistics.median(builds), statistics.median(restores)
        ratio = restore / build
        is_good &= ratio <= WANTED
        print(f"TPROC-C, {options.scale} warehouses: build {build:.1f} s, snapshot {made:.1f} s, restore "
              f"{restore:.1f} s = {ratio:.2f} x (wanted {WANTED}): {'good' if ratio <= WANTED else 'TOO SLOW'}")
        if options.repeatable:
            is_good &= repeats(binary, server, store, options.rounds)
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
