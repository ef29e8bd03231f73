#!/usr/bin/env python3
"""What viewers cost a run: `serve` with 50 live readers during a run, and the same without them.

    bench/readers.py [--readers 50] [--pairs 7] [--seconds 5] [--vus 4] [--null]

TPROC-C on a private PostgreSQL, started through the server, alternating without and with readers (0 50, 50 0, ...).
Then `compare` judges the runs with readers against those without, and the CPU of the server's HTTP thread is reported. With
--null on the null database, whose throughput varies less if the host is not quiet enough for a verdict.
"""

import argparse
import json
import os
import selectors
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request

import lib


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--vus", type=int, default=4)
    parser.add_argument("--null", action="store_true")
    options = parser.parse_args()
    binary = lib.triphammer()
    with tempfile.TemporaryDirectory() as folder, lib.Postgres(fsync="off") as postgres:
        environment = {**os.environ, "TRIPHAMMER_STORE": os.path.join(folder, "jobs.sqlite"), "TRIPHAMMER_TOKEN": ""}
        url = "null:?service=2ms"
        if not options.null:
            postgres.fresh("bench")
            url = postgres.url("bench")
            lib.run([binary, "build", url, "--scale", "4"], env=environment)
        with Server(binary, environment) as server:
            server.ask("PUT", "targets/bench", {"url": url})
            measure(server, 0, options, label="warm-up")
            costs = {0: [], options.readers: []}
            for pair in range(options.pairs):
                order = list(costs) if pair % 2 == 0 else list(costs)[::-1]
                for readers in order:
                    costs[readers].append(measure(server, readers, options, label=f"{readers} readers"))
        for readers, seen in costs.items():
            show(readers, seen)
        labels = [f"{readers} readers" for readers in costs]
        print(lib.run([binary, "compare", *labels], env=environment))


def measure(server, readers, options, label):
    """Makes one run; returns the share of a core that HTTP took, and the events that each reader received."""
    with Readers(server, readers) as crowd:
        form = {"command": "run", "target": "bench",
                "settings": {"vus": str(options.vus), "rampup": "1s", "duration": f"{options.seconds}s", "label": label}}
        begun, cpu = time.monotonic(), server.http_cpu()
        activity = server.ask("POST", "activities", form)["id"]
        # Polling for the end would be one more reader.
        time.sleep(options.seconds + 1.5)
        cpu, wall = server.http_cpu() - cpu, time.monotonic() - begun
        while server.ask("GET", f"activities/{activity}")["activity"]["ended_at"] is None:
            time.sleep(0.2)
        return {"share": cpu / wall, "bytes": crowd.bytes / max(readers, 1)}


def show(readers, seen):
    shares = sorted(100 * one["share"] for one in seen)
    each = sorted(one["bytes"] for one in seen)[len(seen) // 2]
    print(f"{readers:3} readers: HTTP takes {shares[len(shares) // 2]:.2f} % of a core "
          f"({shares[0]:.2f} to {shares[-1]:.2f}), {each / 1e3:.0f} KB to each reader")


class Server:
    """`serve` on a free port."""

    def __init__(self, binary, environment):
        self.child = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0"], env=environment,
                                      stdout=subprocess.PIPE, text=True)
        self.base, self.token = self.child.stdout.readline().strip().split()[-1].split("/?token=")
        self.port = int(self.base.rsplit(":", 1)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.terminate()
        self.child.wait(30)

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json", "authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(f"{self.base}/api/v1/{path}", data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or "null")

    def http_cpu(self):
        """CPU seconds of the first thread, which is the one for HTTP and events."""
        with open(f"/proc/{self.child.pid}/task/{self.child.pid}/schedstat") as file:
            return int(file.read().split()[0]) / 1e9


class Readers:
    """Connections that read live events, on one thread so that they cost the host little."""

    def __init__(self, server, count):
        self.bytes, self.ended = 0, False
        self.sockets = []
        for _ in range(count):
            stream = socket.create_connection(("127.0.0.1", server.port))
            ask = f"GET /api/v1/events HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {server.token}\r\n\r\n"
            stream.sendall(ask.encode())
            self.sockets.append(stream)
        # Events kept from earlier runs come first and are not part of the measurement.
        time.sleep(1)
        for stream in self.sockets:
            stream.setblocking(False)
            self.drain(stream)
        self.bytes = 0
        self.thread = threading.Thread(target=self.read)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended = True
        self.thread.join()
        for stream in self.sockets:
            stream.close()

    def read(self):
        with selectors.DefaultSelector() as ready:
            for stream in self.sockets:
                ready.register(stream, selectors.EVENT_READ)
            while not self.ended:
                for key, _ in ready.select(0.5):
                    self.drain(key.fileobj)

    def drain(self, stream):
        try:
            while some := stream.recv(1 << 16):
                self.bytes += len(some)
            raise SystemExit("a reader was disconnected")
        except BlockingIOError:
            pass


if __name__ == "__main__":
    main()
