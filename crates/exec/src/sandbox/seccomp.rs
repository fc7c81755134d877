//! Which calls into the kernel a confined process may make.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, sock_filter,
};

use crate::ExecError;

/// Which sockets may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sockets {
    /// Local ones and those of the internet.
    All,
    /// Those of the internet.
    Internet,
    /// Local ones.
    Local,
    /// None that reach another process by name.
    None,
}

/// Calls that reach into other processes, the kernel or the mounts; a shell, a build or a test needs none.
const FORBIDDEN: &[libc::c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
];

/// Calls whose arguments lie in memory, where a filter cannot look. Programs take the older call when they
/// hear that these do not exist.
const UNKNOWN: &[libc::c_long] = &[libc::SYS_clone3, libc::SYS_openat2];

/// The bit of a file's mode that runs it as its owner.
const SET_USER_ID: u64 = 0o4000;

/// Makes the filter.
pub(super) fn program(sockets: Sockets) -> Result<BpfProgram, ExecError> {
    compiled(sockets).map_err(|error| ExecError::Confinement(format!("seccomp: {error}")))
}

/// Puts the filter on this thread and what it becomes.
pub(super) fn apply(sockets: Sockets) -> Result<(), ExecError> {
    seccompiler::apply_filter(&program(sockets)?)
        .map_err(|error| ExecError::Confinement(format!("seccomp: {error}")))
}

/// The filter as the bytes the kernel and bubblewrap read.
pub(super) fn bytes(sockets: Sockets) -> Result<Vec<u8>, ExecError> {
    Ok(program(sockets)?
        .iter()
        .flat_map(|step| {
            let [a, b] = step.code.to_ne_bytes();
            let [c, d, e, f] = step.k.to_ne_bytes();
            [a, b, step.jt, step.jf, c, d, e, f]
        })
        .collect())
}

fn compiled(sockets: Sockets) -> Result<BpfProgram, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        FORBIDDEN.iter().map(|call| (*call, Vec::new())).collect();
    rules.insert(libc::SYS_clone, vec![has(0, libc::CLONE_NEWUSER as u64)?]);
    rules.insert(
        libc::SYS_ioctl,
        vec![is(1, libc::TIOCSTI)?, is(1, libc::TIOCLINUX)?],
    );
    rules.insert(libc::SYS_socket, vec![other_families(sockets)?]);
    rules.extend(set_user_id()?);
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM as u32),
        std::env::consts::ARCH.try_into()?,
    )?;
    let mut program = prelude();
    program.extend(BpfProgram::try_from(filter)?);
    Ok(program)
}

/// Making a file run as its owner, by every call that can.
fn set_user_id() -> Result<BTreeMap<i64, Vec<SeccompRule>>, BackendError> {
    let creating = |flags, mode| {
        SeccompRule::new(vec![
            masked(flags, libc::O_CREAT as u64)?,
            masked(mode, SET_USER_ID)?,
        ])
    };
    let mut rules = BTreeMap::from([
        (libc::SYS_fchmod, vec![has(1, SET_USER_ID)?]),
        (libc::SYS_fchmodat, vec![has(2, SET_USER_ID)?]),
        (libc::SYS_fchmodat2, vec![has(2, SET_USER_ID)?]),
        (libc::SYS_mknodat, vec![has(2, SET_USER_ID)?]),
        (libc::SYS_openat, vec![creating(2, 3)?]),
    ]);
    #[cfg(target_arch = "x86_64")]
    rules.extend([
        (libc::SYS_chmod, vec![has(1, SET_USER_ID)?]),
        (libc::SYS_creat, vec![has(1, SET_USER_ID)?]),
        (libc::SYS_mknod, vec![has(1, SET_USER_ID)?]),
        (libc::SYS_open, vec![creating(1, 2)?]),
    ]);
    Ok(rules)
}

fn other_families(sockets: Sockets) -> Result<SeccompRule, BackendError> {
    let allowed: &[libc::c_int] = match sockets {
        Sockets::All => &[
            libc::AF_UNIX,
            libc::AF_INET,
            libc::AF_INET6,
            libc::AF_NETLINK,
        ],
        Sockets::Internet => &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK],
        Sockets::Local => &[libc::AF_UNIX],
        // No family has this number, so every one is another.
        Sockets::None => &[-1],
    };
    SeccompRule::new(
        allowed
            .iter()
            .map(|family| {
                let family = u64::from(family.cast_unsigned());
                SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)
            })
            .collect::<Result<_, _>>()?,
    )
}

fn masked(argument: u8, bits: u64) -> Result<SeccompCondition, BackendError> {
    let compare = SeccompCmpOp::MaskedEq(bits);
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, bits)
}

fn has(argument: u8, bits: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![masked(argument, bits)?])
}

fn is(argument: u8, value: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(
        argument,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::Eq,
        value,
    )?])
}

/// What a filter of one answer cannot say: calls answered as unknown, and the second numbering of calls on
/// x86-64, which would pass by every rule.
fn prelude() -> BpfProgram {
    let step = |code: u32, jt, jf, k| sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let answer = |errno: libc::c_int| {
        let value = libc::SECCOMP_RET_ERRNO | errno.cast_unsigned();
        step(libc::BPF_RET | libc::BPF_K, 0, 0, value)
    };
    let mut program = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)];
    for call in UNKNOWN {
        let call = u32::try_from(*call).unwrap_or(u32::MAX);
        program.push(step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            0,
            1,
            call,
        ));
        program.push(answer(libc::ENOSYS));
    }
    #[cfg(target_arch = "x86_64")]
    {
        const SECOND_NUMBERING: u32 = 0x4000_0000;
        let compare = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
        program.push(step(compare, 0, 1, SECOND_NUMBERING));
        program.push(answer(libc::EPERM));
    }
    program
}
