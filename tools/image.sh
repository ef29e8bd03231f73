#!/bin/sh
# The steps of the Dockerfile, as root in a fresh Debian: installs the package that lies beside this script, and makes
# the user and the folder that the program works as and in.
set -eu
here=$(dirname "$0")
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# The certificate authorities are for targets with TLS.
apt-get install -y -qq --no-install-recommends ca-certificates "$here"/triphammer_*.deb
useradd --uid 1000 --home-dir /data --create-home triphammer
rm -rf "$here" /var/lib/apt/lists/*
