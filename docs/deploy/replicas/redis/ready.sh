#!/bin/sh
# Readiness probe of a Redis pod. It succeeds for a primary, and for a copy that has synchronized with its primary. The user `probe` may
# only run ROLE, so it needs no secret.
redis-cli -h "${1:-127.0.0.1}" --tls --cacert /run/redis/ca.pem --user probe --pass none --no-auth-warning role |
  grep -qx -e master -e connected
