"""What a release says about itself: the list of its parts, the description of its build, and signed sums."""

import hashlib
import json
import os
import platform
import shutil

from . import build, licenses, pins
from .common import DIST, ROOT, Stop, commit, epoch, output, run, version

SUMS = "SHA256SUMS"
KEY = "TRIPHAMMER_SIGNING_KEY"


def sbom(triple):
    """Writes the list of parts in CycloneDX's format: the crates as Cargo resolves them, and the packages in the page."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch())}
    name = "triphammer-parts"
    try:
        run(pins.cyclonedx(), "cyclonedx", "--format", "json", "--spec-version", "1.5", "--target", triple, "--quiet",
            "--manifest-path", ROOT / "crates/cli/Cargo.toml", "--override-filename", name, cwd=ROOT, env=environment)
        text = (ROOT / f"crates/cli/{name}.json").read_text()
    finally:
        for file in [*ROOT.glob(f"*/{name}.json"), *ROOT.glob(f"*/*/{name}.json")]:
            file.unlink()  # it writes one for each crate of the workspace
    parts = json.loads(text.replace(str(ROOT), ""))
    for package in licenses.page():
        parts["components"].append({
            "type": "library", "name": package.name, "version": package.version,
            "purl": f"pkg:npm/{package.name}@{package.version}",
            "licenses": [{"license": {"id": package.license}}],
        })
    file = DIST / f"triphammer-{version()}.cdx.json"
    file.write_text(json.dumps(parts, indent=1, sort_keys=True) + "\n")
    return file


def size_and_sum(file):
    """What the description says about a file."""
    content = file.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def description(made, left_out, files, more):
    """Writes how the files were made: commit, tools, targets, sizes, sums."""
    tools = dict(line.split("==") for line in pins.REQUIREMENTS.read_text().splitlines() if "==" in line)
    text = {
        "version": version(), "commit": commit(), "time": epoch(), "glibc": build.GLIBC,
        "tools": {**tools, "rustc": output("rustc", "--version", cwd=ROOT), "nfpm": pins.NFPM,
                  "cargo-cyclonedx": pins.CYCLONEDX, "node": output("node", "--version"),
                  "python": platform.python_version()},
        "targets": [target.triple for target in made],
        "left_out": left_out,
        **more,
        "files": {file.name: size_and_sum(file) for file in sorted(files)},
    }
    file = DIST / f"triphammer-{version()}.build.json"
    file.write_text(json.dumps(text, indent=1) + "\n")
    return file


def sums(files):
    """Writes the sums, and signs them if the publisher gives a key; returns what to tell the user."""
    lines = [f"{size_and_sum(file)['sha256']}  {file.name}\n" for file in sorted(files)]
    (DIST / SUMS).write_text("".join(lines))
    key = os.environ.get(KEY)
    if not key:
        return f"{SUMS} is not signed: {KEY} names no key"
    if not shutil.which("ssh-keygen"):
        raise Stop("ssh-keygen signs the sums: install OpenSSH's client")
    run("ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "file", DIST / SUMS)
    return f"{SUMS} is signed"
