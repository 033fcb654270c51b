// Finds the names of a policy set in a test file: actions, fields, meters, rules, policies and groups. With
// them, an editor leads from a test to a declaration and back, and renames in tests, too.

import type { NamedKind, Occurrence } from '../../language/assist/names.ts';
import type { SourceText, Span } from '../../language/diagnostic/span.ts';
import { find } from '../../testing/fields.ts';
import { type LocatedMap, type LocatedValue, readYaml } from '../../testing/yaml.ts';

const cache = new WeakMap<SourceText, readonly Occurrence[]>();

/** The names in the order of their places; empty while the text is not valid YAML. */
export function namesInTests(source: SourceText): readonly Occurrence[] {
  const before = cache.get(source);
  if (before !== undefined) return before;
  const occurrences: Occurrence[] = [];
  const root = readYaml(source, () => undefined);
  if (root?.kind === 'map') addFile(root, { text: source.text, action: null, occurrences });
  const byPlace = new Map(occurrences.map((one) => [`${one.span.start} ${one.kind} ${one.name}`, one]));
  const names = [...byPlace.values()].toSorted((a, b) => a.span.start - b.span.start);
  cache.set(source, names);
  return names;
}

interface NameReader {
  readonly text: string;
  /** The action that the part of the file is about; null when the file does not name one. */
  readonly action: string | null;
  readonly occurrences: Occurrence[];
}

function addFile(file: LocatedMap, reading: NameReader): void {
  const defaults = find(file, 'defaults');
  const action = actionOf(defaults, null);
  if (defaults !== null) addPart(defaults, { ...reading, action });
  for (const test of itemsOf(find(file, 'tests'))) {
    const scope = { ...reading, action: actionOf(test, action) };
    addPart(test, scope);
    for (const list of ['cases', 'sequence']) {
      for (const part of itemsOf(find(mapOf(test), list)))
        addPart(part, { ...scope, action: actionOf(part, scope.action) });
    }
  }
}

function mapOf(located: LocatedValue | null): LocatedMap | null {
  return located?.kind === 'map' ? located : null;
}

function itemsOf(located: LocatedValue | null): readonly LocatedValue[] {
  return located?.kind === 'list' ? located.items : [];
}

function textOf(located: LocatedValue | null): string | null {
  return located?.kind === 'scalar' && typeof located.value === 'string' ? located.value : null;
}

function actionOf(part: LocatedValue | null, inherited: string | null): string | null {
  return textOf(find(mapOf(part), 'action')) ?? inherited;
}

/** Adds the names in a test, a case or a step: in its facts and in what is expected of it. */
function addPart(part: LocatedValue, reading: NameReader): void {
  const map = mapOf(part);
  addText('action', find(map, 'action'), reading);
  addFields(find(map, 'payload'), '', reading);
  for (const { key, keySpan } of mapOf(find(map, 'meters'))?.entries ?? [])
    add({ kind: 'meter', name: key, span: keySpan, written: key }, reading);
  for (const { value } of mapOf(find(map, 'satisfied'))?.entries ?? [])
    for (const rule of itemsOf(value)) addRule(rule, reading);
  for (const { key, keySpan } of mapOf(find(map, 'set'))?.entries ?? []) addPath(key, keySpan, reading);
  for (const list of ['unset', 'unknown']) {
    for (const item of itemsOf(find(map, list))) addPath(textOf(item) ?? '', item.span, reading);
  }
  addExpectation(mapOf(find(map, 'expect')), reading);
}

function addExpectation(expect: LocatedMap | null, reading: NameReader): void {
  const by = find(expect, 'by');
  if (by !== null) addRule(by, reading);
  addText('policy', find(expect, 'matched_policy'), reading);
  for (const rule of itemsOf(find(expect, 'rules'))) addRule(rule, reading);
  for (const approval of itemsOf(find(mapOf(find(expect, 'requires')), 'escalate')))
    addText('approvers', find(mapOf(approval), 'group'), reading);
}

function addFields(located: LocatedValue | null, path: string, reading: NameReader): void {
  if (located?.kind === 'list') for (const item of located.items) addFields(item, `${path}[]`, reading);
  for (const { key, keySpan, value } of mapOf(located)?.entries ?? []) {
    const name = path === '' ? key : `${path}.${key}`;
    add({ kind: 'field', name, span: keySpan, written: key }, reading);
    addFields(value, name, reading);
  }
}

/**
 * Adds the names in a path such as `payload.amount` or `meters.paid`. Paths with quoted steps or places of
 * lists are skipped.
 */
function addPath(text: string, span: Span, reading: NameReader): void {
  const [root = '', ...steps] = text.split('.');
  const isPlain = steps.every((step) => /^[A-Za-z_]\w*$/.test(step));
  if (!isPlain || steps.length === 0) return;
  const from = startOf(text, span, reading);
  if (from === null) return;
  let at = from + root.length + 1;
  for (const [index, step] of steps.entries()) {
    const stepSpan = { file: span.file, start: at, end: at + step.length };
    if (root === 'payload')
      add(
        { kind: 'field', name: steps.slice(0, index + 1).join('.'), span: stepSpan, written: step },
        reading,
      );
    if (root === 'meters' && index === 0)
      add({ kind: 'meter', name: step, span: stepSpan, written: step }, reading);
    at += step.length + 1;
  }
}

/** Adds the names in `payments/large`: the policy, and the rule in it. */
function addRule(located: LocatedValue, reading: NameReader): void {
  const text = textOf(located) ?? '';
  const [policy = '', rule] = text.split('/');
  const from = startOf(text, located.span, reading);
  if (rule === undefined || from === null) return;
  const { file } = located.span;
  const middle = from + policy.length;
  add({ kind: 'policy', name: policy, span: { file, start: from, end: middle }, written: policy }, reading);
  const span = { file, start: middle + 1, end: from + text.length };
  add({ kind: 'rule', name: text, span, written: rule }, reading);
}

function addText(kind: NamedKind, located: LocatedValue | null, reading: NameReader): void {
  const name = textOf(located);
  if (name !== null && located !== null) add({ kind, name, span: located.span, written: name }, reading);
}

interface Mention {
  readonly kind: NamedKind;
  readonly name: string;
  readonly span: Span;
  /** The name as the file holds it, without quotes. */
  readonly written: string;
}

function add({ kind, name, span, written }: Mention, reading: NameReader): void {
  const start = startOf(written, span, reading);
  if (start === null) return;
  const { action, occurrences: found } = reading;
  found.push({
    kind,
    name,
    span: { file: span.file, start, end: start + written.length },
    isDeclared: false,
    patterns: action === null ? null : [action],
    doc: null,
  });
}

/**
 * The offset of a text in the file, behind its quote; null when the file writes the text in another way, as
 * with escapes.
 */
function startOf(written: string, { start, end }: Span, { text }: NameReader): number | null {
  const at = text.indexOf(written, start);
  return written !== '' && at >= start && at <= start + 1 && at + written.length <= end ? at : null;
}
