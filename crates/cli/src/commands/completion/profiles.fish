# The profiles of the root in use, for -p and --profile.
function __hermes_profiles
    set -l root $HOME/.hermes
    if set -q HERMES_HOME; and test -n "$HERMES_HOME"
        set root (string replace -r '/$' '' -- $HERMES_HOME)
    end
    set root (string replace -r '/profiles/[^/]*$' '' -- $root)
    echo default
    for directory in $root/profiles/*/
        basename $directory
    end
end

complete -c hermes -s p -l profile -x -a '(__hermes_profiles)' -d 'Use this profile instead of the active one'
