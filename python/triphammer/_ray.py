"""The bridge between the coordinator of a run and a Ray cluster: ``python -m triphammer._ray``.

The coordinator, a process of the program, starts it and speaks in frames over its pipes: the number of a host and a
length, four bytes each, and a message. The bridge starts an actor on each node of the cluster, and each actor a
process that drives a share of the run, ``triphammer share``, which speaks the same frames. The bridge passes messages on and
reads none of them, but for the first one, which is its own.

It runs as ``__main__``, so that Ray sends the class of the actors by value: a node without this package, or with another
version of it, can still say so.
"""

import json
import os
import struct
import sys
import threading

#: The number of the bridge itself, in place of a host's.
BRIDGE = 0xFFFFFFFF
_HEAD = struct.Struct(">II")
#: Messages of a share that wait in its actor.
_WAITING_MAX = 1024
#: Longest wait of an actor for a message, in seconds, after which it answers without one.
_TAKE_MAX_S = 5
#: Ray lowers the priority of its workers by 15: on a busy host they, and what they start, would start late and starve.
_ENV = {"env_vars": {"RAY_worker_niceness": "0"}}
#: What to do if there is no connection, by whether the cluster is that of this host.
_ADVICE = (
    "check host and port, and that the head runs: ray start --head --ray-client-server-port 10001",
    "this host must be a node of the cluster (ray start); from another one, use ray://head:10001",
)


def main():
    # What libraries print must not get between the frames.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    first = _read(sys.stdin.buffer)
    if first is None:
        return 0
    bridge = Bridge(output, json.loads(first[1]))
    try:
        bridge.start()
    except Problem as problem:
        bridge.say(error=str(problem))
        return 1
    bridge.pass_on()
    return 0


class Problem(Exception):
    """Why the hosts cannot be used, for people."""


class Bridge:
    """Starts the actors, and passes frames on in both directions."""

    def __init__(self, output, asked):
        self.output = output
        self.address = asked["address"]
        self.hosts = asked["hosts"]
        self.version = asked["version"]
        self.actors = []

    def say(self, **message):
        """Sends a message of the bridge itself."""
        _write(self.output, BRIDGE, json.dumps(message).encode())

    def start(self):
        """Connects, and starts an actor with its process on each host."""
        self.ray = _connected(self.address)
        nodes = [node for node in self.ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) > 0]
        if not nodes:
            raise Problem(f"the Ray cluster at {self.address} has no node with a CPU")
        # The same order in every run.
        nodes.sort(key=lambda node: (node["NodeManagerAddress"], node["NodeID"]))
        actor = _actor(self.ray, self.version)
        for index in range(self.hosts or len(nodes)):
            self.actors.append(actor.options(scheduling_strategy=_on(nodes[index % len(nodes)]), runtime_env=_ENV).remote())
        started = [actor.start.remote() for actor in self.actors]
        try:
            found = self.ray.get(started, timeout=100)
        except self.ray.exceptions.GetTimeoutError:
            raise Problem("not all nodes of the Ray cluster started a process: are their CPUs in use?") from None
        except self.ray.exceptions.RayError as error:
            raise Problem(f"a node of the Ray cluster failed: {_line(error)}") from None
        wrong = [f"{host} has {version}" for host, version in found if version != self.version]
        if wrong:
            raise Problem(
                f"all hosts need version {self.version} of triphammer, as here, but {', '.join(sorted(set(wrong)))}; "
                f"install it there: pip install 'triphammer[ray]=={self.version}'"
            )
        self.say(hosts=len(self.actors))

    def pass_on(self):
        """Passes messages on until the coordinator closes the pipe."""
        done = threading.Event()
        threading.Thread(target=self._to_hosts, args=(done,), daemon=True).start()
        waiting = {actor.take.remote(): host for host, actor in enumerate(self.actors)}
        while not done.is_set():
            if not waiting:
                done.wait()
                break
            for answer in self.ray.wait(list(waiting), num_returns=1, timeout=1)[0]:
                host = waiting.pop(answer)
                if self._from_host(host, answer):
                    waiting[self.actors[host].take.remote()] = host
        for actor in self.actors:
            self.ray.kill(actor)
        self.ray.shutdown()

    def _from_host(self, host, answer):
        """Passes on what a host sent; whether there will be more."""
        try:
            messages, reason = self.ray.get(answer)
        except self.ray.exceptions.RayError as error:
            messages, reason = [], f"Ray reports {type(error).__name__}"
        for message in messages:
            _write(self.output, host, message)
        if reason is None:
            return True
        self.say(lost={"host": host, "reason": reason})
        return False

    def _to_hosts(self, done):
        """Passes on what the coordinator sends, on a thread of its own."""
        try:
            while (frame := _read(sys.stdin.buffer)) is not None:
                host, message = frame
                self.actors[host].put.remote(message)
        finally:
            done.set()


