// Finds the programs that a shell line starts, with their arguments, and the files that the line opens. The
// line is read like `sh` by `dash`, as far as `bash` reads it the same. Every branch counts, and every loop
// counts as entered. INVARIANT: when the answer is a list, it includes everything that the shell starts or
// opens; whatever the reader does not understand makes the answer null.

import { cut } from '../text.ts';
import { commandOf, type ShellCommand } from './command.ts';
import type { ShellWord } from './split-words.ts';
import { type ShellToken, shellTokens } from './tokens.ts';
import { shellReservedWords, startedBy } from './wrappers.ts';

/**
 * Limits on the number of commands of a line, and on how deep commands nest. Lines beyond a limit are not
 * read.
 */
const commandsMax = 256;
const nestingMax = 32;
/** How deep lines nest within lines, as in `sh -c "sh -c ls"`, the outermost included. */
const linesMax = 4;

const variableName = /^[A-Za-z_]\w*$/;

/** The state of reading a line. */
interface ShellReader {
  readonly tokens: readonly ShellToken[];
  at: number;
  nesting: number;
  readonly depth: number;
  readonly commands: ShellCommand[];
  readonly faults: string[];
}

/**
 * Returns all commands of the line, in the order in which they are written; null when any of them is unknown.
 */
export function shellCommands(line: string): readonly ShellCommand[] | null {
  return commandsWithin(line, { depth: 1, faults: [] });
}

/** Returns why the commands of the line are unknown; null when they are known. */
export function whyCommandsUnknown(line: string): string | null {
  const faults: string[] = [];
  if (commandsWithin(line, { depth: 1, faults }) !== null) return null;
  return faults[0] ?? 'the line is not complete, or shells read it differently';
}

function commandsWithin(
  line: string,
  { depth, faults }: Pick<ShellReader, 'depth' | 'faults'>,
): readonly ShellCommand[] | null {
  const tokens = depth > linesMax ? null : shellTokens(line);
  if (tokens === null) {
    faults.push(unreadText);
    return null;
  }
  const reading: ShellReader = { tokens, at: 0, nesting: 0, depth, commands: [], faults };
  return readList(reading) && reading.at === tokens.length ? reading.commands : null;
}

const unreadText = 'the line has text that a shell replaces, such as `$name`, `~` or `*`, or is not readable';

function unnamedCommand(words: readonly string[]): string {
  return `\`${cut(words.join(' '), 60)}\` may start a command that the line does not name`;
}

/** Reads commands up to the first token that begins no command. */
function readList(reading: ShellReader): boolean {
  for (skipLines(reading); beginsCommand(reading); skipLines(reading)) {
    if (!readAndOr(reading)) return false;
    if (!takeOperator(reading, ';', '&', '\n')) return true;
  }
  return true;
}

/** Reads a list of commands like `readList`, but requires at least one command. */
function readBody(reading: ShellReader): boolean {
  skipLines(reading);
  return beginsCommand(reading) && readList(reading);
}

function beginsCommand({ tokens, at }: ShellReader): boolean {
  const token = tokens[at];
  if (token === undefined) return false;
  if (token.kind === 'operator') return token.text === '(';
  return token.kind === 'redirection' || !token.isPlain || !closingWords.has(token.text);
}

function readAndOr(reading: ShellReader): boolean {
  while (readPipeline(reading)) {
    if (!takeOperator(reading, '&&', '||')) return true;
    skipLines(reading);
  }
  return false;
}

function readPipeline(reading: ShellReader): boolean {
  takeReserved(reading, '!');
  while (readCommand(reading)) {
    if (!takeOperator(reading, '|')) return true;
    skipLines(reading);
  }
  return false;
}

/** Words that end a compound command or separate its parts. */
const closingWords: ReadonlySet<string> = new Set(['}', 'do', 'done', 'elif', 'else', 'esac', 'fi', 'then']);

function readCommand(reading: ShellReader): boolean {
  reading.nesting += 1;
  if (reading.nesting > nestingMax) return false;
  const compound = takeCompound(reading);
  const isRead = compound === null ? readSimple(reading) : compound(reading) && readRedirections(reading);
  reading.nesting -= 1;
  return isRead;
}

type Reader = (reading: ShellReader) => boolean;

/**
 * Takes the first word of a compound command and returns the reader of the rest; null before a simple
 * command.
 */
