#!/usr/bin/env python3
"""Tests `triphammer mcp` with another implementation of the Model Context Protocol: the protocol's own Python client.

    tools/test-mcp.py PROGRAM

Lists targets and tools, builds and runs tpc-b on SQLite, watches, reports and explains. The client is installed once,
into a virtual environment in the target folder.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
# The newest, and the last one with the first form of the protocol's opening.
CLIENTS = ("2.3.0", "1.30.0")
USE = r"""
import asyncio, json, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

program, targets, store = sys.argv[1:]

async def main():
    server = StdioServerParameters(command=program, args=["mcp", "--targets", targets, "--store", store])
    async with stdio_client(server) as (reads, writes), ClientSession(reads, writes) as session:
        begun = await session.initialize()
        version = getattr(begun, "protocolVersion", None) or getattr(begun, "protocol_version", None)
        tools = [tool.name for tool in (await session.list_tools()).tools]

        async def call(name, **arguments):
            answer = await session.call_tool(name, arguments)
            failed = getattr(answer, "isError", None) or getattr(answer, "is_error", None)
            assert not failed, answer
            return json.loads(answer.content[0].text)

        async def done(command, **settings):
            started = await call("start", command=command, target="bank", settings=settings)
            while True:
                seen = (await call("watch", activity=started["activity"]["id"], wait_s=30))["activity"]
                if seen["ended_at"]:
                    assert seen["good"], seen
                    return seen

        assert [one["name"] for one in (await call("list_targets"))["targets"]] == ["bank"]
        await done("build", workload="tpc-b")
        run = await done("run", workload="tpc-b", vus="1", rampup="0s", duration="6s")
        report = (await call("report", job=run["job"]))["report"]
        assert "TPS" in report, report
        await call("explain", job=run["job"])
        print(f"protocol {version}: {len(tools)} tools, {run['outcome']}")

asyncio.run(main())
"""


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    for version in CLIENTS:
        venv = TARGET / f"mcp-client-{version}"
        python = venv / "bin/python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", venv], check=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", f"mcp=={version}"], check=True)
        with tempfile.TemporaryDirectory(prefix="triphammer-mcp-") as folder:
            targets = pathlib.Path(folder, "targets.toml")
            targets.write_text(f'[bank]\nurl = "sqlite:{folder}/bank.sqlite"\n', encoding="utf-8")
            done = subprocess.run([python, "-c", USE, program, targets, f"{folder}/jobs.sqlite"],
                                  capture_output=True, text=True, timeout=300)
            if done.returncode:
                sys.exit(f"client {version}:\n{done.stdout}{done.stderr}")
            print(f"client {version}: {done.stdout.strip()}", flush=True)


if __name__ == "__main__":
    main()
