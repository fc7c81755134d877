# The profiles of the root in use, for --profile and the profile commands.
_hermes_profiles() {
    local root="${HERMES_HOME:-$HOME/.hermes}" directory
    root="${root%/}"
    case "$root" in
        */profiles/*) root="${root%/profiles/*}" ;;
    esac
    printf '%s\n' default
    for directory in "$root"/profiles/*/; do
        [[ -d "$directory" ]] || continue
        directory="${directory%/}"
        printf '%s\n' "${directory##*/}"
    done
}

_hermes_with_profiles() {
    local current="${COMP_WORDS[COMP_CWORD]}" previous=""
    ((COMP_CWORD > 0)) && previous="${COMP_WORDS[COMP_CWORD - 1]}"
    # Bash splits --profile=NAME at the equals sign.
    if [[ "$previous" == "=" && COMP_CWORD -gt 1 ]]; then
        previous="${COMP_WORDS[COMP_CWORD - 2]}"
    elif [[ "$current" == "=" ]]; then
        current=""
    fi
    local wants_profile=no
    case "$previous" in
        -p | --profile) wants_profile=yes ;;
        use | delete | describe | show | alias | rename | export | update | info)
            ((COMP_CWORD > 1)) && [[ "${COMP_WORDS[COMP_CWORD - 2]}" == profile ]] &&
                [[ "$current" != -* ]] && wants_profile=yes
            ;;
    esac
    if [[ "$wants_profile" == yes ]]; then
        COMPREPLY=($(compgen -W "$(_hermes_profiles)" -- "$current"))
        return 0
    fi
    _hermes "$@"
}

complete -F _hermes_with_profiles -o bashdefault -o default hermes
