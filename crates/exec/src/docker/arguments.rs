//! Further arguments of `docker run`, for those who need them.

use bollard::models::{
    ContainerCreateBody, DeviceMapping, DeviceRequest, HostConfig, PortBinding, ResourcesUlimits,
};

use super::unavailable;
use crate::ExecError;

/// Adds what the arguments say. An argument we do not know is an error, not a surprise later.
pub(super) fn apply(arguments: &[String], body: &mut ContainerCreateBody) -> Result<(), ExecError> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
            Some(_) | None => (word.as_str(), None),
        };
        if let Some(switch) = switch(name, body.host_config.get_or_insert_default()) {
            *switch = Some(value.as_deref() != Some("false"));
            continue;
        }
        let Some(value) = value.or_else(|| words.next().cloned()) else {
            // That it is not known says more than that a value is missing.
            one(name, String::new(), &mut ContainerCreateBody::default())?;
            return Err(wrong(name, "needs a value"));
        };
        one(name, value, body)?;
    }
    Ok(())
}

/// What an argument without a value switches on.
fn switch<'a>(name: &str, host: &'a mut HostConfig) -> Option<&'a mut Option<bool>> {
    match name {
        "--privileged" => Some(&mut host.privileged),
        "--read-only" => Some(&mut host.readonly_rootfs),
        "--init" => Some(&mut host.init),
        _ => None,
    }
}

/// Whether the arguments leave a container as far away from this machine as it was. What is not known to
/// do so counts as a way out: directories and devices of ours, our processes, rights, another runtime.
pub(crate) fn keep_away(arguments: &[String]) -> bool {
    const HARMLESS: [&str; 14] = [
        "--add-host",
        "--dns",
        "--shm-size",
        "--tmpfs",
        "--gpus",
        "--ulimit",
        "-p",
        "--publish",
        "-e",
        "--env",
        "-h",
        "--hostname",
        "-l",
        "--label",
    ];
    const WITHOUT_A_VALUE: [&str; 2] = ["--read-only", "--init"];
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let (name, joined) = match word.split_once('=') {
            Some((name, _)) if name.starts_with("--") => (name, true),
            Some(_) | None => (word.as_str(), false),
        };
        if WITHOUT_A_VALUE.contains(&name) {
            continue;
        }
        if !HARMLESS.contains(&name) {
            return false;
        }
        if !joined {
            words.next();
        }
    }
    true
}

fn one(name: &str, value: String, body: &mut ContainerCreateBody) -> Result<(), ExecError> {
    let host = body.host_config.get_or_insert_default();
    match name {
        "--add-host" => host.extra_hosts.get_or_insert_default().push(value),
        "--cap-add" => host.cap_add.get_or_insert_default().push(value),
        "--dns" => host.dns.get_or_insert_default().push(value),
        "--group-add" => host.group_add.get_or_insert_default().push(value),
        "--security-opt" => host.security_opt.get_or_insert_default().push(value),
        "-v" | "--volume" => host.binds.get_or_insert_default().push(value),
        "--network" | "--net" => host.network_mode = Some(value),
        "--runtime" => host.runtime = Some(value),
        "--ipc" => host.ipc_mode = Some(value),
        "--pid" => host.pid_mode = Some(value),
        "--userns" => host.userns_mode = Some(value),
        "--shm-size" => {
            host.shm_size = Some(bytes(&value).ok_or_else(|| wrong(name, "is no size"))?);
        }
        "--tmpfs" => {
            let (target, options) = value.split_once(':').unwrap_or((&value, ""));
            host.tmpfs
                .get_or_insert_default()
                .insert(target.to_owned(), options.to_owned());
        }
        "--device" => host.devices.get_or_insert_default().push(device(&value)),
        "--gpus" => gpus(name, &value, host)?,
        "--ulimit" => {
            let limit = ulimit(&value).ok_or_else(|| wrong(name, "is no limit"))?;
            host.ulimits.get_or_insert_default().push(limit);
        }
        "-p" | "--publish" => publish(&value, host),
        "-e" | "--env" => body.env.get_or_insert_default().push(value),
        "-u" | "--user" => body.user = Some(value),
        "-h" | "--hostname" => body.hostname = Some(value),
        "-l" | "--label" => {
            let (key, value) = value.split_once('=').unwrap_or((&value, ""));
            body.labels
                .get_or_insert_default()
                .insert(key.to_owned(), value.to_owned());
        }
        _ => return Err(wrong(name, "is not supported")),
    }
    Ok(())
}

