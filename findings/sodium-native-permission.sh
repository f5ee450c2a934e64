#!/usr/bin/env bash
# sodium-native 5.1.0, by its dependency require-addon, reads /etc/alpine-release before it loads its addon. Under the permission
# model of Node 24.21.0 (--permission --allow-addons), the package therefore cannot be loaded unless --allow-fs-read names that file,
# which need not exist. Seen on 2026-11-28, linux x64.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true }' >package.json
npm install --silent --no-audit --no-fund node@24.21.0 sodium-native@5.1.0 >/dev/null
node=node_modules/node/bin/node
load() { "$node" --no-warnings --permission --allow-addons --allow-fs-read="$folder" "$@" -e 'try { require("sodium-native"); console.log("loaded") } catch (error) { console.log(error.code, error.resource) }'; }
without=$(load)
with=$(load --allow-fs-read=/etc/alpine-release)
echo "without: $without"
echo "with --allow-fs-read=/etc/alpine-release: $with"
[ "$without" = "ERR_ACCESS_DENIED /etc/alpine-release" ] && [ "$with" = loaded ]
