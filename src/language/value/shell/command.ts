// One command of a shell line, as policies see it.

/**
 * A program with its arguments. A file that is opened is a command, too, called `<`, `>`, `>>` or `<>` with the file as its
 * argument, and so is a variable that is set: `=` with `NAME=value`. So a list of the programs that may run holds neither.
 */
export type ShellCommand = {
  /** As it is written; without its folder where that is one of the system's. */
  readonly program: string;
  readonly args: readonly string[];
  /** Those that begin with `-`, wherever they stand, but for `-` itself. */
  readonly options: readonly string[];
  /** The first argument, as in `git log`; empty where there is none, or an option. */
  readonly subcommand: string;
};

const systemFolder = /^\/(?:usr\/(?:local\/)?)?s?bin\/(?=[^/]+$)/;

/** A program and its arguments. */
export function commandOf(program: string, args: readonly string[]): ShellCommand {
  const [first] = args;
  return {
    program: program.replace(systemFolder, ''),
    args,
    options: args.filter((arg) => arg.startsWith('-') && arg !== '-'),
    subcommand: first === undefined || first.startsWith('-') ? '' : first,
  };
}
