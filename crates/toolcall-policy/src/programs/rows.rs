//! The table of programs: what each does with its arguments, and which options write, run or reach.
//! An option in doubt is listed: asking too often does less harm than asking too rarely.

use super::table::{Program, ProgramKind, reads, row, works};

/// Options of `git` commands that print differences.
const DIFF: &str = "output ext-diff textconv no-index";

/// Options with which other `git` commands run programs or write files.
const GIT: &str = "upload-pack receive-pack exec open-files-in-pager output ext-diff textconv";

pub(super) const ROWS: &[Program] = &[
    // Readers of files.
    reads(
        "cat|ls|dir|wc|stat|du|df|realpath|readlink|basename|dirname|pwd|cmp|comm|nl|\
         tac|rev|od|hexdump|strings|md5sum|sha1sum|sha256sum|sha512sum|cksum|b2sum|\
         zcat|exa|eza|lsd|test",
    ),
    reads("head|tail").valued("nc"),
    reads("cut|paste|column|fold|expand|unexpand|join|fmt|pr").valued("dfcbswtNo"),
    reads("tr").valued(""),
    reads("grep|egrep|fgrep|zgrep").pattern().valued("ABCmdDef"),
    reads("rg")
        .pattern()
        .valued("ABCgtTmjrefMEd")
        .short("z")
        .long("pre hostname-bin search-zip")
        .unabbreviated(),
    reads("ag|ack")
        .pattern()
        .valued("ABCGm")
        .long("pager output open-files-in-editor"),
    reads("find|gfind|bfs")
        .words("-delete -exec -execdir -ok -okdir -fprint -fprint0 -fprintf -fls -files0-from"),
    reads("fd|fdfind")
        .pattern()
        .valued("edEtSc")
        .short("xX")
        .long("exec exec-batch")
        .unabbreviated(),
    reads("tree").valued("LPI").short("oR"),
    reads("diff|colordiff|sdiff")
        .short("o")
        .long("output")
        .valued("ULI"),
    reads("file").short("Cm").long("compile magic-file"),
    reads("sort")
        .valued("kt")
        .short("oT")
        .long("output compress-program files0-from temporary-directory"),
    reads("uniq").valued("fsw").at_most(1),
    reads("xxd").valued("lcgos").short("r").at_most(1),
    reads("sed|gsed")
        .pattern()
        .valued("el")
        .short("iIf")
        .long("in-place file"),
    reads("awk|gawk|mawk|nawk")
        .pattern()
        .valued("vFe")
        .short("fiElDop")
        .long("file include exec load debug dump-variables pretty-print profile source"),
    reads("jq|yq")
        .pattern()
        .valued("L")
        .short("fi")
        .long("from-file inplace rawfile slurpfile"),
    reads("less|more|most")
        .short("oOkKT")
        .long("log-file LOG-FILE lesskey-file lesskey-src tag-file")
        .words("+*")
        .not_offered(),
    reads(
        "which|whereis|whoami|id|uname|groups|tty|nproc|arch|uptime|free|ps|lsof|\
         locale|getconf|sleep|true|false|seq|pgrep",
    ),
    reads("date").short("sf").long("set file"),
    reads("hostname").short("Fb").long("file boot").at_most(0),
    reads("man|info|apropos|whatis")
        .short("PHoCL")
        .long("pager html output config-file")
        .not_offered(),
    row("echo|printf", ProgramKind::Prints),
    // Git, read commands first.
    reads(
        "git status|git ls-files|git ls-tree|git rev-parse|git rev-list|git describe|\
         git merge-base|git name-rev|git count-objects|git cherry|git check-ignore|\
         git check-attr|git var|git for-each-ref|git show-ref|git diff-tree|\
         git diff-index|git diff-files|git range-diff|git whatchanged",
    )
    .long(DIFF),
    reads("git log|git show|git diff|git shortlog|git blame|git annotate")
        .long(DIFF)
        .short("O")
        .valued("nSGLU"),
    reads("git cat-file").long("textconv filters batch-command"),
    reads("git grep")
        .pattern()
        .valued("ABCmef")
        .short("O")
        .long("open-files-in-pager textconv no-index ext-grep"),
    reads("git branch")
        .short("dDmMcCfut")
        .long(
            "delete move copy force set-upstream-to unset-upstream edit-description track \
         create-reflog",
        )
        .at_most(0),
    reads("git tag")
        .short("adfsuFm")
        .long("annotate delete force sign local-user file message edit create-reflog")
        .at_most(0)
        .valued("n"),
    reads("git remote").at_most(0),
    reads(
        "git remote get-url|git stash list|git worktree list|git bisect log|\
         git notes show|git reflog show|git submodule status|git config --get|\
         git config --get-all|git config --list|git config -l|git config get|\
         git config list",
    )
    .long("output ext-diff textconv"),
    reads("git remote show").at_most(0),
    reads("git stash show").long(DIFF),
    reads("git reflog").at_most(0),
    works("git config|git stash|git worktree|git submodule|git bisect|git notes")
        .at_most(0)
        .not_offered()
        .long(GIT),
    works(
        "git add|git commit|git restore|git switch|git checkout|git merge|git fetch|\
         git pull|git push|git clone|git ls-remote|git archive|git rebase|\
         git cherry-pick|git revert|git reset|git rm|git mv|git clean|git init|git am|\
         git apply|git bundle|git difftool|git mergetool|git filter-branch|git gc|\
         git send-email",
    )
    .short("OxFtou")
    .long(
        "upload-pack receive-pack exec open-files-in-pager output ext-diff textconv \
         remote template config tool extcmd force force-with-lease mirror delete hard \
         no-verify edit file",
    )
    .not_offered(),
    works("git")
        .short("cCOp")
        .long(
            "exec-path git-dir work-tree config-env paginate namespace upload-pack \
         receive-pack exec",
        )
        .not_offered(),
    // Build tools and tests: they run what the project configures, and their options may run more.
    works(
        "cargo build|cargo test|cargo check|cargo clippy|cargo doc|cargo bench|\
         cargo run|cargo nextest|cargo tree|cargo metadata|cargo fmt",
    )
    .short("ZC")
    .long("config manifest-path target-dir artifact-dir out-dir runner fix allow-dirty")
    .words("--logfile --config --config-path --emit --codegen -C*")
    .unabbreviated(),
    works("cargo")
        .short("ZC")
        .long("config manifest-path index registry git path root token")
        .not_offered()
        .unabbreviated(),
    works("rustc")
        .short("oC")
        .long("out-dir codegen")
        .words("-Clinker")
        .not_offered(),
    works("rustfmt").long("config config-path emit"),
    works(
        "npm test|npm run|pnpm test|pnpm run|yarn test|yarn run|npm ls|npm outdated|\
         npm view",
    )
    .short("C")
    .long(
        "prefix script-shell node-options scripts-prepend-node-path userconfig \
         globalconfig ignore-scripts shell cwd dir",
    )
    .not_offered(),
    works("npm|pnpm|yarn")
        .short("gC")
        .long(
            "prefix global script-shell node-options userconfig globalconfig registry cwd \
         dir",
        )
        .not_offered(),
    works("go test|go build|go vet|go list|go doc|go version|go env")
        .words(
            "-exec -toolexec -vettool -o -modfile -overlay -C -w -u -ldflags -gcflags \
         -pkgdir -coverprofile -cpuprofile -memprofile -trace -outputdir",
        )
        .long("exec toolexec vettool modfile overlay"),
    works("go")
        .words("-exec -toolexec -vettool -modfile -overlay -C")
        .long("exec toolexec vettool modfile overlay")
        .not_offered(),
    works("pytest|py.test")
        .short("pco")
        .long(
            "config-file rootdir basetemp confcutdir override-ini pdbcls import-mode \
         junitxml junit-xml log-file resultlog cov-report cov-config pyargs debug",
        )
        .valued("kmnW"),
    works("tsc").words(
        "--outDir --outFile --init --build -b --tsBuildInfoFile --declarationDir \
         --generateTrace --generateCpuProfile -p --project",
    ),
    works("eslint")
        .short("oc")
        .long(
            "fix fix-dry-run output-file config rulesdir plugin \
         resolve-plugins-relative-to parser format cache-location cache-file init rule",
        )
        .words("-f")
        .unabbreviated(),
    works("prettier")
        .short("w")
        .long("write plugin plugin-search-dir config find-config-path")
        .unabbreviated(),
    works("ruff check|ruff")
        .short("o")
        .long("fix unsafe-fixes fix-only output-file config add-noqa")
        .unabbreviated(),
    works("mypy").long(
        "config-file install-types cache-dir python-executable junit-xml shadow-file \
         any-exprs-report html-report txt-report xml-report pdb",
    ),
    works("make|gmake")
        .short("fCIE")
        .words("=")
        .long("file makefile eval directory include-dir environment-overrides")
        .not_offered(),
    works("cmake")
        .short("PEC")
        .words("-P -E -C")
        .long("toolchain install")
        .not_offered(),
    works("ninja").short("Cf").not_offered(),
    works("jest|vitest|npx jest|npx vitest")
        .short("cu")
        .long(
            "config globalSetup setupFiles reporters resolver runner testRunner transform \
         rootDir updateSnapshot outputFile coverageDirectory cacheDirectory environment",
        )
        .unabbreviated(),
    // Interpreters: their other arguments are code.
    works("python|pypy").short("cimWX").words("-").not_offered(),
    works("node|nodejs|deno|bun|tsx|ts-node")
        .short("eprCi")
        .long(
            "eval print require import loader experimental-loader inspect inspect-brk \
         env-file preload config",
        )
        .words("-")
        .not_offered(),
    works("ruby|perl|php|lua|Rscript")
        .short("eEnpiIrMmaBFdzc")
        .words("-")
        .not_offered(),
    // Programs that pack, copy, fetch.
    works("tar|bsdtar")
        .bare_letters()
        .short("FIxcruCTKA")
        .long(
            "extract create append update delete directory checkpoint-action info-script \
         new-volume-script rsh-command to-command use-compress-program get catenate \
         remove-files",
        )
        .not_offered(),
    works("zip|unzip")
        .short("TdmuoxOP")
        .long("unzip-command")
        .words("-TT")
        .not_offered(),
    works("curl")
        .short("oOTKdFXcDxEHUuJbQ")
        .long(
            "output remote-name remote-name-all output-dir upload-file config data \
         data-ascii data-binary data-raw data-urlencode form form-string json request \
         cookie-jar dump-header proxy preproxy cert key engine netrc netrc-file user \
         header trace trace-ascii stderr libcurl unix-socket abstract-unix-socket \
         resolve connect-to doh-url remote-header-name hsts alt-svc etag-save \
         write-out next quote",
        )
        .not_offered(),
    works("wget")
        .short("OoaPiBeXrmKxU")
        .long(
            "output-document output-file append-output directory-prefix input-file execute \
         config use-askpass post-data post-file body-data body-file method recursive \
         mirror header user password save-cookies load-cookies ca-certificate \
         warc-file proxy",
        )
        .not_offered(),
    works("scp|sftp|rsync")
        .short("SoFeJ")
        .long(
            "rsh rsync-path files-from write-batch log-file temp-dir partial-dir \
         remove-source-files delete",
        )
        .not_offered(),
    works("split|csplit").long("filter").not_offered(),
    works("patch")
        .short("ore")
        .long("output reject-file ed directory")
        .not_offered(),
    works(
        "dd|cp|mv|ln|install|tee|touch|mkdir|rmdir|chmod|chown|truncate|shred|mktemp|\
         mkfifo|unlink",
    )
    .not_offered(),
    works("ping|dig|nslookup|host|nc|ncat|telnet|whois|traceroute")
        .short("ecf")
        .not_offered(),
];
