#!/usr/bin/env bash
# Runs the tests as on a machine without some of the programs that they use when they
# are there. Each test has to pass, or to be skipped with a reason.
#
#   scripts/test-hidden.sh                 without any of them, then without each alone
#   scripts/test-hidden.sh all             without any of them (what CI runs)
#   scripts/test-hidden.sh fzf git         without fzf, then without git
#   scripts/test-hidden.sh none            with all of them
#
#   -p PACKAGES    only these (default: ./...): -p './host/... ./cmd/tandemux'
#   -r PATTERN     only the tests that match
#   -u             as the user nobody, in a copy of the repository (needs root)
#   -c             without IPv6 and user namespaces, as root of a user namespace
#                  (needs unshare, ip, and user namespaces to begin with)
#   -l             name the programs, and end
#
# HOME is an empty directory. The programs are hidden by a PATH of one directory that
# has links to all others, in bin/hidden. A program that isn't installed is hidden
# already. Results are cached as by any `go test`, and the flags are those of `make
# test-long`: of what looks at no program and nothing in HOME the result stands.
set -euo pipefail
cd "$(dirname "$0")/.."

# A program, and what else comes with it.
programs=(
	"git" "tmux" "zsh" "fish" "vim vi view ex rvim rview vimdiff vim.basic vim.tiny" "htop" "less" "fzf" "bwrap"
	"ssh scp sftp ssh-add ssh-agent ssh-keygen ssh-keyscan slogin"
	"sshd" "gcc cc c99 c89 clang"
	"python3 python" "ps pgrep pkill pidof top free watch" "infocmp tic tput"
)
packages=./... pattern= user= container=

usage() {
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
	exit "$1"
}

while getopts p:r:uclh option; do
	case $option in
	p) packages=$OPTARG ;;
	r) pattern=$OPTARG ;;
	u) user=nobody ;;
	c) container=1 ;;
	l) printf '%s\n' "${programs[@]%% *}" && exit ;;
	h) usage 0 ;;
	*) usage 2 >&2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- all "${programs[@]%% *}"

# names prints what to hide for a program.
names() {
	case $1 in
	none) ;;
	all) printf '%s\n' "${programs[@]}" | tr ' ' '\n' ;;
	*) printf '%s\n' "${programs[@]}" | grep -E "^$1( |\$)" | tr ' ' '\n' ;;
	esac
}
for program; do
	names "$program" >/dev/null || { echo "$0: $program is none of: all, none, ${programs[*]%% *}" >&2 && exit 2; }
done

# What go has in HOME stays where it is.
for name in GOCACHE GOMODCACHE GOPATH GOENV; do
	export "$name=$(go env $name)"
done
root=$PWD exec=()
if [ -n "$user" ]; then
	[ "$(id -u)" = 0 ] || { echo "$0: -u needs root" >&2 && exit 2; }
	root=$(mktemp -d)
	trap 'rm -rf "$root"' EXIT
	chmod 755 "$root"
	mkdir "$root/src" "$root/cache" "$root/home"
	git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$root/src"
	cp -al "$GOMODCACHE" "$root/modules" 2>/dev/null || cp -a "$GOMODCACHE" "$root/modules"
	chown -R "$user" "$root/src" "$root/cache" "$root/home"
	# Root compiles, with its cache; the user runs the tests, and has a cache for what
	# they build.
	cat >"$root/as-user" <<-END
		#!/bin/sh
		chmod a+x "\${1%/*}" "\${1%/*/*}"
		export HOME=$root/home GOCACHE=$root/cache GOMODCACHE=$root/modules GOPATH=$root/path GOENV=off
		exec setpriv --reuid $user --regid $(id -g "$user") --clear-groups "\$@"
	END
	chmod 755 "$root/as-user"
	exec=(-trimpath -exec "$root/as-user")
	(cd "$root/src" && "$root/as-user" "$(command -v go)" build -o /dev/null ./cmd/tandemux) # once, and not while tests wait
	root=$root/src
fi
hidden=$root/bin/hidden
export HOME=$hidden/home

# hide makes the directory that is the PATH without a program.
hide() {
	local bin=$hidden/$1 dir
	rm -rf "$bin" "$HOME"
	mkdir -p "$bin" "$HOME"
	while IFS= read -rd: dir; do
		case $dir in /*) ln -s "$dir"/* "$bin/" 2>/dev/null || : ;; esac # the first of a name wins
	done <<<"$PATH:"
	names "$1" | (cd "$bin" && xargs -r rm -f)
	[ -z "$user" ] || chown -R "$user" "$hidden"
}

# within runs a command where the options say.
within() {
	local command=("$@")
	if [ -n "$container" ]; then
		command=(unshare --user --map-root-user --net --pid --fork --mount-proc sh -c '
			ip link set lo up &&
			echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6 &&
			echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' sh "${command[@]}")
	fi
	(cd "$root" && "${command[@]}")
}

failed=
for program; do
	hide "$program"
	echo "== hidden: $program"
	# shellcheck disable=SC2086 # several packages
	PATH=$hidden/$program within go test "${exec[@]}" -vet=off -timeout 10m -p 4 -parallel 4 ${pattern:+-run "$pattern"} $packages | { grep -v 'no test files' || :; } || failed="$failed $program"
done
[ -z "$failed" ] || { echo "$0: tests fail without:$failed" >&2 && exit 1; }
