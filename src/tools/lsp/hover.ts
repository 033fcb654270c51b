// What is known of a name: its type, its comment, who decides.

import type { Hover, SignatureHelp } from 'vscode-languageserver';
import { typeOfFixedFact } from '../../language/check/expressions/facts.ts';
import { type Attribute, attributes } from '../../language/model/attributes.ts';
import { type Builtin, builtins } from '../../language/model/builtins.ts';
import { describeSlot, describeType } from '../../language/model/describe.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { Shape } from '../../language/model/type.ts';
import type { ToldHits } from './service.ts';
import { type Occurrence, sameName } from './set/names.ts';
import { type DocumentPlace, rangeOf } from './set/places.ts';
import { nameAt } from './set/set-names.ts';
import type { SetSnapshot } from './set/workspace.ts';

/** Null where nothing is known. */
export function hoverAt(place: DocumentPlace, hits: ToldHits | null): Hover | null {
  const { snapshot, document } = place;
  const found = nameAt(place);
  const lines = found === null ? [] : [...linesOf(snapshot, found), ...hitLines(found, hits)];
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
  if (kind === 'fact') return Object.hasOwn(attributes, name) ? factLines(name as Attribute) : [];
  if (kind === 'field') return set === null ? [] : fieldLines(set, found);
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

function factLines(name: Attribute): readonly string[] {
  const type = name === 'now' || name === 'risk' ? null : typeOfFixedFact(name);
  return [code(type === null ? name : `${name}: ${describeType(type)}`), attributes[name]];
}

/** The type in each action that is meant. */
function fieldLines(set: PolicySet, { name, patterns }: Occurrence): readonly string[] {
  const types = new Map<string, string[]>();
  for (const { key, groups, shape } of set.actions.values()) {
    const isMeant = patterns === null || patterns.some((pattern) => matches(pattern, key, groups));
    const type = isMeant ? typeAt(shape, name.split('.')) : null;
    if (type !== null) types.set(type, [...(types.get(type) ?? []), key]);
  }
  return [...types].map(
    ([type, keys]) => `${code(`payload.${name}: ${type}`)}\n${types.size > 1 ? keys.join(', ') : ''}`,
  );
}

/** Steps are names of fields; `[]` behind one is for the elements of a list. */
function typeAt({ fields }: Shape, [step = '', ...rest]: readonly string[]): string | null {
  const field = fields.find((one) => one.name === step.replace(/(\[\])+$/, ''));
  if (field === undefined) return null;
  if (rest.length === 0) return `${describeSlot(field)}${field.isOptional ? ' (may be absent)' : ''}`;
  let { type } = field;
  while (type.kind === 'list') ({ type } = type.element);
  return type.kind === 'record' ? typeAt(type.shape, rest) : null;
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

/** How often a rule or a policy has decided, where a service tells it. */
function hitLines({ kind, name }: Occurrence, hits: ToldHits | null): readonly string[] {
  if (hits === null) return [];
  if (kind === 'policy') {
    const count = hits.lastDay.get(name);
    return count === undefined ? [] : [`Decided ${times(count)} in the last day`];
  }
  const hit = kind === 'rule' ? hits.rules.get(name) : undefined;
  if (hit === undefined) return [];
  const last = hit.lastAt === null ? 'never' : `last ${hit.lastAt}`;
  return [`Decided ${times(hit.decided)}, held ${times(hit.met)} since ${hits.since}, ${last}`];
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
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
