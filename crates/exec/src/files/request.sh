# Answers one request about files: the first word says what, the others about what. The answer is a line that
# begins with "ok" or "no", after it the content where there is some.
exec 2>/dev/null
nl='
'
home=${HOME:-/}

no() {
    printf 'no %s\n' "$*"
    exit 0
}

# What is told of a file: kind and permissions, size, time, names, number, time with its fraction.
if stat -c %f / >/dev/null; then
    flag=-c form='%f %s %Y %h %i %y' mode_form=%a owner_form=%u:%g name_form=%n
else
    flag=-f form='%Xp %z %m %l %i %Fm' mode_form=%Lp owner_form=%u:%g name_form=%N
fi

look() {
    stat -L "$flag" "$form" -- "$1"
}

digest() {
    # Some print a mark before the sum when the name is odd, so it gets no name.
    set -- "$(sha256sum <"$1" || shasum -a 256 <"$1" || openssl dgst -sha256 -r <"$1")"
    printf '%s' "${1%% *}"
}

# Goes on with a plain file that can be read.
readable() {
    if [ ! -e "$1" ]; then
        # Somebody who may not look into a directory cannot tell what is missing.
        above=${1%/*}
        if [ -d "${above:-/}" ] && [ ! -x "${above:-/}" ]; then no denied; fi
        no missing
    fi
    [ ! -d "$1" ] || no directory
    [ -f "$1" ] || no plain
    [ -r "$1" ] || no denied
}

# word NUMBER FACTS: one of the words that look says.
word() {
    number=$1
    # shellcheck disable=SC2086
    set -- $2
    shift "$number"
    printf '%s' "$1"
}

expand() {
    case $1 in
    '~') at=$home ;;
    '~/'*) at=$home/${1#'~/'} ;;
    /*) at=$1 ;;
    *) return 1 ;;
    esac
}

# locate DIRECTORY PATH: every name on the way, then the real one.
locate() {
    if ! expand "$2"; then
        expand "$1" || no path
        at=${at%/}/$2
    fi
    printf 'ok\nh%s\0' "$at"
    count=0
    while [ -L "$at" ]; do
        count=$((count + 1))
        [ "$count" -le 40 ] || { printf 'c\0'; exit 0; }
        link=$(readlink -n -- "$at"; printf x)
        link=${link%x}
        case $link in
        /*) at=$link ;;
        *) at=${at%/*}/$link ;;
        esac
        printf 'h%s\0' "$at"
    done
    rest='' base=$at
    while [ ! -d "${base:-/}" ]; do
        part=${base##*/}
        case $part in
        # What is not there has nothing above it.
        ..) printf 'm\0'; exit 0 ;;
        '' | .) ;;
        *) rest=/$part$rest ;;
        esac
        base=${base%/*}
    done
    real=$(cd -P -- "${base:-/}" && pwd -P && printf x)
    [ -n "$real" ] || { printf 'd\0'; exit 0; }
    real=${real%"${nl}x"}
    real=${real%/}$rest
    real=${real:-/}
    printf 'r%s\0H%s\0' "$real" "$home"
    [ ! -e "$real" ] || printf 's%s\0' "$(look "$real")"
}

# Changes come as six words each: put or rm, path, the digest it must have or none, a file whose permissions
# a new one gets, size and digest of the new content.

bad() {
    reason=$1
    return 1
}

beside() {
    draft=${1%/*}/.hermes-tmp.$tag-$index
    backup=$draft-old
}

# make DIRECTORY: with those above it, remembering each.
make() {
    [ ! -d "${1:-/}" ] || return 0
    [ ! -e "$1" ] || bad below || return 1
    make "${1%/*}" || return 1
    (umask "$mask" && mkdir -- "$1") || [ -d "$1" ] || bad denied || return 1
    made=$1$nl$made
}

# create FILE: an empty one. Only the words of the shell tell a full disk from a directory that cannot be written.
create() {
    said=$(LC_ALL=C; { : >"$1"; } 2>&1) && return 0
    case $said in
    *'No space left on device' | *'uota exceeded') bad full ;;
    *) bad denied ;;
    esac
}

# same PATH DIGEST: whether it is the plain file that the writer saw.
same() {
    [ -e "$1" ] || bad changed || return 1
    [ ! -d "$1" ] || bad directory || return 1
    [ -f "$1" ] || bad plain || return 1
    [ -r "$1" ] || bad denied || return 1
    [ "$(digest "$1")" = "$2" ] || bad changed
}

stage() {
    beside "$2"
    [ -z "$stopped" ] || bad stopped || return 1
    model=$4
    if [ "$3" = none ]; then
        if [ -e "$2" ] || [ -L "$2" ]; then bad exists || return 1; fi
        make "${2%/*}" || return 1
    else
        same "$2" "$3" || return 1
        [ "$1" = put ] || return 0
        model=$2
        [ "$(word 3 "$(look "$2")")" = 1 ] || bad linked || return 1
    fi
    create "$draft" || return 1
    if [ "$several" = 1 ]; then
        tail -c "+$((taken + 1))" <"$blob" | head -c "$5" >"$draft" || bad full || return 1
        taken=$((taken + $5))
    else
        head -c "$5" >"$draft" || bad full || return 1
    fi
    [ "$(digest "$draft")" = "$6" ] || bad short || return 1
    mode=$new_mode
    if [ -n "$model" ]; then
        mode=$(stat -L "$flag" "$mode_form" -- "$model")
        owner=$(stat -L "$flag" "$owner_form" -- "$model")
        if [ "$3" != none ] && [ "$owner" != "$(stat "$flag" "$owner_form" -- "$draft")" ]; then
            chown "$owner" "$draft" || bad owner || return 1
        fi
    fi
    chmod "$mode" "$draft" || bad denied || return 1
    sync -- "$draft" || :
}

move() {
    beside "$2"
    if [ "$1" = rm ]; then
        same "$2" "$3" || return 1
        mv -f -- "$2" "$backup" || bad denied || return 1
    elif [ "$3" = none ]; then
        if ln -- "$draft" "$2"; then
            rm -f -- "$draft"
        elif [ -e "$2" ] || [ -L "$2" ]; then
            bad exists || return 1
        else
            mv -f -- "$draft" "$2" || bad denied || return 1
        fi
    else
        same "$2" "$3" || return 1
        if [ "$several" = 1 ]; then
            ln -- "$2" "$backup" || cp -p -- "$2" "$backup" || bad denied || return 1
        fi
        mv -f -- "$draft" "$2" || bad denied || return 1
    fi
    moved=$((index + 1))
}

undo() {
    beside "$2"
    rm -f -- "$draft"
    if [ -e "$backup" ]; then
        # Two names of one file may both stay when one is moved over the other.
        mv -f -- "$backup" "$2" && rm -f -- "$backup"
    elif [ "$3" = none ] && [ "$index" -lt "$moved" ]; then
        rm -f -- "$2"
    fi
}

settle() {
    beside "$2"
    rm -f -- "$backup"
    if [ "$1" = rm ]; then printf -- '-\n'; else printf '%s\n' "$(look "$2")"; fi
}

each() {
    action=$1 index=0
    shift
    while [ "$#" -gt 0 ]; do
        "$action" "$@" || return 1
        shift 6
        index=$((index + 1))
    done
}

# apply TAG SIZE CHANGE...: all of them or none.
apply() {
    tag=$1 whole=$2 blob=${TMPDIR:-/tmp}/.hermes-tmp.$1
    shift 2
    mask=$(umask)
    new_mode=$(printf %o $((0666 & ~0$mask)))
    umask 077
    several=0 taken=0 moved=0 made='' stopped='' reason='' index=0
    [ "$#" -le 6 ] || several=1
    [ -n "$(digest /dev/null)" ] || no digest
    trap 'stopped=1' HUP INT TERM
    if [ "$several" = 1 ]; then
        head -c "$whole" >"$blob"
        [ "$(($(wc -c <"$blob")))" = "$whole" ] || { rm -f -- "$blob"; no short 0; }
    fi
    if each stage "$@" && [ -z "$stopped" ]; then
        # From here on it is a matter of names, and nothing but the end of the machine comes in between.
        trap '' HUP INT TERM
        rm -f -- "$blob"
        if each move "$@"; then
            printf 'ok %s\n' "${made:+made}"
            each settle "$@"
            return 0
        fi
    fi
    failed=$index
    trap '' HUP INT TERM
    rm -f -- "$blob"
    each undo "$@"
    printf '%s' "$made" | while IFS= read -r folder; do rmdir -- "$folder"; done
    no "${reason:-stopped}" "$failed"
}

order=$1
shift
case $order in
locate) locate "$@" ;;
stat)
    [ -e "$1" ] || readable "$1"
    printf 'ok %s\n' "$(look "$1")"
    ;;
lines)
    readable "$1"
    facts=$(look "$1")
    count=$(word 1 "$facts")
    [ "$count" -le "$5" ] || count=$5
    printf 'ok %s\n' "$facts"
    head -c "$count" <"$1"
    LC_ALL=C awk -v "first=$2" -v "last=$3" -v "keep=$4" '
        NR >= first && NR <= last { printf "%d ", length($0); print substr($0, 1, keep) }
        END { print "= " NR }' <"$1"
    ;;
load)
    readable "$1"
    facts=$(look "$1")
    count=$(word 1 "$facts")
    [ "$count" -le "$2" ] || no large
    # Files of the kernel have no size and content all the same.
    [ "$count" -gt 0 ] || count=$(($2 + 1))
    printf 'ok %s\n' "$facts"
    head -c "$count" <"$1"
    ;;
list)
    [ -e "$1" ] || readable "$1"
    [ -d "$1" ] || no missing
    if [ ! -r "$1" ] || [ ! -x "$1" ]; then no denied; fi
    printf 'ok\n'
    # Bytes that no sane name holds begin and part each entry, since names may hold line breaks.
    form=$(printf '\001%s\002%s' "$form" "$name_form")
    cd -- "$1" && find . ! -name . -prune -exec stat "$flag" "$form" -- {} +
    ;;
apply) apply "$@" ;;
esac
