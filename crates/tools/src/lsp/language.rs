//! Which server knows which files.

use std::path::Path;

/// A server for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) name: String,
    pub(super) argv: Vec<String>,
    /// What the protocol calls the language of the file.
    pub(super) language: String,
}

/// A server of the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnServer {
    /// Its name in the settings; one that is known replaces that.
    pub name: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// The ends of the names of its files; those of the known server of this name when there are none.
    pub extensions: Vec<String>,
}

struct Known {
    name: &'static str,
    argv: &'static [&'static str],
    /// Ends of names and what the protocol calls the language.
    files: &'static [(&'static str, &'static str)],
}

const PYTHON: &[(&str, &str)] = &[("py", "python"), ("pyi", "python")];

/// In the order in which they are looked for.
const KNOWN: &[Known] = &[
    Known {
        name: "pyright",
        argv: &["pyright-langserver", "--stdio"],
        files: PYTHON,
    },
    Known {
        name: "basedpyright",
        argv: &["basedpyright-langserver", "--stdio"],
        files: PYTHON,
    },
    Known {
        name: "pylsp",
        argv: &["pylsp"],
        files: PYTHON,
    },
    Known {
        name: "typescript",
        argv: &["typescript-language-server", "--stdio"],
        files: &[
            ("ts", "typescript"),
            ("mts", "typescript"),
            ("cts", "typescript"),
            ("tsx", "typescriptreact"),
            ("js", "javascript"),
            ("mjs", "javascript"),
            ("cjs", "javascript"),
            ("jsx", "javascriptreact"),
        ],
    },
    Known {
        name: "rust-analyzer",
        argv: &["rust-analyzer"],
        files: &[("rs", "rust")],
    },
    Known {
        name: "gopls",
        argv: &["gopls"],
        files: &[("go", "go")],
    },
    Known {
        name: "clangd",
        argv: &["clangd"],
        files: &[
            ("c", "c"),
            ("h", "c"),
            ("cc", "cpp"),
            ("cpp", "cpp"),
            ("cxx", "cpp"),
            ("hpp", "cpp"),
        ],
    },
    Known {
        name: "bash",
        argv: &["bash-language-server", "start"],
        files: &[("sh", "shellscript"), ("bash", "shellscript")],
    },
    Known {
        name: "lua",
        argv: &["lua-language-server"],
        files: &[("lua", "lua")],
    },
    Known {
        name: "zls",
        argv: &["zls"],
        files: &[("zig", "zig")],
    },
    Known {
        name: "intelephense",
        argv: &["intelephense", "--stdio"],
        files: &[("php", "php")],
    },
    Known {
        name: "solargraph",
        argv: &["solargraph", "stdio"],
        files: &[("rb", "ruby")],
    },
];

/// The servers that know a file, the user's own first.
pub(super) fn servers(path: &Path, own: &[OwnServer]) -> Vec<Server> {
    let Some(extension) = path.extension().and_then(|end| end.to_str()) else {
        return Vec::new();
    };
    let language = |known: &Known| {
        let mut files = known.files.iter();
        let (_, language) = files.find(|(end, _)| *end == extension)?;
        Some((*language).to_owned())
    };
    let theirs = own.iter().filter_map(|server| {
        let known = KNOWN.iter().find(|known| known.name == server.name);
        let language = match server.extensions.is_empty() {
            true => language(known?)?,
            false => {
                let named = server.extensions.iter().any(|end| end == extension);
                named.then(|| {
                    known
                        .and_then(language)
                        .unwrap_or_else(|| extension.to_owned())
                })?
            }
        };
        Some(Server {
            name: server.name.clone(),
            argv: server.command.clone(),
            language,
        })
    });
    let replaced = |known: &&Known| own.iter().all(|server| server.name != known.name);
    let ours = KNOWN.iter().filter(replaced).filter_map(|known| {
        Some(Server {
            name: known.name.to_owned(),
            argv: known.argv.iter().map(|&word| word.to_owned()).collect(),
            language: language(known)?,
        })
    });
    theirs.chain(ours).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // EX-49
    #[test]
    fn the_users_own_servers_come_first_and_replace_known_ones() {
        let names = |path: &str, own: &[OwnServer]| -> Vec<(String, String)> {
            let servers = servers(Path::new(path), own);
            servers
                .into_iter()
                .map(|one| (one.name, one.language))
                .collect()
        };
        let own = |name: &str, extensions: &[&str]| OwnServer {
            name: name.to_owned(),
            command: vec!["x".to_owned()],
            extensions: extensions.iter().map(|&end| end.to_owned()).collect(),
        };
        let pair = |name: &str, language: &str| (name.to_owned(), language.to_owned());
        assert_eq!(names("a.rs", &[]), [pair("rust-analyzer", "rust")]);
        assert_eq!(names("a.tsx", &[]), [pair("typescript", "typescriptreact")]);
        assert!(names("a", &[]).is_empty() && names("a.txt", &[]).is_empty());
        assert_eq!(
            names("a.py", &[own("pylsp", &[]), own("mine", &["py"])]),
            [
                pair("pylsp", "python"),
                pair("mine", "py"),
                pair("pyright", "python"),
                pair("basedpyright", "python")
            ]
        );
        assert_eq!(
            names("a.lab", &[own("lab", &["lab"])]),
            [pair("lab", "lab")]
        );
    }
}
