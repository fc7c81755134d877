# Searches a tree with what is there: rg if there is one, else grep and find. The first word says what is
# wanted; paths are printed from the directory that the second word names. The first line of the answer is
# "ok" and who searched.
exec 2>/dev/null
LC_ALL=C
export LC_ALL

if command -v rg >/dev/null; then
    by=rg
elif printf 'x\n' | grep -qP x; then
    by=perl extended=-P
else
    by=plain extended=-E
fi

go() {
    if [ -d "$1" ]; then
        cd -- "$1" || exit 1
        start=.
    else
        above=${1%/*}
        cd -- "${above:-/}" || exit 1
        start=./${1##*/}
    fi
    printf 'ok %s\n' "$by"
}

# every GLOB PROGRAM...: runs the program on all files with such a name. One with a line break in its name
# could not be told from two.
every() {
    glob=$1
    shift
    if [ "$start" = . ]; then
        find . ! -name . -name '.*' -prune -o -type f -name "${glob:-*}" ! -name '*
*' -exec "$@" {} +
    else
        find "$start" -type f -name "${glob:-*}" -exec "$@" {} +
    fi
}

# When each of the files on standard input was changed, and its name.
dated() {
    if stat -c %Y / >/dev/null; then
        tr '\n' '\0' | xargs -0 stat -c '%Y %y/%n' --
    else
        tr '\n' '\0' | xargs -0 stat -f '%m %Fm/%N' --
    fi
}

# text_only END: leaves out files that are no text, for greps that do not. Each line is a name and what matches END.
text_only() {
    if [ "$(printf 'x\0\n' | grep -I -c x)" = 0 ]; then
        cat
        return
    fi
    while IFS= read -r line; do
        # shellcheck disable=SC2295
        [ "$(($(head -c 8192 <"${line%$1}" | tr -dc '\0' | wc -c)))" != 0 ] || printf '%s\n' "$line"
    done
}

# ripgrep GLOB WORDS...: in files with such a name. As a glob for rg it would bring back what is ignored, as a type
# what is hidden.
ripgrep() {
    glob=$1
    shift
    rg ${glob:+--type-add "wanted:$glob" --type wanted --glob '!.*'} --no-config --no-messages --no-ignore-global --color never "$@"
}

# counts ROOT PATTERN GLOB
counts() {
    go "$1"
    if [ "$by" = rg ]; then
        ripgrep "$3" -H -c -e "$2" -- "$start"
    else
        every "$3" grep "$extended" -I -H -c -e "$2" -- | grep -v ':0$' | text_only ':*'
    fi
}

# files ROOT PATTERN GLOB
files() {
    go "$1"
    if [ "$by" = rg ]; then
        ripgrep "$3" -l -e "$2" -- "$start" | dated
    else
        every "$3" grep "$extended" -I -l -e "$2" -- | text_only '' | dated
    fi
}

# names ROOT GLOB
names() {
    go "$1"
    if [ "$by" = rg ]; then
        ripgrep "$2" --files -- "$start" | dated
    else
        every "$2" printf '%s\n' | dated
    fi
}

# lines ROOT PATTERN CONTEXT LONGEST then pairs of FILE and how many lines of it
lines() {
    go "$1"
    pattern=$2 around=$3 longest=$4
    shift 4
    while [ "$#" -gt 0 ]; do
        printf '\001\n'
        if [ "$by" = rg ]; then
            ripgrep '' -n -I --no-heading -C "$around" -m "$2" -e "$pattern" -- "$1"
        else
            grep "$extended" -h -n -C "$around" -m "$2" -e "$pattern" -- "$1"
        fi | cut -b "1-$longest"
        shift 2
    done
}

order=$1
shift
"$order" "$@"
