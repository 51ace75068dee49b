//! Programs that run other programs, or code from their arguments.

use crate::line::Word;

/// Programs that always do: what they are called with is what runs.
const ALWAYS: &[&str] = &[
    // The shell's own.
    ".",
    "source",
    "eval",
    "exec",
    "command",
    "builtin",
    "alias",
    "trap",
    "export",
    "declare",
    "typeset",
    "readonly",
    "local",
    "set",
    "shopt",
    "enable",
    "hash",
    "bind",
    "complete",
    "mapfile",
    "readarray",
    "coproc",
    "time",
    "fc",
    "unalias",
    "unset",
    "let",
    "read",
    "printf",
    "test",
    "[",
    // Shells and interpreters.
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "fish",
    "csh",
    "tcsh",
    "ash",
    "busybox",
    "toybox",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "perl",
    "raku",
    "ruby",
    "irb",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "wish",
    "expect",
    "Rscript",
    "R",
    "julia",
    "java",
    "jshell",
    "scala",
    "kotlin",
    "groovy",
    "ghci",
    "runghc",
    "stack",
    "guile",
    "racket",
    "sbcl",
    "clisp",
    "emacs",
    "osascript",
    "pwsh",
    "powershell",
    "dc",
    "bc",
    "gdb",
    "lldb",
    "m4",
    "elixir",
    "erl",
    "iex",
    "sqlite3",
    "psql",
    "mysql",
    "mariadb",
    "swift",
    "octave",
    "gnuplot",
    // Wrappers.
    "xargs",
    "parallel",
    "env",
    "sudo",
    "su",
    "doas",
    "runuser",
    "pkexec",
    "nice",
    "ionice",
    "nohup",
    "timeout",
    "gtimeout",
    "setsid",
    "stdbuf",
    "unbuffer",
    "chroot",
    "unshare",
    "nsenter",
    "setpriv",
    "capsh",
    "taskset",
    "chrt",
    "numactl",
    "prlimit",
    "flock",
    "script",
    "strace",
    "ltrace",
    "perf",
    "valgrind",
    "watch",
    "entr",
    "catchsegv",
    "faketime",
    "fakeroot",
    "proot",
    "firejail",
    "bwrap",
    "systemd-run",
    "run-parts",
    "start-stop-daemon",
    "daemonize",
    "at",
    "batch",
    "crontab",
    "tmux",
    "screen",
    "dtach",
    "xvfb-run",
    "dbus-run-session",
    "ssh-agent",
    "gpg-agent",
    "ld.so",
    "direnv",
    "mise",
    "asdf",
    "nix",
    "nix-shell",
    "guix",
    "cpulimit",
    "choom",
    "softlimit",
    "chpst",
    "gosu",
    "su-exec",
    "tini",
    "dumb-init",
    "rlwrap",
    "socat",
    "nc",
    "ncat",
    "netcat",
    "telnet",
    "ftp",
    // Elsewhere.
    "ssh",
    "scp",
    "sftp",
    "rsh",
    "mosh",
    "docker",
    "podman",
    "nerdctl",
    "kubectl",
    "lxc",
    "vagrant",
    "ansible",
    "ansible-playbook",
    "terraform",
    // Builders and package managers that run what a file says.
    "make",
    "gmake",
    "bmake",
    "ninja",
    "just",
    "task",
    "rake",
    "ant",
    "mvn",
    "gradle",
    "gradlew",
    "npx",
    "pnpx",
    "bunx",
    "uvx",
    "pipx",
    "uv",
    "tox",
    "nox",
    "meson",
    "scons",
    "bazel",
    "buck2",
    // Editors and pagers.
    "vi",
    "vim",
    "nvim",
    "view",
    "ex",
    "ed",
    "nano",
    "pico",
    "less",
    "more",
    "most",
    "man",
    // Others that take a command.
    "install-info",
    "split",
    "csplit",
    "dpkg",
    "rpm",
    "apt",
    "apt-get",
    "logrotate",
    "wall",
    "dialog",
];