def _connected(address):
    """Connects to the cluster; returns the module."""
    try:
        import ray
    except ImportError:
        raise Problem("the package ray is missing: pip install 'triphammer[ray]'") from None
    try:
        ray.init(address=address, namespace="triphammer", log_to_driver=False, logging_level="ERROR")
    except Exception as error:  # Ray raises many kinds.
        why = f"{_line(error).rstrip('.')}; {_ADVICE[address == 'auto']}"
        raise Problem(f"cannot connect to the Ray cluster at {address}: {why}") from None
    return ray


def _on(node):
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(node_id=node["NodeID"], soft=False)


def _actor(ray, version):
    """The class of the actors. It uses nothing of this module: it is sent to nodes without it, and only those with this
    version start something."""
    waiting_max, take_max_s, folder = _WAITING_MAX, _TAKE_MAX_S, os.getcwd()

    class Host:
        """Drives a share of a run in a process, which ends with the actor: its stdin closes then."""

        def start(self):
            """Starts the process; returns the host's name and its version of the package, or why it has none. Without
            the right version, nothing is started."""
            import queue
            import socket
            import subprocess
            import sys
            import threading

            self.messages = queue.Queue(waiting_max)
            self.process = None
            # Ray puts the current folder of the bridge first, where it would hide the installed package.
            if sys.path[:1] == [folder]:
                del sys.path[0]
            try:
                import triphammer
            except ImportError as error:
                return socket.gethostname(), f"none ({error})"
            if triphammer.__version__ != version:
                return socket.gethostname(), triphammer.__version__
            from triphammer._processes import command

            self.process = subprocess.Popen([*command("triphammer"), "share"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            threading.Thread(target=self.read, daemon=True).start()
            return socket.gethostname(), triphammer.__version__

        def read(self):
            output = self.process.stdout
            while True:
                head = output.read(8)
                length = int.from_bytes(head[4:], "big") if len(head) == 8 else 0
                message = output.read(length)
                if len(head) < 8 or len(message) < length:
                    break
                self.messages.put(message)
            self.messages.put(None)

        @ray.method(concurrency_group="out")
        def take(self):
            """Waits for messages of the process; returns them, and why there will be no more."""
            import queue

            taken = []
            try:
                message = self.messages.get(timeout=take_max_s)
                while message is not None:
                    taken.append(message)
                    message = self.messages.get_nowait()
            except queue.Empty:
                return taken, None
            status = self.process.wait()
            return taken, f"its process ended with status {status}"

        @ray.method(concurrency_group="in")
        def put(self, message):
            """Sends a message to the process."""
            try:
                self.process.stdin.write(bytes(4) + len(message).to_bytes(4, "big") + message)
                self.process.stdin.flush()
            except OSError:
                pass  # `take` reports the end.

    # One thread for each direction: messages stay in order.
    return ray.remote(num_cpus=1, max_restarts=0, concurrency_groups={"in": 1, "out": 1})(Host)


def _line(error):
    """The last line of an error, which says what is wrong."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def _read(stream):
    """The next frame; ``None`` at the end."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    host, length = _HEAD.unpack(head)
    message = stream.read(length)
    return (host, message) if len(message) == length else None


def _write(stream, host, message):
    stream.write(_HEAD.pack(host, len(message)) + message)
    stream.flush()


if __name__ == "__main__":
    sys.exit(main())
