//! Tables of IP addresses that are not public: private, loopback, reserved and others.
//! It looks only at the bits of an address, never at a name.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns what kind of address this is, if it is not public.
pub(crate) fn non_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => non_public_v4(address),
        IpAddr::V6(address) => non_public_v6(address),
    }
}

/// The network, the length of its prefix, and what kind it is.
const NON_PUBLIC_V4: &[(Ipv4Addr, u32, &str)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8, "unspecified"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "shared by a carrier"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "loopback"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "for protocols"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "for documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "a relay"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "for benchmarks"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "for documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "for documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(255, 255, 255, 255), 32, "broadcast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved"),
];

fn non_public_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let row = NON_PUBLIC_V4.iter().find(|(network, length, _)| {
        let shift = 32 - length;
        bits >> shift == network.to_bits() >> shift
    });
    row.map(|(_, _, what)| *what)
}

/// Networks within the global unicast range that are not public. Everything outside of that range is not public, too.
const NON_PUBLIC_V6: &[(u128, u32, &str)] = &[
    (0x2001_0000 << 96, 23, "for protocols"),
    (0x2001_0db8 << 96, 32, "for documentation"),
    (0x3fff_0000 << 96, 20, "for documentation"),
];

fn non_public_v6(address: Ipv6Addr) -> Option<&'static str> {
    if let Some(inner) = embedded(address) {
        return non_public_v4(inner);
    }
    let bits = address.to_bits();
    let is_in = |network: u128, length: u32| bits >> (128 - length) == network >> (128 - length);
    if !is_in(0x2000 << 112, 3) {
        return Some(outside_global(address));
    }
    let row = NON_PUBLIC_V6
        .iter()
        .find(|(network, length, _)| is_in(*network, *length));
    row.map(|(_, _, what)| *what)
}

/// Returns the IPv4 address inside a mapped, 6to4 or NAT64 address.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let bits = address.to_bits();
    // Truncation to the low 32 bits is intended.
    let low = |bits: u128| Ipv4Addr::from_bits((bits & 0xffff_ffff) as u32);
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, _, _] | [0x64, 0xff9b, 0, 0, 0, 0, _, _] => Some(low(bits)),
        [0x2002, ..] => Some(low(bits >> 80)),
        _other => None,
    }
}

