#!/bin/sh
# Builds what is released, into a folder: for each of PLATFORMS an archive with static
# binaries, completions and the manual page, and an SBOM (CycloneDX); for Linux a .deb and an
# .rpm; Homebrew's formula; SHA256SUMS. The same commit gives the same bytes, wherever it is
# built (scripts/release-check.sh): times are the commit's, names are sorted, no path is kept.
#
#	scripts/release.sh [FOLDER]
#
# VERSION is git's tag, or before the first one 0.0.0 with the commit's time. RELEASE_URL is
# where the archives will lie, for the formula. Needs git, GNU tar and gzip.
set -eu
cd "$(dirname "$0")/.."
out=${1:-dist}
GO=${GO:-go}
PLATFORMS=${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64}
NFPM="$GO run github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2"
SBOM="$GO run github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0"
url=${RELEASE_URL:-https://example.com/tandemux}

tar=$(command -v gtar || command -v tar)
"$tar" --version 2>/dev/null | grep -q GNU || { echo "release: archives that are the same each time need GNU tar" >&2; exit 1; }

commit=$(git rev-parse --short=10 HEAD)
if tag=$(git describe --tags --match 'v[0-9]*' 2>/dev/null); then
	# 1.2.3, or 1.2.3+4.gCOMMIT where four commits follow.
	default=$(echo "${tag#v}" | sed 's/-\([0-9]*\)-\(g[0-9a-f]*\)$/+\1.\2/')
else
	default=0.0.0-$(TZ=UTC git log -1 --format=%cd --date=format-local:%Y%m%d%H%M%S).g$commit
fi
[ -z "$(git status --porcelain)" ] || echo "release: this is not what is committed" >&2
VERSION=${VERSION:-$default}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export VERSION SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C
umask 022

rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The page for browsers, which the programs embed.
page=host/web/dist/index.html.zst
make -s "$page" GO="$GO"
[ -s "$page" ] || { echo "release: $page could not be built" >&2; exit 1; }

# build GOOS GOARCH FOLDER
build() {
	for program in tandemux tandemux-keeper tandemux-hub; do
		version= # which the keeper has not
		[ $program = tandemux-keeper ] || version="-X main.version=$VERSION"
		CGO_ENABLED=0 GOOS=$1 GOARCH=$2 GOFLAGS=-trimpath "$GO" build -ldflags "-s -w -buildid= $version" -o "$3/$program" ./cmd/$program
	done
}

# What all platforms share, printed by a program for this machine.
build "$("$GO" env GOHOSTOS)" "$("$GO" env GOHOSTARCH)" "$work/here"
mkdir -p "$work/share/completions"
"$work/here/tandemux" man >"$work/share/tandemux.1"
"$work/here/tandemux" completion bash >"$work/share/completions/tandemux.bash"
"$work/here/tandemux" completion fish >"$work/share/completions/tandemux.fish"
"$work/here/tandemux" completion zsh >"$work/share/completions/_tandemux"
cp LICENSE README.md CHANGELOG.md "$work/share"

cp packaging/tandemux.rb "$work/tandemux.rb"
for p in $PLATFORMS; do
	os=${p%/*} ARCH=${p#*/}
	name=tandemux-$VERSION-$os-$ARCH
	echo "$name" >&2
	STAGE=$work/$name
	export STAGE ARCH
	mkdir -p "$STAGE/bin"
	cp -R "$work/share/." "$STAGE"
	build "$os" "$ARCH" "$STAGE/bin"
	chmod 755 "$STAGE/bin"/*
	find "$STAGE" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	"$tar" -C "$work" --format=ustar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -cf - "$name" |
		gzip -9n >"$out/$name.tar.gz"
	sum=$(sha256sum "$out/$name.tar.gz" | cut -d' ' -f1)
	sed "s/@$os-$ARCH@/$sum/" "$work/tandemux.rb" >"$work/filled"
	mv "$work/filled" "$work/tandemux.rb"
	$SBOM bin -json -noserial -notimestamp -version "$VERSION" -output "$out/$name.cdx.json" "$STAGE/bin/tandemux" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
	[ "$os" = linux ] || continue
	gzip -9n "$STAGE/tandemux.1"
	touch -d "@$SOURCE_DATE_EPOCH" "$STAGE/tandemux.1.gz"
	for kind in deb rpm; do
		$NFPM package --config packaging/nfpm.yaml --packager $kind --target "$out/$name.$kind" >"$work/log" || { cat "$work/log" >&2; exit 1; }
	done
done
sed "s|@URL@|$url|g; s|@VERSION@|$VERSION|g" "$work/tandemux.rb" >"$out/tandemux.rb"
(cd "$out" && sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS)
