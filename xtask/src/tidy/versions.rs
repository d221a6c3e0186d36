//! The rule that a protocol version is named only by its codec and where one is chosen.
//! It judges the sources of the crates that see the protocol; tests and benchmarks may name the version that they are about.

use super::code::words;
use super::file::{Fault, File};

/// The crates that see the protocol.
const CRATES: [&str; 4] = [
    "crates/toolcall-acp/src/",
    "crates/toolcall-agent/src/",
    "crates/toolcall-cli/src/",
    "crates/toolcall-wrap/src/",
];

/// Where a version may be named: a path that begins with one of these.
const HOMES: [&str; 4] = [
    "crates/toolcall-acp/src/lib.rs",
    "crates/toolcall-acp/src/v1",
    "crates/toolcall-acp/src/v2",
    "crates/toolcall-acp/src/version.rs",
];

/// `v1` and `v2` are named inside their modules, in `version.rs` and where they are declared only.
pub(crate) fn versions(file: &File) -> Vec<Fault> {
    let is_source = CRATES.iter().any(|krate| file.path.starts_with(krate));
    let at_home = HOMES.iter().any(|home| file.path.starts_with(home));
    if !is_source || at_home {
        return Vec::new();
    }
    let named = words(file.code_before_tests()).filter(|word| matches!(word.text, "v1" | "v2"));
    let advice = "only `version.rs` chooses a protocol version; go through `Codec` or `Decoder`";
    named.map(|word| Fault::new(word.line, advice)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::file::lines;
    use super::*;

    #[test]
    fn a_version_is_named_by_its_codec_and_where_it_is_chosen_only() {
        let code = "use toolcall_acp::v1::Session;\nlet v2 = 1; // v1\nlet v1s = \"v1\";";
        for path in [
            "crates/toolcall-agent/src/turn.rs",
            "crates/toolcall-acp/src/session.rs",
        ] {
            assert_eq!(lines(versions, path, code), [1, 2]);
        }
        for path in [
            "crates/toolcall-acp/src/v1/encode.rs",
            "crates/toolcall-acp/src/v1.rs",
            "crates/toolcall-acp/src/version.rs",
            "crates/toolcall-acp/tests/it/refold.rs",
            "bench/src/lane/ours.rs",
            "crates/toolcall-telemetry/src/span.rs",
        ] {
            assert_eq!(lines(versions, path, code), []);
        }
    }
}
