#!/bin/sh
# Starts `redis` or `sentinel`. The first start copies the configuration to /data, because Sentinel changes the configuration of both.
# Further arguments are lines to append to the copy.
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
