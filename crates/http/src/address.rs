//! Which addresses are on the public internet, and which give away a cloud machine's credentials.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::network::Network;

/// Everything in IPv4 that is not a public host (IANA special-purpose registry).
const NOT_PUBLIC_V4: &[Network] = &[
    Network::v4(0, 0, 0, 0, 8),
    Network::v4(10, 0, 0, 0, 8),
    Network::v4(100, 64, 0, 0, 10),
    Network::v4(127, 0, 0, 0, 8),
    Network::v4(169, 254, 0, 0, 16),
    Network::v4(172, 16, 0, 0, 12),
    Network::v4(192, 0, 0, 0, 24),
    Network::v4(192, 0, 2, 0, 24),
    Network::v4(192, 88, 99, 0, 24),
    Network::v4(192, 168, 0, 0, 16),
    Network::v4(198, 18, 0, 0, 15),
    Network::v4(198, 51, 100, 0, 24),
    Network::v4(203, 0, 113, 0, 24),
    Network::v4(224, 0, 0, 0, 4),
    Network::v4(240, 0, 0, 0, 4),
];

/// The part of IPv6 that is global unicast, and the holes in it.
const GLOBAL_V6: Network = Network::v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);
const NOT_PUBLIC_V6: &[Network] = &[
    // Protocol assignments, Teredo, benchmarking and ORCHID; what is public in it serves no web pages.
    Network::v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23),
    Network::v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32),
    Network::v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20),
];

const NAT64: Network = Network::v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96);
const SIX_TO_FOUR: Network = Network::v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16);

const METADATA: &[Network] = &[
    Network::v4(169, 254, 0, 0, 16),
    // Alibaba, Azure and Oracle; the second one is in public address space.
    Network::v4(100, 100, 100, 200, 32),
    Network::v4(168, 63, 129, 16, 32),
    Network::v4(192, 0, 0, 192, 32),
    // Amazon and Google over IPv6.
    Network::v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0], 32),
    Network::v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128),
];

/// Whether the address belongs to a host on the public internet.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(_) => !lies_in(NOT_PUBLIC_V4, address),
        IpAddr::V6(v6) => match embedded(v6) {
            Some(v4) => {
                is_public(IpAddr::V4(v4))
                    && (NAT64.contains(address)
                        || v6.to_ipv4_mapped().is_some()
                        || is_global_v6(address))
            }
            None => is_global_v6(address),
        },
    }
}

/// Whether the address is a metadata service, however it is written.
pub(crate) fn is_metadata(address: IpAddr) -> bool {
    let inner = match address {
        IpAddr::V4(_) => None,
        IpAddr::V6(v6) => embedded(v6).map(IpAddr::V4),
    };
    lies_in(METADATA, address) || inner.is_some_and(|inner| lies_in(METADATA, inner))
}

fn is_global_v6(address: IpAddr) -> bool {
    GLOBAL_V6.contains(address) && !lies_in(NOT_PUBLIC_V6, address)
}

/// The IPv4 address that an IPv6 address stands for: mapped, compatible, NAT64, 6to4 or ISATAP.
fn embedded(v6: Ipv6Addr) -> Option<Ipv4Addr> {
    let [.., g6, g7] = v6.segments();
    let low = Ipv4Addr::from_bits(u32::from(g6) << 16 | u32::from(g7));
    let address = IpAddr::V6(v6);
    if let Some(mapped) = v6.to_ipv4_mapped() {
        return Some(mapped);
    }
    let [g0, g1, g2, g3, g4, g5, ..] = v6.segments();
    let is_compatible = [g0, g1, g2, g3, g4, g5] == [0; 6];
    let is_isatap = matches!((g4, g5), (0 | 0x200, 0x5efe));
    if SIX_TO_FOUR.contains(address) {
        return Some(Ipv4Addr::from_bits(u32::from(g1) << 16 | u32::from(g2)));
    }
    (is_compatible || is_isatap || NAT64.contains(address)).then_some(low)
}

fn lies_in(networks: &[Network], address: IpAddr) -> bool {
    networks.iter().any(|network| network.contains(address))
}
