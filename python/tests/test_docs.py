"""The examples of the guide and the notebook work."""

import os
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs/examples/notebook/first-run.ipynb"


@pytest.mark.parametrize("page", ["docs/python.md"])
def test_the_examples_of_a_page_work(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRIPHAMMER_STORE", str(tmp_path / "jobs.sqlite"))
    text = (ROOT / page).read_text()
    examples = list(re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S))
    assert len(examples) > 5
    names = {}
    for example in examples:
        line = text[: example.start()].count("\n") + 1
        # So that a traceback has the line of the page.
        code = "\n" * line + example.group(1)
        exec(compile(code, str(ROOT / page), "exec"), names)
    out = capsys.readouterr().out
    assert "TPS, limited by" in out
    assert "--vus from the call: invalid value `many`" in out


def test_the_notebook_works(tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    monkeypatch.setenv("TRIPHAMMER_STORE", str(tmp_path / "jobs.sqlite"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3",
                                     resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env=dict(os.environ))
    shown = [output.get("data", {}) for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("<svg" in "".join(data.get("text/html", "")) for data in shown)
