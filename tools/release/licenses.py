"""The licence texts of all that is compiled into the program and embedded in it, as one file."""

import json
import pathlib
import re

from .common import ROOT, Stop, output

NAME = "THIRD-PARTY-LICENSES"
# What the web page is made of; the other packages only build it.
PAGE = ["clsx", "esm-env", "svelte", "uplot"]
TEXT = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)([-_.].*)?$", re.I)
# Texts of packages that carry none, by name and version: from the list of licences of SPDX, with their authors.
OWN = pathlib.Path(__file__).parent / "texts"
HEAD = """triphammer contains the software below, under the licences below. Its own licence is in LICENSE. Rust's standard library
is used under the Apache License 2.0, whose text is the same. SQLite (in libsqlite3-sys) is in the public domain.
"""


class Part:
    """A package that the program contains."""

    def __init__(self, name, version, license, folder, repository):
        self.name, self.version, self.license, self.folder = name, version, license, pathlib.Path(folder)
        self.repository = repository

    def __str__(self):
        return f"{self.name} {self.version}"

    def texts(self):
        """Its licence texts, also those of the libraries in other languages within it."""
        files = sorted(file for file in self.folder.rglob("*") if TEXT.match(file.name) and file.is_file()
                       and file.suffix not in (".rs", ".html", ".c", ".h", ".py", ".json") and "node_modules" not in
                       file.relative_to(self.folder).parts)
        return [file.read_text(errors="replace") for file in files]


def crates(triple):
    """The crates that the program and the Python module contain or are built by, without our own."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", triple]
    data = json.loads(output(*command, cwd=ROOT))
    packages = {package["id"]: package for package in data["packages"]}
    nodes = {node["id"]: node["deps"] for node in data["resolve"]["nodes"]}
    ours = {id for id, package in packages.items() if package["source"] is None}
    todo, found = [id for id in ours if packages[id]["name"] in ("triphammer", "triphammer-python")], set()
    while todo:
        id = todo.pop()
        if id not in found:
            found.add(id)
            todo += [dep["pkg"] for dep in nodes[id] if any(kind["kind"] != "dev" for kind in dep["dep_kinds"])]
    for package in (packages[id] for id in found - ours):
        yield Part(package["name"], package["version"], package["license"] or "see its text",
                   pathlib.Path(package["manifest_path"]).parent, package["repository"])


def page():
    """The packages of npm in the web page."""
    locked = json.loads((ROOT / "ui/package-lock.json").read_text())["packages"]
    for name in PAGE:
        package = locked[f"node_modules/{name}"]
        yield Part(name, package["version"], package["license"], ROOT / "ui/node_modules" / name, None)


def parts(triple):
    """All packages in the program, sorted."""
    return sorted([*crates(triple), *page()], key=lambda part: (part.name, part.version))


def text_of(part, others):
    """The licence texts of a part: its own, those of a package from the same repository, or ours of it."""
    if found := part.texts():
        return found
    siblings = (other for other in others if part.repository and other.repository == part.repository)
    if found := next(filter(None, (other.texts() for other in siblings)), None):
        return found
    file = OWN / f"{part.name}-{part.version}"
    if not file.exists():
        raise Stop(f"{part} ({part.license}) has no licence text: write one to {file.relative_to(ROOT)}")
    return [file.read_text()]


def write(file, triple):
    """Writes every text once, below the names of all packages that have it; returns names of packages without their own."""
    everything = parts(triple)
    texts = {}
    for part in everything:
        for text in text_of(part, everything):
            users = texts.setdefault(" ".join(text.split()), ([], text))[0]
            if part not in users:
                users.append(part)
    lines = [HEAD, *(f"{part}: {part.license}" for part in everything)]
    for users, text in sorted(texts.values(), key=lambda entry: [str(part) for part in entry[0]] + [entry[1]]):
        lines += ["", "=" * 100, ", ".join(map(str, users)), "-" * 100, "", text.strip("\n")]
    file.write_text("\n".join(lines) + "\n")
    return [str(part) for part in everything if not part.texts()]
