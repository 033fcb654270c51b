// Shows what is known of a name, its type, its comment, and who decides; or what a word of the language means.

import type { Hover, SignatureHelp } from 'vscode-languageserver';
import { describeName, type NameDescription } from '../language/assist/describe-name.ts';
import { type Occurrence, occurrenceAt, occurrencesOf } from '../language/assist/names.ts';
import { describeWord } from '../language/assist/word-descriptions.ts';
import { type Builtin, builtins } from '../language/model/builtins.ts';
import { setWords } from './completion.ts';
import type { RecordedHits } from './service.ts';
import { type DocumentPosition, rangeOf } from './set/positions.ts';
import { namesInTests } from './set/test-names.ts';
import type { SetSnapshot } from './set/workspace.ts';

/** The hover at a place; null when nothing is known. */
export function hoverAt(position: DocumentPosition, hits: RecordedHits | null): Hover | null {
  const { snapshot, document } = position;
  const occurrence = nameAt(position);
  const lines =
    occurrence === null ? [] : [...saidOf(snapshot, occurrence).map(markdown), ...hitLines(occurrence, hits)];
  if (occurrence === null || lines.length === 0) return wordHoverAt(position);
  return {
    contents: { kind: 'markdown', value: lines.join('\n\n') },
    range: rangeOf(document, occurrence.span),
  };
}

function wordHoverAt({ snapshot, document, file, offset }: DocumentPosition): Hover | null {
  const word = snapshot.tests.has(file) ? null : describeWord(document.getText(), offset);
  if (word === null) return null;
  return {
    contents: { kind: 'markdown', value: word.description.map(markdown).join('\n\n') },
    range: rangeOf(document, { file, start: word.start, end: word.end }),
  };
}

function saidOf(snapshot: SetSnapshot, occurrence: Occurrence): readonly NameDescription[] {
  const textOf = (file: string): string => snapshot.texts.get(file)?.text ?? '';
  return describeName({ words: setWords(snapshot), files: snapshot.files, textOf }, occurrence);
}

function markdown({ kind, text }: NameDescription): string {
  return kind === 'code' ? `\`\`\`writ\n${text}\n\`\`\`` : text;
}

/** How often a rule or a policy has decided, if a service has counts. */
function hitLines({ kind, name }: Occurrence, hits: RecordedHits | null): readonly string[] {
  if (hits === null) return [];
  if (kind === 'policy') {
    const count = hits.lastDay.get(name);
    return count === undefined ? [] : [`Decided ${times(count)} in the last day`];
  }
  const hit = kind === 'rule' ? hits.rules.get(name) : undefined;
  if (hit === undefined) return [];
  const last = hit.lastAt === null ? 'never' : `last ${hit.lastAt}`;
  return [`Decided ${times(hit.decided)}, matched ${times(hit.met)} since ${hits.since}, ${last}`];
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** The signature of the function whose brackets are open at the place; null when there is none. */
export function signatureAt({ document, offset }: DocumentPosition): SignatureHelp | null {
  const before = document.getText().slice(Math.max(0, offset - 500), offset);
  const [, name = '', args = ''] = /(\w+)\(([^()]*)$/.exec(before) ?? [];
  if (!Object.hasOwn(builtins, name)) return null;
  const { signature, meaning } = builtins[name as Builtin];
  const parameters =
    /\(([^)]*)\)/
      .exec(signature)?.[1]
      ?.split(',')
      .map((label) => ({ label: label.trim() })) ?? [];
  const activeParameter = Math.min(args.split(',').length, Math.max(parameters.length, 1)) - 1;
  return {
    signatures: [{ label: signature, documentation: meaning, parameters }],
    activeSignature: 0,
    activeParameter,
  };
}

/** The innermost name at a place; null when there is none. */
export function nameAt({ snapshot, file, offset }: Omit<DocumentPosition, 'document'>): Occurrence | null {
  const test = snapshot.tests.get(file);
  if (test === undefined) return occurrenceAt(snapshot.files, file, offset);
  return namesInTests(test).findLast(({ span }) => span.start <= offset && offset <= span.end) ?? null;
}

/** The declaration and all uses of a name. */
export function sameNames(snapshot: SetSnapshot, { kind, name }: Occurrence): readonly Occurrence[] {
  const inTests = [...snapshot.tests.values()].flatMap((test) => namesInTests(test));
  return [...occurrencesOf(snapshot.files), ...inTests].filter(
    (one) => one.kind === kind && one.name === name,
  );
}
