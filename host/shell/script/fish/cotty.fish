# cotty's shell integration for fish 3 and later, read after the user's
# configuration. fish tells everything by events, so nothing is wrapped.

set -g __cotty \e']7501;'"$COTTY_SHELL_NONCE;"
set -e COTTY_SHELL_NONCE
set -g __cotty_n 0

function __cotty_prompt --on-event fish_prompt
    set -l dir "$PWD"
    string match -qr '[\x01-\x1f\x7f]' -- "$dir"; and set dir
    printf '%sW;%s\a%sA\a' $__cotty "$dir" $__cotty >/dev/tty
end

function __cotty_preexec --on-event fish_preexec
    set -g __cotty_n (math $__cotty_n + 1)
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
        printf '%sE;%s\a%sC;%s\a' $__cotty "$line" $__cotty $__cotty_n >/dev/tty
    else
        printf '%sC;%s\a' $__cotty $__cotty_n >/dev/tty
    end
end

function __cotty_postexec --on-event fish_postexec
    printf '%sD;%s\a' $__cotty $status >/dev/tty
end
