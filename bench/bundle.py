#!/usr/bin/env python3
"""Whether `verify` finds edits of bundles, and leaves bundles alone that nobody edited.

    bench/bundle.py [--edits 200] [--untouched 100] [--seconds 43200] [--seed 1] [--keep DIR]
    bench/bundle.py --kinds

Runs of the null database and of SQLite are bundled. Each edit changes a number, a byte or a part of a bundle, or swaps a
part of two bundles; half of the edits leave the manifest as it was, and half write the hash of the edited part into it, so
that only the computation can find them. An edit is found if `verify` ends with 1 or 2 and names the part, or, for an edit
whose hash was corrected, any disagreement besides the bytes of the archive. Then a run of twelve hours, which
bench/long-job writes, is bundled and verified. With --kinds, only: jobs of every kind, and runs of every workload, on SQLite and
a private PostgreSQL are bundled and verified.
"""

import argparse
import collections
import contextlib
import csv
import hashlib
import io
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import tempfile
import zipfile

import lib

# Parts and members that are in a bundle only once: docs/bundle.md lists them. With a corrected hash, nothing can find an edit.
ONCE = {
    "job.json": {"pid", "started_at", "ended_at", "plan", "step", "parent"},
    "seconds.csv": {"lag_p99_us", "round_trip_us", "host_share"},
    "sample_chunk.csv": None,
    "sample_series.csv": None,
    "settings.csv": None,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--untouched", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=12 * 3600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default="")
    parser.add_argument("--kinds", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args.keep or folder, args.seed)
        if args.kinds:
            return bench.kinds()
        bundles = bench.bundles()
        for path in bundles:
            code, found = bench.verify(path)
            assert code == 0, (path, found)
        bench.untouched(args.untouched)
        for corrected in [False, True]:
            bench.edits(bundles, args.edits // 2, corrected)
        if args.seconds:
            bench.long(args.seconds)


class Bench:
    """Bundles in a folder."""

    def __init__(self, folder, seed):
        self.folder = folder
        self.random = random.Random(seed)
        self.triphammer = lib.triphammer()
        os.makedirs(folder, exist_ok=True)
        store = os.path.join(folder, "jobs.sqlite")
        self.environment = {**os.environ, "TRIPHAMMER_STORE": store}

    def call(self, *arguments):
        """Runs the program, and returns its exit code and output."""
        done = subprocess.run([self.triphammer, *arguments], env=self.environment, cwd=self.folder, text=True,
                              capture_output=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def must(self, *arguments):
        """Runs the program, which must succeed."""
        code, out = self.call(*arguments)
        assert code == 0, (arguments, out)
        return out

    def bundle(self, job, name, *more):
        """Bundles a job."""
        path = os.path.join(self.folder, name)
        self.must("bundle", str(job), "-o", path, *more)
        return path

    def bundles(self):
        """Bundles of several kinds of jobs."""
        run = ["--rampup", "1s", "--duration", "6s", "--vus", "4"]
        self.must("run", "null:?service=1ms", *run, "--label", "one")
        first = self.bundle("last", "null.zip")
        self.must("run", "null:?service=1ms", "--load", "rate:300/s", *run, "--require", "all.p95 < 1s", "--seed", "7")
        second = self.bundle("last", "open.zip")
        target = "sqlite:bank.sqlite"
        self.must("build", target, "-w", "tpc-b", "--scale", "1")
        self.must("run", target, "--rampup", "1s", "--duration", "5s")
        third = self.bundle("last", "sqlite.zip")
        self.must("run", target, "--rampup", "1s", "--duration", "5s", "--seed", "9")
        fourth = self.bundle("last", "sqlite2.zip", "--anonymous")
        self.must("compare", "--ab", "null:?service=1ms", "--b", "vus=3", "--pairs", "2", "--rampup", "0s", "--duration", "2s",
                  "--cool-down", "0s", "--vus", "2")
        fifth = self.bundle("last", "compare.zip")
        return [first, second, third, fourth, fifth]

    def kinds(self):
        """Jobs of every kind, and runs of every workload."""
        short = ["--rampup", "0s", "--duration", "2s", "--vus", "2"]
        self.must("new", "workload", "bank")
        with open(os.path.join(self.folder, "select.sql"), "w", encoding="utf-8") as script:
            script.write("SELECT 1;\n")
        with lib.Postgres() as server:
            for workload, scale, more in [
                ("tproc-c", "1", short), ("tproc-c", "1", [*short[:4], "--terminals", "20", "--load", "keyed"]), ("tpc-b", "1", short),
                ("kv", "1", short), ("ch", "1", short), ("tproc-h", "0.01", []), ("tproc-h", "0.01", ["--test", "throughput", "--streams", "2"]),
                ("bank/workload.toml", "", short),
            ]:
                for target in ["sqlite:" + os.path.basename(workload) + ".sqlite", None]:
                    self.workload(target or server, workload, scale, more)
            server.fresh("other")
            other = server.url("other")
            self.job("script", "run", other, "-w", "script", "--script", "select.sql", *short)
            self.job("drill", "drill", other, "--duration", "4s", "--fault", "at=1s cut=1s")
            self.job("isolation", "isolation", other, "--duration", "2s")
            self.must("build", other, "-w", "tpc-b", "--scale", "1")
            again = [*short, "--cool-down", "0s"]
            self.job("profile", "profile", other, "-w", "tpc-b", *again[:4], "--vus", "1,2,4")
            self.job("capacity", "capacity", other, "-w", "tpc-b", "--limit", "all.p95 < 1s", *again)
            self.job("compare", "compare", "--ab", other, "-w", "tpc-b", "--a", "vus=1", "--b", "vus=2", "--pairs", "2", *again[:4])
            self.job("matrix", "matrix", other, "-w", "tpc-b", "--over", "vus=1,2", "--over", "protocol=prepared,simple", "--repeats",
                     "2", "--restore", "cmd=true", *again[:4])
            self.job("drop", "drop", other, "-w", "tpc-b", "--yes")

    def workload(self, target, workload, scale, more):
        """Builds, runs and checks a workload."""
        if not isinstance(target, str):
            target.fresh("all_kinds")
            target = target.url("all_kinds")
        else:
            for name in [target.split(":")[1] + ending for ending in ["", "-wal", "-shm"]]:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(os.path.join(self.folder, name))
        name = f"{workload} {' '.join(more)} on {target.split(':')[0]}"
        of = [target, "-w", workload]
        if self.job(f"build of {name}", "build", *of, *(["--scale", scale] if scale else [])):
            self.job(f"run of {name}", "run", *of, *more)
            self.job(f"check of {name}", "check", *of)

    def job(self, name, *arguments):
        """Runs a job, bundles and verifies it; returns whether it ran."""
        code, out = self.call(*arguments)
        if code == 2:
            print(f"{name}: did not run: {out.strip().splitlines()[-1][:160]}")
            return False
        for more in [[], ["--anonymous"]]:
            code, out = self.call("bundle", "last", "-o", "kind.zip", *more)
            if code != 0:
                print(f"{name}: NO BUNDLE: {out.strip()[:300]}")
                return True
            code, found = self.verify(os.path.join(self.folder, "kind.zip"))
            if code != 0:
                print(f"{name}: DOES NOT AGREE: {json.dumps(found['disagreements'] if code == 1 else found)[:900]}")
                return True
        values = sum(of["values"] for of in found["agreements"])
        print(f"{name}: {values} values agree; once: {len(found['not_recomputed'])}")
        return True

    def verify(self, path):
        """Exit code and document of `verify`; its message instead of the document if there is none."""
        done = subprocess.run([self.triphammer, "verify", path, "--json"], env=self.environment, text=True, capture_output=True,
                              check=False)
        return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr

    def untouched(self, count):
        """Bundles that nobody edited, each of a run of its own."""
        complaints = 0
        for number in range(count):
            load = ["--load", "rate:200/s"] if number % 3 == 1 else []
            self.must("run", f"null:?service={number % 5}ms", "--rampup", "0s", "--duration", "1s", "--seed", str(number), *load,
                      "--vus", str(1 + number % 8))
            path = self.bundle("last", "untouched.zip", *(["--anonymous"] if number % 2 else []))
            code, found = self.verify(path)
            if code != 0:
                complaints += 1
                print("complaint", number, json.dumps(found)[:600])
        print(f"untouched: {complaints} complaints about {count} bundles")

    def long(self, seconds):
        """Bundles and verifies a long run in a store of its own."""
        store = os.path.join(self.folder, "long.sqlite")
        self.environment["TRIPHAMMER_STORE"] = store
        writer = os.path.join(os.path.dirname(self.triphammer), "triphammer-bench-long-job")
        self.must("run", "null:?service=1ms", "--rampup", "1s", "--duration", "3s")
        with contextlib.closing(sqlite3.connect(store)) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        before = os.path.getsize(store)
        job = lib.run([writer, store, "1", str(seconds), "300"]).strip()
        with contextlib.closing(sqlite3.connect(store)) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = os.path.getsize(store) - before
        path = os.path.join(self.folder, "long.zip")
        bundle = [self.triphammer, "bundle", job, "-o", path]
        verify = [self.triphammer, "verify", path]
        made = lib.timed(bundle, env=self.environment)
        found = lib.timed(verify, env=self.environment)
        memory = lib.peak_memory_mb(verify, env=self.environment)
        ratio = os.path.getsize(path) / size
        print(f"{seconds} seconds: bundled in {made['wall']:.1f} s, {os.path.getsize(path) / 1e6:.0f} MB, {ratio:.2f} of the "
              f"job's {size / 1e6:.0f} MB in the store (at most 1.1)")
        print(f"verified in {found['wall']:.1f} s (at most 5), with {memory:.0f} MB (at most 300)")

    def edits(self, bundles, count, corrected):
        """Edits bundles, and counts those that are found."""
        found, once, by_kind = 0, 0, collections.Counter()
        for number in range(count):
            path = self.random.choice(bundles)
            with zipfile.ZipFile(path) as archive:
                parts = {name: archive.read(name) for name in archive.namelist()}
            kind = ["number", "byte", "part", "swap"][number % 4]
            part, what, edited = getattr(self, kind)(parts, bundles, path)
            target = os.path.join(self.folder, "edited.zip")
            if edited is None:
                shutil.copy(path, target)
                self.flip(target)
            else:
                write(target, correct(edited) if corrected else edited)
            code, answer = self.verify(target)
            is_found = code == 2 or code == 1 and any(is_named(d, part, corrected) for d in answer["disagreements"])
            found += is_found
            by_kind[kind] += is_found
            if not is_found:
                is_once = corrected and is_in_once(part, what)
                once += is_once
                print("once only" if is_once else "MISSED", os.path.basename(path), kind, part, what)
        hashes = "with corrected hashes" if corrected else "with the old manifest"
        print(f"edits {hashes}: {found} of {count} found, {once} of what is in a bundle once; {dict(by_kind)}")

    def number(self, parts, _bundles, _path):
        """Changes a number of a JSON or CSV part."""
        part = self.random.choice([name for name in parts if name.endswith((".json", ".csv")) and name != "manifest.json"])
        text = parts[part].decode()
        if part.endswith(".csv"):
            rows = list(csv.reader(io.StringIO(text)))
            cells = [(r, c) for r in range(1, len(rows)) for c, cell in enumerate(rows[r]) if re.fullmatch(r"-?\d+(\.\d+)?", cell)]
            if not cells:
                return self.byte(parts, _bundles, _path)
            row, column = self.random.choice(cells)
            rows[row][column] = str(int(float(rows[row][column])) + 1)
            out = io.StringIO()
            csv.writer(out, lineterminator="\n").writerows(rows)
            return part, f"{rows[0][column]} in row {row}", {**parts, part: out.getvalue().encode()}
        places = list(re.finditer(r"(?<=[:\[, ])-?\d+(\.\d+)?(?=[,}\]\n])", text))
        if not places:
            return self.byte(parts, _bundles, _path)
        place = self.random.choice(places)
        value = place.group()
        changed = str(float(value) * 1.01 + 0.01) if "." in value else str(int(value) + 1)
        what = text[max(0, place.start() - 60):place.end()].replace("\n", " ")
        return part, what, {**parts, part: (text[:place.start()] + changed + text[place.end():]).encode()}

    def byte(self, parts, _bundles, _path):
        """Changes a byte of a part, or of the archive."""
        if self.random.random() < 0.3:
            return "the archive", "a byte", None
        part = self.random.choice([name for name in parts if name != "manifest.json"])
        content = bytearray(parts[part])
        place = self.random.randrange(len(content))
        before = content[place]
        content[place] = self.random.choice([b for b in b"0123456789abcXYZ" if b != before])
        what = content[max(0, place - 60):place + 1].decode(errors="replace").replace("\n", " ")
        return part, what, {**parts, part: bytes(content)}

    def part(self, parts, _bundles, _path):
        """Removes a line of a part, doubles one, or removes the part."""
        part = self.random.choice([name for name in parts if name.endswith((".csv", ".json")) and name != "manifest.json"])
        lines = parts[part].decode().splitlines(keepends=True)
        how = self.random.randrange(3)
        if len(lines) < 3 or how == 0:
            return part, "the whole part", {name: content for name, content in parts.items() if name != part}
        place = self.random.randrange(1, len(lines))
        edited = lines[:place] + lines[place:place + 1] * (how - 1) * 2 + lines[place + 1:]
        return part, f"line {place + 1}: {lines[place][:60]}", {**parts, part: "".join(edited).encode()}

    def swap(self, parts, bundles, path):
        """Takes a part of another bundle."""
        other = self.random.choice([bundle for bundle in bundles if bundle != path])
        with zipfile.ZipFile(other) as archive:
            theirs = {re.sub(r"jobs/\d+/", "", name): archive.read(name) for name in archive.namelist()}
        def same(name):
            return theirs.get(re.sub(r"jobs/\d+/", "", name))
        both = [name for name in parts if same(name) not in (None, parts[name]) and name != "manifest.json"]
        part = self.random.choice(both)
        return part, "the part of " + os.path.basename(other), {**parts, part: same(part)}

    def flip(self, path):
        """Changes a byte of a file."""
        with open(path, "r+b") as file:
            place = self.random.randrange(os.path.getsize(path))
            file.seek(place)
            byte = file.read(1)[0]
            file.seek(place)
            file.write(bytes([byte ^ 1 << self.random.randrange(8)]))


def is_named(disagreement, part, corrected):
    """Whether a disagreement is about an edit: names its part, or is what was computed from it."""
    if corrected:
        return disagreement["part"] != "the archive"
    return part in ("the archive", disagreement["part"])


def is_in_once(part, what):
    """Whether the edit changed what is in a bundle once."""
    members = ONCE.get(part.rsplit("/", 1)[-1], ())
    return members is None or any(member in what for member in members)


def correct(parts):
    """Writes the hashes of the parts into the manifest."""
    manifest = json.loads(parts["manifest.json"])
    manifest["parts"] = [{"name": name, "bytes": len(parts[name]), "sha256": hashlib.sha256(parts[name]).hexdigest()}
                         for name in sorted(parts) if not name.startswith("manifest.json")]
    return {**parts, "manifest.json": (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode()}


def write(path, parts):
    """Packs parts."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(parts):
            archive.writestr(zipfile.ZipInfo(name), parts[name], zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
