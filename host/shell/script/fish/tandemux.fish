# tandemux's shell integration for fish 3 and later, read after the user's
# configuration. fish tells everything by events, so nothing is wrapped.

set -g __tandemux \e']7501;'"$TANDEMUX_SHELL_NONCE;"
set -e TANDEMUX_SHELL_NONCE
set -g __tandemux_n 0

function __tandemux_prompt --on-event fish_prompt
    set -l dir "$PWD"
    string match -qr '[\x01-\x1f\x7f]' -- "$dir"; and set dir
    printf '%sW;%s\a%sA\a' $__tandemux "$dir" $__tandemux >/dev/tty
end

function __tandemux_preexec --on-event fish_preexec
    set -g __tandemux_n (math $__tandemux_n + 1)
    set -l line "$argv[1]"
    if string match -qr -- '[\\\\;\x01-\x1f\x7f]' "$line"
        set line (string replace -a -- \\ \\\\ "$line")
        set line (string replace -a -- ';' '\x3b' $line)
        set line (string join -- '\x0a' $line)
    end
    while set -l char (string match -r -- '[\x01-\x1f\x7f]' "$line")
        set line (string replace -a -- $char (printf '\\\\x%02x' "'$char") "$line")
    end
    if test (string length -- "$line") -le 32768
        printf '%sE;%s\a%sC;%s\a' $__tandemux "$line" $__tandemux $__tandemux_n >/dev/tty
    else
        printf '%sC;%s\a' $__tandemux $__tandemux_n >/dev/tty
    end
end

function __tandemux_postexec --on-event fish_postexec
    printf '%sD;%s\a' $__tandemux $status >/dev/tty
end
