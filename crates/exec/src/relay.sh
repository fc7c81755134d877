# Carries standard input and output of a shell over a channel that knows only lines of text. $1 is what the shell
# runs. Lines that come in are a number and bytes in base64, or a number and - at the end; - alone ends the input
# whatever the number. Lines that go out begin with > for bytes in base64, with = for the exit code, or are a dot at
# the end.

hermes_in() {
    hermes_next=0
    while read -r hermes_number hermes_text; do
        [ "$hermes_number" != - ] || break
        # What was sent twice, because the first answer got lost, is read once.
        [ "$hermes_number" = "$hermes_next" ] || continue
        hermes_next=$((hermes_next + 1))
        [ "$hermes_text" != - ] || break
        printf %s "$hermes_text" | base64 -d
    done
}

hermes_out() {
    while :; do
        # One read takes what is there and waits for no more.
        hermes_text=$(dd bs=24576 count=1 2>/dev/null | base64 | tr -d '\n')
        [ -n "$hermes_text" ] || break
        # Only a short line is written at once, so that no other gets into it.
        printf '%s\n' "$hermes_text" | fold -w 4000 | while read -r hermes_text; do
            printf '>%s\n' "$hermes_text"
        done
    done
    printf '.\n'
}

{
    hermes_in | {
        /bin/sh -c "$1" 3>&-
        printf '=%s\n' "$?" >&3
    } | hermes_out
} 3>&1
