// Describes a name: its type, its meaning, its comment, and for an action the rules that decide. The language
// server and the dashboard's editor share the description.

import { type Builtin, builtins } from '../model/builtins.ts';
import type { DeclarationOf, PolicyFile } from '../syntax/tree/tree.ts';
import { isPatternOf, withDeclared } from './declared-words.ts';
import { type Occurrence, sameName } from './names.ts';
import type { ActionWords, Vocabulary } from './vocabulary.ts';

export interface NameDescription {
  /** A line of the language, or prose with names in backticks. */
  readonly kind: 'code' | 'text';
  readonly text: string;
}

export interface NameSources {
  readonly words: Vocabulary;
  readonly files: readonly PolicyFile[];
  /** Returns the text of a file; empty when the text is not known. */
  readonly textOf: (file: string) => string;
}

/** Returns the description of a name; empty when nothing is known about it. */
export function describeName(names: NameSources, occurrence: Occurrence): readonly NameDescription[] {
  const { kind, name } = occurrence;
  switch (kind) {
    case 'builtin':
      return describeBuiltin(name);
    case 'fact':
      return describeFact(names.words, name);
    case 'field':
      return describeField(names, occurrence);
    case 'column':
      return describeColumn(names, occurrence);
    case 'variable':
      return [code(`variable ${name.split(' ')[0]}`)];
    default:
      return describeDeclared(names, occurrence);
  }
}

function describeBuiltin(name: string): readonly NameDescription[] {
  if (!Object.hasOwn(builtins, name)) return [];
  const { signature, meaning, example } = builtins[name as Builtin];
  return [code(signature), textPart(meaning), textPart(`For example \`${example}\``)];
}

function describeFact({ attributes }: Vocabulary, name: string): readonly NameDescription[] {
  const fact = attributes.find(({ path }) => path === name);
  return fact === undefined ? [] : [code(`${name}: ${fact.type}`), textPart(fact.doc)];
}

/**
 * Describes the type of a field in each action that is meant: as the vocabulary has it, or else as written in
 * the text of the action.
 */
function describeField(
  { words, files, textOf }: NameSources,
  occurrence: Occurrence,
): readonly NameDescription[] {
  const types = typesIn(words, occurrence);
  if (types.length > 0) return types;
  return typesIn(
    files.reduce((all, { span }) => withDeclared(all, textOf(span.file)), words),
    occurrence,
  );
}

function typesIn(
  { actions }: Pick<Vocabulary, 'actions'>,
  { name, patterns }: Occurrence,
): readonly NameDescription[] {
  const types = new Map<string, string[]>();
  for (const action of actions) {
    if (patterns !== null && !patterns.some((pattern) => isPatternOf(pattern, action))) continue;
    const field = action.fields.find(({ path }) => unquoted(path) === `payload.${name}`);
    if (field !== undefined) types.set(field.type, [...(types.get(field.type) ?? []), action.key]);
  }
  return [...types].flatMap(([type, keys]) => [
    code(`payload.${name}: ${type}`),
    ...(types.size > 1 ? [textPart(keys.join(', '))] : []),
  ]);
}

/** Describes the type of a column: as the vocabulary has it, or else as written in the text of its table. */
function describeColumn(
  { words, files, textOf }: NameSources,
  { name, doc }: Occurrence,
): readonly NameDescription[] {
  const typeIn = ({ tables }: Vocabulary): string | undefined => {
    const table = tables.find((one) => name.startsWith(`${one.name}.`));
    return table?.columns.find(({ path }) => `${table.name}.${unquoted(path)}` === name)?.type;
  };
  const type =
    typeIn(words) ?? typeIn(files.reduce((all, { span }) => withDeclared(all, textOf(span.file)), words));
  if (type === undefined) return [];
  return [code(`${name}: ${type}`), ...(doc === null ? [] : [textPart(doc)])];
}

function unquoted(path: string): string {
  return path.includes('"')
    ? path.replace(/"(?:[^"\\]|\\.)*"/g, (quoted) => JSON.parse(quoted) as string)
    : path;
}

function describeDeclared(names: NameSources, occurrence: Occurrence): readonly NameDescription[] {
  const [declared] = sameName(names.files, occurrence).filter(({ isDeclared }) => isDeclared);
  if (declared === undefined) return [];
  const whole = names.textOf(declared.span.file);
  const start = whole.lastIndexOf('\n', declared.span.start) + 1;
  const end = whole.indexOf('\n', declared.span.end);
  const line = whole.slice(start, end === -1 ? undefined : end).trim();
  return [
    code(line.replace(/\s*\{?\s*$/, '')),
    ...(declared.doc === null ? [] : [textPart(declared.doc)]),
    ...(occurrence.kind === 'action' ? [deciders(names.files, occurrence.name)] : []),
  ];
}

const rulesMax = 12;

/** Lists the rules about an action. */
function deciders(files: readonly PolicyFile[], key: string): NameDescription {
  const declarations = files.flatMap((file) => file.declarations);
  const groups = declarations.flatMap((one) =>
    one.kind === 'action' && one.keys.some((nameNode) => nameNode.text === key)
      ? one.groups.map((of) => of.text)
      : [],
  );
  const rules = declarations
    .filter((one) => one.kind === 'policy')
    .filter((policy) => isOn(policy, { key, groups }))
    .flatMap((policy) =>
      policy.rules.map(({ effect, name }) => `- ${effect} \`${policy.name.text}/${name.text}\``),
    );
  if (rules.length === 0) return textPart('No rule speaks of it: every request is denied.');
  const more = rules.length > rulesMax ? [`- and ${rules.length - rulesMax} more`] : [];
  return textPart(['Decided by', ...rules.slice(0, rulesMax), ...more].join('\n'));
}

type Action = Pick<ActionWords, 'key' | 'groups'>;

function isOn({ patterns, except }: DeclarationOf<'policy'>, action: Action): boolean {
  const isMeant = (one: { readonly text: string }): boolean => isPatternOf(one.text, action);
  return patterns.some(isMeant) && !except.some(isMeant);
}

function code(line: string): NameDescription {
  return { kind: 'code', text: line };
}

function textPart(value: string): NameDescription {
  return { kind: 'text', text: value };
}
