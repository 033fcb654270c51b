// Builds a test's raw facts: defaults, then the test's own facts, then those of the case, then `set`, `unset`
// and `unknown`. All values keep their source place, so that a mistake is reported where it was written.

import type { Span } from '../language/diagnostic/span.ts';
import { userAttributes } from '../language/model/request.ts';
import { find, readTexts, unknownKey } from './fields.ts';
import { type LocatedMap, type LocatedValue, type Report, toJson } from './yaml.ts';

/** Located facts by their first name; `session` is stored as part of `request`. */
export type RawFacts = ReadonlyMap<string, LocatedValue>;

export const factKeys = [
  'action',
  'payload',
  'agent',
  'request',
  'session',
  'satisfied',
  'now',
  'meters',
  'tables',
] as const;
export const changeKeys = ['set', 'unset', 'unknown'] as const;

export const agentKeys = ['id', 'name', 'risk_tier', 'control_owner', 'tags'] as const;
export const requestKeys = ['ip', 'signed', 'session', 'point', 'chain', 'user'] as const;
export const satisfiedKeys = ['escalate', 'reauth', 'standing'] as const;
export const givenStandingKeys = ['rule', 'per', 'until'] as const;

/**
 * The facts of `base`, overlaid by those that `part` gives and then changed by its `set`, `unset` and
 * `unknown`. Mappings merge key by key.
 */
export function applyPart(base: RawFacts, part: LocatedMap, report: Report): RawFacts {
  const facts = new Map(base);
  for (const key of factKeys) {
    const value = find(part, key);
    if (value === null) continue;
    if (key === 'session') put(facts, { segments: ['request', 'session'], span: value.span }, value, report);
    else facts.set(key, overlay(facts.get(key), value));
  }
  applySet(facts, find(part, 'set'), report);
  applyRemovals(facts, find(part, 'unset'), { verb: 'unset', check: checkUnset }, report);
  applyRemovals(facts, find(part, 'unknown'), { verb: 'unknown', check: checkUnknown }, report);
  return facts;
}

/** The changes of a case in words: `set payload.amount=1000.01, unknown agent.tags`. */
export function describeChanges(part: LocatedMap): string {
  const set = find(part, 'set');
  const sets = set?.kind === 'map' ? set.entries.map(({ key, value }) => `${key}=${brief(value)}`) : [];
  const named = (key: string): readonly string[] => {
    const list = find(part, key);
    return list?.kind === 'list' ? list.items.map(brief) : [];
  };
  return [words('set', sets), words('unset', named('unset')), words('unknown', named('unknown'))]
    .filter((text) => text !== '')
    .join(', ');
}

interface Path {
  readonly segments: readonly string[];
  readonly span: Span;
}

const valueLengthMax = 60;

/** Merges one level deep: a list, or a record inside the payload, is replaced as a whole. */
function overlay(base: LocatedValue | undefined, edit: LocatedValue): LocatedValue {
  if (base?.kind !== 'map' || edit.kind !== 'map') return edit;
  const unchanged = base.entries.filter(({ key }) => find(edit, key) === null);
  return { ...edit, entries: [...unchanged, ...edit.entries] };
}

function applySet(facts: Map<string, LocatedValue>, changes: LocatedValue | null, report: Report): void {
  if (changes === null) return;
  if (changes.kind !== 'map') {
    report(changes.span, '`set` must be a mapping of paths to values');
    return;
  }
  for (const { key, keySpan, value } of changes.entries) {
    const path = readPath(key, keySpan, report);
    if (path !== null) put(facts, path, value, report);
  }
}

interface Removal {
  readonly verb: string;
  readonly check: (path: Path, report: Report) => boolean;
}

function applyRemovals(
  facts: Map<string, LocatedValue>,
  paths: LocatedValue | null,
  { verb, check }: Removal,
  report: Report,
): void {
  for (const { text, span } of paths === null ? [] : (readTexts(paths, `\`${verb}\``, report) ?? [])) {
    const path = readPath(text, span, report);
    if (path === null || !check(path, report)) continue;
    const isGone = remove(facts, path);
    // Making an unknown fact unknown is no mistake; removing a fact that is not there is one.
    if (!isGone && verb === 'unset') report(span, `there is no \`${text}\` to remove`);
  }
}

function checkUnset({ segments, span }: Path, report: Report): boolean {
  const [root] = segments;
  if (segments.length > 1 || (root !== 'action' && root !== 'payload' && root !== 'now')) return true;
  report(span, `\`${root}\` is part of every request`);
  return false;
}

function checkUnknown({ segments, span }: Path, report: Report): boolean {
  const [root, attribute, inner] = segments;
  const keys = root === 'agent' ? agentKeys : root === 'request' ? requestKeys : null;
  if (root === 'meters' && segments.length <= 2) return true;
  if (keys === null) {
    const help =
      root === 'payload'
        ? 'a `signed` field is unknown when `request.signed` is false'
        : 'only attributes of `agent` and `request`, and meters, can be unknown';
    report(span, `\`${root}\` is never unknown`, help);
    return false;
  }
  if (root === 'request' && attribute === 'chain') {
    report(span, '`request.chain` is never unknown', 'leave it out where the agent asks by itself');
    return false;
  }
  const isKnown = attribute === undefined || (keys as readonly string[]).includes(attribute);
  const isUser = root === 'request' && attribute === 'user' && inner !== undefined;
  if (isUser && !(userAttributes as readonly string[]).includes(inner)) {
    const named = { key: inner, keySpan: span, keys: userAttributes };
    unknownKey(`\`request.user\` has no \`${inner}\``, named, report);
    return false;
  }
  if (!isKnown)
    unknownKey(`\`${root}\` has no \`${attribute}\``, { key: attribute, keySpan: span, keys }, report);
  return isKnown;
}

