#!/usr/bin/env bash
# What gateways of Debian 12 do if a server closes a kept connection after it has read a request and before it answers, by request:
# nginx 1.22.1 sends PUT again, also if there is only one server, but not POST; Varnish 7.1.1 sends a POST without a body again; HAProxy
# 2.6.12 and Apache 2.4.71 send nothing again but, if the caller's connection was used before, close it without a status, so that the
# caller's HTTP library decides about a second try; on a new connection they answer 502. Caddy 2.6.2 answers 502 and sends no POST or
# PUT again. Each line has the times that the server saw the request. Seen on 2026-11-29. Needs: apt-get install nginx-light=1.22.1-9+deb12u11
# haproxy=2.6.12-1+deb12u4 apache2-bin=2.4.71-1~deb12u1 varnish=7.1.1-2+deb12u1 caddy=2.6.2-5, node 20 or later.
set -euo pipefail
folder=$(mktemp -d)
chmod 755 "$folder"
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; wait; rm -rf "$folder"' EXIT
cd "$folder"
cat >nginx.conf <<CFG
pid $folder/nginx.pid;
error_log $folder/nginx.log;
events {}
http {
  access_log off;
  client_body_temp_path $folder/body;
  upstream server_kept { server 127.0.0.1:18180; keepalive 4; }
  server {
    listen 127.0.0.1:18181;
    location / { proxy_pass http://server_kept; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
CFG
cat >haproxy.cfg <<'CFG'
defaults
    mode http
    timeout connect 5s
    timeout client 5s
    timeout server 5s
frontend gateway
    bind 127.0.0.1:18182
    default_backend server
backend server
    server one 127.0.0.1:18180
CFG
cat >apache.conf <<CFG
ServerRoot $folder
ServerName localhost
PidFile $folder/apache.pid
ErrorLog $folder/apache.log
Listen 127.0.0.1:18183
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule proxy_module /usr/lib/apache2/modules/mod_proxy.so
LoadModule proxy_http_module /usr/lib/apache2/modules/mod_proxy_http.so
ProxyPass / http://127.0.0.1:18180/
CFG
cat >default.vcl <<'VCL'
vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "18180"; }
sub vcl_recv { return (pass); }
VCL
cat >Caddyfile <<'CFG'
{
  admin off
  auto_https off
}
http://127.0.0.1:18185 {
  reverse_proxy 127.0.0.1:18180
}
CFG
cat >ask.cjs <<'JS'
const { Agent, createServer, request } = require("node:http");
const seen = new Map();
const server = createServer((incoming, response) => {
  incoming.resume().on("end", () => {
    if (incoming.url === "/first") return response.end();
    seen.set(incoming.url, (seen.get(incoming.url) ?? 0) + 1);
    incoming.socket.destroy();
  });
});
const send = (agent, port, path, method, body) =>
  new Promise((resolve, reject) => {
    const outgoing = request({ agent, port, path, method, host: "127.0.0.1" }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode));
    });
    outgoing.on("error", reject).end(body);
  });
// A gateway that is starting refuses the connection.
const first = async (agent, port, tries = 200) =>
  send(agent, port, "/first", "GET").catch((error) =>
    tries === 0 ? Promise.reject(error) : new Promise((resolve) => setTimeout(resolve, 50)).then(() => first(agent, port, tries - 1)),
  );
const CALLS = [["POST", "body"], ["POST", undefined], ["PUT", "body"]];
server.listen(18180, "127.0.0.1", async () => {
  for (const [i, name] of ["nginx", "HAProxy", "Apache", "Varnish", "Caddy"].entries()) {
    const words = [];
    for (const [j, [method, body]] of CALLS.entries()) {
      for (const isUsed of [true, false]) {
        const [used, fresh] = [0, 1].map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
        await first(used, 18181 + i);
        const path = `/${name}/${j}/${isUsed}`;
        const status = await send(isUsed ? used : fresh, 18181 + i, path, method, body).catch(() => "closed");
        words.push(`${status} ${seen.get(path)}`);
        for (const agent of [used, fresh]) agent.destroy();
      }
    }
    console.log(`${name}: ${words.join(", ")}`);
  }
  server.close().closeAllConnections();
});
JS
nginx -g "daemon off;" -c "$folder/nginx.conf" 2>nginx.txt & pids+=($!)
haproxy -f haproxy.cfg 2>haproxy.txt & pids+=($!)
apache2 -D FOREGROUND -f "$folder/apache.conf" 2>apache.txt & pids+=($!)
mkdir varnish
varnishd -F -n "$folder/varnish" -a 127.0.0.1:18184 -f "$folder/default.vcl" >varnish.txt 2>&1 & pids+=($!)
HOME="$folder" caddy run --config Caddyfile --adapter caddyfile >caddy.txt 2>&1 & pids+=($!)
# Each line: POST with a body, POST without, PUT; each on a used and on a new connection: status, times seen.
seen=$(node ask.cjs)
echo "$seen"
[ "$seen" = "nginx: 502 1, 502 1, 502 1, 502 1, 502 2, 502 2
HAProxy: closed 1, 502 1, closed 1, 502 1, closed 1, 502 1
Apache: closed 1, 502 1, closed 1, 502 1, closed 1, 502 1
Varnish: 503 1, 503 1, 503 2, 503 2, 503 1, 503 1
Caddy: 502 1, 502 1, 502 1, 502 1, 502 1, 502 1" ]
