//! Whether a command failed because of its sandbox.

use crate::Exit;

/// What the sandbox probably refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Writing a file outside the writable directories.
    Write,
    /// Reading something hidden, or a call that reaches outside.
    Permission,
    /// Using the network.
    Network,
}

/// A failure that looks like the sandbox's doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// What was refused.
    pub what: Refusal,
    /// The line of the output that says so.
    pub line: String,
}

/// Only the end of the output is read: programs say last what ended them.
const READ_LINES: usize = 200;
/// Most characters of the line that is kept.
const LINE_LENGTH: usize = 300;

/// What the C library says, in the languages programs speak most, all in lower case.
const SAYINGS: &[(Refusal, &[&str])] = &[
    (
        Refusal::Write,
        &[
            "read-only file system",
            "erofs",
            "os error 30",
            "errno 30",
            "dateisystem ist nur lesbar",
            "das dateisystem ist nur lesbar",
            "système de fichiers accessible en lecture seulement",
            "sistema de archivos de solo lectura",
            "sistema de ficheros de sólo lectura",
            "file system in sola lettura",
            "sistema de arquivos somente para leitura",
            "файловая система доступна только для чтения",
            "只读文件系统",
            "読み込み専用ファイルシステムです",
        ],
    ),
    (
        Refusal::Network,
        &[
            "network is unreachable",
            "enetunreach",
            "temporary failure in name resolution",
            "could not resolve host",
            "name or service not known",
            "eai_again",
            "getaddrinfo enotfound",
            "not on the list of this sandbox",
            "das netzwerk ist nicht erreichbar",
            "le réseau n'est pas accessible",
            "la red es inaccesible",
            "网络不可达",
            "ネットワークに届きません",
        ],
    ),
    (
        Refusal::Permission,
        &[
            "permission denied",
            "operation not permitted",
            "permissionerror",
            "eacces",
            "eperm",
            "no new privileges",
            "must be owned by uid 0",
            "effective uid is not 0",
            "os error 13",
            "os error 1)",
            "keine berechtigung",
            "vorgang nicht zulässig",
            "die operation ist nicht erlaubt",
            "permission non accordée",
            "opération non permise",
            "permiso denegado",
            "operación no permitida",
            "permesso negato",
            "operazione non permessa",
            "permissão negada",
            "operação não permitida",
            "отказано в доступе",
            "операция не позволена",
            "权限不够",
            "不允许的操作",
            "許可がありません",
            "許可されていない操作です",
        ],
    ),
];

/// Whether the end of a failed confined command looks like the sandbox's doing. A guess from words: good for
/// asking whether to run it again outside, not for deciding so.
pub fn denied(output: &str, exit: Exit) -> Option<Denial> {
    match exit {
        Exit::Code(0) => None,
        Exit::Code(_) | Exit::Signal(_) => output.lines().rev().take(READ_LINES).find_map(|line| {
            let lower = line.to_lowercase();
            let what = SAYINGS
                .iter()
                .find(|(_, sayings)| sayings.iter().any(|saying| lower.contains(saying)))?
                .0;
            Some(Denial {
                what,
                line: line.trim().chars().take(LINE_LENGTH).collect(),
            })
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_recognised_in_several_languages_and_programs() {
        for (output, what) in [
            (
                "touch: cannot touch '/x': Read-only file system",
                Refusal::Write,
            ),
            (
                "OSError: [Errno 30] Read-only file system: '/x'",
                Refusal::Write,
            ),
            (
                "touch: '/x' kann nicht berührt werden: Das Dateisystem ist nur lesbar",
                Refusal::Write,
            ),
            (
                "Error: EACCES: permission denied, mkdir '/x'",
                Refusal::Permission,
            ),
            (
                "touch: impossible de faire un touch '/x': Permission non accordée",
                Refusal::Permission,
            ),
            (
                "error: failed (os error 13)\nhint: nothing",
                Refusal::Permission,
            ),
            (
                "sudo: The \"no new privileges\" flag is set, which prevents sudo from running as root.",
                Refusal::Permission,
            ),
            (
                "curl: (6) Could not resolve host: example.org",
                Refusal::Network,
            ),
        ] {
            let denial = denied(output, Exit::Code(1));
            assert_eq!(denial.map(|denial| denial.what), Some(what), "{output}");
        }
    }

    #[test]
    fn success_and_other_failures_are_no_refusal() {
        assert_eq!(denied("permission denied, went on", Exit::Code(0)), None);
        assert_eq!(denied("2 tests failed", Exit::Code(1)), None);
    }
}
