#!/usr/bin/env bash
# Since Node 20 (libuv 1.46 and later), a listening socket accepts one connection in a turn of the event loop; Node 18.16.0
# (libuv 1.44.2) accepts all that wait. If a turn takes 10 ms under load, the 100th waiting connection, such as the probe of an
# orchestrator, is accepted a second later, although the limit of connections is not reached; a second listener has a queue of its
# own. 50 connections to a server whose turns take 5 ms. Seen on 2026-11-29, linux x64.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >turns.mjs <<'JS'
import net from "node:net";
let turn = 0;
const accepted = [];
const server = net.createServer(() => {
  accepted[turn] = (accepted[turn] ?? 0) + 1;
  const counts = Object.values(accepted);
  if (counts.reduce((one, other) => one + other) < 50) return;
  console.log(`node ${process.versions.node.split(".")[0]}: at most ${Math.max(...counts)} in a turn, in ${counts.length} turns`);
  process.exit();
});
server.listen(0, "127.0.0.1", () => {
  for (let i = 0; i < 50; i++) net.connect(server.address().port, "127.0.0.1");
  const work = () => {
    turn++;
    for (const end = performance.now() + 5; performance.now() < end; );
    setImmediate(work);
  };
  setImmediate(work);
});
JS
seen=""
for version in 18.16.0 20.9.0 24.9.0; do
  mkdir "$version"
  echo '{ "private": true }' >"$version/package.json"
  npm install --prefix "$version" --silent --no-audit --no-fund "node@$version" >/dev/null
  seen+="$("$version/node_modules/node/bin/node" turns.mjs)"$'\n'
done
echo "$seen"
[ "$seen" = "node 18: at most 50 in a turn, in 1 turns
node 20: at most 1 in a turn, in 50 turns
node 24: at most 1 in a turn, in 50 turns
" ]
