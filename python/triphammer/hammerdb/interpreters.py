"""Runs scripts in Tcl and Python. Tcl is Python's own (`tkinter.Tcl`), without a display, and belongs to the thread that
made it."""

from __future__ import annotations

import contextlib
import inspect
import os
import re
import signal
import sys
import tempfile
import threading
import tokenize
import traceback

import triphammer

from .session import Quit, Session

#: A command that calls Python, and whose errors Tcl can catch.
_COMMAND = """
proc {0} args {{
    lassign [::triphammer {0} {{*}}$args] is_good text
    if {{!$is_good}} {{ return -code error $text }}
    return $text
}}
"""
#: How Tcl is installed.
_NEEDED = {"linux": "apt-get install python3-tk", "darwin": "brew install python-tk"}


class Interpreter:
    """A Tcl interpreter with HammerDB's commands, which this kind of session carries out."""

    def __init__(self, kind=Session):
        try:
            import tkinter
        except ImportError:
            install = _NEEDED.get(sys.platform, "install Python with tkinter")
            raise triphammer.Error(f"this Python has no Tcl (_tkinter); install it: {install}") from None
        os.environ.setdefault("TMP", tempfile.gettempdir())
        self._tcl, self._error = tkinter.Tcl(), tkinter.TclError
        self._raised = None
        is_main = threading.current_thread() is threading.main_thread()
        #: What Ctrl-C does; ``None`` where it is ignored or cannot be set.
        self._handler = signal.getsignal(signal.SIGINT) if is_main else None
        # `puts` may be replaced by the script, and is looked up for each line.
        self.session = kind(lambda text: self._tcl.call("puts", text))
        self._tcl.createcommand("::triphammer", self._call)
        for name in Session.COMMANDS:
            self._tcl.eval(_COMMAND.format(name))
        # Tcl and Python write to the same stdout, each with its own buffer.
        self._tcl.eval("fconfigure stdout -buffering line")
        sys.stdout.reconfigure(line_buffering=True)

    def _call(self, name, *arguments):
        """Carries out a command for Tcl: whether it succeeded, and its result or the error."""
        arguments = list(map(str, arguments))
        command = getattr(self.session, name)
        try:
            inspect.signature(command).bind(*arguments)
        except TypeError:
            return False, f"{name}: wrong number of arguments: {len(arguments)}"
        try:
            with self._on_ctrl_c(self._handler):
                found = command(*arguments)
        except (triphammer.Error, OSError) as error:
            return False, f"{name}: {error}"
        except (Quit, KeyboardInterrupt) as end:
            # No `catch` of the script holds it.
            self._raised = end
            self._tcl.eval("interp cancel -unwind")
            return False, name
        except Exception as error:  # Tcl would show it without a text.
            return False, f"{name}: {type(error).__name__}: {error}"
        return True, "" if found is None else found

    @contextlib.contextmanager
    def _on_ctrl_c(self, handler):
        if not callable(self._handler):
            yield
            return
        before = signal.signal(signal.SIGINT, handler)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def eval(self, script):
        """Evaluates Tcl and returns its result as text."""
        try:
            # Python handles signals between two steps of its own, and none comes while Tcl waits or loops: Ctrl-C ends
            # the process there. Commands end in order.
            with self._on_ctrl_c(signal.SIG_DFL):
                return str(self._tcl.eval(script))
        except self._error as error:
            if self._raised is not None:
                raised, self._raised = self._raised, None
                raise raised from None
            raise triphammer.Error(str(error)) from None

    def run_tcl(self, path, arguments):
        """Runs a script in Tcl."""
        self._tcl.setvar("argv0", path)
        self._tcl.setvar("argv", arguments)
        self._tcl.setvar("argc", len(arguments))
        self.eval("proc exit args { quit {*}$args }")
        self._tcl.call("set", "::triphammer_script", path)
        try:
            self.eval("source $::triphammer_script")
        except triphammer.Error as error:
            # The file may have been left by `source` of another one: the last line is that of the script.
            lines = re.findall(r'\(file "[^"]*" line (\d+)\)', self._tcl.getvar("errorInfo"))
            raise _at(lines[-1] if lines else None, error) from None

    def run_python(self, path, arguments):
        """Runs a script in Python, with the commands as functions and an object `tclpy`."""
        def command(name):
            def call(*values):
                return getattr(self.session, name)(*map(str, values))
            return call

        def show(*values, **options):
            """`print` of both: HammerDB's if it is called with one of its words."""
            if len(values) == 1 and not options and values[0] in Session.PRINTED:
                return self.session.print(values[0])
            return print(*values, **options)

        def source(file):
            # Opens it as Python does: with or without a byte-order mark.
            with tokenize.open(file) as text:
                exec(compile(text.read(), file, "exec"), names)

        names = {name: command(name) for name in Session.COMMANDS}
        names.update(__name__="__main__", __file__=path, print=show, source=source, tclpy=self, os=os, sys=sys)
        before, sys.argv = sys.argv, [path, *arguments]
        folder = os.path.dirname(os.path.realpath(path))
        sys.path.insert(0, folder)
        try:
            source(path)
        except SystemExit as end:
            if end.code not in (None, 0):
                raise
        except Quit:
            raise
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            lines = [frame.lineno for frame in frames if frame.filename == path]
            is_ours = isinstance(error, triphammer.Error)
            raise _at(lines[0] if lines else None, error if is_ours else f"{type(error).__name__}: {error}") from None
        finally:
            sys.argv = before
            if folder in sys.path:  # The script may have changed it.
                sys.path.remove(folder)


def _at(line, error):
    """An error of a script, with its line if it is known."""
    return triphammer.Error(str(error) if line is None else f"line {line}: {error}")
