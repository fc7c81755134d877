# Watches over every command of one connection on the far side. Its standard input brings orders, a line
# each; when it ends, or nothing comes for too long, everything that was started is ended. Set before it are
# hermes_home (its directory, not there yet), hermes_guard (its name), hermes_generation (how many there
# were before it) and hermes_patience (seconds, 0 for ever).

umask 077
# Beside its own directory is the one for what its commands keep, shared by all guards of this name.
hermes_kept=${hermes_home%-*}
mkdir -p "$hermes_kept" && mkdir "$hermes_home" && mkfifo "$hermes_home/events" || exit 1
hermes_pump='' hermes_watch='' hermes_grep=''

# What happens is written to a pipe with a name, so that commands can report without a connection of
# their own. Opened for both directions nobody waits for the other side. Only this shell holds it open, so the
# pump comes to the end of it when the shell is gone, also when somebody killed it.
exec 8<>"$hermes_home/events"
cat <"$hermes_home/events" 8>&- &
hermes_pump=$!

if [ "$hermes_patience" -gt 0 ]; then
    while sleep "$hermes_patience"; do
        rm "$hermes_home/beat" || { kill -TERM "$$"; break; }
    done >/dev/null 2>&1 </dev/null 8>&- &
    hermes_watch=$!
    : >"$hermes_home/beat"
fi

# Whether launchers can have what loses its parent adopted.
if env PERL_BADLANG=0 perl -e 'exit !-e "/proc/self/exe"' >/dev/null 2>&1 </dev/null; then
    : >"$hermes_home/perl"
elif env python3 -I -S -c 'import ctypes, os, sys
sys.exit(not os.path.exists("/proc/self/exe"))' >/dev/null 2>&1 </dev/null; then
    : >"$hermes_home/python"
fi

# Some greps stop at the first zero byte; only one that does not can search environments.
if env HERMES_A=1 HERMES_B=1 grep -slF HERMES_B=1 /proc/self/environ >/dev/null 2>&1; then
    hermes_grep=1
fi

hermes_say() {
    printf '%s\n' "$*" 1<>"$hermes_home/events"
}

hermes_stat() {
    { IFS= read -r hermes_line <"/proc/$1/stat"; } 2>/dev/null || return 1
    # shellcheck disable=SC2086
    set -- ${hermes_line##*) }
    [ "$#" -gt 19 ] && [ "$1" != Z ] || return 1
    hermes_parent=$2 hermes_group=$3 hermes_session=$4
    shift 19
    hermes_start=$1
}

# For those who want to know whether somebody is here: which process, since when, and among which processes.
hermes_space=$(readlink "/proc/$$/ns/pid" 2>/dev/null)
hermes_start=0
hermes_stat "$$"
printf '%s\n%s %s\n' "$$" "$hermes_start" "$hermes_space" >"$hermes_home/guard" || exit 1

# hermes_is_left HOME: whether the guard of this directory was killed.
hermes_is_left() {
    { read -r hermes_pid && read -r hermes_since hermes_where; } 2>/dev/null <"$1/guard" || return 1
    [ -n "$hermes_space" ] && [ "$hermes_where" = "$hermes_space" ] || return 1
    ! { hermes_stat "$hermes_pid" && [ "$hermes_start" = "$hermes_since" ]; }
}

# hermes_forget KEPT: removes what commands kept when no guard of that name is here any more.
hermes_forget() {
    for hermes_other in "$1"-*; do
        [ ! -d "$hermes_other" ] || return 0
    done
    rm -rf "$1"
}

hermes_carries() {
    while IFS= read -r hermes_line || [ -n "$hermes_line" ]; do
        case $hermes_line in *"$2"*) return 0 ;; esac
    done 2>/dev/null <"/proc/$1/environ"
    return 1
}

# hermes_roots FILE...: who started the commands of these records, if they still run.
hermes_roots() {
    hermes_found=' '
    for hermes_record in "$@"; do
        { read -r hermes_pid hermes_since hermes_rest <"$hermes_record"; } 2>/dev/null || continue
        if [ -d /proc/self ]; then
            hermes_stat "$hermes_pid" && [ "$hermes_start" = "$hermes_since" ] || continue
        fi
        hermes_found="$hermes_found$hermes_pid "
    done
}

# hermes_holders RUN: who holds the record of this run, or of any when there is none, gone or not.
hermes_holders() {
    hermes_name="hermes-$hermes_guard-[^/]*/run\.${1:-[^ ]*}\( (deleted)\)\{0,1\}"
    # shellcheck disable=SC2012
    ls -l /proc/[0-9]*/fd/9 2>/dev/null | sed -n "s#.* /proc/\([0-9]*\)/fd/9 -> .*/$hermes_name\$#\1#p"
}

