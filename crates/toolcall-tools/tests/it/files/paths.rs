//! Resolving paths and reading files.
//! It changes no file through `Files`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use toolcall::{Digest, FileBody, HostError};
use toolcall_tools::local::Files;

use crate::ground::{Ground, message, open, text};

#[test]
fn a_path_leads_where_its_links_lead() {
    let fixture = Ground::new();
    fixture.write("docs/real.txt", "x");
    fixture.link("src/link.txt", "../docs/real.txt");
    fixture.link("absolute", fixture.path("docs"));
    fixture.link("relative", "docs");
    fixture.link("chain", "absolute/real.txt");
    fixture.link("dangling", "docs/new.txt");
    fixture.link("folder", "docs/");
    let files = fixture.files();
    for (asked, leads_to) in [
        ("", ""),
        (".", ""),
        ("docs", "docs"),
        ("docs/", "docs"),
        ("docs/.", "docs"),
        ("docs/..", ""),
        ("./docs//real.txt", "docs/real.txt"),
        ("src/link.txt", "docs/real.txt"),
        ("absolute/real.txt", "docs/real.txt"),
        ("absolute/../src", "src"),
        ("relative/real.txt", "docs/real.txt"),
        ("chain", "docs/real.txt"),
        ("dangling", "docs/new.txt"),
        ("folder", "docs"),
        ("new", "new"),
        ("new/", "new"),
        ("new/deep/./file", "new/deep/file"),
        ("absolute/new/file", "docs/new/file"),
        ("../proj/docs", "docs"),
    ] {
        let resolved = files.resolve(&fixture.path(asked));
        let mut expected = fixture.root();
        expected.extend(Path::new(leads_to));
        assert_eq!(resolved, Ok(expected), "{asked:?}");
    }
}

#[test]
fn as_many_links_are_followed_as_the_system_follows() {
    let fixture = Ground::new();
    fixture.write("0", "x");
    for number in 1..=41 {
        fixture.link(&number.to_string(), (number - 1).to_string());
    }
    let (most, over) = (fixture.path("40"), fixture.path("41"));
    assert_eq!(fixture.files().resolve(&most), Ok(fixture.path("0")));
    assert!(message(fixture.files().resolve(&over)).contains("too many links"));
    assert!(fs::read(most).is_ok() && fs::read(over).is_err());
}

#[test]
fn what_leads_outside_is_refused() {
    let fixture = Ground::new();
    fixture.write("d/f", "x");
    fixture.link("abs", fixture.at("/w/outside"));
    fixture.link("rel", "../outside");
    fixture.link("d/up", "../../outside/canary");
    fixture.link("root", "/");
    let files = fixture.files();
    for asked in [
        "..",
        "../outside/canary",
        "d/../../outside/canary",
        "abs",
        "abs/canary",
        "abs/new/deep",
        "abs/../outside/canary",
        "rel/canary",
        "d/up",
        "root/etc/hostname",
        "../proj2/x",
    ] {
        let path = fixture.path(asked);
        let expected = format!(
            "`{}` is outside the folders of this session",
            path.display()
        );
        assert_eq!(message(files.resolve(&path)), expected);
        assert_eq!(message(files.read(&path)), expected);
    }
}

#[test]
fn what_is_no_path_is_refused() {
    let fixture = Ground::new();
    fixture.write("f", "x");
    fixture.link("x", "y");
    fixture.link("y", "x");
    let files = fixture.files();
    let long = fixture.path(&"a/".repeat(60_000));
    for (path, expected) in [
        (PathBuf::new(), "`` is not an absolute path"),
        ("f".into(), "`f` is not an absolute path"),
        (fixture.path("f\0"), "the path contains a NUL"),
        (fixture.path("x"), "leads through too many links"),
        (fixture.path("x/f"), "leads through too many links"),
        (fixture.path("f/"), "leads through what is not a folder"),
        (fixture.path("f/."), "leads through what is not a folder"),
        (fixture.path("f/../f"), "leads through what is not a folder"),
        (fixture.path(&"a".repeat(300)), "File name too long"),
        (long, "the path is too long"),
    ] {
        let message = message(files.resolve(&path));
        assert!(message.contains(expected), "{message}");
        assert!(message.len() < 500, "{message}");
    }
    let back = fixture.path("new/../f");
    assert_eq!(files.resolve(&back), Err(HostError::Missing(back)));
}

#[test]
fn links_of_the_system_are_refused() {
    let files = open(&["/proc/self".into()]);
    for magic in ["fd/0", "cwd/Cargo.toml", "root/etc/hostname", "exe"] {
        let path = Path::new("/proc/self").join(magic);
        let message = message(files.read(&path));
        assert!(message.contains("a link of the system"), "{message}");
    }
}

