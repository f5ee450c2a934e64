#!/bin/sh
# Starts Redis or Sentinel with a file of its own in /data, made at the first start: Sentinel writes into it.
# Further arguments are lines of that file.
set -eu
kind=$1
shift
if [ ! -f "/data/$kind.conf" ]; then
  umask 077
  {
    cat "/etc/redis/$kind.conf"
    for line in "$@"; do printf '%s\n' "$line"; done
  } >"/data/$kind.conf.new"
  mv "/data/$kind.conf.new" "/data/$kind.conf"
fi
if [ "$kind" = sentinel ]; then exec redis-server /data/sentinel.conf --sentinel; fi
exec redis-server "/data/$kind.conf"
