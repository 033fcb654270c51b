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
} & CommandEffects;

const systemFolder = /^\/(?:usr\/(?:local\/)?)?s?bin\/(?=[^/]+$)/;

/** Makes a command from a program and its arguments. */
export function commandOf(name: string, args: readonly string[]): ShellCommand {
  const program = name.replace(systemFolder, '');
  const first = args[program === 'git' ? (gitCommandAt(args) ?? 0) : 0];
  return {
    program,
    args,
    options: args.filter((arg) => arg.startsWith('-') && arg !== '-'),
    subcommand: first === undefined || first.startsWith('-') ? '' : first,
    ...readsOf(program, args),
  };
}