/**
 * Splits a path at its dots. A segment with other characters must be in double quotes; `session` means
 * `request.session`.
 */
function readPath(text: string, span: Span, report: Report): Path | null {
  const segments = splitPath(text);
  const [root] = segments ?? [];
  if (segments === null || root === undefined) {
    report(span, `\`${text}\` is not a path such as \`payload.amount\``);
    return null;
  }
  if (!(factKeys as readonly string[]).includes(root)) {
    unknownKey(`there is no fact \`${root}\``, { key: root, keySpan: span, keys: factKeys }, report);
    return null;
  }
  return { segments: root === 'session' ? ['request', ...segments] : segments, span };
}

function splitPath(text: string): readonly string[] | null {
  const segment = /(?:"((?:[^"\\]|\\.)*)"|([^".]+))(?:\.|$)/y;
  const segments: string[] = [];
  while (segment.lastIndex < text.length) {
    const match = segment.exec(text);
    if (match === null) return null;
    segments.push(match[2] ?? match[1]!.replace(/\\(.)/g, '$1'));
  }
  return text.endsWith('.') || segments.length === 0 ? null : segments;
}

function put(
  facts: Map<string, LocatedValue>,
  { segments, span }: Path,
  value: LocatedValue,
  report: Report,
): void {
  const [root, ...steps] = segments as [string, ...string[]];
  const changed = putAt(facts.get(root) ?? null, steps, value);
  if (typeof changed === 'string')
    report(span, `\`${root}\` cannot be changed at \`${changed}\``, 'there is no such place');
  else facts.set(root, changed);
}

/** The changed value, or the step at which the value has no place to go into. */
function putAt(
  base: LocatedValue | null,
  steps: readonly string[],
  value: LocatedValue,
): LocatedValue | string {
  const [step, ...rest] = steps;
  if (step === undefined) return value;
  if (base === null) return putAt({ kind: 'map', entries: [], span: value.span }, steps, value);
  if (base.kind === 'scalar') return step;
  if (base.kind === 'list') return putIntoList(base.items, steps, value, base.span);
  const index = base.entries.findIndex(({ key }) => key === step);
  const inner = putAt(base.entries[index]?.value ?? null, rest, value);
  if (typeof inner === 'string') return inner;
  const entry = { key: step, keySpan: base.entries[index]?.keySpan ?? value.span, value: inner };
  return { ...base, entries: index === -1 ? [...base.entries, entry] : base.entries.with(index, entry) };
}

/** An index just past the end appends. */
function putIntoList(
  items: readonly LocatedValue[],
  steps: readonly string[],
  value: LocatedValue,
  span: Span,
): LocatedValue | string {
  const [step = '', ...rest] = steps;
  const index = /^\d+$/.test(step) ? Number(step) : -1;
  if (index < 0 || index > items.length) return step;
  const inner = putAt(items[index] ?? null, rest, value);
  return typeof inner === 'string' ? inner : { kind: 'list', items: items.toSpliced(index, 1, inner), span };
}

/** Whether there was something to remove. */
function remove(facts: Map<string, LocatedValue>, { segments }: Path): boolean {
  const [root, ...steps] = segments as [string, ...string[]];
  const base = facts.get(root);
  if (base === undefined) return false;
  if (steps.length === 0) return facts.delete(root);
  const changed = removeAt(base, steps);
  if (changed !== null) facts.set(root, changed);
  return changed !== null;
}

function removeAt(base: LocatedValue, steps: readonly string[]): LocatedValue | null {
  const [step = '', ...rest] = steps;
  if (base.kind === 'scalar') return null;
  const isMap = base.kind === 'map';
  const index = isMap
    ? base.entries.findIndex(({ key }) => key === step)
    : /^\d+$/.test(step)
      ? Number(step)
      : -1;
  const current = isMap ? base.entries[index]?.value : base.items[index];
  if (index < 0 || current === undefined) return null;
  const inner = rest.length === 0 ? null : removeAt(current, rest);
  if (rest.length > 0 && inner === null) return null;
  if (isMap) {
    const entries =
      inner === null
        ? base.entries.toSpliced(index, 1)
        : base.entries.with(index, { ...base.entries[index]!, value: inner });
    return { ...base, entries };
  }
  return { ...base, items: inner === null ? base.items.toSpliced(index, 1) : base.items.with(index, inner) };
}

function brief(value: LocatedValue): string {
  const json = toJson(value);
  const text = typeof json === 'string' ? json : JSON.stringify(json);
  const characters = [...text];
  return characters.length > valueLengthMax ? `${characters.slice(0, valueLengthMax).join('')}…` : text;
}

function words(verb: string, items: readonly string[]): string {
  return items.length === 0 ? '' : `${verb} ${items.join(', ')}`;
}
