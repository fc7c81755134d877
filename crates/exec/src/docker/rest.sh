# The main program of a container. It ends, and the container with it, when nobody has used the container for $1
# seconds; it looks every $2. Who uses it has a guard here, which writes down its process id first. Whoever made the
# container gets $3 seconds more to come.

trap 'exit 0' TERM INT
idle=-$3
while [ "$idle" -lt "$1" ]; do
    sleep "$2" &
    wait "$!"
    idle=$((idle + $2))
    for guard in /tmp/hermes-*/guard; do
        { read -r pid <"$guard" && kill -0 "$pid"; } 2>/dev/null && idle=0
    done
done
exit 0
