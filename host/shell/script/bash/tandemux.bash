# tandemux's shell integration for bash 4.4 and later.
#
# bash reads this in place of ~/.bashrc, or a login shell as $ENV in POSIX mode.
# It reads the user's files as bash would have, then adds marks to PS0, PS1, PS2
# and PROMPT_COMMAND. The functions are defined before the user's files are read,
# so that no alias gets into them.

__tandemux=$'\e]7501;'"${TANDEMUX_SHELL_NONCE-}"';'
unset TANDEMUX_SHELL_NONCE

# __tandemux_precmd runs first at each prompt: the command before it has ended. It
# leaves $? as it was, and $_, its own last argument.
__tandemux_precmd() {
    local status=$? ends=e
    builtin printf '%sD;%s\a%sW;%s\a' "$__tandemux" "$status" "$__tandemux" "${PWD##*[[:cntrl:]]*}" >/dev/tty
    if ((++__tandemux_prompt > 1)); then __tandemux_unsure=; fi
    if [[ ${PS1-} != *'${__tandemux'* ]]; then
        __tandemux_unsure=1
        [[ ${PROMPT_COMMAND[*]-} == *__tandemux_again* ]] || __tandemux_twice
    fi
    __tandemux_dress
    # e promises that PS1 will tell where the prompt ends.
    [[ ${PROMPT_COMMAND[*]-} != *__tandemux_again* && ${precmd_functions[*]-} != *__tandemux_dress* ]] || __tandemux_unsure=
    [[ ${PS1-} == *'${__tandemux'* && ! $__tandemux_unsure ]] || ends=
    builtin printf '%sA;%s;%s\a' "$__tandemux" "$__tandemux_prompt" "$ends" >/dev/tty
    return "$status"
}

# __tandemux_twice has PS1 looked at a second time, last, as it may be made anew for
# each prompt; not where there is a DEBUG trap, which would take our command for
# the user's next one. Then a PS1 that is made anew has no marks.
__tandemux_twice() {
    if [[ ${PROMPT_COMMAND-} && ! $__tandemux_debug && ${PS1+x} && ${PS1@a} != *[rx]* ]]; then
        __tandemux_hook '' '{ __tandemux_again; } 2>/dev/null'
    fi
}

