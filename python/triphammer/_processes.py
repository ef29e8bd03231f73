"""How this package starts processes of itself."""

import os
import sys

#: Runs a module of the package in a folder, both of which are arguments, as ``python -m`` does. But ``-m`` looks for
#: modules in the current folder first, which may have a folder `triphammer` that is not this package. (``python -P``
#: would not, from Python 3.11.)
CODE = """
import sys
if sys.path[:1] == [""]:
    del sys.path[0]
import runpy
_, folder, module = sys.argv[:3]
del sys.argv[1:3]
sys.path.append(folder)
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""
#: The folder that has this package.
FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def command(module):
    """The beginning of the command line that runs this module of this package."""
    return [sys.executable, "-c", CODE, FOLDER, module]