function takeCompound(reading: ShellReader): Reader | null {
  if (takeOperator(reading, '(')) {
    return (inner) => readBody(inner) && takeOperator(inner, ')');
  }
  const word = reading.tokens[reading.at];
  if (word?.kind !== 'word' || !word.isPlain || !Object.hasOwn(compounds, word.text)) return null;
  reading.at += 1;
  return compounds[word.text as keyof typeof compounds];
}

const compounds = {
  '{': (reading) => readBody(reading) && takeReserved(reading, '}'),
  while: readLoop,
  until: readLoop,
  if: (reading) => {
    do {
      if (!readBody(reading) || !takeReserved(reading, 'then') || !readBody(reading)) return false;
    } while (takeReserved(reading, 'elif'));
    if (takeReserved(reading, 'else') && !readBody(reading)) return false;
    return takeReserved(reading, 'fi');
  },
  for: (reading) => {
    const name = takeWord(reading);
    if (name === null || !name.isPlain || !variableName.test(name.text)) return false;
    skipLines(reading);
    if (!takeReserved(reading, 'in')) return false;
    for (let word = takeWord(reading); word !== null; word = takeWord(reading)) {
      if (word.isPattern || !push(reading, commandOf('=', [`${name.text}=${word.text}`]))) return false;
    }
    if (!takeOperator(reading, ';', '\n')) return false;
    skipLines(reading);
    return readDo(reading);
  },
  case: (reading) => {
    const word = takeWord(reading);
    skipLines(reading);
    if (word === null || word.isPattern || !takeReserved(reading, 'in')) return false;
    for (skipLines(reading); !takeReserved(reading, 'esac'); skipLines(reading)) {
      takeOperator(reading, '(');
      if (takeReserved(reading, 'esac')) return false;
      do {
        if (takeWord(reading) === null) return false;
      } while (takeOperator(reading, '|'));
      if (!takeOperator(reading, ')') || !readList(reading)) return false;
      if (!takeOperator(reading, ';;')) return takeReserved(reading, 'esac');
    }
    return true;
  },
} satisfies Record<string, Reader>;

function readLoop(reading: ShellReader): boolean {
  return readBody(reading) && readDo(reading);
}

function readDo(reading: ShellReader): boolean {
  return takeReserved(reading, 'do') && readBody(reading) && takeReserved(reading, 'done');
}

function readRedirections(reading: ShellReader): boolean {
  for (
    let token = reading.tokens[reading.at];
    token?.kind === 'redirection';
    token = reading.tokens[reading.at]
  ) {
    reading.at += 1;
    if (token.opens !== null && !push(reading, commandOf(token.opens, [token.file]))) return false;
  }
  return true;
}

/** Reads a simple command: settings, redirections and words, in any order that the shell accepts. */
function readSimple(reading: ShellReader): boolean {
  const words: string[] = [];
  const start = reading.at;
  while (readRedirections(reading)) {
    const word = takeWord(reading);
    if (word === null) {
      if (reading.at === start) return false;
      const inner = { depth: reading.depth + 1, faults: reading.faults };
      const started = startedBy(words, (line) => commandsWithin(line, inner));
      if (started === null) reading.faults.push(unnamedCommand(words));
      return started?.every((command) => push(reading, command)) === true;
    }
    // A pattern stands for files. A setting in front of a reserved word makes that word a program, which
    // nobody means.
    if (word.isPattern) reading.faults.push(unreadText);
    if (word.isPattern || (words.length === 0 && word.isPlain && shellReservedWords.has(word.text)))
      return false;
    if (words.length > 0 || !word.isSetting) words.push(word.text);
    else if (!push(reading, commandOf('=', [word.text]))) return false;
  }
  return false;
}

function push({ commands }: ShellReader, command: ShellCommand): boolean {
  return commands.push(command) <= commandsMax;
}

function takeWord(reading: ShellReader): ShellWord | null {
  const token = reading.tokens[reading.at];
  if (token?.kind !== 'word') return null;
  reading.at += 1;
  return token;
}

function takeReserved(reading: ShellReader, text: string): boolean {
  const token = reading.tokens[reading.at];
  const isThere = token?.kind === 'word' && token.isPlain && token.text === text;
  if (isThere) reading.at += 1;
  return isThere;
}

function takeOperator(reading: ShellReader, ...texts: readonly string[]): boolean {
  const token = reading.tokens[reading.at];
  const isThere = token?.kind === 'operator' && texts.includes(token.text);
  if (isThere) reading.at += 1;
  return isThere;
}

function skipLines(reading: ShellReader): void {
  while (takeOperator(reading, '\n'));
}
