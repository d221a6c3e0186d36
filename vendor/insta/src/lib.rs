//! An empty stand-in for the crate `insta`, which only the tests of brush-parser use.
//! Nothing belongs here; it goes when brush-parser no longer names `insta` outside of its tests.
