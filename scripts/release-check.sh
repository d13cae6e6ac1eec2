#!/bin/sh
# Builds what is released twice, from two clones in folders of different names, and checks
# that it is the same bytes; that binaries are static; that the .deb and the .rpm can be
# installed below a root of their own, work from there with an empty home, and leave nothing
# when they are removed. What needs a program that is not installed here is skipped, and says so.
#
#	scripts/release-check.sh
#
# PLATFORMS are those of scripts/release.sh. Each build compiles all anew, unless SHARED=1
# has them use Go's cache.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "release-check: $*" >&2; exit 1; }
has() { command -v "$1" >/dev/null || { echo "skipped, $1 is not installed: $2"; return 1; }; }

commit=$(git rev-parse HEAD)
for n in one in/a/folder/elsewhere; do
	mkdir -p "$work/$n"
	git clone -q . "$work/$n/tandemux"
	git -C "$work/$n/tandemux" checkout -q "$commit"
	[ -n "${SHARED:-}" ] || export GOCACHE="$work/cache"
	"$work/$n/tandemux/scripts/release.sh" "$work/$n/dist"
	[ -n "${SHARED:-}" ] || rm -rf "$work/cache"
done
dist=$work/one/dist
diff -r "$dist" "$work/in/a/folder/elsewhere/dist" || fail "two builds differ"
(cd "$dist" && sha256sum --quiet -c SHA256SUMS)
echo "the same twice: $(wc -l <"$dist/SHA256SUMS") files"

for archive in "$dist"/*.tar.gz; do
	name=$(basename "$archive" .tar.gz)
	tar -xzf "$archive" -C "$work"
	for program in tandemux tandemux-keeper tandemux-hub; do
		has file "what $name is" || continue
		what=$(file -b "$work/$name/bin/$program")
		case $name:$what in
		*-linux-*:*'statically linked'*) ;;
		*-darwin-*:*Mach-O*) ;;
		*) fail "$name: $program is $what" ;;
		esac
	done
	[ -s "$work/$name/tandemux.1" ] && [ -s "$work/$name/completions/_tandemux" ] || fail "$name: what is besides the programs is not all there"
	grep -q "$(sha256sum "$archive" | cut -d' ' -f1)" "$dist/tandemux.rb" || fail "$name: the formula has another checksum"
done
! has ruby "the formula's syntax" || ruby -c "$dist/tandemux.rb"

# try ROOT: what was installed there works.
try() {
	! has ldd "what $1 links" || ! ldd "$1/usr/bin/tandemux" >/dev/null 2>&1 || fail "tandemux is linked: $(ldd "$1/usr/bin/tandemux")"
	home=$work/home
	rm -rf "$home" && mkdir -p "$home/run" && chmod 700 "$home/run"
	in_home="env -i HOME=$home XDG_RUNTIME_DIR=$home/run PATH=/usr/bin:/bin TERM=xterm $1/usr/bin/tandemux"
	$in_home new --name one -- sh -c 'echo $((40 + 2)); exec cat' >/dev/null
	n=0
	until $in_home read one 2>/dev/null | grep -q '^42'; do
		n=$((n + 1))
		[ $n -lt 100 ] || fail "the installed program shows nothing"
		sleep 0.1
	done
	[ ! -d /proc/self ] || ls -l /proc/[0-9]*/exe 2>/dev/null | grep -q "$1/usr/bin/tandemux-keeper" || fail "the keeper is not the installed one"
	$in_home stop
	echo "works from $1: $($in_home --version)"
	! has man "the manual page" || [ -z "$(MANWIDTH=80 man --warnings -l "$1"/usr/share/man/man1/tandemux.1.gz 2>&1 >/dev/null)" ] || fail "the manual page has warnings"
	! has bash "bash's completion" || bash -c '. "$1/usr/share/bash-completion/completions/tandemux" && complete -p tandemux' - "$1" >/dev/null || fail "bash's completion"
	! has fish "fish's completion" || PATH=$1/usr/bin:$PATH HOME=$home XDG_DATA_DIRS=$1/usr/share fish -c 'complete -C "tandemux sto"' | grep -q '^stop' || fail "fish's completion"
	! has zsh "zsh's completion" || zsh -fc 'fpath=($1/usr/share/zsh/*(N) $fpath); autoload -Uz compinit; compinit -D -u; [[ $_comps[tandemux] = _tandemux ]]' - "$1" || fail "zsh's completion"
}

arch=$("${GO:-go}" env GOHOSTARCH)
deb=$(ls "$dist"/*-linux-"$arch".deb 2>/dev/null || :) rpm=$(ls "$dist"/*-linux-"$arch".rpm 2>/dev/null || :)
left() { ! find "$1/usr" ! -type d 2>/dev/null | grep . || fail "files are left"; }
if [ -n "$deb" ] && has dpkg "installing the .deb"; then
	root=$work/deb
	mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
	: >"$root/var/lib/dpkg/status"
	on="dpkg --root=$root --log=/dev/null --force-not-root"
	$on -i "$deb"
	try "$root"
	$on --verify tandemux
	$on --purge tandemux
	left "$root"
fi
if [ -n "$rpm" ] && has rpm "installing the .rpm"; then
	root=$work/rpm
	mkdir -p "$root"
	rpm --root "$root" --initdb
	rpm --root "$root" --nosignature -i "$rpm"
	try "$root"
	rpm --root "$root" -V tandemux
	rpm --root "$root" -e tandemux
	left "$root"
fi
