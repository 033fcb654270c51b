// Finds what is started by programs whose purpose is to start other programs. The answer is known only for
// wrappers whose options are understood; for every other such program it is null. What a program starts
// besides its work (a pager, an editor, a hook) is not covered.

import { commandOf, type ShellCommand } from './command.ts';

/** Words that the shell reserves at the start of a command, including those of `bash`. */
export const shellReservedWords: ReadonlySet<string> = new Set(
  '! { } [[ ]] case coproc do done elif else esac fi for function if in select then until while'.split(' '),
);

/** Programs and shell builtins that run their arguments, or change what later words mean. */
const runners: ReadonlySet<string> = new Set(
  `. alias bind builtin complete compgen coproc declare enable eval fc hash let local mapfile readarray shopt source trap
  typeset unalias
  at batch busybox caffeinate capsh catchsegv ccache cgexec chpst choom chronic chroot chrt cpulimit csh dbus-run-session
  doas dumb-init eatmydata elvish entr expect faketime firejail fish flock fakeroot gdb gosu hyperfine ifne ionice ksh
  ld.so linux32 linux64 logsave ltrace mksh newgrp nsenter nu numactl parallel perf pkexec posh prlimit proxychains
  pwsh rbash rc rlwrap run-parts runcon runuser screen script setarch setpriv sg softlimit ssh start-stop-daemon
  strace su su-exec systemd-run taskset tcsh tini tmux torsocks toybox tsocks unbuffer unshare valgrind watch xargs
  xonsh xvfb-run yash zsh`.split(/\s+/),
);

/** The shells that read lines as `shellCommands` does. */
const shells: ReadonlySet<string> = new Set(['sh', 'dash', 'bash', 'ash']);

/**
 * Shell builtins that take names of variables. Some shells evaluate such a name when it looks like an element
 * of an array.
 */
const namers: ReadonlySet<string> = new Set(
  '[ test printf export readonly read unset getopts wait'.split(' '),
);

/** Names that stand for redirections and settings in the list of commands. */
const signs: ReadonlySet<string> = new Set(['<', '>', '>>', '<>', '=']);

const setting = /^[A-Za-z_]\w*=/;
const element = /\w\[/;
const duration = /^\d+(?:\.\d+)?[smhd]?$/;

/** Reads a line within a line, as in `sh -c "..."`. */
type LineReader = (line: string) => readonly ShellCommand[] | null;

/** The longest chain of programs that start each other. Longer chains are not read. */
const chainMax = 8;

/**
 * Returns the program that the words start, and what that program starts in turn. Empty when there are no
 * words, null when the answer is unknown.
 */
export function startedBy(words: readonly string[], readLine: LineReader): readonly ShellCommand[] | null {
  const started: ShellCommand[] = [];
  let rest = words;
  for (let links = 0; rest.length > 0; links += 1) {
    const command = commandOf(rest[0]!, rest.slice(1));
    const { program, args } = command;
    if (links === chainMax || signs.has(program) || isUnknown(command)) return null;
    started.push(command);
    if (shells.has(program)) {
      const inner = args.length === 2 && args[0] === '-c' ? readLine(args[1]!) : null;
      return inner === null ? null : [...started, ...inner];
    }
    const inner = isWrapper(program) ? wrappers[program](args) : [];
    if (inner === null) return null;
    const settings = program === 'env' || program === 'sudo' ? settingsIn(inner) : [];
    if (settings.some((text) => !setting.test(text))) return null;
    started.push(...settings.map((text) => commandOf('=', [text])));
    rest = inner.slice(settings.length);
    if (rest.length > 0 && (shellReservedWords.has(rest[0]!) || setting.test(rest[0]!))) return null;
  }
  return started;
}

function isUnknown({ program, args }: ShellCommand): boolean {
  const name = program.slice(program.lastIndexOf('/') + 1);
  if (name === '' || runners.has(name)) return true;
  // A file of the same name in another folder may do anything.
  if (name !== program && (shells.has(name) || isWrapper(name))) return true;
  return namers.has(program) && args.some((arg) => element.test(arg));
}

/** The leading words that the wrapper takes for settings: all that contain `=`. */
function settingsIn(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word) => !word.includes('='));
  return words.slice(0, at < 0 ? words.length : at);
}

