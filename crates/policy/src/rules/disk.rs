//! Disks and file systems.

use super::touches::written;
use super::{Looks, Rule, Severity};
use crate::places;
use crate::shell::Invocation;

pub(super) const RULES: &[Rule] = &[
    Rule {
        category: "make-filesystem",
        severity: Severity::Hard,
        reason: "makes a file system, erasing what is on the device",
        looks: Looks::Program(|one, _| erases(one) && !on_a_file(one)),
        catches: &[
            "mkfs.ext4 /dev/sdb1",
            "mkfs -t xfs /dev/sda",
            "sudo mke2fs /dev/vda",
            "wipefs -a /dev/sda",
            "cryptsetup luksFormat /dev/sda2",
            "blkdiscard /dev/nvme0n1",
            "sgdisk --zap-all /dev/sda",
            "sgdisk -Z /dev/sda",
            "diskutil eraseDisk JHFS+ X /dev/disk2",
            "mkswap /dev/sda1",
            "newfs /dev/ada0",
            "nvme format /dev/nvme0n1",
            "hdparm --security-erase x /dev/sda",
            "sg_format --format /dev/sda",
        ],
        passes: &[
            "echo mkfs",
            "man mkfs.ext4",
            "mkfs.ext4 disk.img",
            "wipefs /dev/sda",
            "which mkfs",
            "nvme list",
            "hdparm -I /dev/sda",
        ],
    },
    Rule {
        category: "format-file",
        severity: Severity::Ask,
        reason: "makes a file system in a file",
        looks: Looks::Program(|one, _| erases(one) && on_a_file(one)),
        catches: &["mkfs.ext4 disk.img", "mkswap swap.img"],
        passes: &["echo mkfs disk.img"],
    },
    Rule {
        category: "raw-disk",
        severity: Severity::Hard,
        reason: "writes straight onto a disk",
        looks: Looks::Program(|one, _| {
            // What is taken out of its directory, or gets a new time, stays as it is.
            let keeps = one.is(&["rm", "touch", "unlink"]);
            !keeps && written(one).iter().any(|path| places::is_disk(path)) || names_disk(one)
        }),
        catches: &[
            "dd if=/dev/zero of=/dev/sda",
            "echo x > /dev/nvme0n1",
            "cat img | sudo tee /dev/sdb",
            "cp img /dev/sda",
            "shred /dev/sda",
            "dd of=/dev/sda if=x bs=1M",
            ": > /dev/mmcblk0",
            "ddrescue img /dev/sda log",
            "qemu-img convert -O raw x.qcow2 /dev/sda",
            "bmaptool copy img /dev/sdb",
            "xxd -r x.hex /dev/sda",
            "rsync img /dev/sda",
            "sort -o /dev/sda x",
            "curl -o /dev/sda u",
            "wget -O /dev/sda u",
            "openssl enc -in x -out /dev/sda",
            "tar cf /dev/sda x",
            "tar -cf /dev/sda x",
            "find . -fprintf /dev/sda x",
            "sed -n 'w/dev/sda' x",
            "awk '{print > \"/dev/sda\"}' x",
            "ln -sf x /dev/sda",
            "scp h:img /dev/sda",
        ],
        passes: &[
            "dd if=/dev/sda of=backup.img",
            "ls -l /dev/sda",
            "echo x > /dev/null",
            "lsblk /dev/sda",
            "ddrescue /dev/sda img log",
            "qemu-img convert -O qcow2 /dev/sda x.qcow2",
            "qemu-img info /dev/sda",
            "xxd /dev/sda",
            "tar xf /dev/sda",
            "sort /dev/sda",
            "curl -o sda u",
            "ln -s /dev/sda disk",
        ],
    },
    Rule {
        category: "disk-copy",
        severity: Severity::Ask,
        reason: "copies raw data, which overwrites its target without a question",
        looks: Looks::Program(|one, _| {
            one.is(&["dd", "dcfldd", "ddrescue"])
                && one.arguments().iter().any(|field| field.text.contains('='))
        }),
        catches: &["dd if=a", "dd if=/dev/zero of=file bs=1M count=1"],
        passes: &["dd --help", "echo dd if=a"],
    },
    Rule {
        category: "partition",
        severity: Severity::Ask,
        reason: "changes partitions, volumes or swap",
        looks: Looks::Program(|one, _| {
            let listing = one.short("l")
                || one.long("--list")
                || one.long("--print")
                || one.has("print")
                || one.has("-v");
            match one.name.as_str() {
                "fdisk" | "sfdisk" | "gdisk" | "sgdisk" | "parted" | "cfdisk" => {
                    !listing
                        && one
                            .arguments()
                            .iter()
                            .any(|field| !field.text.starts_with("--"))
                }
                "lvremove" | "vgremove" | "pvremove" | "lvreduce" | "swapoff" => true,
                "zpool" | "zfs" => one.has("destroy") || one.has("rollback"),
                "btrfs" => one.has("delete"),
                "mdadm" => {
                    one.long("--zero-superblock") || one.long("--stop") || one.long("--remove")
                }
                "cryptsetup" => one.has("erase") || one.has("luksErase") || one.has("luksKillSlot"),
                "hdparm" => one
                    .arguments()
                    .iter()
                    .any(|field| field.text.starts_with("--security-erase")),
                "nvme" => one.has("format") || one.has("sanitize"),
                _ => false,
            }
        }),
        catches: &[
            "fdisk /dev/sda",
            "parted /dev/sda rm 1",
            "zfs destroy tank/x",
            "cryptsetup erase /dev/sda",
        ],
        passes: &[
            "fdisk -l",
            "parted -l",
            "zfs list",
            "cryptsetup status x",
            "parted /dev/sda print",
        ],
    },
];

