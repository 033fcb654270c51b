// Offers what may stand at a place of a test file: its keys, and the names of the set that it tests.

import { type CompletionItem, CompletionItemKind } from 'vscode-languageserver';
import type { ActionWords } from '../language/assist/vocabulary.ts';
import { outcomes } from '../language/model/decision.ts';
import { riskTiers, userAttributes } from '../language/model/request.ts';
import { expectationKeys } from '../testing/expectation.ts';
import { standingAnswerKeys, stepKeys } from '../testing/read-sequence.ts';
import { caseKeys, fileKeys, testKeys } from '../testing/read-test-file.ts';
import { approvalAnswers } from '../testing/test-file.ts';
import {
  agentKeys,
  factKeys,
  givenStandingKeys,
  requestKeys,
  satisfiedKeys,
} from '../testing/watch-changes.ts';
import { setWords } from './completion.ts';
import type { DocumentPosition } from './set/positions.ts';
import type { SetSnapshot } from './set/workspace.ts';
import { yamlPositionAt } from './yaml-position.ts';

export function testCompletionsAt({
  snapshot,
  document,
  offset,
}: DocumentPosition): readonly CompletionItem[] {
  const text = document.getText();
  const place = yamlPositionAt(text, offset);
  const keys = withoutLists(place.keys);
  // An item in a list of texts looks like the start of a key, but takes no keys.
  const isKey = place.isKey && (keys.at(-1) !== '-' || itemOf(keys) in keysOf);
  const offers = offersAt({ keys, isKey, snapshot, action: actionBefore(text, offset) });
  const range = { start: document.positionAt(place.from), end: document.positionAt(offset) };
  return offers.map((label) => ({
    label,
    kind: isKey ? CompletionItemKind.Property : CompletionItemKind.Value,
    filterText: label,
    textEdit: { range, newText: isKey ? `${label}: ` : label },
  }));
}

interface TestPosition {
  /** The keys around the place, without the lists of tests, cases and steps. */
  readonly keys: readonly string[];
  readonly isKey: boolean;
  readonly snapshot: SetSnapshot;
  /** The action named before the place; null when there is none. */
  readonly action: string | null;
}

const insides: Readonly<Record<string, string>> = {
  'tests.-': 'test',
  'cases.-': 'case',
  'sequence.-': 'step',
};

/** Shortens keys to the innermost list: `tests.-.cases.-.expect` becomes `case.expect`. */
function withoutLists(keys: readonly string[]): readonly string[] {
  const sections = Object.entries(insides).map(([list, inside]) => ({
    at: keys.findLastIndex((key, at) => `${key}.${keys[at + 1]}` === list),
    inside,
  }));
  const [innermost] = sections.toSorted((a, b) => b.at - a.at);
  return innermost === undefined || innermost.at < 0
    ? keys
    : [innermost.inside, ...keys.slice(innermost.at + 2)];
}

const actionForm = /^[\s-]*(?:\{\s*)?action:\s*["']?([\w.]+)/gm;

/** The last action that is named above the end of the line; null when there is none. */
function actionBefore(text: string, offset: number): string | null {
  const end = text.indexOf('\n', offset);
  const before = text.slice(0, end === -1 ? undefined : end);
  return [...before.matchAll(actionForm)].at(-1)?.[1] ?? null;
}

const keysOf: Readonly<Record<string, readonly string[]>> = {
  '': fileKeys,
  defaults: factKeys,
  test: testKeys,
  case: caseKeys,
  step: stepKeys,
  agent: agentKeys,
  request: requestKeys,
  user: userAttributes,
  satisfied: satisfiedKeys,
  expect: expectationKeys,
  requires: ['escalate', 'reauth'],
  'escalate.-': ['group', 'needs', 'within'],
  'standing.-': givenStandingKeys,
  standing: standingAnswerKeys,
};

function itemOf(keys: readonly string[]): string {
  return `${keys.at(-2)}.-`;
}

function offersAt(place: TestPosition): readonly string[] {
  const { keys, isKey } = place;
  return isKey ? keyOffers(place) : valueOffers(keys, place);
}

function keyOffers({ keys, snapshot, action }: TestPosition): readonly string[] {
  const payload = keys.indexOf('payload');
  if (payload >= 0) return fieldsUnder(keys.slice(payload + 1), actionsOf(snapshot, action));
  const last = keys.at(-1) ?? '';
  if (last === 'meters') return setWords(snapshot).names.meters;
  // A path needs quotes only if one of its steps does.
  if (last === 'set') return pathsOf(snapshot, action);
  return keysOf[last === '-' ? itemOf(keys) : last] ?? [];
}

function valueOffers(keys: readonly string[], { snapshot, action }: TestPosition): readonly string[] {
  const { actions, names } = setWords(snapshot);
  const last = keys.at(-1) === '-' ? (keys.at(-2) ?? '') : (keys.at(-1) ?? '');
  switch (last) {
    case 'action':
      return actions.map(({ key }) => key);
    case 'expect':
    case 'decision':
    case 'not':
      return outcomes;
    case 'by':
    case 'rules':
      return rulesOf(snapshot);
    case 'escalate':
    case 'reauth':
      return keys.includes('satisfied') ? rulesOf(snapshot, last) : [];
    case 'matched_policy':
      return names.policies;
    case 'group':
      return names.approvers;
    case 'risk_tier':
      return riskTiers;
    case 'signed':
      return ['true', 'false'];
    case 'then':
      return approvalAnswers;
    case 'unset':
    case 'unknown':
      return pathsOf(snapshot, action);
    default:
      return [];
  }
}

function actionsOf(snapshot: SetSnapshot, action: string | null): readonly ActionWords[] {
  const { actions } = setWords(snapshot);
  const meant = actions.filter(({ key }) => key === action);
  return meant.length === 0 ? actions : meant;
}

/** The names of the fields directly under a place of the payload. */
function fieldsUnder(keys: readonly string[], actions: readonly ActionWords[]): readonly string[] {
  const base = `payload.${keys.map((key) => (key === '-' ? '[]' : `.${key}`)).join('')}`.replace('..', '.');
  const prefix = keys.length === 0 ? 'payload.' : `${base}.`;
  const paths = actions.flatMap(({ fields }) => fields.map(({ path }) => path));
  const names = paths
    .filter((path) => path.startsWith(prefix))
    .map((path) => path.slice(prefix.length))
    .filter((rest) => !/[.[]/.test(rest));
  return [...new Set(names)];
}

function pathsOf(snapshot: SetSnapshot, action: string | null): readonly string[] {
  const fields = actionsOf(snapshot, action).flatMap((one) => one.fields.map(({ path }) => path));
  return [
    ...new Set(fields.filter((path) => !path.includes('[]'))),
    ...agentKeys.map((key) => `agent.${key}`),
    ...requestKeys.map((key) => `request.${key}`),
    ...setWords(snapshot).names.meters.map((name) => `meters.${name}`),
  ];
}

/** The ids of all rules, or of the rules with one effect. */
function rulesOf({ lastSet }: SetSnapshot, effect: string | null = null): readonly string[] {
  const rules = (lastSet?.policies ?? []).flatMap((policy) => policy.rules);
  return rules.filter((rule) => effect === null || rule.effect === effect).map(({ id }) => id);
}
