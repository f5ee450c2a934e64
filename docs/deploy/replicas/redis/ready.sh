#!/bin/sh
# Succeeds for a primary and for a copy that is in step with its primary: the readiness of a Redis pod. The user `probe` may ask for
# the role of the server and for nothing else, so it needs no secret.
redis-cli -h "${1:-127.0.0.1}" --tls --cacert /run/redis/ca.pem --user probe --pass none --no-auth-warning role |
  grep -qx -e master -e connected
