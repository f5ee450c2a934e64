#!/bin/sh
# Creates ./upstream, for TLS between the gateway and the tool servers. upstream/tool has the servers' certificate and its key. upstream/gateway
# has only this certificate, and the gateway accepts no other. Run this script once; it replaces no files. Only the owner can open upstream,
# but containers, which run as other users, can read both folders in it.
set -eu
if [ -e upstream ]; then
  echo "the folder upstream already exists: move it away to create a new certificate" >&2
  exit 1
fi
trap 'rm -rf upstream.new' EXIT
mkdir -m 700 upstream.new
mkdir -m 755 upstream.new/tool upstream.new/gateway
days=825
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -sha256 -days "$days" -subj "/CN=tool" \
  -addext "subjectAltName=DNS:tool" -keyout upstream.new/tool/key.pem -out upstream.new/tool/cert.pem
cp upstream.new/tool/cert.pem upstream.new/gateway/tool.pem
chmod 644 upstream.new/tool/* upstream.new/gateway/*
mv upstream.new upstream
echo "created upstream: a certificate for the host name tool, valid for $days days"
