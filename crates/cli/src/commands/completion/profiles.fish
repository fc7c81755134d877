# The profiles of the root in use, for --profile and the profile commands.
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
complete -c hermes -n '__fish_seen_subcommand_from profile; and __fish_seen_subcommand_from use delete describe show alias rename export update info' -f -a '(__hermes_profiles)'
