//! Parses the policies in the documentation.
//! A block that begins with `# wrong` must be an error.

use toolcall_policy::{LayerSource, Trust};

use crate::rules::fixture::parse;

const DOCUMENT: &str = include_str!("../../../../../docs/policy.md");

#[test]
fn policies_in_the_documentation_are_what_they_say() {
    let blocks = DOCUMENT.split("```toml\n").skip(1);
    let blocks: Vec<_> = blocks.filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 8, "{} blocks", blocks.len());
    for block in blocks {
        let read = parse(block, LayerSource::User, Trust::Trusted);
        match block.strip_prefix("# wrong: ") {
            Some(rest) => {
                let error = read.expect_err(block).to_string();
                let said = rest.lines().next().unwrap_or_default();
                assert!(error.contains(said), "{error}\n{block}");
            }
            None => drop(read.unwrap_or_else(|error| panic!("{error}\n{block}"))),
        }
    }
}
