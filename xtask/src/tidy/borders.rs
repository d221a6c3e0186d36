//! The rule that a foreign crate which changes often is named in one place only.
//! It judges code and manifests, not talk in comments.

use super::code::words;
use super::file::{Fault, File};

/// A foreign crate, with its kin (`name_…`), and where it may be named.
struct Border {
    krate: &'static str,
    /// A path is home when it begins with one of these.
    homes: &'static [&'static str],
}

const BORDERS: [Border; 2] = [
    Border {
        krate: "agent_client_protocol",
        // A benchmark compares with it, and so has to use it as others would.
        homes: &["crates/toolcall-acp/", "bench/"],
    },
    Border {
        krate: "rmcp",
        homes: &[
            "crates/toolcall-tools/src/mcp/",
            "crates/toolcall-tools/src/mcp.rs",
            "crates/toolcall-tools/Cargo.toml",
            // As above.
            "bench/",
        ],
    },
];

/// What follows the name of a crate where it is used; a function may be called `rmcp_…`.
const USES: [&str; 3] = ["::", " as ", ";"];

/// `agent_client_protocol` and `rmcp` are named at their homes and in the workspace's own manifest only.
pub(crate) fn borders(file: &File) -> Vec<Fault> {
    BORDERS
        .iter()
        .flat_map(|border| crossings(file, border))
        .collect()
}

fn crossings(file: &File, border: &Border) -> Vec<Fault> {
    let at_home = border.homes.iter().any(|home| file.path.starts_with(home));
    if at_home || file.path == "Cargo.toml" {
        return Vec::new();
    }
    let lines = if file.is_manifest() {
        lines_of_manifest(&file.text, border.krate)
    } else {
        lines_of_code(&file.code, border.krate)
    };
    lines
        .into_iter()
        .map(|line| Fault::new(line, advice(border)))
        .collect()
}

fn advice(border: &Border) -> String {
    let Border { krate, homes } = border;
    format!(
        "only `{}` may name `{krate}`; go through the crate that does",
        homes[0]
    )
}

fn lines_of_code(code: &str, krate: &str) -> Vec<usize> {
    let named = words(code).filter(|word| {
        let is_used = USES.iter().any(|next| code[word.end()..].starts_with(next));
        word.text == krate || is_used && is_kin(word.text, krate)
    });
    named.map(|word| word.line).collect()
}

fn lines_of_manifest(text: &str, krate: &str) -> Vec<usize> {
    let names = |line: &str| {
        let told = line.split('#').next().unwrap_or_default().replace('-', "_");
        words(&told).any(|word| is_kin(word.text, krate))
    };
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| names(line))
        .map(|(at, _)| at + 1)
        .collect()
}

fn is_kin(word: &str, krate: &str) -> bool {
    let rest = word.strip_prefix(krate);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

#[cfg(test)]
mod tests {
    use super::super::file::lines;
    use super::*;

    #[test]
    fn the_protocol_is_named_in_its_crate_only() {
        let code =
            "//! Doc.\nuse agent_client_protocol::schema;\nuse agent_client_protocol_schema as s;";
        assert_eq!(lines(borders, "crates/toolcall/src/call.rs", code), [2, 3]);
        assert_eq!(
            lines(borders, "crates/toolcall-acp/src/v1/encode.rs", code),
            []
        );
        assert_eq!(
            lines(borders, "crates/toolcall-acp-more/src/lib.rs", code),
            [2, 3]
        );
    }

    #[test]
    fn the_protocol_is_a_dependency_of_its_crate_only() {
        let manifest = "\
            [dependencies]\n\
            agent-client-protocol.workspace = true\n\
            acp = { package = \"agent-client-protocol-schema\" }";
        assert_eq!(
            lines(borders, "crates/toolcall-cli/Cargo.toml", manifest),
            [2, 3]
        );
        assert_eq!(
            lines(borders, "crates/toolcall-acp/Cargo.toml", manifest),
            []
        );
        assert_eq!(lines(borders, "Cargo.toml", manifest), []);
    }

    #[test]
    fn rmcp_is_named_in_its_room_only() {
        let code = "use rmcp::ServiceExt;";
        assert_eq!(
            lines(borders, "crates/toolcall-tools/src/read.rs", code),
            [1]
        );
        assert_eq!(
            lines(borders, "crates/toolcall-tools/src/mcp/bridge.rs", code),
            []
        );
        assert_eq!(lines(borders, "crates/toolcall-tools/src/mcp.rs", code), []);
        let manifest = "[dependencies]\nrmcp = \"1\"";
        assert_eq!(
            lines(borders, "crates/toolcall-agent/Cargo.toml", manifest),
            [2]
        );
        assert_eq!(
            lines(borders, "crates/toolcall-tools/Cargo.toml", manifest),
            []
        );
    }

    #[test]
    fn talk_and_other_names_pass() {
        let good = "// agent_client_protocol\nlet rmcps = \"rmcp\";\nfn rmcp_tools() {}";
        assert_eq!(lines(borders, "crates/toolcall/src/call.rs", good), []);
        let manifest = "description = \"the Agent Client Protocol\" # rmcp";
        assert_eq!(lines(borders, "crates/toolcall/Cargo.toml", manifest), []);
    }
}
