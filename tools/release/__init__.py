"""How releases are made; `tools/dist.py` is the entry.

    build.py      compiles programs and Python modules
    share.py      what lies beside the program in every package: manual pages, completions, licences
    licenses.py   the licence texts of everything that is compiled in
    pack.py       archives, Debian and RPM packages
    image.py      the container image
    papers.py     list of parts (SBOM), description of the build, sums, signature
    pins.py       the tools and their versions
"""