/// Options that make a program run others or write to unexpected places; each with what follows it, as in `-e…` for a
/// short one and `--long=…` for a long one.
const WITH: &[(&str, &[&str])] = &[
    (
        "find",
        &[
            "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf",
            "-fls",
        ],
    ),
    ("fd", &["-x", "-X", "--exec", "--exec-batch"]),
    ("fdfind", &["-x", "-X", "--exec", "--exec-batch"]),
    ("rg", &["--pre", "--hostname-bin"]),
    (
        "tar",
        &[
            "--to-command",
            "--checkpoint-action",
            "-I",
            "--use-compress-program",
            "--rsh-command",
            "--rmt-command",
            "-F",
            "--info-script",
            "--new-volume-script",
        ],
    ),
    ("bsdtar", &["--use-compress-program"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("sort", &["--compress-program", "-o", "--output"]),
    ("zip", &["-T", "-TT", "--unzip-command", "--test"]),
    (
        "wget",
        &[
            "--use-askpass",
            "-O",
            "--output-document",
            "-o",
            "--output-file",
            "-e",
            "--execute",
            "--config",
            "-P",
        ],
    ),
    (
        "curl",
        &[
            "-o",
            "--output",
            "-O",
            "--remote-name",
            "-K",
            "--config",
            "--output-dir",
            "-D",
            "--dump-header",
            "-c",
            "--cookie-jar",
            "--trace",
            "--stderr",
        ],
    ),
    ("cargo", &["--config", "run", "r", "install", "-Z", "-C"]),
    (
        "go",
        &[
            "run",
            "generate",
            "tool",
            "-exec",
            "-toolexec",
            "-vettool",
            "env",
            "install",
        ],
    ),
    (
        "npm",
        &[
            "exec",
            "x",
            "run",
            "run-script",
            "start",
            "explore",
            "--script-shell",
            "config",
            "install",
            "i",
        ],
    ),
    ("pnpm", &["exec", "dlx", "run", "start", "install", "i"]),
    ("yarn", &["exec", "dlx", "run", "start", "node", "install"]),
    ("gcc", &["-wrapper", "-fplugin", "-B", "-specs"]),
    ("g++", &["-wrapper", "-fplugin", "-B", "-specs"]),
    ("cc", &["-wrapper", "-fplugin", "-B", "-specs"]),
    ("cmake", &["-E", "-P", "--build", "--install"]),
    ("tee", &[""]),
    ("dd", &["of="]),
    ("openssl", &["-engine", "-provider", "-out"]),
    ("date", &["-s", "--set"]),
    ("tree", &["-o"]),
    ("diff", &["--to-file"]),
    ("pip", &["install", "--python"]),
    ("pip3", &["install", "--python"]),
    ("yq", &["-i", "--inplace"]),
];

/// Options of git itself that come before its verb and change which programs it runs or whose config it reads.
const GIT: &[&str] = &[
    "-c",
    "--config-env",
    "--exec-path",
    "--git-dir",
    "--work-tree",
    "-C",
    "--namespace",
    "--super-prefix",
    "-p",
    "--paginate",
    "--attr-source",
];

/// Verbs of git that run commands, or that write what later calls of git run.
const GIT_VERBS: &[&str] = &[
    "config",
    "bisect",
    "filter-branch",
    "submodule",
    "difftool",
    "mergetool",
    "hook",
    "daemon",
    "instaweb",
    "send-email",
    "for-each-repo",
    "maintenance",
    "credential",
    "clone",
    "remote-ext",
    "rebase",
    "archive",
    "upload-pack",
    "receive-pack",
    "fetch-pack",
    "shell",
    "gui",
    "web--browse",
    "init",
    "p4",
    "svn",
];

/// Options of git's verbs that run commands.
const GIT_WITH: &[&str] = &[
    "--exec",
    "-x",
    "--ext-diff",
    "--textconv",
    "--upload-pack",
    "--receive-pack",
    "-u",
    "--output",
    "-O",
    "--open-files-in-pager",
    "--extcmd",
    "--tool",
    "--template",
    "--separate-git-dir",
    "--editor",
];

/// Whether a command can run another program, or code, the way it is called.
pub fn runs_others(words: &[Word]) -> bool {
    let Some((name, rest)) = words.split_first() else {
        return true;
    };
    let name = name.text.rsplit('/').next().unwrap_or_default();
    let words: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
    if ALWAYS.contains(&name) || is_versioned_interpreter(name) {
        return !asks_for_version(&words);
    }
    let has = |options: &[&str]| {
        words
            .iter()
            .any(|word| options.iter().any(|option| is(word, option)))
    };
    let listed = WITH.iter().find(|(program, _)| *program == name);
    let does = match name {
        "git" => git(&words),
        // Its first word may be options without a dash.
        "tar"
            if words
                .first()
                .is_some_and(|first| first.contains(['I', 'F'])) =>
        {
            true
        }
        "sed" | "gsed" => sed(&words),
        _ => listed.is_some_and(|(_, options)| has(options)),
    };
    // A file may be named like an option, and a pattern may put its name in place.
    let is_judged = listed.is_some() || matches!(name, "git" | "sed" | "gsed");
    let may_be_option =
        |word: &Word| word.is_pattern && word.text.starts_with(['-', '*', '?', '[']);
    does || is_judged && rest.iter().any(may_be_option)
}

/// `python3.12` is as much an interpreter as `python` is; so are `perl5.36`, `ruby3.2` and the like.
fn is_versioned_interpreter(name: &str) -> bool {
    let stem = name
        .trim_end_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-'));
    matches!(
        stem,
        "python" | "pypy" | "ipython" | "ld-linux-x86" | "ld-linux"
    ) || stem != name && ALWAYS.contains(&stem)
        || name.starts_with("ld-linux")
        || name.starts_with("ld-musl")
}

fn asks_for_version(words: &[&str]) -> bool {
    matches!(words, ["--version" | "--help"])
}

/// Whether a word is this option: alone, with its value behind `=`, shortened, or for a short one among others.
fn is(word: &str, option: &str) -> bool {
    if option.is_empty() {
        return !word.starts_with('-');
    }
    if word == option {
        return true;
    }
    let head = word.split('=').next().unwrap_or_default();
    if option.starts_with("--") {
        // Programs take the beginning of a long option for the whole.
        return head.len() > 3 && head.starts_with("--") && option.starts_with(head);
    }
    if let Some(letter) = option.strip_prefix('-').filter(|rest| rest.len() == 1) {
        let is_cluster = word.starts_with('-') && !word.starts_with("--");
        return is_cluster && word.contains(letter);
    }
    word.starts_with(&format!("{option}=")) || option.ends_with('=') && word.starts_with(option)
}

fn git(words: &[&str]) -> bool {
    let before = words.iter().take_while(|word| word.starts_with('-'));
    let is_early = |word: &&str| GIT.iter().any(|option| word.starts_with(option));
    if before.clone().any(is_early) {
        return true;
    }
    let rest = &words[before.count()..];
    let Some((verb, rest)) = rest.split_first() else {
        return false;
    };
    // `git grep -O`, `git diff --ext-diff`; whether `-u` or `-x` means that depends on the verb.
    let listed = |word: &&str| {
        GIT_WITH.iter().any(|option| match *option {
            "-x" => *verb == "rebase",
            "-u" => *verb == "fetch" && word.starts_with("-u"),
            "-O" => *verb == "grep" && word.starts_with("-O"),
            option => is(word, option),
        })
    };
    GIT_VERBS.contains(verb) || rest.iter().any(listed)
}

/// `-i` writes files; the commands `e` and `w`, and the same letters behind `s///`, run commands and write files.
///
/// Only scripts that are plainly none of these pass: addresses with `p`, `d` or `q`, and `s` with `g`, `p`, `I` or a
/// number behind it.
fn sed(words: &[&str]) -> bool {
    let mut scripts = Vec::new();
    let mut takes_script = false;
    for word in words {
        if takes_script {
            scripts.push(*word);
            takes_script = false;
        } else if matches!(*word, "-e" | "--expression" | "-ne" | "-Ee" | "-nEe") {
            takes_script = true;
        } else if matches!(
            *word,
            "-n" | "-E"
                | "-r"
                | "-nE"
                | "-nr"
                | "-z"
                | "-u"
                | "-s"
                | "--quiet"
                | "--silent"
                | "--regexp-extended"
                | "--posix"
                | "--sandbox"
        ) {
        } else if word.starts_with('-') && *word != "-" {
            return true;
        } else if scripts.is_empty() {
            scripts.push(*word);
        }
    }
    !scripts.iter().all(|script| is_plain_script(script))
}

fn is_plain_script(script: &str) -> bool {
    let is_address =
        |letter: char| letter.is_ascii_digit() || matches!(letter, ',' | '$' | ' ' | '!');
    let command = script.trim_start_matches(is_address);
    if matches!(command, "p" | "d" | "q" | "=") {
        return true;
    }
    if let Some(rest) = command.strip_prefix('/') {
        let parts: Vec<&str> = rest.split('/').collect();
        return matches!(parts[..], [pattern, "p" | "d"] if !pattern.contains(['\\', '\n', ';', '}', '[']));
    }
    let Some(rest) = command.strip_prefix('s') else {
        return false;
    };
    let Some(mark) = rest
        .chars()
        .next()
        .filter(|mark| matches!(mark, '/' | '|' | ',' | '#' | ':'))
    else {
        return false;
    };
    let parts: Vec<&str> = rest[1..].split(mark).collect();
    let is_flag = |letter: char| letter.is_ascii_digit() || matches!(letter, 'g' | 'p' | 'I');
    !rest.contains(['\n', '[']) && matches!(parts[..], [_, _, flags] if flags.chars().all(is_flag))
}
