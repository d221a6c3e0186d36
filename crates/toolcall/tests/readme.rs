//! Keeps the code in the README the same as the example it comes from.
//! It compares text only.

const README: &str = include_str!("../../../README.md");
const EXAMPLE: &str = include_str!("../examples/custom_tool.rs");

#[test]
fn the_tool_in_the_readme_is_that_of_the_example() {
    let blocks: Vec<&str> = README.split("```").skip(1).step_by(2).collect();
    let code = blocks
        .iter()
        .filter_map(|block| block.strip_prefix("rust\n"));
    let code: Vec<&str> = code.collect();
    assert_eq!(code.len(), 1);
    assert!(EXAMPLE.contains(code[0]), "{}", code[0]);
}
