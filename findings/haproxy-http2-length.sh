#!/usr/bin/env bash
# HAProxy 2.6.12 (Debian 12) forwards an HTTP/2 request without a length to an HTTP/1.1 server in chunks, even if
# `option http-buffer-request` lets it read the whole body first: it does not add a Content-Length. nginx 1.22.1 adds one. Seen on
# 2026-11-28. Needs: apt-get install haproxy=2.6.12-1+deb12u4 nginx-light=1.22.1-9+deb12u11, node 20 or later, openssl.
set -euo pipefail
folder=$(mktemp -d)
chmod 755 "$folder"
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"
openssl req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256 -subj /CN=gateway -keyout cert.pem.key -out cert.pem 2>/dev/null
chmod 644 cert.pem.key
cat >haproxy.cfg <<CFG
defaults
    mode http
    option http-buffer-request
    timeout connect 3s
    timeout client 5s
    timeout server 5s
frontend gateway
    bind 127.0.0.1:18443 ssl crt $folder/cert.pem alpn h2
    default_backend server
backend server
    server one 127.0.0.1:18081
CFG
cat >nginx.conf <<CFG
pid $folder/nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path $folder/body;
  server {
    listen 127.0.0.1:18444 ssl http2;
    ssl_certificate $folder/cert.pem;
    ssl_certificate_key $folder/cert.pem.key;
    location / { proxy_pass http://127.0.0.1:18081; proxy_http_version 1.1; }
  }
}
CFG
cat >ask.cjs <<'JS'
const http2 = require("node:http2");
const server = require("node:http").createServer((request, response) => {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  request.resume().on("end", () => response.end(`length ${length}, encoding ${encoding}`));
});
const ask = (port) =>
  new Promise((resolve, reject) => {
    const session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false }).on("error", reject);
    const stream = session.request({ ":method": "POST", ":path": "/" });
    let text = "";
    stream.on("data", (part) => { text += part; }).on("end", () => { session.destroy(); resolve(text); });
    stream.end("hello");
  });
// A gateway that is starting refuses the connection.
const first = async (port, tries = 100) =>
  ask(port).catch((error) => (tries === 0 ? Promise.reject(error) : new Promise((resolve) => setTimeout(resolve, 50)).then(() => first(port, tries - 1))));
server.listen(18081, "127.0.0.1", async () => {
  for (const port of [18443, 18444]) console.log(await first(port));
  server.close().closeAllConnections();
});
JS
haproxy -f haproxy.cfg & pids+=($!)
nginx -c "$folder/nginx.conf" -g "daemon off;" 2>/dev/null & pids+=($!)
seen=$(node ask.cjs)
haproxy -v | head -1; nginx -v
echo "$seen"
[ "$seen" = "length undefined, encoding chunked
length 5, encoding undefined" ]
