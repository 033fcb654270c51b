// Turns findings into a SARIF 2.1.0 log with one run, for code scanning. Lines and columns count from 1,
// columns in code points. Every diagnostic code is a rule of the log; a code that was found comes with its
// page.

import { pathToFileURL } from 'node:url';
import manifest from '../../../package.json' with { type: 'json' };
import {
  diffCodes,
  type Finding,
  guaranteeRefuted,
  guaranteeUndecided,
} from '../../analysis/findings/findings.ts';
import { codes } from '../../language/diagnostic/codes.ts';
import type { Position } from '../../language/diagnostic/render.ts';

const schema = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

/** The folder in which the check ran; the reader of the log knows its address. */
const base = '%SRCROOT%';

/** The log as plain data. `pageOf` returns the page of a code as Markdown, or null; `notes` are about the run itself. */
export function toSarif(
  findings: readonly Finding[],
  pageOf: (code: string) => string | null,
  notes: readonly string[] = [],
): object {
  const ruleIds = new Set(findings.map(({ code }) => code));
  const rules = summaries.map(([id, summary]) => toRule(id, summary, ruleIds.has(id) ? pageOf(id) : null));
  const run = {
    tool: { driver: { name: manifest.name, semanticVersion: manifest.version, rules } },
    columnKind: 'unicodeCodePoints',
    ...(notes.length === 0 ? {} : { invocations: [toInvocation(notes)] }),
    results: findings.map(toResult),
  };
  return { $schema: schema, version: '2.1.0', runs: [run] };
}

function toInvocation(notes: readonly string[]): object {
  const toolExecutionNotifications = notes.map((note) => ({
    level: 'note',
    message: { text: literally(note) },
  }));
  return { executionSuccessful: true, toolExecutionNotifications };
}

const summaries = [
  ...Object.entries(codes),
  ...[guaranteeRefuted, guaranteeUndecided, ...Object.values(diffCodes)].map(
    ({ code, summary }) => [code, summary] as const,
  ),
];

const ruleIndexes: ReadonlyMap<string, number> = new Map(summaries.map(([id], index) => [id, index]));

function toRule(id: string, summary: string, page: string | null): object {
  const help = page === null ? {} : { help: { text: page, markdown: page } };
  return { id, shortDescription: { text: summary }, ...help };
}

function toResult({ code, severity, message, help, related, fix, ...location }: Finding): object {
  return {
    ruleId: code,
    ruleIndex: ruleIndexes.get(code),
    level: severity,
    message: { text: literally(help === null ? message : `${message}\nhelp: ${help}`) },
    locations: [toLocation(location)],
    ...(related.length === 0
      ? {}
      : {
          relatedLocations: related.map((one, id) => ({
            id,
            ...toLocation(one),
            message: { text: literally(one.message ?? '') },
          })),
        }),
    ...(fix === null ? {} : { fixes: [toFix(fix)] }),
  };
}

interface FileRange {
  readonly file: string;
  readonly start: Position | null;
  readonly end: Position | null;
}

function toLocation({ file, start, end }: FileRange): object {
  const region = start === null || end === null ? {} : { region: toRegion(start, end) };
  return { physicalLocation: { artifactLocation: toArtifact(file), ...region } };
}

function toRegion(start: Position, end: Position): object {
  return { startLine: start.line, startColumn: start.column, endLine: end.line, endColumn: end.column };
}

function toArtifact(file: string): object {
  if (file.startsWith('/') || /^[A-Za-z]:\//.test(file)) return { uri: pathToFileURL(file).href };
  return { uri: file.split('/').map(encodeURIComponent).join('/'), uriBaseId: base };
}

function toFix({ title, edits }: NonNullable<Finding['fix']>): object {
  const files = [...new Set(edits.map(({ file }) => file))];
  return {
    description: { text: literally(title) },
    artifactChanges: files.map((file) => ({
      artifactLocation: toArtifact(file),
      replacements: edits
        .filter((edit) => edit.file === file)
        .flatMap(({ start, end, text }) =>
          start === null || end === null
            ? []
            : [{ deletedRegion: toRegion(start, end), insertedContent: { text } }],
        ),
    })),
  };
}

/** Doubles braces: in a SARIF message a single brace begins a place for an argument. */
function literally(text: string): string {
  return text.replace(/[{}]/g, '$&$&');
}
