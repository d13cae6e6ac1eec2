#!/bin/sh
# Builds a NATS server of a version, which a hub is to work with, from the Go module proxy, as
# FILE: scripts/nats-server.sh FILE [VERSION]. Nothing of this repository is used or changed.
set -eu
file=$(realpath "${1:?usage: nats-server.sh FILE [VERSION]}")
version=${2:-v2.10.27}
go=${GO:-go}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export GOFLAGS=-mod=mod GOWORK=off
$go mod init tandemux-nats >/dev/null 2>&1
$go get "github.com/nats-io/nats-server/v2@$version" >/dev/null
$go build -ldflags '-s -w' -o "$file" github.com/nats-io/nats-server/v2
