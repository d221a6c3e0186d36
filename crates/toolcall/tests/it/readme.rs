//! Keeps the code in the README and in `docs/library.md` the same as the programs it comes from.
//! It compares text only.

const README: &str = include_str!("../../../../README.md");
const LIBRARY: &str = include_str!("../../../../docs/library.md");
const PROGRAMS: [&str; 4] = [
    include_str!("../../examples/custom_tool.rs"),
    include_str!("../../../toolcall-tools/examples/local_tools.rs"),
    include_str!("../../../toolcall-acp/examples/agent.rs"),
    include_str!("testing_a_tool.rs"),
];

#[test]
fn the_code_in_the_docs_is_that_of_programs_that_are_built() {
    let pages = [README, LIBRARY];
    let blocks = pages
        .iter()
        .flat_map(|page| page.split("```").skip(1).step_by(2));
    let code: Vec<&str> = blocks
        .filter_map(|block| block.strip_prefix("rust\n"))
        .collect();
    assert_eq!(code.len(), PROGRAMS.len());
    for (code, program) in code.iter().zip(PROGRAMS) {
        assert!(program.contains(code), "{code}");
    }
}
