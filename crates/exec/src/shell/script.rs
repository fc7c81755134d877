//! The text bash is started with: takes the state over, runs the command, hands the state on.
//!
//! Everything happens in builtins, called so that no alias or function of the user gets in between: a
//! command costs no process but its own.

use std::path::Path;

use crate::supervise::quote;
use crate::warden::MARKER;

/// What does not fit into one argument comes in a file: all arguments together have a limit too.
const LONGEST_ARGUMENT: usize = 96 << 10;

/// A longer state is not told of.
pub(super) const LONGEST_TOLD: usize = 64 << 10;

/// Prints the state. Fails when any part of it could not be written: half a state is none. A function may hold
/// patterns that can only be read while extended ones are on, and what cannot be read would end the reading of all
/// that follows: they are on while the state is taken over, and then as the command left them. A variable that came with
/// the environment and is gone would come again with the next one, so that is said too, where the shell can tell.
pub(super) const STATE: &str = r#"\builtin printf '%s\n' '\builtin shopt -s extglob' && \builtin export -p && {
{ __hermes_e=() __hermes_g=
\builtin mapfile -d '' -t __hermes_e </proc/$$/environ || \builtin :
for __hermes_v in ${__hermes_e[@]+"${__hermes_e[@]%%=*}"}; do
[[ $__hermes_v == *[!a-zA-Z0-9_]* || $__hermes_v == [0-9]* || -n ${!__hermes_v+x} ]] ||
__hermes_g+="\builtin unset -v $__hermes_v"$'\n'
done; } 2>/dev/null
\builtin printf '%s' "$__hermes_g"
} && \builtin declare -f && \builtin alias -p && { \builtin shopt -q extglob || \builtin printf '%s\n' '\builtin shopt -u extglob'; }"#;

/// How a command is put together.
pub(super) struct Script<'a> {
    /// Said in front of the trailer.
    pub(super) word: &'a str,
    /// The file with the state to go on from.
    pub(super) from: Option<&'a Path>,
    /// The file the state goes to.
    pub(super) to: &'a Path,
    pub(super) start: Start<'a>,
    pub(super) command: &'a str,
    /// The file the command stands in, when it is too long for an argument.
    pub(super) file: Option<&'a Path>,
    pub(super) told: Told,
}

/// What is said of the state at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// Whether it was saved.
    Saved,
    /// What is in it too, for a place whose files may be gone the next time.
    Whole,
}

/// Where a command starts.
pub(super) enum Start<'a> {
    /// There or not at all.
    At(&'a str),
    /// There, or as near to it as still exists.
    Near(&'a Path),
}

impl Script<'_> {
    /// What bash is given.
    pub(super) fn build(&self) -> Vec<String> {
        let mut script = self.stop_without_state();
        script.push_str(&begin(self.from, &self.start));
        let careful = needs_care(self.command);
        if careful {
            script.push_str("\\builtin exec {__hermes_f}>&1\n");
        }
        script.push_str(&format!("__hermes_leave={}\n", quote(&self.leave(careful))));
        script.push_str(&format!("\\builtin trap {} EXIT\n", quote(AT_END)));
        if careful {
            script.push_str(&format!("__hermes_end={}\n", quote(AT_END)));
            script.push_str(CARE);
        }
        arguments(script, self.command, self.file)
    }

    /// Where the state is not there any more nothing begins: it has to be put back first.
    fn stop_without_state(&self) -> String {
        let there = match self.from {
            Some(from) => format!("-r {}", quote(&from.to_string_lossy())),
            None => {
                let folder = self.to.parent().unwrap_or(self.to);
                format!("-d {}", quote(&folder.to_string_lossy()))
            }
        };
        format!(
            "[[ {there} ]] || {{ \\builtin printf '\\036{}\\037\\036'; \\builtin exit 0; }}\n",
            self.word
        )
    }

    /// What is done at the end: save the state, say where we are. In the shell itself, never in a subshell
    /// that happens to end.
    fn leave(&self, careful: bool) -> String {
        let to = quote(&self.to.to_string_lossy());
        // Where the command may have sent its output elsewhere, this is not for that place.
        let aside = if careful { " >&$__hermes_f" } else { "" };
        let tell = match self.told {
            Told::Saved => String::new(),
            Told::Whole => format!(
                "; IFS= \\builtin read -r -d '' __hermes_v <{to} || \\builtin :\n\
                 (( ${{#__hermes_v}} > {LONGEST_TOLD} )) || \
                 \\builtin printf '\\036{0}\\037\\037%s\\037{0}\\036' \"$__hermes_v\"{aside}",
                self.word
            ),
        };
        let save = format!(
            "if {{ {STATE}; }} 2>/dev/null >| {to}; \
             then __hermes_k=1{tell}; else __hermes_k=0; fi\n\
             \\builtin printf '\\036{}\\037%s\\037%s\\037%s\\036' \"$__hermes_k\" \"$__hermes_l\" \"$PWD\"",
            self.word
        );
        if careful {
            // Something of the command may run afterwards and must find its settings as they were.
            format!(
                "if [[ $BASHPID == $$ ]]; then\n\\builtin unset -f trap\n\
                 __hermes_u=$(\\builtin umask); \\builtin umask 077\n{save}{aside}\n\
                 \\builtin umask \"$__hermes_u\"\nfi\n\
                 {{ [[ $__hermes_x != *x* ]] || \\builtin set -x; }} 2>/dev/null"
            )
        } else {
            format!("if [[ $BASHPID == $$ ]]; then \\builtin umask 077\n{save}\nfi")
        }
    }
}

