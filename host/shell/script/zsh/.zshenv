# tandemux's shell integration for zsh.
#
# zsh reads this because ZDOTDIR names its folder. It restores ZDOTDIR before
# anything else is read, so that zsh finds the user's files itself from there on.
# The hooks are put in place at the first prompt, after all of them.

if [[ -n ${TANDEMUX_SHELL_KEPT+x} ]]; then
    ZDOTDIR=$TANDEMUX_SHELL_KEPT
    'builtin' 'unset' TANDEMUX_SHELL_KEPT
else
    'builtin' 'unset' ZDOTDIR
fi

if [[ -o interactive && -n ${TANDEMUX_SHELL_NONCE-} ]]; then
    __tandemux=$'\e]7501;'"$TANDEMUX_SHELL_NONCE;"
    __tandemux_n=0
    __tandemux_eol=()

    # __tandemux_precmd runs first at each prompt: the command before it has ended.
    __tandemux_precmd() {
        'builtin' 'local' __tandemux_status=$?
        'builtin' 'emulate' -L zsh
        setopt no_xtrace
        if (( $#__tandemux_eol )); then # PROMPT_EOL_MARK, unless it was changed.
            if [[ ${PROMPT_EOL_MARK-} == "$__tandemux_eol[1]" ]]; then
                if (( $#__tandemux_eol > 1 )); then
                    typeset -g PROMPT_EOL_MARK=$__tandemux_eol[2]
                else
                    unset PROMPT_EOL_MARK
                fi
            fi
            __tandemux_eol=()
        fi
        local dir=$PWD
        if [[ $dir == *[[:cntrl:]]* ]]; then dir=; fi
        print -rn -- "${__tandemux}D;$__tandemux_status"$'\a'"${__tandemux}W;$dir"$'\a'"${__tandemux}A"$'\a' >/dev/tty
        if (( ! ${preexec_functions[(Ie)__tandemux_preexec]} )); then
            typeset -ga preexec_functions
            preexec_functions+=(__tandemux_preexec)
        fi
    } 2>/dev/null

    # __tandemux_preexec runs last before each command, with the line as it was typed.
    __tandemux_preexec() {
        'builtin' 'local' __tandemux_sp=
        [[ -o promptsp && -o promptcr && -o promptpercent ]] && __tandemux_sp=1
        'builtin' 'emulate' -L zsh
        setopt no_xtrace no_multibyte
        local text=$1 char hex line= back='\\' semicolon='\x3b'
        if [[ -n $text ]] && (( $#text <= 32768 )); then
            text=${text//'\'/$back}
            text=${text//';'/$semicolon}
            while [[ $text == *[$'\x01'-$'\x1f\x7f']* ]]; do
                char=${text#"${text%%[$'\x01'-$'\x1f\x7f']*}"}
                char=${char[1]}
                printf -v hex '\\x%02x' "'$char"
                text=${text//"$char"/$hex}
            done
            line="${__tandemux}E;$text"$'\a'
        fi
        (( ++__tandemux_n ))
        print -rn -- "$line${__tandemux}C;$__tandemux_n"$'\a' >/dev/tty
        # zsh ends an incomplete line before it runs any hook, with this mark in
        # front: the only place to say that the command's output ends before it.
        if [[ -n $__tandemux_sp && ${(t)PROMPT_EOL_MARK} != *(export|readonly)* ]]; then
            __tandemux_eol=("%{${__tandemux}D;%?"$'\a%}'"${PROMPT_EOL_MARK-%B%S%#%s%b}" ${PROMPT_EOL_MARK+"$PROMPT_EOL_MARK"})
            typeset -g PROMPT_EOL_MARK=$__tandemux_eol[1]
        fi
        if (( ! ${precmd_functions[(Ie)__tandemux_precmd]} )); then
            typeset -ga precmd_functions
            precmd_functions=(__tandemux_precmd $precmd_functions)
        fi
    } 2>/dev/null

    # __tandemux_init runs once, at the first prompt.
    __tandemux_init() {
        'builtin' 'emulate' -L zsh
        setopt no_xtrace
        typeset -ga precmd_functions preexec_functions
        precmd_functions=(__tandemux_precmd ${precmd_functions:#__tandemux_init})
        preexec_functions+=(__tandemux_preexec)
        unfunction __tandemux_init
        __tandemux_precmd
    } 2>/dev/null

    'builtin' 'typeset' -ga precmd_functions
    precmd_functions+=(__tandemux_init)
fi
'builtin' 'unset' TANDEMUX_SHELL_NONCE

if [[ -n ${TANDEMUX_SHELL_RC+x} ]]; then # -f: zsh reads nothing from here on.
    'builtin' 'unset' TANDEMUX_SHELL_RC
    'builtin' 'setopt' no_rcs
    'builtin' 'return' 0
fi

# zsh asks a user without any startup file what to put into one. It would have done
# so before this file; then it found this one.
if [[ -o interactive ]] && 'builtin' 'zmodload' -s zsh/newuser; then
    'builtin' 'zmodload' -u zsh/newuser
fi

if [[ -r ${ZDOTDIR-$HOME}/.zshenv ]]; then
    'builtin' 'source' "${ZDOTDIR-$HOME}/.zshenv"
fi
