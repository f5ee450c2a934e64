#!/bin/sh
# Creates ./secrets: passwords of the Redis users, a certificate authority, and a certificate for Redis and Sentinel. Run this script once;
# it replaces no files. Only the owner can open the folder. The files for containers are in tool/ and redis/.
# `sh setup.sh certificate` replaces only the certificate, by a new one of the same authority: docs/replicas.md.
set -eu
cd "$(dirname "$0")"

# The addresses in compose.yaml and the host names in kubernetes.yaml, for the certificate.
names=IP:10.89.0.21,IP:10.89.0.22,IP:10.89.0.23,IP:10.89.0.31,IP:10.89.0.32,IP:10.89.0.33
names=$names,DNS:redis-0.redis,DNS:redis-1.redis,DNS:redis-2.redis
days=825

# Creates secrets/redis/redis.pem and redis.key. Both are written completely before they replace older files.
make_certificate() {
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -sha256 -subj "/CN=replay redis" \
    -keyout new.key -out new.csr 2>/dev/null
  printf 'subjectAltName=%s\n' "$names" >names
  openssl x509 -req -in new.csr -CA redis/ca.pem -CAkey ca.key -CAcreateserial -days "$days" -sha256 -extfile names \
    -out new.pem 2>/dev/null
  chmod 644 new.key new.pem
  mv new.key redis/redis.key
  mv new.pem redis/redis.pem
  rm -f new.csr names redis/ca.srl ca.srl
}

if [ "${1:-}" = certificate ]; then
  cd secrets
  make_certificate
  echo "created a certificate, valid for $days days"
  exit
fi
if [ -e secrets ]; then
  echo "the folder secrets already exists: move it away to create new secrets" >&2
  exit 1
fi
mkdir -m 700 secrets
cd secrets
mkdir -m 755 tool redis
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -sha256 -days 3650 -subj "/CN=replay redis authority" \
  -keyout ca.key -out redis/ca.pem 2>/dev/null
make_certificate
cp redis/ca.pem tool/ca.pem

tool=$(openssl rand -hex 32)
replication=$(openssl rand -hex 32)
sentinel=$(openssl rand -hex 32)
operator=$(openssl rand -hex 32)
hash() { printf %s "$1" | openssl dgst -sha256 -r | cut -d ' ' -f 1; }
printf %s "$tool" >tool/password
printf %s "$operator" >operator-password
printf 'masterauth %s\n' "$replication" >redis/redis-password.conf
printf 'sentinel auth-pass replay %s\n' "$sentinel" >redis/sentinel-password.conf
# Each user has only the permissions that it needs.
cat >redis/users.acl <<END
user default off
user svc on #$(hash "$tool") ~svc:* -@all +evalsha +eval +get +getrange +set +del +exists +pexpire +pttl +time +info +ping +hello +auth
user operator on #$(hash "$operator") ~* &* +@all
user replication on #$(hash "$replication") -@all +psync +replconf +ping
user probe on nopass -@all +role
user sentinel on #$(hash "$sentinel") allchannels -@all +multi +slaveof +ping +exec +subscribe +config|rewrite +role +publish +info +client|setname +client|kill +script|kill
END
# Containers, which run as other users, can read these files. On the host, only the owner can open the folder around them.
chmod 644 tool/* redis/*
chmod 600 ca.key operator-password
echo "created secrets: passwords, and a certificate that is valid for $days days"
