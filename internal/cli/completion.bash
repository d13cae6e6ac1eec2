# Completes tandemux's command lines in bash; it needs nothing besides.
_tandemux() {
	local cur=${COMP_WORDS[COMP_CWORD]} out line
	out=$("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" "$cur" 2>/dev/null) || return
	local -i directive=${out##*:}
	COMPREPLY=()
	while IFS= read -r line; do
		line=${line%%$'\t'*}
		[[ -n $line && $line == "$cur"* ]] && COMPREPLY+=("$(printf %q "$line")")
	done <<<"${out%:*}"
	((directive & 2)) && compopt -o nospace
	((directive & 4 || ${#COMPREPLY[@]})) || compopt -o default
}
complete -F _tandemux tandemux