/** Returns the words after the options of a wrapper; null when the options are not understood. */
type Wrapper = (args: readonly string[]) => readonly string[] | null;

const wrappers = {
  command: (args) => (args[0] === '-v' || args[0] === '-V' ? [] : behindOptions(args, {})),
  env: (args) => behindOptions(args, { '-': 0, '-i': 0, '-u': 1 }),
  exec: (args) => behindOptions(args, {}),
  find: (args) => (args.some((arg) => /^-(?:exec|ok)/.test(arg)) ? null : []),
  // Settings may name programs, and so may options that are not listed in this reader.
  git: (args) => {
    const behind = behindOptions(args, { '-C': 1, '--no-pager': 0, '--version': 0, '--help': 0, '-P': 0 });
    return behind === null || gitRunsOthers(behind) ? null : [];
  },
  nice: (args) => behindOptions(args, { '-n': 1 }),
  nohup: (args) => behindOptions(args, {}),
  set: (args) => (setsNoWords(args) ? [] : null),
  setsid: (args) => behindOptions(args, {}),
  stdbuf: (args) => behindOptions(args, { '-i0': 0, '-o0': 0, '-e0': 0, '-iL': 0, '-oL': 0, '-eL': 0 }),
  sudo: (args) => behindOptions(args, { '-n': 0 }),
  // In some shells `time` alone is an error when a closing parenthesis follows.
  time: (args) => (args.length === 0 ? null : behindOptions(args, { '-p': 0 })),
  timeout: (args) => {
    const behind = behindOptions(args, { '-k': 1, '-s': 1 });
    return behind !== null && duration.test(behind[0] ?? '') ? behind.slice(1) : null;
  },
} satisfies Record<string, Wrapper>;

/** Subcommands of git that run a program named in their arguments: always, or with an argument of this form. */
const gitRunners: Readonly<Record<string, RegExp>> = {
  bisect: /^run$/,
  clone: /^-\w*[cu]|^--conf/,
  difftool: /^/,
  'filter-branch': /^/,
  'for-each-repo': /^/,
  grep: /^-\w*O/,
  mergetool: /^/,
  rebase: /^-\w*x/,
  'send-email': /^/,
  submodule: /^foreach$/,
};

/** Long options that take a command, of several subcommands of git. */
const gitCommandOptions = ['exec', 'upload-pack', 'receive-pack', 'open-files-in-pager'];

/** Whether git runs a command that stands in the arguments of the subcommand. */
function gitRunsOthers([subcommand = '', ...args]: readonly string[]): boolean {
  const runs = Object.hasOwn(gitRunners, subcommand) ? gitRunners[subcommand]! : null;
  // The empty argument stands for the subcommand alone.
  return ['', ...args].some((arg) => {
    if (runs?.test(arg) === true || arg.startsWith('ext::')) return true;
    // Git takes the beginning of a long option for the option.
    const [option = ''] = arg.split('=');
    return /^--\w/.test(option) && gitCommandOptions.some((name) => name.startsWith(option.slice(2)));
  });
}

function isWrapper(program: string): program is keyof typeof wrappers {
  return Object.hasOwn(wrappers, program);
}

/**
 * Returns the words after the options; `options` says how many words each option takes. Null when another
 * option occurs.
 */
function behindOptions(
  args: readonly string[],
  options: Readonly<Record<string, number>>,
): readonly string[] | null {
  let at = 0;
  while (args[at]?.startsWith('-') === true) {
    const option = args[at]!;
    if (!Object.hasOwn(options, option)) return null;
    at += 1 + options[option]!;
  }
  return at > args.length ? null : args.slice(at);
}

/** Whether `set` changes only when the shell stops or what it prints, and not how it reads. */
function setsNoWords(args: readonly string[]): boolean {
  return args.every((arg, at) =>
    args[at - 1]?.endsWith('o') === true ? harmlessOptions.has(arg) : /^[-+](?:[eux]+|[eux]*o)$/.test(arg),
  );
}

const harmlessOptions: ReadonlySet<string> = new Set(['errexit', 'nounset', 'pipefail', 'xtrace']);
