# Prints what a log has after the first $2 bytes, at most $3 of them, and how many these are. Waits a while for
# them if there are none. $1 is the directory of the log.

hermes_turns=0
while [ "$hermes_turns" -lt 200 ]; do
    [ ! -e "$1/out" ] || hermes_size=$(($(wc -c <"$1/out")))
    [ "${hermes_size:-0}" -le "$2" ] || break
    # Some know only whole seconds.
    sleep 0.1 2>/dev/null || { sleep 1; hermes_turns=$((hermes_turns + 9)); }
    hermes_turns=$((hermes_turns + 1))
done
hermes_there=$((${hermes_size:-0} - $2))
[ "$hermes_there" -gt 0 ] || hermes_there=0
[ "$hermes_there" -lt "$3" ] || hermes_there=$3
printf 'hermes %s\n' "$hermes_there"
[ "$hermes_there" -eq 0 ] || tail -c "+$(($2 + 1))" "$1/out" | head -c "$hermes_there"
printf hermes
