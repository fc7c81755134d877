//! Processes, services, the machine's power and ourselves.

use super::ours::{Asked, asked};
use super::{Looks, Rule, Severity};
use crate::Surroundings;
use crate::shell::{Field, Invocation, Sign};

pub(super) const RULES: &[Rule] = &[
    Rule {
        category: "fork-bomb",
        severity: Severity::Hard,
        reason: "starts itself over and over until the machine stands still",
        looks: Looks::Signs(&[Sign::ForkBomb]),
        catches: &[
            ":(){ :|:& };:",
            "bomb() { bomb | bomb & }; bomb",
            "f(){ f & f & }; f",
            "function x { x | x & }; x",
            "perl -e 'fork while fork'",
            "bash -c '$0 & $0'",
            "python3 -c 'import os\nwhile True: os.fork()'",
        ],
        passes: &[
            "f() { ls | wc -l; }; f",
            "serve() { node x & }; serve",
            "retry() { retry; }",
        ],
    },
    Rule {
        category: "kill-everything",
        severity: Severity::Hard,
        reason: "ends every process there is",
        looks: Looks::Program(|one, _| match one.name.as_str() {
            "kill" => targets(one).any(|target| target == "-1"),
            "killall5" => true,
            "pkill" => {
                let mut operands = one.operands();
                operands.any(|field| matches!(field.text.as_str(), "." | ".*" | ""))
                    && !one.short("ugtPGs")
            }
            _ => false,
        }),
        catches: &[
            "kill -9 -1",
            "kill -KILL -- -1",
            "kill -s KILL -1",
            "killall5 -9",
            "pkill -9 .",
        ],
        passes: &[
            "kill -1 4242",
            "kill -9 4242",
            "kill -HUP 77",
            "pkill -f vite",
        ],
    },
    Rule {
        category: "power-state",
        severity: Severity::Hard,
        reason: "turns the machine off or starts it anew",
        looks: Looks::Program(power),
        catches: &[
            "shutdown",
            "sudo reboot",
            "halt",
            "poweroff",
            "init 0",
            "telinit 6",
            "systemctl poweroff",
            "systemctl reboot",
            "systemctl -f halt",
            "doas reboot",
            "systemctl kexec",
            "systemctl start reboot.target",
            "systemctl isolate poweroff.target",
            "systemctl start runlevel6.target",
            "systemctl -H host start ctrl-alt-del.target",
            "rtcwake -m off -s 60",
            "ipmitool -I open chassis power cycle",
            "gnome-session-quit --power-off",
            "shutdown -h now",
            "echo b > /proc/sysrq-trigger",
            "dbus-send --system --dest=org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager.PowerOff boolean:true",
        ],
        passes: &[
            "echo reboot",
            "last reboot",
            "man shutdown",
            "git init 0",
            "systemctl status reboot.target",
            "systemctl start nginx.service",
            "rtcwake -m no -s 60",
            "ipmitool chassis power status",
            "shutdown -c",
        ],
    },
    Rule {
        category: "service-control",
        severity: Severity::Ask,
        reason: "stops, restarts or disables a service",
        looks: Looks::Program(|one, _| {
            const VERBS: [&str; 8] = [
                "stop",
                "restart",
                "disable",
                "mask",
                "kill",
                "isolate",
                "try-restart",
                "reload-or-restart",
            ];
            match one.name.as_str() {
                "systemctl" => one
                    .words(SYSTEMCTL_VALUED)
                    .next()
                    .is_some_and(|verb| VERBS.contains(&verb)),
                "service" | "rc-service" | "invoke-rc.d" => one
                    .words(&[])
                    .nth(1)
                    .is_some_and(|verb| VERBS.contains(&verb)),
                "launchctl" => matches!(
                    one.argument(0),
                    "unload" | "bootout" | "stop" | "disable" | "remove" | "kill" | "kickstart"
                ),
                "brew" => {
                    one.argument(0) == "services" && matches!(one.argument(1), "stop" | "restart")
                }
                "sc" | "net" => one.argument(0) == "stop",
                "supervisorctl" | "pm2" => {
                    let valued = &["-c", "--configuration", "-s", "-u", "-p"];
                    matches!(
                        one.words(valued).next(),
                        Some("stop" | "restart" | "kill" | "delete" | "shutdown")
                    )
                }
                // The start script of a service, called by its path.
                _ => {
                    let scripts = ["/etc/init.d/", "/etc/rc.d/"];
                    let program = one.argv.first().map_or("", |field| field.text.as_str());
                    scripts.iter().any(|place| program.starts_with(place))
                        && VERBS.contains(&one.argument(0))
                }
            }
        }),
        catches: &[
            "systemctl restart x",
            "sudo systemctl --now disable cron",
            "service nginx stop",
            "systemctl mask x",
            "systemctl -H host stop nginx",
            "systemctl --machine c stop x",
            "supervisorctl -c f stop all",
            "/etc/init.d/nginx stop",
            "invoke-rc.d nginx stop",
        ],
        passes: &[
            "systemctl status nginx",
            "systemctl list-units",
            "service nginx status",
            "journalctl -u x",
            "systemctl -H host status nginx",
            "systemctl show -p stop nginx",
            "/etc/init.d/nginx status",
        ],
    },
    Rule {
        category: "force-kill",
        severity: Severity::Ask,
        reason: "ends processes by name, by force or by pattern",
        looks: Looks::Program(|one, _| match one.name.as_str() {
            "pkill" | "killall" if of_a_user(one) => true,
            "pkill" | "killall" => {
                let forced = one
                    .arguments()
                    .iter()
                    .any(|field| is_kill_signal(&field.text));
                let pattern = one.name == "killall" && (one.short("r") || one.long("--regexp"));
                forced
                    || pattern
                    || one.name == "pkill"
                        && one.short("f")
                        && one.operands().any(|field| field.text.len() < 3)
            }
            "fuser" => one.short("k"),
            // Also a word of other programs, so only what it would do counts.
            "skill" => {
                let mut arguments = one.arguments().iter();
                one.has("-u") || arguments.any(|field| is_kill_signal(&field.text))
            }
            "xkill" => true,
            "loginctl" => one
                .words(SYSTEMCTL_VALUED)
                .next()
                .is_some_and(|verb| verb.starts_with("terminate-") || verb.starts_with("kill-")),
            _ => false,
        }),
        catches: &[
            "pkill -9 x",
            "killall -s KILL x",
            "killall -r x",
            "pkill --signal SIGKILL node",
            "fuser -k 8080/tcp",
            "loginctl terminate-user anna",
            "loginctl kill-session 3",
            "killall -u ada",
            "pkill -u ada",
            "pkill -TERM --euid ada",
            "skill -KILL -u ada",
        ],
        passes: &[
            "pkill -u ada node",
            "killall -u ada node",
            "pkill -f vite",
            "killall node",
            "pgrep -f node",
            "fuser 8080/tcp",
            "loginctl list-sessions",
        ],
    },
    Rule {
        category: "self-termination",
        severity: Severity::Ask,
        reason: "would end Hermes itself, or what keeps this machine running",
        looks: Looks::Program(ends_us),
        catches: &[
            "pkill hermes",
            "kill $(pgrep hermes)",
            "kill 1",
            "kill -9 $PPID",
            "kill $$",
            "kill -9 -- -$$",
            "kill 4711",
            "pgrep hermes | xargs kill",
            "launchctl bootout gui/501/ai.hermes.gateway",
            "killall hermes",
        ],
        passes: &[
            "kill 1234",
            "kill %1",
            "kill $!",
            "pkill node",
            "kill -0 $pid",
            "pgrep hermes",
        ],
    },
    Rule {
        category: "gateway-control",
        severity: Severity::Ask,
        reason: "stops, restarts, updates or doubles the gateway",
        looks: Looks::Program(gateway),
        catches: &[
            "hermes gateway stop",
            "hermes gateway restart",
            "hermes update",
            "nohup hermes gateway run &",
            "hermes -p work gateway stop",
            "hermes -m x gateway stop",
            "hermes gateway --profile work stop",
            "hermes -m x update",
            "setsid hermes gateway run",
        ],
        passes: &[
            "hermes gateway status",
            "hermes --version",
            "hermes sessions list",
            "hermes gateway run --help",
        ],
    },
];

