//! Rights, accounts, the firewall, the kernel and traces.

use super::{Looks, Rule, Severity};
use crate::guards::{Guard, guards};
use crate::places;
use crate::shell::{Invocation, Stream};

pub(super) const RULES: &[Rule] = &[
    Rule {
        category: "world-writable",
        severity: Severity::Ask,
        reason: "lets everybody write a file",
        looks: Looks::Program(|one, _| modes(one).iter().any(|mode| opens_to_all(mode))),
        catches: &[
            "chmod 777 f",
            "chmod --recursive a+w d",
            "chmod -R 0777 .",
            "chmod o+w x",
            "chmod 666 f",
            "chmod +w x; chmod a=rwx y",
            "chmod =rwx f",
            "install -m 777 a b",
            "mkdir -m777 d",
        ],
        passes: &[
            "chmod 755 f",
            "chmod +x f",
            "chmod u+w f",
            "chmod 600 f",
            "chmod go-w x",
            "chmod =r f",
            "install -m 755 a b",
            "mkdir -pm 700 d",
        ],
    },
    Rule {
        category: "setuid",
        severity: Severity::Ask,
        reason: "makes a program run with its owner's rights",
        looks: Looks::Program(|one, _| {
            let sets = |mode: &String| {
                let digits = mode.len() == 4
                    && matches!(mode.as_bytes().first(), Some(b'2' | b'4' | b'6' | b'7'));
                digits && mode.bytes().all(|byte| byte.is_ascii_digit())
                    || mode.contains("+s")
                    || mode.contains("=s")
            };
            modes(one).iter().any(sets) && one.name != "mkdir" || one.name == "setcap"
        }),
        catches: &[
            "install -m 4755 x y",
            "chmod u+s x",
            "chmod 4755 x",
            "setcap cap_net_raw+ep x",
        ],
        passes: &["chmod 0755 x", "chmod +x s", "getcap x"],
    },
    Rule {
        category: "chown-root",
        severity: Severity::Ask,
        reason: "gives a whole directory to root",
        looks: Looks::Program(|one, _| {
            let owner = one
                .operands()
                .next()
                .map_or("", |field| field.text.as_str());
            one.name == "chown"
                && (one.short("R") || one.long("--recursive"))
                && (owner.split([':', '.']).next() == Some("root")
                    || owner == "0"
                    || owner.starts_with("0:"))
        }),
        catches: &[
            "chown -R root d",
            "chown --recursive root:root d",
            "sudo chown -R 0:0 d",
        ],
        passes: &["chown -R me d", "chown root f"],
    },
    Rule {
        category: "system-permissions",
        severity: Severity::Ask,
        reason: "changes rights or owners of the system's files",
        looks: Looks::Program(|one, around| {
            one.is(&["chmod", "chown", "chgrp", "chattr", "setfacl", "chcon"])
                && one.operands().any(|field| {
                    let path = places::absolute(&field.text, &one.cwd);
                    places::is_vital(&path, around)
                        || guards(&path, around).contains(&Guard::System)
                })
        }),
        catches: &[
            "chmod 644 /etc/shadow",
            "chown -R me /usr",
            "chmod -R 755 /",
            "sudo chgrp x /etc",
            "chattr -i /etc/passwd",
        ],
        passes: &["chmod 644 x", "chown me /srv/app/x", "chmod 755 ./etc"],
    },
    Rule {
        category: "sudo-input",
        severity: Severity::Ask,
        reason: "gives sudo a password from elsewhere, a shell, or asks for its rights",
        looks: Looks::Program(|one, _| {
            let own = ["--stdin", "--askpass", "--shell", "--list", "--login"];
            let becomes = one.wrapped && one.name == "su" && !one.has("-c");
            becomes || one.name == "sudo" && sudo_flag(one, "SAsli", &own)
        }),
        catches: &[
            "sudo -S ls",
            "sudo -nS ls",
            "sudo --ask ls",
            "sudo -s",
            "sudo -l",
            "echo pw | sudo -S id",
            "sudo -u x -S y",
        ],
        passes: &["sudo ls -S", "sudo -n true", "sudo -u postgres psql"],
    },
    Rule {
        category: "accounts",
        severity: Severity::Ask,
        reason: "changes accounts, groups or passwords",
        looks: Looks::Program(|one, _| {
            one.is(&[
                "useradd", "adduser", "userdel", "deluser", "usermod", "groupadd", "groupdel",
                "gpasswd", "chpasswd", "visudo", "vipw", "chsh", "dscl",
            ]) || one.name == "passwd" && !one.short("S")
                || one.name == "net" && one.argument(0) == "user" && one.arguments().len() > 1
        }),
        catches: &[
            "useradd x",
            "usermod -aG sudo x",
            "passwd root",
            "echo x:y | chpasswd",
            "visudo",
        ],
        passes: &[
            "id",
            "groups",
            "getent passwd",
            "passwd -S",
            "cat /etc/passwd",
        ],
    },
    Rule {
        category: "firewall-off",
        severity: Severity::Ask,
        reason: "turns a protection of the machine off",
        looks: Looks::Program(|one, _| match one.name.as_str() {
            "ufw" => one
                .words(&[])
                .any(|word| matches!(word, "disable" | "reset")),
            "iptables" | "ip6tables" => {
                one.short("FX") || one.long("--flush") || one.short("P") && one.has("ACCEPT")
            }
            "nft" => one.has("flush") || one.has("delete"),
            "setenforce" => matches!(one.argument(0), "0" | "Permissive" | "permissive"),
            "firewall-cmd" => {
                one.long("--panic-off")
                    || one
                        .arguments()
                        .iter()
                        .any(|field| field.text.starts_with("--remove"))
            }
            "pfctl" => one.short("dF"),
            "netsh" => {
                one.has("firewall") && one.has("off") || one.has("advfirewall") && one.has("off")
            }
            "spctl" => one.long("--master-disable"),
            "csrutil" => one.has("disable"),
            "auditctl" => one.short("De"),
            "aa-disable" | "aa-teardown" => true,
            _ => false,
        }),
        catches: &[
            "ufw disable",
            "ufw --force reset",
            "iptables -F",
            "nft flush ruleset",
            "setenforce 0",
            "sudo iptables -P INPUT ACCEPT",
        ],
        passes: &[
            "ufw status",
            "iptables -L",
            "nft list ruleset",
            "getenforce",
        ],
    },
    Rule {
        category: "kernel",
        severity: Severity::Ask,
        reason: "changes the running kernel or what is mounted",
        looks: Looks::Program(|one, _| match one.name.as_str() {
            "insmod" | "rmmod" | "kexec" | "umount" => !one.arguments().is_empty(),
            "modprobe" => !one.arguments().is_empty() && !one.long("--show-depends"),
            "sysctl" => {
                one.short("w")
                    || one.short("p")
                    || one.operands().any(|field| field.text.contains('='))
            }
            "mount" => {
                one.operands().count() > 1
                    || one.has("remount")
                    || one
                        .arguments()
                        .iter()
                        .any(|field| field.text.contains("remount"))
            }
            "efibootmgr" | "grub-install" | "update-grub" => {
                !one.arguments().is_empty() || one.name != "efibootmgr"
            }
            _ => false,
        }),
        catches: &[
            "insmod x.ko",
            "sysctl -w a=b",
            "mount -o remount,rw /",
            "umount /data",
            "modprobe -r x",
        ],
        passes: &["lsmod", "sysctl -a", "mount", "sysctl kernel.pid_max"],
    },
    Rule {
        category: "crontab-remove",
        severity: Severity::Ask,
        reason: "deletes all of a user's timed commands",
        looks: Looks::Program(|one, _| one.name == "crontab" && one.short("r")),
        catches: &["crontab -r", "crontab -u x -r", "sudo crontab -ri"],
        passes: &["crontab -l", "echo crontab -r"],
    },
    Rule {
        category: "history-tampering",
        severity: Severity::Ask,
        reason: "removes traces of what was done",
        looks: Looks::Program(tampers),
        catches: &[
            "history -c",
            "unset HISTFILE",
            "export HISTFILE=/dev/null",
            "rm ~/.bash_history",
            "> ~/.zsh_history",
            "HISTSIZE=0 bash; export HISTSIZE=0",
            "journalctl --vacuum-time=1s",
            "ln -sf /dev/null ~/.bash_history",
            "set +o history",
            "truncate -s 0 /var/log/auth.log",
        ],
        passes: &[
            "history",
            "history 20",
            "journalctl -u x",
            "cat ~/.bash_history",
            "unset FOO",
        ],
    },
];

