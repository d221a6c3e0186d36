//! The programs that wrappers would run, in tables.
//! Nothing is run here.

use std::fmt::Write;

use expect_test::{Expect, expect};

use super::*;
use crate::quote::quoted;

fn check(texts: &[&str], expect: Expect) {
    let mut all = String::new();
    for text in texts {
        let Reading::Understood(parts) = read(text, "/w".as_ref()) else {
            panic!("{text}");
        };
        writeln!(all, "{text}\n    {}", shown(&unwrapped(&parts[0]))).unwrap();
    }
    expect.assert_eq(&all);
}

/// Shows the wrapped programs, without the part itself.
fn shown(found: &UnwrappedPrograms) -> String {
    let inside = found.parts.iter().skip(1);
    let inside = inside.map(|part| quoted(part.argv.iter().map(String::as_str)));
    let inside = inside.collect::<Vec<_>>().join(" ⊃ ");
    match (found.unclear.as_deref(), inside.as_str()) {
        (None, "") => "nothing".to_owned(),
        (None, _) => inside,
        (Some(why), "") => format!("unclear: {why}"),
        (Some(why), _) => format!("{inside}; unclear: {why}"),
    }
}

#[test]
fn wrappers_show_what_they_wrap() {
    check(
        &[
            "ls -la",
            "env ls",
            "/usr/bin/env -i -u X ls -l",
            "sudo -u root rm x",
            "doas -u root rm x",
            "nice -n 5 make",
            "nice -10 make",
            "ionice -c 2 -n 7 make",
            "nohup make",
            "timeout 5 make",
            "timeout -k 1s --signal=INT 5 make -j",
            "stdbuf -o0 make",
            "setsid -w make",
            "strace -f -e trace=open ls",
            "busybox rm x",
            "toybox rm x",
            "/lib64/ld-linux-x86-64.so.2 /usr/bin/touch M",
            "env -- ls",
            "env timeout 5 nice sudo rm x",
        ],
        expect![[r#"
            ls -la
                nothing
            env ls
                ls
            /usr/bin/env -i -u X ls -l
                ls -l
            sudo -u root rm x
                rm x
            doas -u root rm x
                rm x
            nice -n 5 make
                make
            nice -10 make
                make
            ionice -c 2 -n 7 make
                make
            nohup make
                make
            timeout 5 make
                make
            timeout -k 1s --signal=INT 5 make -j
                make -j
            stdbuf -o0 make
                make
            setsid -w make
                make
            strace -f -e trace=open ls
                ls
            busybox rm x
                rm x
            toybox rm x
                rm x
            /lib64/ld-linux-x86-64.so.2 /usr/bin/touch M
                /usr/bin/touch M
            env -- ls
                ls
            env timeout 5 nice sudo rm x
                timeout 5 nice sudo rm x ⊃ nice sudo rm x ⊃ sudo rm x ⊃ rm x
        "#]],
    );
}

#[test]
fn shells_show_what_their_text_runs() {
    check(
        &[
            "sh -c ls",
            "bash -lc 'make && rm -rf x'",
            "bash -e -c 'make | tail'",
            "./bash -lc 'ls'",
            "bash --login -c ls",
            "env sh -c 'sh -c \"rm x\"'",
            "watch rm -rf x",
            "watch -n 1 'ls | wc'",
            "bash -c '\"$0\" \"$@\"' rm -rf x",
            "sh -c 'ls > x'",
            "sh -c 'printf x'",
            "sh -c 'test -v x'",
            "sh -c 'exec rm x'",
            "sh script.sh",
            "sh",
            "bash -s",
            "bash --rcfile x -c ls",
            "bash +c ls",
        ],
        expect![[r#"
            sh -c ls
                ls
            bash -lc 'make && rm -rf x'
                make ⊃ rm -rf x
            bash -e -c 'make | tail'
                make ⊃ tail
            ./bash -lc 'ls'
                ls
            bash --login -c ls
                ls
            env sh -c 'sh -c "rm x"'
                sh -c 'sh -c "rm x"' ⊃ sh -c 'rm x' ⊃ rm x
            watch rm -rf x
                rm -rf x
            watch -n 1 'ls | wc'
                ls ⊃ wc
            bash -c '"$0" "$@"' rm -rf x
                unclear: its text has an expansion (`$`) at byte 1
            sh -c 'ls > x'
                ls; unclear: its text has redirects of its own
            sh -c 'printf x'
                printf x; unclear: a shell's own `printf` evaluates its arguments
            sh -c 'test -v x'
                test -v x; unclear: a shell's own `test` evaluates its arguments
            sh -c 'exec rm x'
                unclear: its text has the shell's own command `exec` at byte 0
            sh script.sh
                unclear: a shell that runs a script or its input
            sh
                unclear: a shell that runs a script or its input
            bash -s
                unclear: a shell with options that are not understood
            bash --rcfile x -c ls
                unclear: a shell with options that are not understood
            bash +c ls
                unclear: a shell with options that are not understood
        "#]],
    );
}

#[test]
fn what_cannot_be_followed_is_unclear() {
    check(
        &[
            "env FOO=1 make",
            "env -S 'touch M'",
            "env -C /x ls",
            "env - ls",
            "sudo X=1 ls",
            "sudo -i",
            "xargs rm -rf",
            "xargs -n 1 -I '{}' rm '{}'",
            "find . -name x -exec touch M ';'",
            "find . -execdir rm '{}' + -ok ls ';'",
            "find . -delete",
            "fd -e rs -x wc -l",
            "parallel rm ::: a b",
            "ssh host rm x",
            "vim -es -c ':!touch M'",
            "python3 -c 'print(1)'",
            "python3.12 x.py",
            "pwsh -c 'git push'",
            "node",
            "timeout --unknown 5 rm x",
            "busybox --list",
            "strace -o file ls",
            "git status",
            "git log --oneline --exclude=x",
            "git -c core.pager=x status",
            "git ls-remote --upload-pa='touch M;true' .",
            "rg --pre=x y",
            "tar xf a.tar",
            "tar cf a.tar --checkpoint-action exec=x b",
        ],
        expect![[r#"
            env FOO=1 make
                make; unclear: `env` sets `FOO`
            env -S 'touch M'
                'touch M'; unclear: the option `-S` of `env`
            env -C /x ls
                /x ls; unclear: the option `-C` of `env`
            env - ls
                ls; unclear: the option `-` of `env`
            sudo X=1 ls
                ls; unclear: `sudo` sets `X`
            sudo -i
                unclear: the option `-i` of `sudo`
            xargs rm -rf
                rm -rf; unclear: `xargs` adds arguments of its own
            xargs -n 1 -I '{}' rm '{}'
                rm '{}'; unclear: `xargs` adds arguments of its own
            find . -name x -exec touch M ';'
                touch M; unclear: `find` adds arguments of its own
            find . -execdir rm '{}' + -ok ls ';'
                rm '{}' ⊃ ls; unclear: `find` adds arguments of its own
            find . -delete
                nothing
            fd -e rs -x wc -l
                wc -l; unclear: `fd` adds arguments of its own
            parallel rm ::: a b
                unclear: `parallel` may run anything
            ssh host rm x
                unclear: `ssh` may run anything
            vim -es -c ':!touch M'
                unclear: `vim` may run anything
            python3 -c 'print(1)'
                unclear: `python3` runs code that is not read
            python3.12 x.py
                nothing
            pwsh -c 'git push'
                unclear: `pwsh` runs code that is not read
            node
                unclear: `node` runs code that is not read
            timeout --unknown 5 rm x
                rm x; unclear: the option `--unknown` of `timeout`
            busybox --list
                unclear: an option of `busybox` that is not understood
            strace -o file ls
                file ls; unclear: the option `-o` of `strace`
            git status
                nothing
            git log --oneline --exclude=x
                nothing
            git -c core.pager=x status
                unclear: `-c` makes `git` run something
            git ls-remote --upload-pa='touch M;true' .
                unclear: `--upload-pa=touch M;true` makes `git` run something
            rg --pre=x y
                unclear: `--pre=x` makes `rg` run something
            tar xf a.tar
                nothing
            tar cf a.tar --checkpoint-action exec=x b
                unclear: `--checkpoint-action` makes `tar` run something
        "#]],
    );
}

#[test]
fn limits_only_raise() {
    let deep = ["env"; 9].join(" ") + " rm x";
    let wide = format!("sh -c 'env {}'", vec!["a"; 60].join(" ; env "));
    let ambiguity = |text: &str| {
        let Reading::Understood(parts) = read(text, "/w".as_ref()) else {
            panic!("{text}");
        };
        unwrapped(&parts[0]).unclear
    };
    let shown = [deep, wide].map(|text| ambiguity(&text).unwrap_or_default().to_string());
    assert_eq!(
        shown,
        [
            "it runs a program through too many others",
            "it runs too many programs",
        ]
    );
}