fn erases(one: &Invocation) -> bool {
    let named = one.name.starts_with("mkfs") || one.name.starts_with("newfs");
    let target = one.operands().next().is_some() && !one.long("--help") && !one.long("--version");
    match one.name.as_str() {
        _ if named => target,
        "mke2fs" | "mkswap" | "mkdosfs" | "mkntfs" | "blkdiscard" => target,
        "wipefs" => (one.short("a") || one.long("--all")) && target,
        "sgdisk" => {
            let zaps = ["--zap-all", "--zap", "--clear"];
            (one.short("Zzo") || zaps.iter().any(|option| one.has(option))) && target
        }
        "cryptsetup" => one.has("luksFormat") || one.has("luksformat"),
        "nvme" => matches!(one.argument(0), "format" | "sanitize") && one.arguments().len() > 1,
        "hdparm" => one
            .arguments()
            .iter()
            .any(|field| field.text.starts_with("--security-erase")),
        "sg_format" | "sg_sanitize" => target,
        "diskutil" => one
            .arguments()
            .iter()
            .any(|field| field.text.to_ascii_lowercase().starts_with("erase")),
        _ => false,
    }
}

/// Whether the target is surely an ordinary file.
fn on_a_file(one: &Invocation) -> bool {
    let target = one
        .operands()
        .filter(|field| !field.text.contains('='))
        .last();
    target.is_some_and(|field| {
        field.is_known()
            && !places::absolute(&field.text, &one.cwd).starts_with("/dev/")
            && !matches!(one.name.as_str(), "diskutil")
            && field.text.contains(['.', '/'])
    })
}

/// Whether a program that writes nothing but disks and images of them writes one.
fn names_disk(one: &Invocation) -> bool {
    let disk = |text: &str| places::is_disk(&places::absolute(text, &one.cwd));
    match one.name.as_str() {
        "dcfldd" => one
            .arguments()
            .iter()
            .any(|field| field.text.strip_prefix("of=").is_some_and(disk)),
        "wipe" | "scrub" => one.operands().any(|field| disk(&field.text)),
        // What it saves from may be a disk; what it saves to may not.
        "ddrescue" => one
            .words(&["-b", "-c", "-e", "-i", "-m", "-o", "-r", "-s", "-T"])
            .nth(1)
            .is_some_and(disk),
        "qemu-img" => {
            matches!(one.argument(0), "convert" | "dd" | "create")
                && one.operands().last().is_some_and(|field| disk(&field.text))
        }
        "bmaptool" => {
            one.argument(0) == "copy"
                && one.operands().last().is_some_and(|field| disk(&field.text))
        }
        "pv" => one.operands().last().is_some_and(|field| disk(&field.text)),
        "badblocks" => one.short("w") && one.operands().any(|field| disk(&field.text)),
        _ => false,
    }
}