# __tandemux_again runs last at each prompt, until it has nothing to do.
__tandemux_again() {
    local last
    if [[ ${PS1-} != *'${__tandemux'* ]]; then
        __tandemux_dress
    elif [[ ${PROMPT_COMMAND-} == *__tandemux_again* ]]; then
        builtin printf -v PROMPT_COMMAND %s "${PROMPT_COMMAND%$'\n'*__tandemux_again*}"
    else
        last=${#PROMPT_COMMAND[@]}
        [[ ${PROMPT_COMMAND[last - 1]-} != *__tandemux_again* ]] || unset "PROMPT_COMMAND[last - 1]"
    fi
}

# __tandemux_dress puts the marks around the prompts that have lost them. What it
# adds is guarded: where __tandemux is not set, as in a child that inherits a
# prompt, it is nothing. PS1 tells the status too, for a PROMPT_COMMAND that was
# cleared; \! in it is the number that the next line gets in the history.
__tandemux_dress() {
    # The empty mark keeps a backslash at the end of PS0 off the dollar sign.
    local execute='\e]7501\a${__tandemux:+$({ __tandemux_preexec \# \!; } 2>/dev/null)}'
    local start='\[${__tandemux:+${__tandemux}D;$?\a${__tandemux}W;${PWD##*[[:cntrl:]]*}\a${__tandemux}A;${__tandemux_prompt};e\a}\]'
    local end='\[${__tandemux:+${__tandemux[__tandemux_n=\!,0]}B\a}\]'
    local more='\[${__tandemux:+${__tandemux}F\a}\]' less='\[${__tandemux:+${__tandemux}G\a}\]'
    if ! builtin shopt -q promptvars; then # What is added would be shown as it is.
        local name text part
        for name in PS0 PS1 PS2; do
            [[ ${!name-} == *__tandemux* ]] || continue
            text=${!name}
            for part in "$execute" "$start" "$end" "$more" "$less"; do
                text=${text//"$part"/}
            done
            builtin printf -v "$name" %s "$text" || :
        done
        return 0
    fi
    if [[ ${PS0-} != *__tandemux* ]]; then
        builtin printf -v PS0 %s "${PS0-}$execute" || :
    fi
    # Children are to get nothing of ours: an exported PS1 stays as it is, unless
    # there is no other way.
    if [[ ${PS1+x} && $PS1 != *'${__tandemux'* ]] && [[ ${PS1@a} != *x* || ! $__tandemux_hooked ]]; then
        builtin printf -v PS1 %s "$start$PS1$end" || :
    fi
    if [[ ${PS2+x} && $PS2 != *'${__tandemux'* && ${PS2@a} != *x* ]]; then
        builtin printf -v PS2 %s "$more$PS2$less" || :
    fi
    return 0
}

# __tandemux_preexec runs in a subshell of PS0, with the numbers of the command and
# of the line in the history. The line is known if it is in the history under the
# number that it was to get. PS1 knows the number; PS0 does only as long as the history
# is not full.
__tandemux_preexec() {
    if [[ "${PROMPT_COMMAND[*]-} ${precmd_functions[*]-} ${PS1-}" != *__tandemux* ]]; then
        builtin printf '%sD\a' "$__tandemux" # Its end would not be told.
        return 0
    fi
    local LC_ALL=C HISTTIMEFORMAT= text number char hex back='\\' semicolon='\x3b'
    [[ ${PS1-} == *'${__tandemux'* ]] || __tandemux_n=$2
    text=$(\builtin \history 1)
    text=${text#"${text%%[! ]*}"}
    number=${text%%[!0-9]*}
    text=${text#"$number"}
    text=${text:2}
    if [[ $number == "$__tandemux_n" && ! $HISTTIMEFORMAT ]] && ((${#text} <= 32768)); then
        text=${text//\\/"$back"}
        text=${text//;/"$semicolon"}
        while [[ $text == *[[:cntrl:]]* ]]; do
            char=${text#"${text%%[[:cntrl:]]*}"}
            char=${char:0:1}
            builtin printf -v hex '\\x%02x' "'$char"
            text=${text//"$char"/"$hex"}
        done
        builtin printf '%sE;%s\a' "$__tandemux" "$text"
    fi
    builtin printf '%sC;%s\a' "$__tandemux" "$1"
}

# __tandemux_hook puts $1 before what PROMPT_COMMAND is and $2 behind it.
__tandemux_hook() {
    local before=$1${1:+$'\n'} behind=${2:+$'\n'}$2 now=
    if declare -p PROMPT_COMMAND >/dev/null 2>&1; then now=$(declare -p PROMPT_COMMAND); fi # A subshell takes a millisecond.
    now=${now#declare -}
    case ${now%% *} in
    *[rx]*) return 1 ;; # Readonly; or exported, and children don't have the function.
    *a*)
        if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
            PROMPT_COMMAND=(${1:+"$1"} "${PROMPT_COMMAND[@]}" ${2:+"$2"})
            return 0
        fi
        ;;
    esac
    builtin printf -v PROMPT_COMMAND %s "$before${PROMPT_COMMAND-}$behind"
}

__tandemux_install() {
    unset -f __tandemux_install
    if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then # No PS0.
        unset -v __tandemux
        unset -f __tandemux_precmd __tandemux_preexec __tandemux_dress __tandemux_again __tandemux_twice __tandemux_hook
        return 0
    fi
    __tandemux_n=0 __tandemux_prompt=0 __tandemux_hooked= __tandemux_debug=${1:+1} __tandemux_unsure=${PROMPT_COMMAND:+1}
    if [[ ${bash_preexec_imported-}${__bp_imported-} ]]; then
        precmd_functions=(__tandemux_precmd "${precmd_functions[@]}" __tandemux_dress) && __tandemux_hooked=1
    else
        __tandemux_twice
        if __tandemux_hook '{ __tandemux_precmd "$_"; } 2>/dev/null && : "$_"' ''; then __tandemux_hooked=1; fi
    fi
    __tandemux_dress
}

{ # So all of it is read before there are aliases.
if shopt -qo posix; then # A login shell, or --norc.
    # What POSIX mode has set otherwise, and leaves so.
    set +o posix
    shopt -u inherit_errexit
    if [[ ${HISTFILE-} == ~/.sh_history ]]; then HISTFILE=~/.bash_history; fi
    if [[ $(declare -p MAILCHECK 2>/dev/null) == 'declare -i MAILCHECK="600"' ]]; then MAILCHECK=60; fi
    if [[ ${TANDEMUX_SHELL_KEPT+x} ]]; then ENV=$TANDEMUX_SHELL_KEPT; else unset ENV; fi
    unset TANDEMUX_SHELL_KEPT
    if [[ ${TANDEMUX_SHELL_RC+x} ]]; then # --norc, or --noprofile for a login shell.
        unset TANDEMUX_SHELL_RC
    else
        if [[ -r /etc/profile ]]; then . /etc/profile; fi
        if [[ -r ~/.bash_profile ]]; then
            . ~/.bash_profile
        elif [[ -r ~/.bash_login ]]; then
            . ~/.bash_login
        elif [[ -r ~/.profile ]]; then
            . ~/.profile
        fi
    fi
else
    __tandemux_rc=${TANDEMUX_SHELL_RC-~/.bashrc} # --rcfile
    unset TANDEMUX_SHELL_RC
    case $__tandemux_rc in
    '~/'*) __tandemux_rc=~${__tandemux_rc#'~'} ;;
    */*) ;;
    *) __tandemux_rc=./$__tandemux_rc ;; # Not what is in the PATH.
    esac
    if [[ -r $__tandemux_rc ]]; then . "$__tandemux_rc"; fi
    unset -v __tandemux_rc
fi

# A DEBUG trap matters beside a PROMPT_COMMAND. In a function there would be none to be seen.
if [[ ${PROMPT_COMMAND-} ]]; then
    __tandemux_install "$(trap -p DEBUG)" 2>/dev/null || :
else
    __tandemux_install '' 2>/dev/null || :
fi
}