fn outside_global(address: Ipv6Addr) -> &'static str {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => "unspecified",
        [0, 0, 0, 0, 0, 0, 0, 1] => "loopback",
        [first, ..] if first & 0xffc0 == 0xfe80 => "link-local",
        [first, ..] if first & 0xfe00 == 0xfc00 => "unique local",
        [first, ..] if first & 0xff00 == 0xff00 => "multicast",
        _other => "reserved",
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(addresses: &[&str], expected: Expect) {
        let rows = addresses.iter().map(|text| {
            let address = text.parse().expect("an address");
            format!("{text}: {}\n", non_public(address).unwrap_or("open"))
        });
        expected.assert_eq(&rows.collect::<String>());
    }

    #[test]
    fn closed_addresses_of_version_4() {
        check(
            &[
                "0.0.0.0",
                "0.1.2.3",
                "9.255.255.255",
                "10.0.0.0",
                "10.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.64.0.0",
                "100.127.255.255",
                "100.128.0.0",
                "126.255.255.255",
                "127.0.0.1",
                "127.255.255.255",
                "128.0.0.0",
                "169.253.255.255",
                "169.254.169.254",
                "169.255.0.0",
                "172.15.255.255",
                "172.16.0.0",
                "172.31.255.255",
                "172.32.0.0",
                "191.255.255.255",
                "192.0.0.170",
                "192.0.1.0",
                "192.0.2.1",
                "192.0.3.0",
                "192.88.99.1",
                "192.167.255.255",
                "192.168.0.1",
                "192.168.255.255",
                "192.169.0.0",
                "198.17.255.255",
                "198.18.0.0",
                "198.19.255.255",
                "198.20.0.0",
                "198.51.100.7",
                "203.0.113.7",
                "223.255.255.255",
                "224.0.0.1",
                "239.255.255.255",
                "240.0.0.1",
                "255.255.255.254",
                "255.255.255.255",
                "1.1.1.1",
                "93.184.215.14",
            ],
            expect![[r#"
                0.0.0.0: unspecified
                0.1.2.3: unspecified
                9.255.255.255: open
                10.0.0.0: private
                10.255.255.255: private
                11.0.0.0: open
                100.63.255.255: open
                100.64.0.0: shared by a carrier
                100.127.255.255: shared by a carrier
                100.128.0.0: open
                126.255.255.255: open
                127.0.0.1: loopback
                127.255.255.255: loopback
                128.0.0.0: open
                169.253.255.255: open
                169.254.169.254: link-local
                169.255.0.0: open
                172.15.255.255: open
                172.16.0.0: private
                172.31.255.255: private
                172.32.0.0: open
                191.255.255.255: open
                192.0.0.170: for protocols
                192.0.1.0: open
                192.0.2.1: for documentation
                192.0.3.0: open
                192.88.99.1: a relay
                192.167.255.255: open
                192.168.0.1: private
                192.168.255.255: private
                192.169.0.0: open
                198.17.255.255: open
                198.18.0.0: for benchmarks
                198.19.255.255: for benchmarks
                198.20.0.0: open
                198.51.100.7: for documentation
                203.0.113.7: for documentation
                223.255.255.255: open
                224.0.0.1: multicast
                239.255.255.255: multicast
                240.0.0.1: reserved
                255.255.255.254: reserved
                255.255.255.255: broadcast
                1.1.1.1: open
                93.184.215.14: open
            "#]],
        );
    }

    #[test]
    fn closed_addresses_of_version_6() {
        check(
            &[
                "::",
                "::1",
                "::2",
                "::127.0.0.1",
                "::8.8.8.8",
                "::ffff:127.0.0.1",
                "::ffff:10.0.0.1",
                "::ffff:169.254.169.254",
                "::ffff:8.8.8.8",
                "::ffff:0:127.0.0.1",
                "64:ff9b::127.0.0.1",
                "64:ff9b::192.168.1.1",
                "64:ff9b::8.8.8.8",
                "64:ff9b:1::8.8.8.8",
                "100::1",
                "1fff::1",
                "2001::1",
                "2001:2::1",
                "2001:10::1",
                "2001:1ff::1",
                "2001:200::1",
                "2001:db8::1",
                "2002:7f00:1::",
                "2002:a00:1::",
                "2002:808:808::",
                "2606:4700::1111",
                "2a00:1450:4001::200e",
                "3fff::1",
                "3fff:fff::1",
                "3fff:1000::1",
                "4000::1",
                "5f00::1",
                "fc00::1",
                "fdff::1",
                "fe80::1",
                "febf::1",
                "fec0::1",
                "ff02::1",
            ],
            expect![[r#"
                ::: unspecified
                ::1: loopback
                ::2: reserved
                ::127.0.0.1: reserved
                ::8.8.8.8: reserved
                ::ffff:127.0.0.1: loopback
                ::ffff:10.0.0.1: private
                ::ffff:169.254.169.254: link-local
                ::ffff:8.8.8.8: open
                ::ffff:0:127.0.0.1: reserved
                64:ff9b::127.0.0.1: loopback
                64:ff9b::192.168.1.1: private
                64:ff9b::8.8.8.8: open
                64:ff9b:1::8.8.8.8: reserved
                100::1: reserved
                1fff::1: reserved
                2001::1: for protocols
                2001:2::1: for protocols
                2001:10::1: for protocols
                2001:1ff::1: for protocols
                2001:200::1: open
                2001:db8::1: for documentation
                2002:7f00:1::: loopback
                2002:a00:1::: private
                2002:808:808::: open
                2606:4700::1111: open
                2a00:1450:4001::200e: open
                3fff::1: for documentation
                3fff:fff::1: for documentation
                3fff:1000::1: open
                4000::1: reserved
                5f00::1: reserved
                fc00::1: unique local
                fdff::1: unique local
                fe80::1: link-local
                febf::1: link-local
                fec0::1: reserved
                ff02::1: multicast
            "#]],
        );
    }
}
