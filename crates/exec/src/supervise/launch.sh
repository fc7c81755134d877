# Starts one command on the far side. Runs inside the shell that read it; set before it are hermes_home,
# hermes_guard, hermes_run, hermes_input (none, pipe, or rows and columns of a terminal), hermes_in (the
# directory) and the command as positional parameters.

hermes_began() {
    hermes_start=0
    { IFS= read -r hermes_line <"/proc/$$/stat"; } 2>/dev/null || return 0
    # The name stands in parentheses and may hold anything; what follows it is numbers.
    # shellcheck disable=SC2086
    set -- ${hermes_line##*) }
    shift 19
    hermes_start=$1
}

hermes_over() {
    { printf 'exit %s %s\n' "$hermes_run" "$1" 1<>"$hermes_home/events"; } 2>/dev/null
    rm -f "$hermes_home/run.$hermes_run"
    exit "$1"
}

hermes_tty=-
case $hermes_input in
none | pipe) ;;
*)
    hermes_tty=$(tty)
    # shellcheck disable=SC2086
    set -- $hermes_input -- "$@"
    stty sane rows "$1" cols "$2"
    shift 3
    ;;
esac

# The guard moves its directory away before it looks for what must end. So either it sees this record, or
# writing it fails and nothing starts.
hermes_began
{ printf '%s %s %s\n' "$$" "$hermes_start" "$hermes_tty" >"$hermes_home/run.$hermes_run"; } 2>/dev/null || exit 143
# Handlers, unlike ignored signals, are not handed down to the command.
trap : HUP INT QUIT TERM
HERMES_RUN=$hermes_guard.$hermes_run.
export HERMES_RUN
printf '\001hermes %s %s\n' "$hermes_run" "$$"

case $hermes_in in
'' | '~') ;;
'~/'*) hermes_in=$HOME/${hermes_in#'~/'} ;;
esac
case $hermes_in in
'') ;;
'~') cd || hermes_over 126 ;;
*) cd -- "$hermes_in" 2>&1 || hermes_over 126 ;;
esac

# Through env, so that no builtin or function of this shell is meant by the name.
case $hermes_input in
none) env "$@" </dev/null 2>&1 ;;
pipe) env "$@" 2>&1 ;;
*) env "$@" ;;
esac
hermes_over $?
