# Answers one request about files: the first word says what, the others about what. The answer is a line that
# begins with "ok" or "no", after it the content where there is some.
exec 2>/dev/null

no() {
    printf 'no %s\n' "$1"
    exit 0
}

look() {
    stat -L -c '%f %s %Y %h' -- "$1" || stat -L -f '%Xp %z %m %l' -- "$1"
}

digest() {
    # Some print a mark before the sum when the name is odd, so it gets no name.
    set -- "$(sha256sum <"$1" || shasum -a 256 <"$1" || openssl dgst -sha256 -r <"$1")"
    printf '%s' "${1%% *}"
}

# Why a path cannot be used.
why() {
    if [ ! -e "$1" ] && [ ! -L "$1" ]; then
        # Somebody who may not look into a directory cannot tell what is missing.
        above=${1%/*}
        if [ -d "${above:-/}" ] && [ ! -x "${above:-/}" ]; then no denied; fi
        no missing
    fi
    [ -f "$1" ] || no kind
    no denied
}

# Whether what is there is what the writer saw: "any", "none" or a digest.
expected() {
    case $2 in
    any) ;;
    none) if [ -e "$1" ] || [ -L "$1" ]; then no exists; fi ;;
    *) [ "$(digest "$1")" = "$2" ] || no changed ;;
    esac
}

write() {
    target=$1 size=$2 expect=$3 draft_name=$4
    expected "$target" "$expect"
    # A link stays one; what it leads to is written.
    if [ -L "$target" ]; then target=$(readlink -f -- "$target") || no missing; fi
    if [ -e "$target" ] && [ ! -f "$target" ]; then no kind; fi
    folder=${target%/*}
    [ -d "${folder:-/}" ] || mkdir -p -- "$folder" || no denied
    if [ -e "$target" ]; then
        mode=$(stat -c %a -- "$target" || stat -f %Lp -- "$target")
        owner=$(stat -c %u:%g -- "$target" || stat -f %u:%g -- "$target")
    else
        mode=$(printf %o $((0666 & ~0$(umask)))) owner=
    fi
    draft=$folder/$draft_name
    trap 'rm -f -- "$draft"; exit 1' HUP INT TERM
    umask 077
    head -c "$size" >"$draft" || { rm -f -- "$draft"; no denied; }
    if [ "$(($(wc -c <"$draft")))" != "$size" ]; then rm -f -- "$draft"; no short; fi
    [ -z "$owner" ] || chown "$owner" "$draft"
    chmod "$mode" "$draft" || { rm -f -- "$draft"; no denied; }
    sum=$(digest "$draft")
    # Once more, as close to the change as can be.
    case $expect in
    any) ;;
    none) if [ -e "$target" ]; then rm -f -- "$draft"; no exists; fi ;;
    *) [ "$(digest "$target")" = "$expect" ] || { rm -f -- "$draft"; no changed; } ;;
    esac
    mv -f -- "$draft" "$target" || { rm -f -- "$draft"; no denied; }
    printf 'ok %s\n' "$sum"
}

order=$1 path=$2
case $order in
stat)
    [ -e "$path" ] || why "$path"
    printf 'ok %s\n' "$(look "$path")"
    ;;
read)
    if [ ! -f "$path" ] || [ ! -r "$path" ]; then why "$path"; fi
    printf 'ok %s\n' "$(look "$path")"
    if [ "$3" = 0 ]; then head -c "$4" <"$path"; else tail -c "+$(($3 + 1))" <"$path" | head -c "$4"; fi
    ;;
digest)
    if [ ! -f "$path" ] || [ ! -r "$path" ]; then why "$path"; fi
    printf 'ok %s\n' "$(digest "$path")"
    ;;
write) write "$path" "$3" "$4" "$5" ;;
list)
    [ -e "$path" ] || why "$path"
    [ -d "$path" ] || no kind
    if [ ! -r "$path" ] || [ ! -x "$path" ]; then no denied; fi
    printf 'ok\n'
    # A byte that no sane name holds begins each entry, since names may hold line breaks.
    form=$(printf '\001%%f %%s %%Y %%h %%n')
    cd -- "$path" && find . ! -name . -prune -exec stat -c "$form" -- {} +
    ;;
remove)
    if [ ! -e "$path" ] && [ ! -L "$path" ]; then why "$path"; fi
    if [ -d "$path" ] && [ ! -L "$path" ]; then rmdir -- "$path" || no denied; else rm -f -- "$path" || no denied; fi
    printf 'ok\n'
    ;;
rename)
    if [ ! -e "$path" ] && [ ! -L "$path" ]; then why "$path"; fi
    if [ -e "$3" ] || [ -L "$3" ]; then no exists; fi
    folder=${3%/*}
    [ -d "${folder:-/}" ] || mkdir -p -- "$folder" || no denied
    mv -f -- "$path" "$3" || no denied
    printf 'ok\n'
    ;;
esac
