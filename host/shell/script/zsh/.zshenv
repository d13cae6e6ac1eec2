# cotty's shell integration for zsh.
#
# zsh reads this because ZDOTDIR names its folder. It restores ZDOTDIR before
# anything else is read, so that zsh finds the user's files itself from there on.
# The hooks are put in place at the first prompt, after all of them.

if [[ -n ${COTTY_SHELL_KEPT+x} ]]; then
    ZDOTDIR=$COTTY_SHELL_KEPT
    'builtin' 'unset' COTTY_SHELL_KEPT
else
    'builtin' 'unset' ZDOTDIR
fi

if [[ -o interactive && -n ${COTTY_SHELL_NONCE-} ]]; then
    __cotty=$'\e]7501;'"$COTTY_SHELL_NONCE;"
    __cotty_n=0
    __cotty_eol=()

    # __cotty_precmd runs first at each prompt: the command before it has ended.
    __cotty_precmd() {
        'builtin' 'local' __cotty_status=$?
        'builtin' 'emulate' -L zsh
        setopt no_xtrace
        if (( $#__cotty_eol )); then # PROMPT_EOL_MARK, unless it was changed.
            if [[ ${PROMPT_EOL_MARK-} == "$__cotty_eol[1]" ]]; then
                if (( $#__cotty_eol > 1 )); then
                    typeset -g PROMPT_EOL_MARK=$__cotty_eol[2]
                else
                    unset PROMPT_EOL_MARK
                fi
            fi
            __cotty_eol=()
        fi
        local dir=$PWD
        if [[ $dir == *[[:cntrl:]]* ]]; then dir=; fi
        print -rn -- "${__cotty}D;$__cotty_status"$'\a'"${__cotty}W;$dir"$'\a'"${__cotty}A"$'\a' >/dev/tty
        if (( ! ${preexec_functions[(Ie)__cotty_preexec]} )); then
            typeset -ga preexec_functions
            preexec_functions+=(__cotty_preexec)
        fi
    } 2>/dev/null

    # __cotty_preexec runs last before each command, with the line as it was typed.
    __cotty_preexec() {
        'builtin' 'local' __cotty_sp=
        [[ -o promptsp && -o promptcr && -o promptpercent ]] && __cotty_sp=1
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
            line="${__cotty}E;$text"$'\a'
        fi
        (( ++__cotty_n ))
        print -rn -- "$line${__cotty}C;$__cotty_n"$'\a' >/dev/tty
        # zsh ends an incomplete line before it runs any hook, with this mark in
        # front: the only place to say that the command's output ends before it.
        if [[ -n $__cotty_sp && ${(t)PROMPT_EOL_MARK} != *(export|readonly)* ]]; then
            __cotty_eol=("%{${__cotty}D;%?"$'\a%}'"${PROMPT_EOL_MARK-%B%S%#%s%b}" ${PROMPT_EOL_MARK+"$PROMPT_EOL_MARK"})
            typeset -g PROMPT_EOL_MARK=$__cotty_eol[1]
        fi
        if (( ! ${precmd_functions[(Ie)__cotty_precmd]} )); then
            typeset -ga precmd_functions
            precmd_functions=(__cotty_precmd $precmd_functions)
        fi
    } 2>/dev/null

    # __cotty_init runs once, at the first prompt.
    __cotty_init() {
        'builtin' 'emulate' -L zsh
        setopt no_xtrace
        typeset -ga precmd_functions preexec_functions
        precmd_functions=(__cotty_precmd ${precmd_functions:#__cotty_init})
        preexec_functions+=(__cotty_preexec)
        unfunction __cotty_init
        __cotty_precmd
    } 2>/dev/null

    'builtin' 'typeset' -ga precmd_functions
    precmd_functions+=(__cotty_init)
fi
'builtin' 'unset' COTTY_SHELL_NONCE

if [[ -n ${COTTY_SHELL_RC+x} ]]; then # -f: zsh reads nothing from here on.
    'builtin' 'unset' COTTY_SHELL_RC
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
