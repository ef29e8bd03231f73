"""What lies beside the program in every package: manual pages, completions, documents."""

import gzip
import shutil

from . import licenses
from .common import ROOT, TARGET, run

SHARE = TARGET / "dist-share"
DOCUMENTS = ["README.md", "LICENSE", "CHANGELOG.md", "docs/grafana.json"]


def make(program, triple):
    """Makes them with a program that runs here; returns what to tell the user about licences."""
    shutil.rmtree(SHARE, ignore_errors=True)
    run(ROOT / "tools/share.sh", program, SHARE)
    documents = SHARE / "doc/triphammer"
    documents.mkdir(parents=True)
    for document in DOCUMENTS:
        shutil.copy(ROOT / document, documents)
    without = licenses.write(documents / licenses.NAME, triple)
    for page in (SHARE / "man/man1").iterdir():
        compressed(page)
    return f"licences: {', '.join(without)} carry no text; a text for them is added"


def compressed(file):
    """Replaces a file by its compressed form, which has no time."""
    file.with_name(file.name + ".gz").write_bytes(gzip.compress(file.read_bytes(), 9, mtime=0))
    file.unlink()
