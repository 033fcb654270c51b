// Says of one command whether it is known to only read, and what. INVARIANT: what is not known to only read is
// said not to.

import { filesReadByGit } from './git.ts';
import { filesReadBy } from './plain-programs.ts';

/** The effects of a command. */
export type CommandEffects = {
  /**
   * Known to write no file, change nothing, start no other program, send nothing, and tell nothing of the
   * environment; of a setting, to change no more than how text is shown.
   */
  readonly only_reads: boolean;
  /**
   * The files and folders that it is told to look at, as written; empty where `only_reads` is false. A folder whose
   * files are read stands there again with `/**` behind it, and with `/**` `/.*` where hidden ones are read.
   */
  readonly files: readonly string[];
};

const unknown: CommandEffects = { only_reads: false, files: [] };

/** Settings with which programs do what they do without, in other letters or colours. */
const harmlessSetting =
  /^(?:(?:LC_[A-Z]+|LANG|LANGUAGE)=[A-Za-z][\w.@-]*|TZ=[A-Za-z][\w+-]*(?:\/[A-Za-z_]+)*|(?:NO_COLOR|FORCE_COLOR|CLICOLOR|CI|GIT_OPTIONAL_LOCKS)=(?:\d|true|false)?|TERM=(?:dumb|xterm|xterm-256color)|(?:COLUMNS|LINES)=\d+|(?:GIT_)?PAGER=(?:cat)?)$/;

/** Wrappers with the options that are understood; what they start is listed beside them. */
const wrappers: ReadonlySet<string> = new Set(
  'ash bash command dash env exec nice set sh stdbuf time timeout'.split(' '),
);

/** Returns the effects of one command by itself. */
export function readsOf(program: string, args: readonly string[]): CommandEffects {
  switch (program) {
    case '=':
      return { only_reads: harmlessSetting.test(args[0] ?? ''), files: [] };
    case '<':
      // Some shells open a connection for a name below `/dev/tcp`.
      return args[0]?.startsWith('/dev/') === true ? unknown : { only_reads: true, files: args };
    case 'cd':
      return args.length === 1 && /^[^-]/.test(args[0]!) ? { only_reads: true, files: args } : unknown;
    case 'git':
      return readEffects(filesReadByGit(args));
    default:
      return wrappers.has(program)
        ? { only_reads: args.length > 0, files: [] }
        : readEffects(filesReadBy(program, args));
  }
}

function readEffects(files: readonly string[] | null): CommandEffects {
  return files === null ? unknown : { only_reads: true, files: [...new Set(files)] };
}
