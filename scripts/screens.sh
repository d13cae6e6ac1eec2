#!/bin/sh
# Makes docs/screens/*.png from the program as it is built now, in real terminals:
# alacritty, and kitty for the pictures, on an X server without a screen of its own.
# Run it when what they show has changed, look at each, and commit them:
#
#	scripts/screens.sh           all of them
#	scripts/screens.sh chat      one group: panes, chat, themes, pictures or browser
#
# It needs Chromium for the last group, and for all Xvfb, alacritty, kitty, xdotool, ImageMagick and a monospaced font with
# Braille and box drawing (DejaVu Sans Mono or the like). The agent of the chats is
# the tests' scripted one. Homes, hosts and the X server are its own, and end with it.
set -eu
cd "$(dirname "$0")/.."
for program in Xvfb alacritty kitty xdotool import git bash; do
	command -v $program >/dev/null || { echo "$0 needs $program" >&2; exit 1; }
done
out=$PWD/docs/screens
work=$(mktemp -d)
x= terminal=
end() {
	trap - EXIT INT TERM
	[ -z "$terminal" ] || kill "$terminal" 2>/dev/null || true
	for home in "$work"/*/home; do
		[ ! -d "$home" ] || in_home "$home" tandemux stop >/dev/null 2>&1 || true
	done
	[ -z "$x" ] || kill "$x" 2>/dev/null || true
	rm -rf "$work"
}
trap end EXIT
trap 'exit 1' INT TERM

mkdir "$work/bin"
go build -trimpath -o "$work/bin/tandemux" ./cmd/tandemux
go test -c -trimpath -o "$work/bin/scripted-agent" ./cmd/tandemux
Xvfb -displayfd 3 -screen 0 1400x1000x24 3>"$work/display" >/dev/null 2>&1 &
x=$!
until [ -s "$work/display" ]; do sleep 0.1; done
DISPLAY=:$(cat "$work/display")
export DISPLAY
: "${GOCACHE:=$(go env GOCACHE)}" "${GOMODCACHE:=$(go env GOMODCACHE)}"

# in_home HOME COMMAND... runs a command as somebody with that home and no more.
in_home() {
	dir=$(dirname "$1")
	shift
	env -i HOME="$dir/home" XDG_RUNTIME_DIR="$dir/run" PATH="$work/bin:$PATH" SHELL="$(command -v bash)" \
		DISPLAY="$DISPLAY" LANG=C.UTF-8 GOCACHE="$GOCACHE" GOMODCACHE="$GOMODCACHE" "$@"
}

# new_home NAME [CONFIG] makes a home with a small project in ~/app; the rest of its
# configuration is read from standard input.
new_home() {
	home=$work/$1/home
	mkdir -p "$home/.config/tandemux" "$home/app"
	mkdir -m 700 "$work/$1/run"
	cat >"$home/.config/tandemux/config.toml"
	echo 'PS1="\[\e[36m\]\w\[\e[m\] \$ "' >"$home/.bashrc"
	printf 'module app\n\ngo 1.24\n' >"$home/app/go.mod"
	printf 'package main\n\nimport "fmt"\n\nfunc main() {\n\tfor i := range 3 {\n\t\tfmt.Println("hello", i)\n\t}\n}\n' >"$home/app/main.go"
	for n in "count from one" "greet three times" "say hello"; do echo "$n"; done >"$work/$1/log"
	in_home "$home" git -C "$home/app" init -q
	while read -r text; do
		in_home "$home" git -C "$home/app" add .
		in_home "$home" git -C "$home/app" -c user.name=ann -c user.email=ann@example.org commit -q --allow-empty -m "$text"
	done <"$work/$1/log"
}

# open_in TERMINAL [OPTION...] opens tandemux of the home that was made last in a window.
open_in() {
	name=$1
	shift
	cd "$home/app"
	case $name in
	alacritty) # it sets HOME of what it runs, so that env is for the inner one
		in_home "$home" alacritty --config-file /dev/null --class screens -o window.dimensions.columns=96 \
			-o window.dimensions.lines=30 -o font.size=10 "$@" -e env HOME="$home" tandemux >/dev/null 2>&1 & ;;
	kitty)
		in_home "$home" LIBGL_ALWAYS_SOFTWARE=1 kitty --config NONE --class screens -o remember_window_size=no \
			-o initial_window_width=96c -o initial_window_height=30c -o font_size=10 "$@" tandemux >/dev/null 2>&1 & ;;
	esac
	terminal=$!
	cd "$OLDPWD"
	window=$(xdotool search --sync --onlyvisible --class '^screens$' | tail -1)
	xdotool windowfocus --sync "$window"
	sleep 2
}

close() {
	kill "$terminal"
	wait "$terminal" 2>/dev/null || true
	terminal=
	in_home "$home" tandemux stop >/dev/null
}

keys() { xdotool key --delay 60 "$@"; sleep 0.5; }
after() { keys ctrl+space "$@"; }                       # the prefix, then keys
line() { xdotool type --delay 20 "$1"; keys Return; }   # a line, and enter
shot() { import -silent -window "$window" -strip -define png:compression-level=9 "$out/$1.png"; echo "$out/$1.png"; }

panes() {
	new_home panes <<-'EOF'
	long-command = 2
	EOF
	cat >"$home/ask" <<-'EOF'
	printf '\033]7501;state=blocked:kind=permission:app=claude:msg=%s\033\\' "$(printf 'Run the tests?' | base64 -w0)"
	cat
	EOF
	open_in alacritty
	line 'git log --oneline'
	line 'grep -c func nothing.go'
	after bar
	line 'go vet && go run .'
	sleep 4
	after c
	line 'sleep 3; false'
	after c
	line 'sh ~/ask'
	after 1
	sleep 4
	shot panes
	after w Down
	shot terminals
	keys Escape
	after minus # so that most keys can do something
	after x
	xdotool key ctrl+space
	sleep 1.5
	shot hint
	keys Escape
	close
}

chat() {
	new_home chat <<-EOF
	[agents.scripted]
	command = ["scripted-agent", "$work/agent"]
	title = "Scripted"
	EOF
	cat >"$work/agent" <<-'EOF'
	prompt
	update {"sessionUpdate":"plan","entries":[{"content":"Find the cause","priority":"high","status":"completed"},{"content":"Mend the port","priority":"high","status":"in_progress"},{"content":"Run the tests","priority":"high","status":"pending"}]}
	say The test fails because **two tests listen on one port**. This gives each its own:\n\n```go\nln, err := net.Listen("tcp", "127.0.0.1:0") // any free port\n```\n
	update {"sessionUpdate":"tool_call","toolCallId":"e","title":"Edit serve_test.go","kind":"edit","status":"completed","content":[{"type":"diff","path":"$CWD/serve_test.go","oldText":"package x\n\nfunc TestServe(t *testing.T) {\n\tln, err := net.Listen(\"tcp\", \"127.0.0.1:8080\")\n\tif err != nil {\n","newText":"package x\n\nfunc TestServe(t *testing.T) {\n\tln, err := net.Listen(\"tcp\", \"127.0.0.1:0\") // any free port\n\tif err != nil {\n"}]}
	call p session/request_permission {"sessionId":"$SESSION","toolCall":{"toolCallId":"c","title":"Run `sh count.sh`","kind":"execute","rawInput":{"command":"sh count.sh","description":"Count"}},"options":[{"optionId":"once","name":"Allow once","kind":"allow_once"},{"optionId":"always","name":"Always allow sh","kind":"allow_always"},{"optionId":"no","name":"Reject","kind":"reject_once"}]}
	EOF
	open_in alacritty
	after a Return Return
	sleep 1
	line 'Why does the test fail?'
	sleep 3
	shot chat
	close
}

# theme NAME THEME [OPTION...]
theme() {
	picture=$1 theme=$2
	shift 2
	new_home "$picture" <<-EOF
	theme = "$theme"
	EOF
	open_in alacritty "$@"
	line 'cat main.go'
	after c
	after 1
	after bar
	line 'ls -a'
	after minus
	line 'false'
	sleep 1
	shot "$picture"
	close
}

themes() {
	theme theme-dark tokyo-night
	theme theme-light rose-pine -o 'colors.primary.background="#ffffff"' -o 'colors.primary.foreground="#202020"'
}

pictures() {
	new_home pictures </dev/null
	convert -size 400x240 xc:royalblue -fill white -draw 'circle 200,120 200,40' -fill royalblue -draw 'circle 200,120 200,90' "$home/app/demo.png"
	cat >>"$home/.bashrc" <<-'EOF'
	# show FILE COLUMNS draws a PNG by kitty's graphics protocol.
	show() {
		local data more part=a=T,f=100,q=2,c=$2,
		data=$(base64 -w0 "$1")
		while [ -n "$data" ]; do
			more=1
			[ ${#data} -gt 4096 ] || more=0
			printf '\e_G%sm=%d;%s\e\\' "$part" $more "${data:0:4096}"
			data=${data:4096} part=
		done
		echo
	}
	EOF
	open_in kitty
	line 'show demo.png 40'
	after bar
	line 'show demo.png 30'
	after f
	sleep 1
	line 'echo a floating pane covers what is below it'
	sleep 1
	shot pictures
	close
}

# The page's own tests make these.
browser() {
	shots=$work/shots
	mkdir "$shots"
	(cd web/build && TANDEMUX_SHOTS=$shots go test -count 1 -run '^(TestTerminals|TestPhone|TestKeys|TestTask)$' .)
	page() { mv "$shots/$1.png" docs/screens/; }
	page browser
	page browser-palette
	page browser-task
	page phone
}

for group in ${*:-panes chat themes pictures browser}; do
	case $group in
	panes | chat | themes | pictures | browser) $group ;;
	*) echo "there is no group $group: panes, chat, themes, pictures, browser" >&2; exit 2 ;;
	esac
done
