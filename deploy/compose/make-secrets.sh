#!/bin/sh
# Creates the secrets of compose.yaml in ./secrets, and a self-signed certificate for the host name in the first argument.
# What exists is kept: replace the certificate with your own, or run this again after you have removed a file.
set -eu
cd "$(dirname "$0")"
host=${1:-localhost}
mkdir -p -m 0700 secrets
cd secrets
# The folder is private; the files are readable for the users inside the containers.
create() { [ -s "$1" ] || { cat >"$1" && chmod 0444 "$1"; }; }
random() { openssl rand -hex 32; }
for name in admin_key secret metrics_token database_password grafana_password; do random | create "$name"; done
printf 'postgres://switchboard:%s@database/switchboard\n' "$(cat database_password)" | create database_url
if [ ! -s certificate.pem ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 -subj "/CN=$host" \
    -addext "subjectAltName=DNS:$host" -keyout certificate-key.pem -out certificate.pem 2>/dev/null
  chmod 0444 certificate.pem certificate-key.pem
fi
