"""Compiles the program and the Python module with Zig's linker, so that they run on every Linux whose C library is at
least the oldest supported one. The same source gives the same bytes in every folder.
"""

import os
import pathlib
from typing import NamedTuple

from . import pins
from .common import CACHE, ROOT, TARGET, Stop, output, run

GLIBC = "2.28"
# The time that compilers see. Not that of the commit: C would be compiled again for each, and all that is above it.
COMPILE_EPOCH = "0"
# What LuaJIT and Rust call in libgcc, with the versions of its symbols.
UNWINDER = {
    "GCC_3.0": ["_Unwind_DeleteException", "_Unwind_Find_FDE", "_Unwind_ForcedUnwind", "_Unwind_GetDataRelBase",
                "_Unwind_GetGR", "_Unwind_GetIP", "_Unwind_GetLanguageSpecificData", "_Unwind_GetRegionStart",
                "_Unwind_GetTextRelBase", "_Unwind_RaiseException", "_Unwind_Resume", "_Unwind_SetGR", "_Unwind_SetIP",
                "__deregister_frame", "__register_frame"],
    "GCC_3.3": ["_Unwind_Backtrace", "_Unwind_FindEnclosingFunction", "_Unwind_GetCFA", "_Unwind_Resume_or_Rethrow"],
    "GCC_4.2.0": ["_Unwind_GetIPInfo"],
}


class Target(NamedTuple):
    """A kind of machine."""

    triple: str
    machine: str  # as `uname -m` names it
    architecture: str  # as Go and Debian name it
    static: bool

    @property
    def label(self):
        """How files of this target are named."""
        return f"{self.machine}-linux" + ("-musl-static" if self.static else "")


TARGETS = [
    Target("x86_64-unknown-linux-gnu", "x86_64", "amd64", False),
    Target("aarch64-unknown-linux-gnu", "aarch64", "arm64", False),
    Target("x86_64-unknown-linux-musl", "x86_64", "amd64", True),
    Target("aarch64-unknown-linux-musl", "aarch64", "arm64", True),
]


def obstacle(target):
    """Why a target cannot be compiled here, if so."""
    if not os.path.isdir(output("rustc", "--print", "target-libdir", "--target", target.triple, cwd=ROOT)):
        return f"Rust's standard library for it is not installed (rustup target add {target.triple})"
    return None


def libgcc(target):
    """A library that has the names of libgcc's unwinder and no code; the program is linked with it, and runs with the
    system's. Zig would link its own unwinder instead, which ignores the frames that LuaJIT registers for compiled loops:
    a script that runs out of memory in one would end the program."""
    folder = CACHE / "dist-libgcc" / target.triple
    library = folder / "libgcc_s.so.1"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        names = [name for group in UNWINDER.values() for name in group]
        (folder / "names.c").write_text("".join(f"void {name}(void) {{}}\n" for name in names))
        parent, lines = "", []
        for version, group in UNWINDER.items():
            others = "" if parent else " local: *;"
            lines.append(f"{version} {{ global: {'; '.join(group)};{others} }}{parent};\n")
            parent = " " + version
        (folder / "versions.map").write_text("".join(lines))
        zig = [pins.python_tools() / "python", "-m", "ziglang", "cc", "-target", f"{target.machine}-linux-gnu.{GLIBC}"]
        run(*zig, "-shared", "-nostdlib", "-fno-builtin", "-w", "-Wl,-soname,libgcc_s.so.1",
            "-Wl,--version-script=versions.map", "names.c", "-o", "libgcc_s.so.1", cwd=folder)
    return library


def environment(target):
    """Variables of the compilers: no path of this machine gets into the program."""
    cargo_home = os.environ.get("CARGO_HOME") or pathlib.Path.home() / ".cargo"
    places = {ROOT: "/triphammer", cargo_home: "/cargo", TARGET: "/target"}
    rust = [f"--remap-path-prefix={path}={name}" for path, name in places.items()]
    c = [f"-ffile-prefix-map={path}={name}" for path, name in places.items()]
    # LuaJIT's Makefile reads TARGET_LIBS, and nothing else does.
    unwinder = "-lunwind" if target.static else str(libgcc(target))
    if not target.static:
        rust.append(f"-Clink-arg={unwinder}")
    return {
        **{name: value for name, value in os.environ.items() if name not in ("CARGO", "CFLAGS", "CXXFLAGS", "RUSTFLAGS")},
        "PATH": f"{pins.python_tools()}{os.pathsep}{os.environ['PATH']}",
        "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(rust),
        f"CFLAGS_{target.triple.replace('-', '_')}": " ".join(c),
        "CARGO_INCREMENTAL": "0",
        "CARGO_TARGET_DIR": str(TARGET),
        "SOURCE_DATE_EPOCH": COMPILE_EPOCH,
        "TARGET_LIBS": unwinder,
    }


def program(target):
    """Compiles the program; returns its file."""
    if not (ROOT / "ui/dist/index.html").exists():
        raise Stop("the web page is not built: make ui")
    triple = target.triple if target.static else f"{target.triple}.{GLIBC}"
    # The Python module in the same command: alone, each would have other features of a common dependency, and everything
    # would be compiled twice.
    module = [] if target.static else ["--package", "triphammer-python", "--lib"]
    run("cargo-zigbuild", "zigbuild", "--release", "--locked", "--target", triple, "--package", "triphammer",
        "--bin", "triphammer", *module, cwd=ROOT, env=environment(target))
    return TARGET / target.triple / "release/triphammer"