# hermes_victims MARK: everything that carries the mark, holds a record, or descends from, or shares a session
# or process group with, one of hermes_found.
hermes_victims() {
    hermes_list=' ' hermes_marked=' '
    hermes_what=${1#"HERMES_RUN=$hermes_guard"}
    case $hermes_what in
    .*)
        hermes_what=${hermes_what#.}
        for hermes_pid in $(hermes_holders "${hermes_what%.}"); do
            hermes_marked="$hermes_marked$hermes_pid "
        done
        ;;
    esac
    if [ -n "$hermes_grep" ]; then
        for hermes_pid in $(grep -slF "$1" /proc/[0-9]*/environ); do
            hermes_pid=${hermes_pid#/proc/}
            hermes_marked="$hermes_marked${hermes_pid%/environ} "
        done
    fi
    hermes_more=1
    while [ -n "$hermes_more" ]; do
        hermes_more=''
        for hermes_pid in /proc/[0-9]*; do
            hermes_pid=${hermes_pid#/proc/}
            case " $$ $hermes_pump $hermes_watch $hermes_list" in *" $hermes_pid "*) continue ;; esac
            hermes_stat "$hermes_pid" || continue
            case $hermes_marked in
            *" $hermes_pid "*) ;;
            *) case "$hermes_found$hermes_list" in
                *" $hermes_pid "* | *" $hermes_parent "*) ;;
                *) case $hermes_found in
                    *" $hermes_group "* | *" $hermes_session "*) ;;
                    *) [ -z "$hermes_grep" ] && hermes_carries "$hermes_pid" "$1" || continue ;;
                    esac ;;
                esac ;;
            esac
            hermes_list="$hermes_list$hermes_pid "
            hermes_more=1
        done
    done
}

# hermes_signal MARK SIGNAL SPARED: signals the victims, false when there were none.
hermes_signal() {
    if [ ! -d /proc/self ]; then
        for hermes_pid in $hermes_found; do kill -s "$2" -- "-$hermes_pid" 2>/dev/null; done
        return 1
    fi
    hermes_victims "$1"
    hermes_any=1
    for hermes_pid in $hermes_list; do
        case $3 in *" $hermes_pid "*) continue ;; esac
        kill -s "$2" "$hermes_pid" 2>/dev/null && hermes_any=0
    done
    return "$hermes_any"
}

# hermes_end MARK SIGNAL SPARED: a tree that forks while it is being killed needs several rounds.
hermes_end() {
    hermes_rounds=0
    while hermes_signal "$1" "$2" "$3"; do
        [ "$2" = KILL ] && [ "$hermes_rounds" -lt 20 ] || break
        hermes_rounds=$((hermes_rounds + 1))
    done
}

hermes_finish() {
    trap '' HUP INT TERM
    mv "$hermes_home" "$hermes_home.ending"
    hermes_roots "$hermes_home.ending"/run.*
    if hermes_signal "HERMES_RUN=$hermes_guard." TERM ' '; then
        sleep 1
        hermes_end "HERMES_RUN=$hermes_guard." KILL ' '
    fi
    rm -rf "$hermes_home.ending"
    hermes_forget "$hermes_kept"
    if [ -n "$hermes_watch" ]; then
        # Its sleep goes first: alone it would be an orphan for a while.
        hermes_found=" $hermes_watch "
        hermes_signal "HERMES_RUN=$hermes_guard-" KILL ' '
        kill -s KILL "$hermes_watch" 2>/dev/null
    fi
    kill -s KILL "$hermes_pump" 2>/dev/null
    exit 0
}

trap hermes_finish HUP INT TERM
if [ "$hermes_generation" -gt 0 ]; then
    # Somebody ended the guard before this one; nobody looks after what it left.
    hermes_found=' '
    hermes_end "HERMES_RUN=$hermes_guard." KILL ' '
fi
# Nobody else clears up behind a guard that was killed; states of shells hold exported variables.
for hermes_left in "${hermes_home%/*}"/hermes-*/guard; do
    hermes_left=${hermes_left%/guard}
    [ ! -h "$hermes_left" ] && hermes_is_left "$hermes_left" || continue
    rm -rf "$hermes_left"
    hermes_forget "${hermes_left%-*}"
done 2>/dev/null
printf '\001hermes guard %s\n' "$$"
while read -r hermes_order hermes_id hermes_one hermes_two; do
    case $hermes_order in
    end)
        hermes_roots "$hermes_home/run.$hermes_id"
        # Whoever started the command lives on to report how it ended.
        hermes_end "HERMES_RUN=$hermes_guard.$hermes_id." "$hermes_one" "$hermes_found"
        hermes_say "done $hermes_id"
        ;;
    size)
        { read -r hermes_pid hermes_since hermes_tty <"$hermes_home/run.$hermes_id" &&
            stty rows "$hermes_one" cols "$hermes_two" <"$hermes_tty"; } 2>/dev/null
        hermes_say "done $hermes_id"
        ;;
    beat)
        : >"$hermes_home/beat"
        hermes_say alive
        ;;
    esac
done
hermes_finish
