//! The knowledge about programs, in tables: which arguments a rule for the program alone covers.
//! Nothing is run here.

use std::fmt::Write;

use expect_test::{Expect, expect};
use toolcall::Reading;

use super::*;

fn argv(text: &str) -> Vec<String> {
    match toolcall_shell::read(text, "/w".as_ref()) {
        Reading::Understood(parts) => parts[0].argv.clone(),
        Reading::Unclear(why) => panic!("{text}: {why}"),
    }
}

fn check(texts: &[&str], expect: Expect) {
    let mut all = String::new();
    for text in texts {
        let argv = argv(text);
        let covered = known(&argv).map_or(1, |(depth, _)| depth);
        match first_hazard(&argv, covered) {
            Some(hazard) => writeln!(all, "{text} → {}", hazard.why).unwrap(),
            None => writeln!(all, "{text} → fine").unwrap(),
        }
    }
    expect.assert_eq(&all);
}

#[test]
fn scripts_that_only_print_are_fine() {
    check(
        &[
            "sed -n '1,20p' a",
            "sed -n '/a/,/b/p;$p' a",
            "sed 's/a/b/g; s|c|d|' a",
            "sed -e s/a/b/ -ne p a",
            "sed '/^#/d' a",
            "awk '{print $1}' a",
            "awk -F, 'NR>2 && $3 <= 4 || $1' a",
            "awk -v n=3 'NR==n{print; exit}' a",
        ],
        expect![[r#"
            sed -n '1,20p' a → fine
            sed -n '/a/,/b/p;$p' a → fine
            sed 's/a/b/g; s|c|d|' a → fine
            sed -e s/a/b/ -ne p a → fine
            sed '/^#/d' a → fine
            awk '{print $1}' a → fine
            awk -F, 'NR>2 && $3 <= 4 || $1' a → fine
            awk -v n=3 'NR==n{print; exit}' a → fine
        "#]],
    );
}

#[test]
fn scripts_that_write_or_run_are_hazards() {
    check(
        &[
            "sed 's/a/b/e' p",
            "sed 's/a/b/w out' p",
            "sed -n 'w out' p",
            "sed '1e date' p",
            "sed -n '/x/{p;e date' p",
            "sed -es/a/date/e p",
            "sed --expression=s/a/date/e p",
            "sed --exp s/a/date/e p",
            "sed -n -es/a/b/ -e 'r /etc/passwd' p",
            "sed -fscript p",
            "sed -ni p a",
            "sed --in-pl=.bak p a",
            "sed 's/[/]/date/e;s/x/y/' p",
            "sed 's/[]/]/;s/e;/x/' p",
            "awk 'BEGIN{system(\"x\")}'",
            "awk '{print | \"sh\"}' a",
            "awk '{print > \"out\"}' a",
            "awk '{while ((getline l < \"x\") > 0) n++}' a",
            "awk -f x a",
            "gawk -i inplace 1 a",
        ],
        expect![[r#"
            sed 's/a/b/e' p → the script of `sed` may write or run something
            sed 's/a/b/w out' p → the script of `sed` may write or run something
            sed -n 'w out' p → the script of `sed` may write or run something
            sed '1e date' p → the script of `sed` may write or run something
            sed -n '/x/{p;e date' p → the script of `sed` may write or run something
            sed -es/a/date/e p → the script of `sed` may write or run something
            sed --expression=s/a/date/e p → the script of `sed` may write or run something
            sed --exp s/a/date/e p → the script of `sed` may write or run something
            sed -n -es/a/b/ -e 'r /etc/passwd' p → the script of `sed` may write or run something
            sed -fscript p → `-fscript` makes `sed` do more than that
            sed -ni p a → `-ni` makes `sed` do more than that
            sed --in-pl=.bak p a → `--in-pl=.bak` makes `sed` do more than that
            sed 's/[/]/date/e;s/x/y/' p → the script of `sed` may write or run something
            sed 's/[]/]/;s/e;/x/' p → the script of `sed` may write or run something
            awk 'BEGIN{system("x")}' → the script of `awk` may write or run something
            awk '{print | "sh"}' a → the script of `awk` may write or run something
            awk '{print > "out"}' a → the script of `awk` may write or run something
            awk '{while ((getline l < "x") > 0) n++}' a → the script of `awk` may write or run something
            awk -f x a → `-f` makes `awk` do more than that
            gawk -i inplace 1 a → `-i` makes `gawk` do more than that
        "#]],
    );
}

#[test]
fn options_that_write_or_run_are_hazards() {
    check(
        &[
            "find . -delete",
            "find . -fprintf out x",
            "sort -uo out in",
            "sort --outp=out in",
            "sort --comp=x in",
            "uniq -c in",
            "uniq -f 2 in out",
            "rg --pre=x y",
            "rg -z y",
            "fd -x rm",
            "tree -o out",
            "date -s now",
            "xxd -r a b",
            "hostname evil",
            "git log -5 --outp=x",
            "git log -- --output=x",
            "git diff --ext-diff",
            "git grep -Ovim x",
            "git branch -vv",
            "git branch -D main",
            "git branch new",
            "git branch --edit-d",
            "git tag v1",
            "git remote add x y",
            "git fetch 'ext::sh -c x'",
            "git clone --upload-pack=x y",
            "cargo test --config x",
            "cargo test --all -- --config",
            "go test -exec x ./...",
            "go test -exec=x ./...",
            "tsc --outdir x",
            "less '+!date' a",
            "pytest -pevil",
            "npm run test --script-shell=x",
            "curl -sSLo out https://example.com",
            "wget --use-askpass=x https://example.com",
            "jq -f x a",
            "eslint --fix src",
            "make --eval=x",
        ],
        expect![[r#"
            find . -delete → `-delete` makes `find` do more than that
            find . -fprintf out x → `-fprintf` makes `find` do more than that
            sort -uo out in → `-uo` makes `sort` do more than that
            sort --outp=out in → `--outp=out` makes `sort` do more than that
            sort --comp=x in → `--comp=x` makes `sort` do more than that
            uniq -c in → fine
            uniq -f 2 in out → `out` is something that `uniq` would change
            rg --pre=x y → `--pre=x` makes `rg` do more than that
            rg -z y → `-z` makes `rg` do more than that
            fd -x rm → `-x` makes `fd` do more than that
            tree -o out → `-o` makes `tree` do more than that
            date -s now → `-s` makes `date` do more than that
            xxd -r a b → `-r` makes `xxd` do more than that
            hostname evil → `evil` is something that `hostname` would change
            git log -5 --outp=x → `--outp=x` makes `git log` do more than that
            git log -- --output=x → fine
            git diff --ext-diff → `--ext-diff` makes `git diff` do more than that
            git grep -Ovim x → `-Ovim` makes `git grep` do more than that
            git branch -vv → fine
            git branch -D main → `-D` makes `git branch` do more than that
            git branch new → `new` is something that `git branch` would change
            git branch --edit-d → `--edit-d` makes `git branch` do more than that
            git tag v1 → `v1` is something that `git tag` would change
            git remote add x y → `add` is something that `git remote` would change
            git fetch 'ext::sh -c x' → `ext::sh -c x` makes `git` run a program
            git clone --upload-pack=x y → `--upload-pack=x` makes `git clone` do more than that
            cargo test --config x → `--config` makes `cargo test` do more than that
            cargo test --all -- --config → `--config` makes `cargo test` do more than that
            go test -exec x ./... → `-exec` makes `go test` do more than that
            go test -exec=x ./... → `-exec=x` makes `go test` do more than that
            tsc --outdir x → `--outdir` makes `tsc` do more than that
            less '+!date' a → `+!date` makes `less` do more than that
            pytest -pevil → `-pevil` makes `pytest` do more than that
            npm run test --script-shell=x → `--script-shell=x` makes `npm run` do more than that
            curl -sSLo out https://example.com → `-sSLo` makes `curl` do more than that
            wget --use-askpass=x https://example.com → `--use-askpass=x` makes `wget` do more than that
            jq -f x a → `-f` makes `jq` do more than that
            eslint --fix src → `--fix` makes `eslint` do more than that
            make --eval=x → `--eval=x` makes `make` do more than that
        "#]],
    );
}

#[test]
fn patterns_are_no_paths() {
    let shown = |text: &str| {
        let argv = argv(text);
        let words: Vec<_> = path_words(&argv)
            .into_iter()
            .map(|(_, word)| word.to_owned())
            .collect();
        format!("{text} → {words:?}\n")
    };
    let texts = [
        "grep -rn /api src",
        "grep -A 3 /api .env",
        "grep -e /api .env",
        "grep -ex .env",
        "grep --reg=x .env",
        "rg --files .env",
        "grep -r x --exclude-dir=.git --exclude .env .",
        "awk -v x=1 '/a/' b",
    ];
    expect![[r#"
        grep -rn /api src → ["-rn", "src"]
        grep -A 3 /api .env → ["-A", "3", ".env"]
        grep -e /api .env → ["-e", "/api", ".env"]
        grep -ex .env → ["-ex", ".env"]
        grep --reg=x .env → ["--reg=x", ".env"]
        rg --files .env → ["--files", ".env"]
        grep -r x --exclude-dir=.git --exclude .env . → ["-r", "."]
        awk -v x=1 '/a/' b → ["-v", "x=1", "b"]
    "#]]
    .assert_eq(&texts.map(shown).concat());
}
