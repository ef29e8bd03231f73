"""The container image, as an archive of an OCI image layout: a small Debian in which the Debian package is installed by the
steps of the Dockerfile, which also says what runs in it.
"""

import datetime
import gzip
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

from .common import DIST, ROOT, epoch, output, run, version
from .pack import add_all

MIRROR = "http://deb.debian.org/debian"
# What nobody reads in an image.
LEFT_OUT = ["/usr/share/doc/*", "/usr/share/man/*", "/usr/share/info/*", "/usr/share/locale/*"]
KEPT = ["/usr/share/doc/*/copyright", "/usr/share/doc/triphammer/*"]
TYPE = "application/vnd.oci.image"


def dockerfile():
    """The Dockerfile's steps, each a word and the rest of its line."""
    lines = [line.strip() for line in (ROOT / "Dockerfile").read_text().splitlines()]
    return [tuple(line.split(None, 1)) for line in lines if line and not line.startswith("#")]


def configuration():
    """What runs in the image, in OCI's words."""
    steps = dict(dockerfile())
    return {
        "User": steps["USER"], "WorkingDir": steps["WORKDIR"], "Entrypoint": json.loads(steps["ENTRYPOINT"]),
        "Cmd": json.loads(steps["CMD"]), "ExposedPorts": {f"{steps['EXPOSE']}/tcp": {}},
        "Volumes": {steps["VOLUME"]: {}}, "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
        "Labels": {"org.opencontainers.image.version": version(), "org.opencontainers.image.licenses": "Apache-2.0"},
    }


def obstacle(target):
    """Why no image can be made for a target here, if so."""
    if not shutil.which("mmdebstrap"):
        return "mmdebstrap, which makes the Debian in it, is not installed (apt-get install mmdebstrap)"
    here = output("dpkg", "--print-architecture")
    if target.architecture != here and not pathlib.Path(f"/proc/sys/fs/binfmt_misc/qemu-{target.machine}").exists():
        return f"programs for {target.machine} do not run here (apt-get install qemu-user-static binfmt-support)"
    return None


def filesystem(target, package, file):
    """Makes the Debian with the package, as a tar archive; returns its packages and versions."""
    release = re.match(r"debian:(\w+)-slim", dict(dockerfile())["FROM"])[1]
    paths = [f"--dpkgopt=path-exclude={path}" for path in LEFT_OUT] + [f"--dpkgopt=path-include={path}" for path in KEPT]
    with tempfile.TemporaryDirectory(prefix="triphammer-image-") as folder:
        context = pathlib.Path(folder, "image")
        context.mkdir()
        for source in (package, ROOT / "tools/image.sh"):
            shutil.copy(source, context)
        listed = pathlib.Path(folder, "packages")
        run("mmdebstrap", "--quiet", "--variant=minbase", f"--architectures={target.architecture}", *paths,
            f"--customize-hook=copy-in {context} /tmp", '--customize-hook=chroot "$1" /tmp/image/image.sh',
            f"--customize-hook=chroot \"$1\" dpkg-query --show >{listed}", release, file, MIRROR, stdout=subprocess.DEVNULL)
        return dict(line.split("\t") for line in listed.read_text().splitlines())


class Layout:
    """The files of a layout."""

    def __init__(self, folder):
        self.folder, self.files = folder, {}

    def add(self, path, content):
        """Adds a file."""
        file = self.folder / str(len(self.files))
        file.write_bytes(content)
        self.files[path] = file

    def blob(self, kind, content):
        """Adds a blob; returns its descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        self.add(f"blobs/sha256/{digest}", content)
        return {"mediaType": f"{TYPE}.{kind}", "digest": f"sha256:{digest}", "size": len(content)}

    def document(self, kind, content):
        """Adds a JSON document as a blob; returns its descriptor."""
        return self.blob(kind, json.dumps(content).encode())


def make(target, package):
    """Makes the image from the Debian package; returns its file, and the packages in it."""
    with tempfile.TemporaryDirectory(prefix="triphammer-image-") as folder:
        layout = Layout(pathlib.Path(folder))
        debian = layout.folder / "debian.tar"
        packages = filesystem(target, package, debian)
        files = debian.read_bytes()
        layer = layout.blob("layer.v1.tar+gzip", gzip.compress(files, 9, mtime=0))
        created = datetime.datetime.fromtimestamp(epoch(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        config = layout.document("config.v1+json", {
            "created": created, "os": "linux", "architecture": target.architecture, "config": configuration(),
            "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(files).hexdigest()]},
            "history": [{"created": created, "created_by": "tools/dist.py"}],
        })
        manifest = layout.document("manifest.v1+json", {
            "schemaVersion": 2, "mediaType": f"{TYPE}.manifest.v1+json", "config": config, "layers": [layer]})
        manifest["annotations"] = {"org.opencontainers.image.ref.name": version()}
        layout.add("oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
        layout.add("index.json", json.dumps({
            "schemaVersion": 2, "mediaType": f"{TYPE}.index.v1+json", "manifests": [manifest]}).encode())
        file = DIST / f"triphammer-{version()}-{target.machine}.oci.tar"
        with open(file, "wb") as stream:
            add_all(stream, layout.files)
    return file, packages
