// One command of a shell line, as policies see it: a program with its arguments, and what is known of its effects.

import { type CommandEffects, readsOf } from './effects.ts';
import { gitCommandAt } from './git.ts';

/**
 * A program with its arguments. Opening a file is a command, too, named `<`, `>`, `>>` or `<>`, with the file
 * as its argument. Setting a variable is a command named `=`, with `NAME=value` as its argument. So a list of
 * allowed programs allows neither.
 */
export type ShellCommand = {
  /** The program as written, without its folder when that is a system folder such as `/usr/bin`. */
  readonly program: string;
  readonly args: readonly string[];
  /** The arguments that begin with `-`, at any position, except `-` itself. */
  readonly options: readonly string[];
  /**
   * The first argument, such as `log` in `git log`; empty when there is none or it is an option. Of git, the first
   * behind `-C`, `--no-pager` and the like.
   */
  readonly subcommand: string;
  /**
   * The subcommand and the arguments behind it up to the first option, such as `run`, `test` in `npm run test -w app`;
   * empty when the first argument is an option, because the next one may then be its value.
   */
  readonly words: readonly string[];
} & CommandEffects;

const systemFolder = /^\/(?:usr\/(?:local\/)?)?s?bin\/(?=[^/]+$)/;

/** Makes a command from a program and its arguments. */
export function commandOf(name: string, args: readonly string[]): ShellCommand {
  const program = name.replace(systemFolder, '');
  const behind = args.slice(program === 'git' ? (gitCommandAt(args) ?? 0) : 0);
  const end = behind.findIndex(isOption);
  return {
    program,
    args,
    options: args.filter(isOption),
    subcommand: behind[0]?.startsWith('-') === false ? behind[0] : '',
    words: end < 0 ? behind : behind.slice(0, end),
    ...readsOf(program, args),
  };
}

function isOption(arg: string): boolean {
  return arg.startsWith('-') && arg !== '-';
}
