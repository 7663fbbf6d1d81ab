#!/bin/sh
# Installs the command from packed packages into an empty folder: install-packed.sh FOLDER_OF_TARBALLS TARGET
# No install scripts run, and nothing for development or other platforms is kept.
set -eu
packs=$(cd "$1" && pwd)
mkdir -p "$2"
cd "$2"
printf '{ "name": "switchboard-image", "private": true, "type": "module" }\n' >package.json
for name in agent-uri protocol search client agent local mcp demo server cli; do
  set -- "$@" "$(ls "$packs"/switchboard-"$name"-[0-9]*.tgz)"
done
shift 2
npm install --omit=dev --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error "$@"
platform=$(node -p process.platform) arch=$(node -p process.arch)
for folder in node_modules/onnxruntime-node/bin/napi-v*/*/*; do
  case $folder in */"$platform"/"$arch") ;; *) rm -rf "$folder" ;; esac
done
