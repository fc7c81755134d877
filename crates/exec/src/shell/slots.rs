//! Which file holds the state, and which ones are being written.
//!
//! A shell writes its state to a file nobody reads. Only when it has said that it is done does that file
//! become the state: no rename is needed, and commands that run at the same time do not get in each
//! other's way; the last one to end wins.

/// The files a command uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lease {
    pub(super) from: Option<u32>,
    pub(super) to: u32,
}

#[derive(Debug, Default)]
pub(super) struct Slots {
    current: Option<u32>,
    leases: Vec<Lease>,
}

impl Slots {
    /// The file with the state.
    pub(super) fn current(&self) -> Option<u32> {
        self.current
    }

    pub(super) fn lease(&mut self) -> Lease {
        let used = |slot: u32| {
            self.current == Some(slot)
                || self
                    .leases
                    .iter()
                    .any(|lease| lease.to == slot || lease.from == Some(slot))
        };
        // One more than can be in use: there is always a free one.
        let most = u32::try_from(self.leases.len() * 2 + 1).unwrap_or(u32::MAX);
        let lease = Lease {
            from: self.current,
            to: (0..most).find(|slot| !used(*slot)).unwrap_or(most),
        };
        self.leases.push(lease);
        lease
    }

    /// What a command was to go on from is gone; so is what others of that time go on from.
    pub(super) fn lose(&mut self, lease: Lease) {
        self.give_back(lease, false);
        if self.current == lease.from {
            self.current = None;
        }
    }

    pub(super) fn give_back(&mut self, lease: Lease, saved: bool) {
        if let Some(place) = self.leases.iter().position(|other| *other == lease) {
            self.leases.swap_remove(place);
        }
        if saved {
            self.current = Some(lease.to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_use_is_never_written() {
        let mut slots = Slots::default();
        let first = slots.lease();
        slots.give_back(first, true);
        let (second, third) = (slots.lease(), slots.lease());
        assert_eq!(second.from, Some(first.to));
        assert_eq!(third.from, Some(first.to));
        assert_ne!(second.to, third.to);
        assert!(second.to != first.to && third.to != first.to);
        slots.give_back(second, true);
        slots.give_back(third, false);
        let fourth = slots.lease();
        assert_eq!(fourth.from, Some(second.to));
        assert_eq!(fourth.to, first.to);
    }
}
