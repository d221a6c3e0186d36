//! Where paths lead, and what is read there.
//! Nothing here changes a file through `Files`.

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
    let ground = Ground::new();
    ground.write("docs/real.txt", "x");
    ground.link("src/link.txt", "../docs/real.txt");
    ground.link("absolute", ground.path("docs"));
    ground.link("relative", "docs");
    ground.link("chain", "absolute/real.txt");
    ground.link("dangling", "docs/new.txt");
    ground.link("folder", "docs/");
    let files = ground.files();
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
        let resolved = files.resolve(&ground.path(asked));
        let mut expected = ground.root();
        expected.extend(Path::new(leads_to));
        assert_eq!(resolved, Ok(expected), "{asked:?}");
    }
}

#[test]
fn as_many_links_are_followed_as_the_system_follows() {
    let ground = Ground::new();
    ground.write("0", "x");
    for number in 1..=41 {
        ground.link(&number.to_string(), (number - 1).to_string());
    }
    let (most, over) = (ground.path("40"), ground.path("41"));
    assert_eq!(ground.files().resolve(&most), Ok(ground.path("0")));
    assert!(message(ground.files().resolve(&over)).contains("too many links"));
    assert!(fs::read(most).is_ok() && fs::read(over).is_err());
}

#[test]
fn what_leads_outside_is_refused() {
    let ground = Ground::new();
    ground.write("d/f", "x");
    ground.link("abs", ground.at("/w/outside"));
    ground.link("rel", "../outside");
    ground.link("d/up", "../../outside/canary");
    ground.link("root", "/");
    let files = ground.files();
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
        let path = ground.path(asked);
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
    let ground = Ground::new();
    ground.write("f", "x");
    ground.link("x", "y");
    ground.link("y", "x");
    let files = ground.files();
    let long = ground.path(&"a/".repeat(60_000));
    for (path, expected) in [
        (PathBuf::new(), "`` is not an absolute path"),
        ("f".into(), "`f` is not an absolute path"),
        (ground.path("f\0"), "the path contains a NUL"),
        (ground.path("x"), "leads through too many links"),
        (ground.path("x/f"), "leads through too many links"),
        (ground.path("f/"), "leads through what is not a folder"),
        (ground.path("f/."), "leads through what is not a folder"),
        (ground.path("f/../f"), "leads through what is not a folder"),
        (ground.path(&"a".repeat(300)), "File name too long"),
        (long, "the path is too long"),
    ] {
        let message = message(files.resolve(&path));
        assert!(message.contains(expected), "{message}");
        assert!(message.len() < 500, "{message}");
    }
    let back = ground.path("new/../f");
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
    let ground = Ground::new();
    let files = ground.files();
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
        let path = ground.path("f");
        fs::write(&path, bytes).unwrap();
        assert_eq!(files.read(&path), Ok(body));
        let portion = files.read_part(&path, 0, 3).unwrap();
        assert_eq!(portion.bytes, bytes[..bytes.len().min(3)]);
        assert_eq!(portion.size, bytes.len() as u64);
    }
}

#[test]
fn a_file_over_the_limit_is_named_with_its_size() {
    let ground = Ground::new();
    let path = ground.write("f", "12345");
    let files = ground.files().with_read_limit(4);
    let expected = format!("`{}` has 5 bytes, more than 4", path.display());
    assert_eq!(message(files.read(&path)), expected);
    assert_eq!(
        ground.files().with_read_limit(5).read(&path),
        Ok(text("12345"))
    );
}

/// Its size is given as nothing, and it would go on for ever.
#[test]
fn a_file_that_hides_its_size_is_bounded() {
    let files = open(&["/proc/self".into()]).with_read_limit(2);
    let message = message(files.read(Path::new("/proc/self/status")));
    assert!(message.contains("more than 2"), "{message}");
}

#[test]
fn names_need_not_be_utf8() {
    let ground = Ground::new();
    let path = ground.root().join(OsStr::from_bytes(b"\xff\xfe.txt"));
    fs::write(&path, "x").unwrap();
    assert_eq!(ground.files().resolve(&path), Ok(path.clone()));
    assert_eq!(ground.files().read(&path), Ok(text("x")));
}

#[test]
fn what_is_missing_is_missing() {
    let ground = Ground::new();
    ground.link("dangling", "nowhere");
    for asked in ["no", "no/such/file", "dangling"] {
        let path = ground.path(asked);
        assert_eq!(ground.files().read(&path), Err(HostError::Missing(path)));
    }
}

#[test]
fn the_innermost_root_is_taken_and_leads_on_to_the_others() {
    let ground = Ground::new();
    ground.write("sub/inner/f", "inner");
    ground.write("g", "outer");
    ground.link("sub/inner/up", "../../g");
    fs::create_dir(ground.at("/w/second")).unwrap();
    fs::write(ground.at("/w/second/h"), "second").unwrap();
    ground.link("across", ground.at("/w/second/h"));
    let roots = [
        ground.root(),
        ground.path("sub/inner"),
        ground.at("/w/second"),
    ];
    let files = open(&roots);
    for (asked, body) in [
        ("sub/inner/f", "inner"),
        ("sub/inner/../../g", "outer"),
        ("sub/inner/up", "outer"),
        ("across", "second"),
        ("../second/h", "second"),
    ] {
        assert_eq!(files.read(&ground.path(asked)), Ok(text(body)), "{asked}");
    }
    // Which of the two handles it is shows only now.
    fs::rename(ground.path("sub/inner"), ground.path("moved")).unwrap();
    assert_eq!(files.read(&ground.path("sub/inner/f")), Ok(text("inner")));
}

#[test]
fn a_root_is_the_folder_that_was_opened() {
    let ground = Ground::new();
    ground.write("f", "old");
    let files = ground.files();
    fs::rename(ground.root(), ground.at("/w/p2")).unwrap();
    std::os::unix::fs::symlink(ground.at("/w/outside"), ground.root()).unwrap();
    assert_eq!(files.read(&ground.path("f")), Ok(text("old")));
    let canary = ground.path("canary");
    assert_eq!(files.read(&canary), Err(HostError::Missing(canary)));
}

#[test]
fn a_root_may_be_named_by_a_link() {
    let ground = Ground::new();
    ground.write("f", "x");
    let link = ground.at("/w/link");
    std::os::unix::fs::symlink("proj", &link).unwrap();
    let files = open(std::slice::from_ref(&link));
    assert_eq!(files.resolve(&link.join("f")), Ok(ground.path("f")));
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("outside", &link).unwrap();
    assert_eq!(files.read(&link.join("f")), Ok(text("x")));
}

#[test]
fn a_root_is_an_absolute_folder() {
    let ground = Ground::new();
    let file = ground.write("f", "x");
    for bad in ["proj".into(), "../x".into(), file, ground.path("missing")] {
        assert!(Files::open(std::slice::from_ref(&bad)).is_err(), "{bad:?}");
    }
}
