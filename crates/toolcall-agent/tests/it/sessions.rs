//! Sessions of the agent over the wire of v1, in this process, with models that say what they are told to.
//! What single calls look like is told elsewhere; here it is who hears what, when, and what is left.

mod choices;
mod errors;
mod keeping;
mod stage;
mod talking;