/// What `kill` is aimed at: everything but the signal.
fn targets(one: &Invocation) -> impl Iterator<Item = &str> {
    let words: Vec<&str> = one
        .arguments()
        .iter()
        .map(|field| field.text.as_str())
        .collect();
    let named = matches!(words.first(), Some(&("-s" | "-n" | "--signal")));
    let skip = match words.first() {
        Some(_) if named => 2,
        Some(first) if first.starts_with('-') && *first != "--" => 1,
        _ => 0,
    };
    words.into_iter().skip(skip).filter(|word| *word != "--")
}

/// Whether all processes of a user are meant, whatever their names.
fn of_a_user(one: &Invocation) -> bool {
    const USERS: &[&str] = &["-u", "--user", "-U", "--euid", "--uid"];
    const VALUED: &[&str] = &[
        "-u", "--user", "-U", "--euid", "--uid", "-s", "--signal", "-g", "-t", "-P",
    ];
    !one.values(USERS).is_empty() && one.words(VALUED).next().is_none()
}

fn is_kill_signal(text: &str) -> bool {
    matches!(
        text.trim_start_matches('-').to_ascii_uppercase().as_str(),
        "9" | "KILL" | "SIGKILL" | "SKILL" | "S9"
    ) || matches!(
        text,
        "--signal=KILL" | "--signal=9" | "--signal=SIGKILL" | "-sKILL"
    )
}

fn is_power(name: &str) -> bool {
    matches!(
        name,
        "poweroff" | "reboot" | "halt" | "kexec" | "suspend" | "hibernate" | "soft-reboot"
    )
}

