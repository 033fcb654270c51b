// How the help of all commands is laid out: it fits the width of the terminal, or 80 columns elsewhere. A long option has its
// description below it, and a long example is continued with a backslash, so that it can still be pasted.

import { type Command, Help, type Option } from 'commander';
import { print } from '../output/output.ts';

const widthDefault = 80;
const indent = 2;
const gap = 2;

/** Applies to the program and, when called before they are added, to its commands. */
export function layOutHelp(program: Command): void {
  program.configureHelp({ minWidthToWrap: 10, padWidth: padWidthOf, formatItem, optionDescription });
  program.configureOutput({
    getOutHelpWidth: width,
    getErrHelpWidth: width,
    writeOut: (text) => print(fitted(text, width())),
  });
}

/**
 * Adds a text with examples to the help of a command. The help of a command below it shows those of the examples
 * that call it.
 */
export function addExamples(command: Command, text: string): void {
  command.addHelpText('afterAll', ({ command: shown }) =>
    shown === command ? text : examplesOf(text, pathOf(shown)),
  );
}

function examplesOf(text: string, path: string): string {
  const lines = text
    .split('\n')
    .filter((line) => / {2}.*\bwrit\b/.test(line) && `${line} `.includes(` ${path} `));
  return lines.length === 0 ? '' : ['\nExamples:', ...lines].join('\n');
}

/** The words of a command, with those of the commands above it. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** The columns of the terminal, or what `COLUMNS` says. */
function width(): number {
  return Number(process.env.COLUMNS) || process.stdout.columns || widthDefault;
}

function padWidthOf(command: Command, helper: Help): number {
  const longest = Math.max(
    helper.longestOptionTermLength(command, helper),
    helper.longestGlobalOptionTermLength(command, helper),
    helper.longestSubcommandTermLength(command, helper),
    helper.longestArgumentTermLength(command, helper),
  );
  return Math.min(longest, Math.floor(width() * 0.4));
}

/** The description with the default as a user would type it; an empty default is left out. */
function optionDescription(option: Option): string {
  const text = new Help().optionDescription(option);
  const { defaultValue, defaultValueDescription } = option;
  if (defaultValueDescription !== undefined || defaultValue === undefined) return text;
  const isEmpty = defaultValue === '' || (Array.isArray(defaultValue) && defaultValue.length === 0);
  const quoted = `default: ${JSON.stringify(defaultValue)}`;
  if (isEmpty) return text.replace(`, ${quoted})`, ')').replace(` (${quoted})`, '');
  return typeof defaultValue === 'string' ? text.replace(quoted, `default: ${defaultValue}`) : text;
}

function formatItem(term: string, termWidth: number, description: string, helper: Help): string {
  const room = width() - indent - termWidth - gap;
  const below = `\n${' '.repeat(indent + termWidth + gap)}`;
  const lines = helper.boxWrap(description, room).replaceAll('\n', below);
  const isLong = term.length > termWidth;
  return `${' '.repeat(indent)}${isLong ? `${term}${below}` : term.padEnd(termWidth + gap)}${lines}`.trimEnd();
}

/** The text with lines of at most `columns`, where it can be broken. */
function fitted(text: string, columns: number): string {
  return joinedParagraphs(text, columns)
    .split('\n')
    .map((line) =>
      line.length <= columns
        ? line
        : line.startsWith(' ')
          ? brokenCommand(line, columns)
          : wrapped(line, columns),
    )
    .join('\n');
}

/** Joins a line that is too long with the next line of its paragraph, so that both are wrapped together. */
function joinedParagraphs(text: string, columns: number): string {
  const joined: string[] = [];
  let isOpen = false;
  for (const line of text.split('\n')) {
    const isProse = /^\S/.test(line);
    if (isOpen && isProse) joined.push(`${joined.pop() ?? ''} ${line}`);
    else joined.push(line);
    isOpen = isProse && (joined.at(-1)?.length ?? 0) > columns;
  }
  return joined.join('\n');
}

function wrapped(line: string, columns: number): string {
  const lines = [''];
  for (const word of line.split(' ')) {
    const last = lines.at(-1)!;
    if (last === '') lines[lines.length - 1] = word;
    else if (last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.join('\n');
}

/** Breaks an example before an option, outside of quotes. */
function brokenCommand(line: string, columns: number): string {
  const start = line.search(/\S/);
  const breaks = [...line.matchAll(/ (?=--?[a-z]|-- |&& |[|>] )/g)]
    .map(({ index }) => index)
    .filter((at) => at > start && at + ' \\'.length <= columns && isOutsideQuotes(line.slice(0, at)));
  const at = breaks.at(-1);
  if (at === undefined) return line;
  const rest = `${' '.repeat(3 * indent)}${line.slice(at + 1)}`;
  const isShorter = rest.length < line.length;
  return `${line.slice(0, at)} \\\n${isShorter && rest.length > columns ? brokenCommand(rest, columns) : rest}`;
}

function isOutsideQuotes(text: string): boolean {
  return ["'", '"'].every((quote) => (text.split(quote).length - 1) % 2 === 0);
}
