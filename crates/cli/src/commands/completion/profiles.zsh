# The profiles of the root in use, for --profile and the profile commands.
_hermes_profiles() {
    local root="${${HERMES_HOME:-$HOME/.hermes}%/}"
    [[ "$root" == */profiles/* ]] && root="${root%/profiles/*}"
    local -a names
    names=(default "$root"/profiles/*(N/:t))
    compadd -a names
}