/// The modes a program gives to files.
fn modes(one: &Invocation) -> Vec<String> {
    let fields = match one.name.as_str() {
        "chmod" => one.operands().take(1).cloned().collect(),
        "install" | "mkdir" | "mkfifo" | "mknod" => one.values(&["-m", "--mode"]),
        _ => Vec::new(),
    };
    fields.into_iter().map(|field| field.text).collect()
}

fn opens_to_all(mode: &str) -> bool {
    let digits = mode.trim_start_matches('0');
    if digits.len() >= 3 && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return matches!(digits.bytes().last(), Some(b'2' | b'3' | b'6' | b'7'));
    }
    mode.split(',').any(|clause| {
        let at = clause.find(['+', '=']);
        let (who, what) = clause.split_at(at.unwrap_or(clause.len()));
        what.contains('w') && (who.contains(['a', 'o']) || clause.starts_with('='))
    })
}

/// Whether one of sudo's own options is given; what follows its command is not sudo's.
fn sudo_flag(one: &Invocation, letters: &str, long: &[&str]) -> bool {
    let mut arguments = one.arguments().iter();
    while let Some(field) = arguments.next() {
        let text = field.text.as_str();
        let Some(flags) = text
            .strip_prefix('-')
            .filter(|flags| !flags.is_empty() && *flags != "-")
        else {
            return false;
        };
        if text.starts_with("--") {
            let name = text.split('=').next().unwrap_or_default();
            if text.len() >= 4 && long.iter().any(|long| long.starts_with(name)) {
                return true;
            }
            continue;
        }
        if flags.chars().any(|c| letters.contains(c)) {
            return true;
        }
        if flags.ends_with(['u', 'g', 'p', 'C', 'D', 'h', 'R', 'T', 'U']) {
            arguments.next();
        }
    }
    false
}