/// Targets that do the same under another name.
fn is_power_target(unit: &str) -> bool {
    let target = unit.strip_suffix(".target");
    target.is_some_and(|name| {
        is_power(name) || matches!(name, "runlevel0" | "runlevel6" | "ctrl-alt-del")
    })
}

/// Options of systemctl and its like with a value, which may stand before the verb.
pub(super) const SYSTEMCTL_VALUED: &[&str] = &[
    "-H",
    "--host",
    "-M",
    "--machine",
    "-t",
    "--type",
    "-p",
    "-P",
    "--property",
    "-n",
    "--lines",
    "-o",
    "--output",
    "-s",
    "--signal",
    "--kill-whom",
    "--kill-who",
    "--kill-value",
    "--job-mode",
    "--root",
    "--image",
    "--what",
    "--state",
    "--preset-mode",
    "--message",
    "--when",
    "--timestamp",
];

fn power(one: &Invocation, _: &Surroundings) -> bool {
    let first = one.words(SYSTEMCTL_VALUED).next().unwrap_or_default();
    match one.name.as_str() {
        "shutdown" => !one.short("c") && !one.long("--help"),
        "reboot" | "halt" | "poweroff" => !one.long("--help") && !one.long("--version"),
        "init" | "telinit" => matches!(first, "0" | "6"),
        "systemctl" | "loginctl" => {
            let starts = matches!(first, "start" | "isolate" | "restart");
            let target = |field: &Field| is_power_target(&field.text);
            is_power(first) || starts && one.operands().any(target)
        }
        "rtcwake" => one
            .values(&["-m", "--mode"])
            .iter()
            .any(|mode| !matches!(mode.text.as_str(), "no" | "on" | "show" | "disable")),
        "pm-suspend" | "pm-hibernate" => !one.long("--help"),
        "acpitool" => one.short("sS"),
        "gnome-session-quit" => one.long("--power-off") || one.long("--reboot"),
        "xfce4-session-logout" => one.long("--halt") || one.long("--reboot") || one.short("hr"),
        "kexec" => one.short("e"),
        "ipmitool" => {
            let power = one.operands().skip_while(|field| field.text != "power");
            let verb = power.map(|field| field.text.as_str()).nth(1);
            matches!(verb, Some("off" | "cycle" | "reset" | "soft"))
        }
        "dbus-send" | "gdbus" | "busctl" | "qdbus" => one.arguments().iter().any(|field| {
            let call = field.text.rsplit('.').next().unwrap_or_default();
            matches!(
                call,
                "PowerOff" | "Reboot" | "Halt" | "Suspend" | "Hibernate" | "KExec" | "SoftReboot"
            )
        }),
        _ => {
            one.streams.iter().any(|stream| match stream {
                crate::shell::Stream::Out(field) => field.text == "/proc/sysrq-trigger",
                crate::shell::Stream::In(_) => false,
            }) || one.name == "tee" && one.has("/proc/sysrq-trigger")
        }
    }
}

fn ends_us(one: &Invocation, around: &Surroundings) -> bool {
    let mentions = |text: &str| text.to_ascii_lowercase().contains("hermes");
    let own = around.own_pid.map(|pid| pid.to_string());
    match one.name.as_str() {
        "kill" => {
            let asks_only = matches!(one.argument(0), "-0" | "-l" | "-L");
            let known = |target: &str| {
                matches!(target, "1" | "$PPID" | "$$" | "-$$")
                    || own.as_deref() == Some(target.trim_start_matches('-'))
            };
            let found = one
                .arguments()
                .iter()
                .any(|field| field.comes_from(&["pgrep", "pidof", "ps"]));
            let fed = matches!(&one.input, crate::shell::Input::Piped { programs, .. } if programs.iter().any(|name| name == "pgrep" || name == "pidof"));
            !asks_only && (targets(one).any(known) || found || fed)
        }
        "xargs" => {
            let kills = one.has("kill");
            kills
                && matches!(&one.input, crate::shell::Input::Piped { programs, .. } if programs.iter().any(|name| matches!(name.as_str(), "pgrep" | "pidof" | "ps")))
        }
        "pkill" | "killall" => one.operands().any(|field| mentions(&field.text)),
        "launchctl" | "systemctl" => {
            let stops = [
                "stop", "bootout", "unload", "kill", "remove", "restart", "disable",
            ];
            stops.iter().any(|verb| one.has(verb))
                && one.operands().any(|field| mentions(&field.text))
        }
        _ => false,
    }
}

fn gateway(one: &Invocation, _: &Surroundings) -> bool {
    asked(one).iter().any(|Asked { command, verb }| {
        let stops = matches!(*verb, "stop" | "restart" | "uninstall");
        let doubles = one.wrapped && matches!(*verb, "run" | "start");
        *command == "update" || *command == "gateway" && (stops || doubles)
    })
}
