// One command of a shell line, as policies see it: a program with its arguments.

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
  /** The first argument, such as `log` in `git log`; empty when there is none or it is an option. */
  readonly subcommand: string;
};

const systemFolder = /^\/(?:usr\/(?:local\/)?)?s?bin\/(?=[^/]+$)/;

/** Makes a command from a program and its arguments. */
export function commandOf(program: string, args: readonly string[]): ShellCommand {
  const [first] = args;
  return {
    program: program.replace(systemFolder, ''),
    args,
    options: args.filter((arg) => arg.startsWith('-') && arg !== '-'),
    subcommand: first === undefined || first.startsWith('-') ? '' : first,
  };
}
