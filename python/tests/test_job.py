"""The handle of a run: seconds, asyncio, stop, Ctrl-C, threads."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

import triphammer

LONG = {"workload": "tpc-b", "vus": 1, "rampup": "0s", "duration": "10m"}


def test_a_run_yields_its_seconds():
    run = triphammer.run("null:", workload="tpc-b", vus=2, rampup="1s", duration="3s")
    seconds = list(run)
    assert [second.second for second in seconds][:4] == [0, 1, 2, 3]
    assert seconds[0].phase == "ramp_up" and seconds[1].phase == "window"
    assert sum(second["all.committed"] for second in seconds) == run.result().run.total.committed
    assert (run.done, run.missed) == (True, 0)
    assert run.number == run.result().job


def test_stop_lets_transactions_finish_and_keeps_the_result():
    run = triphammer.run("null:", **LONG)
    for second in run:
        if second.second == 1:
            run.stop()
    result = run.result()
    assert result.status == "interrupted"
    assert result.good is False
    assert triphammer.job(run.number).status == "interrupted"


def test_a_block_that_an_exception_leaves_stops_the_run():
    with pytest.raises(RuntimeError, match="enough"):
        with triphammer.run("null:", **LONG) as run:
            next(iter(run))
            raise RuntimeError("enough")
    assert run.done
    assert run.result().status == "interrupted"


def test_a_loop_over_the_seconds_of_a_run_that_fails_raises():
    async def seconds():
        return [second async for second in triphammer.run("null:", vus="many")]

    with pytest.raises(triphammer.SettingError, match="invalid value `many`"):
        list(triphammer.run("null:", vus="many"))
    with pytest.raises(triphammer.SettingError, match="invalid value `many`"):
        asyncio.run(seconds())


def test_a_block_waits_for_the_end():
    with triphammer.run("null:", workload="tpc-b", rampup="0s", duration="1s") as run:
        pass
    assert run.done and run.result().status == "complete"


def test_a_wait_may_have_a_limit():
    with pytest.raises(TimeoutError):
        with triphammer.run("null:", **LONG) as run:
            run.result(timeout=0.1)
    assert run.result().status == "interrupted"


def test_a_run_can_be_awaited_beside_others():
    async def both():
        runs = [triphammer.run("null:", workload="tpc-b", rampup="0s", duration="1s") for _ in range(2)]
        return await asyncio.gather(*runs)

    assert [result.status for result in asyncio.run(both())] == ["complete", "complete"]


def test_seconds_come_in_asyncio_too():
    async def seconds():
        run = triphammer.run("null:", workload="tpc-b", rampup="0s", duration="2s")
        found = [second.second async for second in run]
        return found, await run

    found, result = asyncio.run(seconds())
    assert found[:2] == [0, 1] and result.good


def test_a_cancelled_task_stops_its_run():
    runs = []

    async def wait(has_begun):
        runs.append(triphammer.run("null:", **LONG))
        async for _ in runs[0]:
            has_begun.set()

    async def cancel():
        has_begun = asyncio.Event()
        task = asyncio.create_task(wait(has_begun))
        await has_begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert runs[0].result().status == "interrupted"


def test_other_threads_work_while_one_waits():
    """The lock of the interpreter is free while a job runs."""
    counted, run = [0], triphammer.run("null:", **LONG)
    begun = threading.Event()

    def count():
        begun.wait()
        for _ in range(1_000_000):
            counted[0] += 1
        run.stop()

    thread = threading.Thread(target=count)
    thread.start()
    begun.set()
    assert run.result().status == "interrupted"
    thread.join()
    assert counted == [1_000_000]


def test_messages_tell_what_a_build_does(tmp_path):
    messages = []
    build = triphammer.start("build", f"sqlite:{tmp_path / 'shop.sqlite'}", scale=1)
    build.on_message = messages.append
    build.result()
    assert {"progress", "began"} <= {message["type"] for message in messages}


def python(code, **options):
    """Starts a program in Python that imports the package."""
    return subprocess.Popen([sys.executable, "-u", "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True,
                            **options)


def test_a_forked_process_does_not_wait_for_the_jobs_of_its_parent():
    program = python("""
        import os, sys
        import triphammer
        run = triphammer.run("null:", workload="tpc-b", vus=1, rampup="0s", duration="10m")
        next(iter(run))
        child = os.fork()
        if not child:
            sys.exit(7)
        print(os.WEXITSTATUS(os.waitpid(child, 0)[1]))
        run.stop()
        print(run.result().status)
    """)
    try:
        assert program.communicate(timeout=60)[0].split() == ["7", "interrupted"]
    finally:
        program.kill()


def test_ctrl_c_stops_a_run_and_keeps_its_result():
    program = python("""
        import triphammer
        try:
            with triphammer.run("null:", workload="tpc-b", vus=1, rampup="0s", duration="10m") as run:
                for second in run:
                    print(second.second)
        except KeyboardInterrupt:
            print("interrupted:", run.done, run.result().status)
    """)
    assert program.stdout.readline() == "0\n"
    program.send_signal(signal.SIGINT)
    assert "interrupted: True interrupted\n" in program.communicate(timeout=60)[0]
    assert program.returncode == 0


def test_ctrl_c_ends_a_function_that_waits():
    program = python("""
        import triphammer
        print("begins")
        try:
            triphammer.profile("null:", workload="tpc-b", vus="1,2", rampup="0s", duration="10m")
        except KeyboardInterrupt:
            print("interrupted", triphammer.jobs(limit=1)[0].status)
    """)
    assert program.stdout.readline() == "begins\n"
    started = triphammer.jobs(limit=1)[0].id
    while triphammer.jobs(limit=1)[0].id == started and program.poll() is None:
        pass
    program.send_signal(signal.SIGINT)
    assert program.communicate(timeout=60)[0] == "interrupted interrupted\n"


def test_a_program_that_ends_stops_its_runs_and_they_are_stored():
    program = python("""
        import triphammer
        run = triphammer.run("null:", workload="tpc-b", vus=1, rampup="0s", duration="10m")
        next(iter(run))
        print(run.number)
    """)
    number = int(program.communicate(timeout=60)[0])
    assert program.returncode == 0
    assert triphammer.job(number).status == "interrupted"


def test_a_child_of_a_process_with_the_package_can_use_it():
    triphammer.run("null:", workload="tpc-b", rampup="0s", duration="1s").result()
    program = python("import triphammer; print(triphammer.jobs(limit=1)[0].kind)", env=dict(os.environ))
    assert program.communicate(timeout=60)[0] == "run\n"
