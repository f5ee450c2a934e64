#!/bin/sh
# Creates ./upstream with a certificate of the tool servers, for TLS between the gateway and the servers. tool/ is for the servers. gateway/
# contains only the certificate, the only one that the gateway accepts. Run it once; it replaces no files. Only the owner can open the folder;
# both folders in it are readable in the containers, which run as other users.
set -eu
if [ -e upstream ]; then
  echo "upstream is there already: move it away to make a new certificate" >&2
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
echo "made upstream: a certificate for tool, valid for $days days"