/// Takes the state over and goes to where the command starts.
fn begin(from: Option<&Path>, start: &Start<'_>) -> String {
    let mut script = String::new();
    if let Some(from) = from {
        // The state carries the variable that marks the run before this one.
        script.push_str(&format!(
            "__hermes_m=${MARKER}\n\\builtin source {} >/dev/null 2>&1\n\
             \\builtin export {MARKER}=\"$__hermes_m\"\n\\builtin unset -f trap\n",
            quote(&from.to_string_lossy()),
        ));
    }
    script.push_str("\\builtin shopt -s expand_aliases\n__hermes_o=$OLDPWD __hermes_l=0\n");
    script.push_str(&match start {
        Start::At(directory) => format!(
            "\\builtin cd -- {} || \\builtin exit 126\n",
            quote_path(directory)
        ),
        Start::Near(directory) => format!(
            "__hermes_d={}\nuntil \\builtin cd -- \"${{__hermes_d:-/}}\" 2>/dev/null; do \
             __hermes_l=1; [[ $__hermes_d == */* ]] || __hermes_d=; \
             __hermes_d=${{__hermes_d%/*}}; done\n",
            quote_directory(directory)
        ),
    });
    // `cd -` means where the command before this one came from.
    script.push_str("[[ -z $__hermes_o ]] || OLDPWD=$__hermes_o\n");
    script
}

/// A command that goes on from the state and hands none on.
pub(super) fn detached(
    from: Option<&Path>,
    start: Start<'_>,
    command: &str,
    file: Option<&Path>,
) -> Vec<String> {
    arguments(begin(from, &start), command, file)
}

/// Whether a command has to be put into a file first.
pub(super) fn is_long(command: &str) -> bool {
    quote(command).len() > LONGEST_ARGUMENT
}

/// What puts standard input into a file, in a directory that may be gone.
pub(super) fn put(file: &Path) -> Vec<String> {
    let folder = quote(&file.parent().unwrap_or(file).to_string_lossy());
    let file = quote(&file.to_string_lossy());
    let script = format!(
        "\\builtin umask 077\n[[ -d {folder} ]] || mkdir -p -- {folder}\n\\builtin exec cat >| {file}\n"
    );
    vec!["-c".to_owned(), script]
}

/// What bash is given to run a command after the script that prepares it. Only what follows a zero byte would be
/// lost of a file, and no argument could hold one either.
fn arguments(mut script: String, command: &str, file: Option<&Path>) -> Vec<String> {
    match file {
        None => script.push_str(&format!("\\builtin eval -- {}\n", quote(command))),
        Some(file) => {
            let file = quote(&file.to_string_lossy());
            script.push_str(&format!(
                "IFS= \\builtin read -r -d '' __hermes_c <{file}\n\
                 \\builtin command rm -f -- {file}\n\
                 \\builtin eval -- \"$__hermes_c\"\n"
            ));
        }
    }
    vec!["-c".to_owned(), script]
}

/// What the shell does when it ends. A command that shows what it does must not show this.
const AT_END: &str = r#"{ __hermes_s=$? __hermes_x=$-; \builtin set +x; } 2>/dev/null
\builtin eval "$__hermes_leave""#;

/// For commands that use `exec` or `trap` themselves: the state is saved before the shell is replaced, and
/// a handler of theirs for the end comes after ours instead of in its place. It stands in both branches
/// because only there it finds the status the command ended with.
const CARE: &str = r#"trap() {
  \builtin trap "$@" || \builtin return
  [[ $BASHPID == $$ ]] || \builtin return 0
  \builtin local __hermes_t="$(\builtin trap -p EXIT)"
  [[ $__hermes_t != *__hermes_leave* ]] || \builtin return 0
  \builtin eval "\\builtin set -- $__hermes_t"
  __hermes_t=$__hermes_end
  [[ -z $3 ]] || __hermes_t+=$'\n''if (\builtin exit $__hermes_s); then'$'\n'"$3"$'\n''else'$'\n'"$3"$'\n''fi'
  \builtin trap "$__hermes_t" EXIT
}
\builtin set -T
\builtin trap 'if [[ $BASH_COMMAND == *exec\ * ]]; then \builtin eval "$__hermes_end"; fi' DEBUG
"#;

/// Whether a command mentions what would get past the usual way of ending.
fn needs_care(command: &str) -> bool {
    command
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .any(|word| matches!(word, "exec" | "trap"))
}

/// The same for a path that may be no text: bytes by their numbers, which arrive as they are everywhere.
fn quote_directory(path: &Path) -> String {
    if let Some(text) = path.to_str() {
        return quote_path(text);
    }
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let numbers: String = bytes.map(|byte| format!("\\x{byte:02x}")).collect();
    format!("$'{numbers}'")
}

/// A path as one word; a tilde in front still means the home directory there.
pub(super) fn quote_path(path: &str) -> String {
    match path.strip_prefix('~') {
        Some("") => "\"$HOME\"".to_owned(),
        Some(rest) if rest.starts_with('/') => format!("\"$HOME\"{}", quote(rest)),
        Some(_) | None => quote(path),
    }
}
