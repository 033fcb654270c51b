// Finds what is started by programs whose purpose is to start other programs. The answer is known only for
// wrappers whose options are understood; for every other such program it is null. What a program starts
// besides its work (a pager, an editor, a hook) is not covered.

import { commandOf, type ShellCommand } from './command.ts';
import { gitRunsOthers } from './git.ts';
import { filesReadBy } from './plain-programs.ts';
import { runsArguments } from './runners.ts';

/** Words that the shell reserves at the start of a command, including those of `bash`. */
export const shellReservedWords: ReadonlySet<string> = new Set(
  '! { } [[ ]] case coproc do done elif else esac fi for function if in select then until while'.split(' '),
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
    // Without a program, the environment is told.
    if (program === 'env' && rest.length === 0)
      started[started.indexOf(command)] = { ...command, only_reads: false };
    if (rest.length > 0 && (shellReservedWords.has(rest[0]!) || setting.test(rest[0]!))) return null;
  }
  return started;
}

function isUnknown({ program, args }: ShellCommand): boolean {
  const name = program.slice(program.lastIndexOf('/') + 1);
  if (name === '' || runsArguments(name, args)) return true;
  // A file of the same name in another folder may do anything.
  if (name !== program && (shells.has(name) || isWrapper(name))) return true;
  if (hasScript(name) && !isPlainScript(name, args)) return true;
  return namers.has(program) && args.some((arg) => element.test(arg));
}

/** Programs whose arguments hold a script that can start others. */
function hasScript(name: string): boolean {
  return /^(?:[gmn]?awk|original-awk|[gs]?sed)$/.test(name);
}

/** Whether the script only edits text, though perhaps in place. */
function isPlainScript(name: string, args: readonly string[]): boolean {
  if (!name.endsWith('sed')) return filesReadBy('awk', args) !== null;
  const rest = args.filter((arg) => !/^(?:-[nErsuz]*i|--in-place(?:=|$))/.test(arg));
  return filesReadBy('sed', rest) !== null;
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
  git: (args) => (gitRunsOthers(args) ? null : []),
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