/// Whether sudo is told to read its password from standard input.
pub(crate) fn reads_password(one: &Invocation) -> bool {
    one.name == "sudo" && sudo_flag(one, "S", &["--stdin"])
}

fn tampers(one: &Invocation, _: &crate::Surroundings) -> bool {
    let is_history = |text: &str| {
        let name = text.rsplit('/').next().unwrap_or_default();
        name.starts_with('.') && name.ends_with("_history")
            || name == "fish_history"
            || text.starts_with("/var/log/")
            || matches!(name, "wtmp" | "lastlog" | "utmp")
    };
    let emptied = one.streams.iter().any(|stream| match stream {
        Stream::Out(field) => {
            is_history(&field.text)
                && matches!(one.name.as_str(), "" | ":" | "true" | "echo" | "cat")
        }
        Stream::In(_) => false,
    });
    let silenced = |text: &str| {
        [
            "HISTFILE=/dev/null",
            "HISTFILE=",
            "HISTSIZE=0",
            "HISTFILESIZE=0",
        ]
        .contains(&text)
    };
    emptied
        || match one.name.as_str() {
            "history" => one.short("cdw"),
            "unset" => one.has("HISTFILE") || one.has("HISTSIZE"),
            "export" | "declare" => one.arguments().iter().any(|field| silenced(&field.text)),
            "set" => one.has("+o") && one.has("history"),
            "journalctl" => one
                .arguments()
                .iter()
                .any(|field| field.text.starts_with("--vacuum") || field.text == "--rotate"),
            "rm" | "shred" | "truncate" | "unlink" | "ln" => {
                one.operands().any(|field| is_history(&field.text))
            }
            "dmesg" => one.short("cC"),
            _ => false,
        }
}
