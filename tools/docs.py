#!/usr/bin/env python3
"""Checks the guides, and builds them as a book.

Without arguments, it checks that docs/SUMMARY.md lists every page, that links to files and headings of this repository
are not broken, and that the program contains each message that docs/troubleshooting.md quotes. It also checks that each
crate has a README.md whose files exist, and that ARCHITECTURE.md lists the crate. `make lint` runs this.

With --book, it also builds the book with mdbook into target/book, and checks the links of its pages. Beside each page
lies its Markdown file, and llms.txt lists them for assistants (https://llmstxt.org).

usage: tools/docs.py [--book]
"""

import argparse
import difflib
import html.parser
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SUMMARY = DOCS / "SUMMARY.md"
BOOK = ROOT / "target/book"
MDBOOK = "0.5.4"

FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.M | re.S)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.S)
LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.M)
STRING = re.compile(r"//[^\n]*|'(?:[^'\\\n]|\\.)'|\"((?:[^\"\\]|\\.)*)\"", re.S)


def pages():
    """All pages that are part of the book."""
    found = [ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md")]
    return found + [ROOT / "bench/README.md", *sorted(DOCS.rglob("*.md"))]


def links(text):
    """The links of a page, except those in its code."""
    return LINK.findall(CODE.sub("", FENCE.sub("", text)))


def anchors(text):
    """The anchors of a page's headings, as GitHub and mdbook make them."""
    found = set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        copies = sum(1 for known in found if re.fullmatch(re.escape(slug) + r"(-\d+)?", known))
        found.add(f"{slug}-{copies}" if copies else slug)
    return found


def wrong_links(page):
    """Broken links of a page to this repository; links to the internet are not checked."""
    for link in links(page.read_text()):
        if re.match(r"[a-z]+:", link):
            continue
        path, fragment = urldefrag(link)
        target = (page.parent / unquote(path)).resolve() if path else page
        if not target.exists():
            yield f"{link}: no such file"
        elif fragment and target.suffix == ".md" and fragment not in anchors(target.read_text()):
            yield f"{link}: no heading has this anchor"


def missing_pages():
    """Pages of docs/ that docs/SUMMARY.md does not list."""
    listed = {(DOCS / link).resolve() for link in links(SUMMARY.read_text())}
    return [page for page in pages() if page not in listed and page != SUMMARY]


def literals():
    """The string literals of the program, with NUL in place of each placeholder."""
    found = set()
    for file in sorted(ROOT.glob("crates/*/src/**/*.rs")):
        code = re.split(r"#\[cfg\(test\)\]\s*mod \w+ \{", file.read_text())[0]
        for text in filter(None, (match.group(1) for match in STRING.finditer(code))):
            text = re.sub(r"\\\n\s*", "", text).replace('\\"', '"').replace("\\n", " ")
            text = text.replace("{{", "\1").replace("}}", "\2")
            found.add(re.sub(r"\{[^{}]*\}", "\0", text).replace("\1", "{").replace("\2", "}"))
    return found


def unknown_messages():
    """Messages in the headings of docs/troubleshooting.md that do not occur in the program."""
    known = literals()
    # A message that contains backticks is quoted by two.
    quoted = re.findall(r"^### (`+)(.*)\1$", (DOCS / "troubleshooting.md").read_text(), re.M)
    if not quoted:
        yield "no heading quotes a message"
    for _, message in quoted:
        pattern = re.compile(".*".join(re.escape(part.strip()) for part in message.split("…")), re.S)
        if not any(pattern.search(text) for text in known):
            near = difflib.get_close_matches(message.replace("…", "\0"), known, 1, 0.3)
            hint = f"; near it: {near[0]!r}" if near else ""
            yield f"`{message}`: the program has no such message{hint}"


def wrong_crates():
    """Crates that the map lacks or that have no README.md, and files that a README.md names and that do not exist."""
    listed = (ROOT / "ARCHITECTURE.md").read_text()
    for manifest in sorted(ROOT.glob("crates/*/Cargo.toml")):
        crate = manifest.parent
        if f"`crates/{crate.name}`" not in listed:
            yield f"ARCHITECTURE.md does not list crates/{crate.name}"
        readme = crate / "README.md"
        if not readme.exists():
            yield f"crates/{crate.name} has no README.md"
            continue
        for path in re.findall(r"`([\w./-]+/[\w./-]*)`", readme.read_text()):
            if not (crate / path).exists() and not (ROOT / path).exists():
                yield f"crates/{crate.name}/README.md: {path}: no such file"


def check():
    """The problems that the cheap checks find, each with its page."""
    yield from wrong_crates()
    for page in pages():
        yield from (f"{page.relative_to(ROOT)}: {wrong}" for wrong in wrong_links(page))
    yield from (f"docs/SUMMARY.md does not list {page.relative_to(ROOT)}" for page in missing_pages())
    yield from (f"docs/troubleshooting.md: {wrong}" for wrong in unknown_messages())


def mdbook():
    """The pinned mdbook; installs it into the user's cache once."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    root = cache / "triphammer" / f"mdbook-{MDBOOK}"
    program = root / "bin/mdbook"
    if not program.exists():
        cargo = os.environ.get("CARGO", "cargo")
        features = ["--no-default-features", "--features", "search"]
        command = [cargo, "install", "--locked", "--version", MDBOOK, *features, "--root", root, "mdbook"]
        subprocess.run(command, check=True)
    return program


def stage(source):
    """Copies the pages and the files that they link to, with SUMMARY.md at the top, where mdbook expects it."""
    shutil.rmtree(source, ignore_errors=True)
    wanted = set(pages())
    for page in pages():
        local = (urldefrag(link)[0] for link in links(page.read_text()) if not re.match(r"[a-z]+:", link))
        wanted |= {(page.parent / unquote(path)).resolve() for path in local if path}
    for file in filter(Path.is_file, wanted - {SUMMARY}):
        copy = source / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    summary = LINK.sub(lambda match: f"]({os.path.normpath(f'docs/{match.group(1)}')})", SUMMARY.read_text())
    (source / "SUMMARY.md").write_text(summary)


class Page(html.parser.HTMLParser):
    """The links and anchors of a page of the book."""

    def __init__(self, file):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(file.read_text())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors |= {attrs[name] for name in ("id", "name") if attrs.get(name)}
        self.links += [attrs[name] for name in ("href", "src") if attrs.get(name)]


def wrong_in_book(html_root):
    """Broken links of the book."""
    read = {file.resolve(): Page(file) for file in html_root.rglob("*.html") if file.name not in ("404.html", "toc.html")}
    for file, page in read.items():
        for link in page.links:
            path, fragment = urldefrag(link)
            if re.match(r"[a-z]+:|//", link):
                continue
            target = (file.parent / unquote(path)).resolve() if path else file
            if not target.exists():
                yield f"{file.relative_to(html_root)}: {link} is not in the book"
            elif fragment and target in read and unquote(fragment) not in read[target].anchors:
                yield f"{file.relative_to(html_root)}: {link} has no such anchor"


def first_sentence(text):
    """The first sentence of a page, without links and marks."""
    paragraphs = re.split(r"\n\s*\n", FENCE.sub("", text))
    prose = (" ".join(one.split()) for one in paragraphs if re.match(r"\s*[\w`*\[]", one))
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", next(prose, "")).replace("**", "")
    return re.split(r"(?<=[.!?]) ", plain, maxsplit=1)[0]


def for_assistants(html_root):
    """Puts the Markdown of each page beside it, and writes llms.txt: every page with its first sentence, in the sections
    of SUMMARY.md."""
    lines = ["# triphammer", "", "> " + first_sentence((ROOT / "README.md").read_text()), ""]
    for line in SUMMARY.read_text().splitlines()[1:]:
        if line.startswith("# "):
            lines += ["", f"## {line[2:]}", ""]
        for title, link in re.findall(r"\[([^\]]*)\]\(([^()\s]+)\)", line):
            page = (DOCS / link).resolve()
            copy = html_root / page.relative_to(ROOT)
            shutil.copyfile(page, copy)
            lines.append(f"- [{title}]({page.relative_to(ROOT)}): {first_sentence(page.read_text())}")
    (html_root / "llms.txt").write_text("\n".join(lines) + "\n")


def build_book():
    """Builds the book and returns its broken links."""
    stage(BOOK / "src")
    (BOOK / "book.toml").write_text(
        '[book]\ntitle = "triphammer"\n'
        # README.md stays README.html, so that links to it work as they are.
        "[build]\nuse-default-preprocessors = false\n"
        '[output.html]\nsmart-punctuation = false\nno-section-label = true\nadditional-css = ["wide.css"]\n'
    )
    # The guides have wide tables.
    (BOOK / "wide.css").write_text(":root { --content-max-width: 96rem; }\n.content td { padding: 3px 10px; }\n")
    subprocess.run([mdbook(), "build", BOOK], check=True)
    for_assistants(BOOK / "book")
    print(f"the book is in {BOOK.relative_to(ROOT)}/book/index.html")
    return wrong_in_book((BOOK / "book").resolve())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--book", action="store_true", help="also build the book into target/book")
    problems = list(check())
    if parser.parse_args().book and not problems:
        problems = list(build_book())
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