#[test]
fn files_are_read_as_they_are() {
    let fixture = Ground::new();
    let files = fixture.files();
    let binary = |bytes: &[u8]| FileBody::Binary {
        bytes: bytes.len() as u64,
        digest: Some(Digest(Sha256::digest(bytes).into())),
    };
    let cut = "cut ä".as_bytes().split_last().unwrap().1;
    for (bytes, body) in [
        (&b""[..], text("")),
        (b"plain", text("plain")),
        (
            b"\xef\xbb\xbfbom\r\ncrlf\r\n",
            text("\u{feff}bom\r\ncrlf\r\n"),
        ),
        (b"nul\0", text("nul\0")),
        (b"\xff\xfe\0", binary(b"\xff\xfe\0")),
        (cut, binary(cut)),
    ] {
        let path = fixture.path("f");
        fs::write(&path, bytes).unwrap();
        assert_eq!(files.read(&path), Ok(body));
        let portion = files.read_part(&path, 0, 3).unwrap();
        assert_eq!(portion.bytes, bytes[..bytes.len().min(3)]);
        assert_eq!(portion.size, bytes.len() as u64);
    }
}

#[test]
fn a_file_over_the_limit_is_named_with_its_size() {
    let fixture = Ground::new();
    let path = fixture.write("f", "12345");
    let files = fixture.files().with_read_limit(4);
    let expected = format!("`{}` has 5 bytes, more than 4", path.display());
    assert_eq!(message(files.read(&path)), expected);
    assert_eq!(
        fixture.files().with_read_limit(5).read(&path),
        Ok(text("12345"))
    );
}

/// A file of procfs reports size 0 and may never end.
#[test]
fn a_file_that_hides_its_size_is_bounded() {
    let files = open(&["/proc/self".into()]).with_read_limit(2);
    let message = message(files.read(Path::new("/proc/self/status")));
    assert!(message.contains("more than 2"), "{message}");
}

#[test]
fn names_need_not_be_utf8() {
    let fixture = Ground::new();
    let path = fixture.root().join(OsStr::from_bytes(b"\xff\xfe.txt"));
    fs::write(&path, "x").unwrap();
    assert_eq!(fixture.files().resolve(&path), Ok(path.clone()));
    assert_eq!(fixture.files().read(&path), Ok(text("x")));
}

#[test]
fn what_is_missing_is_missing() {
    let fixture = Ground::new();
    fixture.link("dangling", "nowhere");
    for asked in ["no", "no/such/file", "dangling"] {
        let path = fixture.path(asked);
        assert_eq!(fixture.files().read(&path), Err(HostError::Missing(path)));
    }
}

#[test]
fn the_innermost_root_is_taken_and_leads_on_to_the_others() {
    let fixture = Ground::new();
    fixture.write("sub/inner/f", "inner");
    fixture.write("g", "outer");
    fixture.link("sub/inner/up", "../../g");
    fs::create_dir(fixture.at("/w/second")).unwrap();
    fs::write(fixture.at("/w/second/h"), "second").unwrap();
    fixture.link("across", fixture.at("/w/second/h"));
    let roots = [
        fixture.root(),
        fixture.path("sub/inner"),
        fixture.at("/w/second"),
    ];
    let files = open(&roots);
    for (asked, body) in [
        ("sub/inner/f", "inner"),
        ("sub/inner/../../g", "outer"),
        ("sub/inner/up", "outer"),
        ("across", "second"),
        ("../second/h", "second"),
    ] {
        assert_eq!(files.read(&fixture.path(asked)), Ok(text(body)), "{asked}");
    }
    // Only after a move does it show which of the two handles is used.
    fs::rename(fixture.path("sub/inner"), fixture.path("moved")).unwrap();
    assert_eq!(files.read(&fixture.path("sub/inner/f")), Ok(text("inner")));
}

#[test]
fn a_root_is_the_folder_that_was_opened() {
    let fixture = Ground::new();
    fixture.write("f", "old");
    let files = fixture.files();
    fs::rename(fixture.root(), fixture.at("/w/p2")).unwrap();
    std::os::unix::fs::symlink(fixture.at("/w/outside"), fixture.root()).unwrap();
    assert_eq!(files.read(&fixture.path("f")), Ok(text("old")));
    let canary = fixture.path("canary");
    assert_eq!(files.read(&canary), Err(HostError::Missing(canary)));
}

#[test]
fn a_root_may_be_named_by_a_link() {
    let fixture = Ground::new();
    fixture.write("f", "x");
    let link = fixture.at("/w/link");
    std::os::unix::fs::symlink("proj", &link).unwrap();
    let files = open(std::slice::from_ref(&link));
    assert_eq!(files.resolve(&link.join("f")), Ok(fixture.path("f")));
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("outside", &link).unwrap();
    assert_eq!(files.read(&link.join("f")), Ok(text("x")));
}

#[test]
fn a_root_is_an_absolute_folder() {
    let fixture = Ground::new();
    let file = fixture.write("f", "x");
    for bad in ["proj".into(), "../x".into(), file, fixture.path("missing")] {
        assert!(Files::open(std::slice::from_ref(&bad)).is_err(), "{bad:?}");
    }
}
