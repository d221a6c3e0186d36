//! Keeps the code in the README the same as the example it comes from.
//! It compares text only.

const README: &str = include_str!("../../../../README.md");
const EXAMPLES: [&str; 3] = [
    include_str!("../../examples/custom_tool.rs"),
    include_str!("../../../toolcall-tools/examples/local_tools.rs"),
    include_str!("../../../toolcall-acp/examples/agent.rs"),
];

#[test]
fn the_code_in_the_readme_is_that_of_the_examples() {
    let blocks: Vec<&str> = README.split("```").skip(1).step_by(2).collect();
    let code = blocks
        .iter()
        .filter_map(|block| block.strip_prefix("rust\n"));
    let code: Vec<&str> = code.collect();
    assert_eq!(code.len(), EXAMPLES.len());
    for (code, example) in code.iter().zip(EXAMPLES) {
        assert!(example.contains(code), "{code}");
    }
}
