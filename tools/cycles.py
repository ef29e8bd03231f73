#!/usr/bin/env python3
"""Finds import cycles in each crate: between its top-level modules, and between its files.

Fails on a cycle of more than three files, and on any cycle of top-level modules.

A file imports another when it names something that the other defines, by `use` or by a path in its code. Names
that a module re-exports count as imports of the file that defines them, and the re-export itself as none: a
facade is not a dependency. Tests (`#[cfg(test)]`) do not count. A module imports what its files import.

usage: tools/cycles.py [--list] [--most N] [CRATE ...]
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def code(text):
    """The text without comments, strings and inline test modules."""
    # In one pass: a string may contain what begins a comment, and the other way round.
    skipped = r"""'(?:\\.|[^'\\])'|"(?:\\.|[^"\\])*"|//[^\n]*"""
    text = re.sub(skipped, lambda found: '""' if found[0][0] == '"' else "", text, flags=re.S)
    tests = re.search(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub\s+)?mod \w+ \{", text)
    return text[: tests.start()] if tests else text


def expand(tree, prefix=()):
    """The paths of a `use` tree, each as (path, local name)."""
    tree = tree.strip()
    if not tree:
        return
    if tree.startswith("{"):
        depth, start = 0, 1
        inner = tree[1 : tree.rindex("}")] + ","
        start = 0
        for place, letter in enumerate(inner):
            depth += (letter == "{") - (letter == "}")
            if letter == "," and depth == 0:
                yield from expand(inner[start:place], prefix)
                start = place + 1
        return
    head, separator, rest = tree.partition("::")
    if separator and re.fullmatch(r"\w+", head.strip()):
        yield from expand(rest, (*prefix, head.strip()))
        return
    name, _, alias = tree.partition(" as ")
    path = prefix if name.strip() == "self" else (*prefix, name.strip())
    yield path, (alias.strip() or path[-1])


class Crate:
    """The modules of a crate and what they import."""

    def __init__(self, source):
        self.source = source
        self.files = {}
        for file in sorted(source.rglob("*.rs")):
            parts = list(file.relative_to(source).with_suffix("").parts)
            if parts[-1] == "tests" or parts == ["main"]:
                continue
            if parts[-1] in ("mod", "lib"):
                parts.pop()
            self.files[tuple(parts)] = file
        self.code = {module: code(file.read_text()) for module, file in self.files.items()}
        for module, text in list(self.code.items()):
            for name in re.findall(r"#\[cfg\(test\)\]\s*(?:pub(?:\([^)]*\))? )?mod (\w+);", text):
                self.files.pop((*module, name), None)
                self.code.pop((*module, name), None)
        self.uses = {module: list(self.statements(module)) for module in self.files}

    def statements(self, module):
        """(public, absolute path, name) of each import from the same crate."""
        for public, tree in re.findall(r"(?m)^\s*(pub(?:\([^)]*\))? )?use ([^;]+);", self.code[module]):
            for path, name in expand(re.sub(r"\s+", " ", tree)):
                absolute = self.absolute(module, path)
                if absolute is not None:
                    yield bool(public), absolute, name

    def absolute(self, module, path):
        """A path from the root of the crate, or `None` if it leads to another crate."""
        if path[0] == "crate":
            return path[1:]
        if path[0] in ("self", "super"):
            at = list(module)
            while path and path[0] in ("self", "super"):
                if path[0] == "super":
                    at = at[:-1]
                path = path[1:]
            return (*at, *path)
        return (*module, *path) if (*module, path[0]) in self.files else None

    def definition(self, path, seen=()):
        """The module that defines the item of a path."""
        module = path
        while module not in self.files:
            module = module[:-1]
        rest = path[len(module) :]
        if not rest or (module, rest[0]) in seen:
            return module
        for public, target, name in self.uses[module]:
            if public and name == rest[0]:
                return self.definition((*target, *rest[1:]), (*seen, (module, rest[0])))
        for public, target, name in self.uses[module]:
            if public and name == "*" and target[:-1] in self.files:
                inner = target[:-1]
                if re.search(rf"\b{rest[0]}\b", self.code[inner]):
                    return self.definition((*inner, *rest), (*seen, (module, rest[0])))
        return module

    def imports(self):
        """Maps each module to those that it imports."""
        graph = {}
        for module in self.files:
            text = re.sub(r"(?m)^\s*pub(?:\([^)]*\))? use [^;]+;", "", self.code[module])
            paths = [path for public, path, _ in self.uses[module] if not public]
            for path in re.findall(r"\b((?:crate|super|self)(?:::\w+)+)", text):
                absolute = self.absolute(module, tuple(path.split("::")))
                if absolute:
                    paths.append(absolute)
            found = {self.definition(path) for path in paths if path}
            # A module and the root of the crate group their children; they do not depend on them.
            graph[module] = {to for to in found if to != module and to}
        return graph


def cycles(graph):
    """The strongly connected components of more than one module (Tarjan 1972, without recursion)."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            at, following = work[-1]
            for to in following:
                if to not in index:
                    index[to] = low[to] = len(index)
                    stack.append(to)
                    on_stack.add(to)
                    work.append((to, iter(sorted(graph[to]))))
                    break
                if to in on_stack:
                    low[at] = min(low[at], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[at])
                if low[at] == index[at]:
                    component = []
                    while True:
                        component.append(stack.pop())
                        on_stack.discard(component[-1])
                        if component[-1] == at:
                            break
                    if len(component) > 1:
                        found.append(sorted(component))
    return sorted(found, key=len, reverse=True)


def folders(graph):
    """The imports of files as imports of the top-level modules that contain them."""
    modules = {module[0]: set() for module in graph if module}
    for module, imported in graph.items():
        if module:
            modules[module[0]] |= {to[0] for to in imported if to[0] != module[0]}
    return modules


def wrong_modules(name, graph):
    """Prints the cycles of the top-level modules of a crate; returns their number."""
    modules = folders(graph)
    found = cycles(modules)
    for cycle in found:
        print(f"{name}: a cycle over {len(cycle)} modules")
        for module in cycle:
            inside = ", ".join(sorted(to for to in modules[module] if to in cycle))
            print(f"  {module} imports {inside}")
    return len(found)


def main():
    parser = argparse.ArgumentParser(description="finds import cycles in a crate")
    parser.add_argument("--most", type=int, default=3, help="files that a cycle may have [default: 3]")
    parser.add_argument("--list", action="store_true", help="list the smaller cycles too")
    parser.add_argument("crates", nargs="*", help="folders below crates/ [default: all]")
    asked = parser.parse_args()
    names = asked.crates or sorted(path.parent.name for path in ROOT.glob("crates/*/src"))
    failed = 0
    for name in names:
        crate = Crate(ROOT / "crates" / name / "src")
        graph = crate.imports()
        failed += wrong_modules(name, graph)
        for cycle in cycles(graph):
            too_long = len(cycle) > asked.most
            failed += too_long
            if not too_long and not asked.list:
                continue
            print(f"{name}: a cycle over {len(cycle)} files" + (", too long" if too_long else ""))
            for module in cycle:
                inside = sorted("::".join(to) for to in graph[module] if to in cycle)
                print(f"  {'::'.join(module)} imports {', '.join(inside)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