fn device(value: &str) -> DeviceMapping {
    let mut parts = value.split(':');
    let on_host = parts.next().unwrap_or_default();
    DeviceMapping {
        path_on_host: Some(on_host.to_owned()),
        path_in_container: Some(parts.next().unwrap_or(on_host).to_owned()),
        cgroup_permissions: Some(parts.next().unwrap_or("rwm").to_owned()),
    }
}

fn gpus(name: &str, value: &str, host: &mut HostConfig) -> Result<(), ExecError> {
    let count = match value {
        "all" => -1,
        number => number
            .parse()
            .map_err(|_| wrong(name, "is all or a number"))?,
    };
    host.device_requests
        .get_or_insert_default()
        .push(DeviceRequest {
            count: Some(count),
            capabilities: Some(vec![vec!["gpu".to_owned()]]),
            ..DeviceRequest::default()
        });
    Ok(())
}

fn ulimit(value: &str) -> Option<ResourcesUlimits> {
    let (name, limits) = value.split_once('=')?;
    let (soft, hard) = limits.split_once(':').unwrap_or((limits, limits));
    Some(ResourcesUlimits {
        name: Some(name.to_owned()),
        soft: Some(soft.parse().ok()?),
        hard: Some(hard.parse().ok()?),
    })
}

fn publish(value: &str, host: &mut HostConfig) {
    let mut parts = value.rsplit(':');
    let inside = parts.next().unwrap_or_default();
    let key = if inside.contains('/') {
        inside.to_owned()
    } else {
        format!("{inside}/tcp")
    };
    let binding = PortBinding {
        host_port: parts.next().map(str::to_owned),
        host_ip: parts.next().map(str::to_owned),
    };
    host.port_bindings
        .get_or_insert_default()
        .entry(key)
        .or_default()
        .get_or_insert_default()
        .push(binding);
}

fn bytes(value: &str) -> Option<i64> {
    let digits = value.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let number: i64 = digits.parse().ok()?;
    let shift = match value.get(digits.len()..)?.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" => 10,
        "m" | "mb" => 20,
        "g" | "gb" => 30,
        _ => return None,
    };
    number.checked_mul(1 << shift)
}

fn wrong(name: &str, what: &str) -> ExecError {
    unavailable(
        format!("the argument {name} {what}"),
        "Change terminal.docker_extra_args; docs/backends.md lists what it takes.".to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    // EX-52
    #[test]
    fn arguments_that_open_a_way_out_are_noticed() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for text in [
            "-v /:/host",
            "--volume=/run/docker.sock:/run/docker.sock",
            "--privileged",
            "--dns 1.1.1.1 --pid=host",
            "--read-only -v /:/host",
            "--pid host",
            "--cap-add SYS_ADMIN",
            "--device /dev/sda",
            "--security-opt seccomp=unconfined",
            "--network host",
            "--ipc host",
            "--userns host",
            "--runtime other",
        ] {
            assert!(!keep_away(&words(text)), "{text}");
        }
        assert!(keep_away(&[]));
        // A value is no argument.
        assert!(keep_away(&words(
            "--shm-size=2g --init --read-only -e --privileged --dns 1.1.1.1 -p 80:80"
        )));
    }

    #[test]
    fn known_arguments_are_understood_in_both_spellings_and_others_refused() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut body = ContainerCreateBody::default();
        let text = "--read-only --shm-size=2g --init=false --ulimit nofile=10:20 -e A=b=c -p 127.0.0.1:80:8080 --gpus all --device /dev/a:/dev/b";
        apply(&words(text), &mut body).unwrap();
        assert_eq!(body.env, Some(vec!["A=b=c".to_owned()]));
        let host = body.host_config.clone().unwrap();
        assert_eq!(host.shm_size, Some(2 << 30));
        assert_eq!((host.readonly_rootfs, host.init), (Some(true), Some(false)));
        assert_eq!(host.ulimits.unwrap()[0].hard, Some(20));
        let ports = host.port_bindings.unwrap();
        let binding = &ports["8080/tcp"].as_ref().unwrap()[0];
        assert_eq!(binding.host_ip.as_deref(), Some("127.0.0.1"));
        assert_eq!(binding.host_port.as_deref(), Some("80"));
        assert_eq!(
            host.devices.unwrap()[0].path_in_container.as_deref(),
            Some("/dev/b")
        );
        for text in ["--rm=x", "--shm-size", "--ulimit nofile", "--shm-size 3q"] {
            let error = apply(&words(text), &mut body).unwrap_err().to_string();
            assert!(error.contains("docker_extra_args"), "{error}");
        }
        for text in ["--rm", "--rm --init", "--rm=x"] {
            let error = apply(&words(text), &mut body).unwrap_err().to_string();
            assert!(error.contains("--rm is not supported"), "{error}");
        }
    }
}
