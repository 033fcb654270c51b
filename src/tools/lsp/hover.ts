// What is known of a name: its type, its comment, who decides.

import type { Hover, SignatureHelp } from 'vscode-languageserver';
import { type Attribute, attributes } from '../../language/model/attributes.ts';
import { type Builtin, builtins } from '../../language/model/builtins.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { type Occurrence, occurrenceAt, sameName } from './names.ts';
import { type DocumentPlace, rangeOf } from './places.ts';
import { setWords } from './words.ts';
import type { SetSnapshot } from './workspace.ts';

/** Null where nothing is known. */
export function hoverAt({ snapshot, file, document, offset }: DocumentPlace): Hover | null {
  const found = occurrenceAt(snapshot.files, file, offset);
  const lines = found === null ? [] : linesOf(snapshot, found);
  if (found === null || lines.length === 0) return null;
  return { contents: { kind: 'markdown', value: lines.join('\n\n') }, range: rangeOf(document, found.span) };
}

function linesOf(snapshot: SetSnapshot, found: Occurrence): readonly string[] {
  const { kind, name } = found;
  const set = snapshot.set ?? snapshot.lastSet;
  if (kind === 'builtin' && Object.hasOwn(builtins, name)) {
    const { signature, meaning, example } = builtins[name as Builtin];
    return [code(signature), meaning, `For example \`${example}\``];
  }
  if (kind === 'fact') return Object.hasOwn(attributes, name) ? factLines(snapshot, name as Attribute) : [];
  if (kind === 'field') return fieldLines(snapshot, found);
  if (kind === 'variable') return [code(`variable ${name.split(' ')[0]}`)];
  const [declared] = sameName(snapshot.files, found).filter(({ isDeclared }) => isDeclared);
  if (declared === undefined) return [];
  const text = snapshot.texts.get(declared.span.file)?.text ?? '';
  const start = text.lastIndexOf('\n', declared.span.start) + 1;
  const end = text.indexOf('\n', declared.span.end);
  const line = text.slice(start, end === -1 ? undefined : end).trim();
  return [
    code(line.replace(/\s*\{?\s*$/, '')),
    ...(declared.doc === null ? [] : [declared.doc]),
    ...(set === null ? [] : deciders(set, found)),
  ];
}

function factLines(snapshot: SetSnapshot, name: Attribute): readonly string[] {
  const fact = setWords(snapshot).attributes.find(({ path }) => path === name);
  return [code(fact === undefined ? name : `${name}: ${fact.type}`), attributes[name]];
}

/** The type in each action that is meant. */
function fieldLines(snapshot: SetSnapshot, { name, patterns }: Occurrence): readonly string[] {
  const path = `payload.${name}`;
  const types = new Map<string, string[]>();
  for (const { key, groups, fields } of setWords(snapshot).actions) {
    const isMeant = patterns === null || patterns.some((pattern) => matches(pattern, key, groups));
    const field = isMeant ? fields.find((one) => one.path === path) : undefined;
    if (field !== undefined) types.set(field.type, [...(types.get(field.type) ?? []), key]);
  }
  return [...types].map(
    ([type, keys]) => `${code(`${path}: ${type}`)}\n${types.size > 1 ? keys.join(', ') : ''}`,
  );
}

export function matches(pattern: string, key: string, groups: readonly string[]): boolean {
  if (pattern === '*' || pattern === key || groups.includes(pattern)) return true;
  if (pattern.endsWith('.*')) return key.startsWith(pattern.slice(0, -1));
  return pattern.startsWith('*.') && key.endsWith(pattern.slice(1));
}

const rulesMax = 12;

/** Which rules speak of an action. */
function deciders({ policies }: PolicySet, { kind, name }: Occurrence): readonly string[] {
  if (kind !== 'action') return [];
  const rules = policies
    .filter(({ actions }) => actions.includes(name))
    .flatMap((policy) => policy.rules.map(({ effect, id }) => `- ${effect} \`${id}\``));
  if (rules.length === 0) return ['No rule speaks of it: every request is denied.'];
  const more = rules.length > rulesMax ? [`- and ${rules.length - rulesMax} more`] : [];
  return [['Decided by', ...rules.slice(0, rulesMax), ...more].join('\n')];
}

function code(text: string): string {
  return `\`\`\`writ\n${text}\n\`\`\``;
}

/** The signature of the function whose brackets are open. */
export function signatureAt({ document, offset }: DocumentPlace): SignatureHelp | null {
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
