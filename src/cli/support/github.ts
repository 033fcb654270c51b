// Turns findings into workflow commands of GitHub Actions, a line each, which show as annotations beside the
// code. INVARIANT: no text from a file can end a property or a line, and so begin a command of its own.

import type { Finding } from '../../analysis/findings/findings.ts';
import { escapeForTerminal, type Position } from '../../language/diagnostic/render.ts';

/** The text ends with a line break, unless it is empty. `notes` are about the run itself. */
export function toGithub(findings: readonly Finding[], notes: readonly string[] = []): string {
  const commands = [...findings.map(toCommand), ...notes.map((note) => `::notice::${escapeData(note)}`)];
  return commands.map((command) => `${command}\n`).join('');
}

function toCommand({ code, severity, message, file, start, end, help, related }: Finding): string {
  const properties = Object.entries({ file, ...placeProperties(start, end), title: code })
    .map(([name, value]) => `${name}=${escapeProperty(String(value))}`)
    .join(',');
  const notes = related.map((one) => `note: ${one.message ?? ''} (${one.file}${lineOf(one)})`);
  const text = [message, ...(help === null ? [] : [`help: ${help}`]), ...notes].join('\n');
  return `::${severity} ${properties}::${escapeData(text)}`;
}

/** The properties of a place. Only a place within one line has columns. */
function placeProperties(start: Position | null, end: Position | null): object {
  if (start === null || end === null) return {};
  if (start.line !== end.line) return { line: start.line, endLine: end.line };
  return { line: start.line, col: start.column, endLine: end.line, endColumn: end.column };
}

function lineOf({ start }: Finding['related'][number]): string {
  return start === null ? '' : `:${start.line}`;
}

function escapeData(text: string): string {
  return text.split('\n').map(escapeForTerminal).join('\n').replaceAll('%', '%25').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
