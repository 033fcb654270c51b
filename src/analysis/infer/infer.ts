// Turns recorded requests into policies that allow, or leave allowed, what is like them. Where the existing
// policies declare an action, the inferred file has guards alone, so it can only narrow what they allow.
// INVARIANT: the requests that are held out have no part in what is inferred.

import { nearestOf } from '../../language/diagnostic/suggest.ts';
import { matchesAction } from '../../language/model/delegation.ts';
import { withoutSecretTypes } from '../../language/model/open-secrets.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { Shape } from '../../language/model/type.ts';
import { checkPayload, resolveRecord } from '../../language/spec/payload.ts';
import { isPattern } from '../../language/syntax/parse/keys.ts';
import { findErrors } from '../../pipeline.ts';
import { shareAtMost } from './binomial-bound.ts';
import { type CombinedSet, combine, type ExistingSources } from './combine.ts';
import { declarationOf, isDeclarable } from './declare.ts';
import { type FieldLesson, type Guard, guardsOfPayloads, reasonText, snakeCase } from './guards.ts';
import { learn } from './learn.ts';
import { type ActionText, type InferredApprovers, ListFiles, uniqueName } from './policy-text.ts';
import {
  type Exclusion,
  type ExclusionOptions,
  type ExistingPolicies,
  exclusionOf,
  type Sample,
} from './sample.ts';
import { type Split, type SplitOptions, split } from './split.ts';
import { type Test, valuesMin } from './value-classes.ts';

export interface InferOptions extends ExclusionOptions {
  readonly existing: (ExistingPolicies & ExistingSources) | null;
  /** Patterns of the actions to infer policies for; all actions if it is empty. */
  readonly patterns: readonly string[];
  readonly split: SplitOptions;
  /** The group that is asked about rare requests; null for a new one. */
  readonly approvers: string | null;
  /** The folder of the inferred files, relative to the existing policies, with a slash at its end. */
  readonly prefix: string;
}

/** An action of the requests, and why nothing is inferred for it if `problem` is not null. */
export interface InferredAction {
  readonly key: string;
  readonly requests: number;
  /** Numbers of requests that are not learned from, by reason. */
  readonly excluded: Readonly<Partial<Record<Exclusion, number>>>;
  readonly parts: Split;
  /** Requests that a declared payload of the inferred policies does not fit. */
  readonly misfits: number;
  readonly fields: readonly FieldLesson[];
  readonly problem: string | null;
}

export interface Inference {
  readonly actions: readonly InferredAction[];
  readonly combined: CombinedSet;
}

/** Throws an InferError for a pattern that matches no request, and when there is nothing to infer from. */
export function infer(samples: readonly Sample[], options: InferOptions): Inference {
  const byAction = [...Map.groupBy(samples, ({ facts }) => facts.action)].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  if (byAction.length === 0) throw new InferError('there is no request to infer from');
  checkPatterns(
    options,
    byAction.map(([key]) => key),
  );
  const taken = namesOf(options.existing?.set ?? null);
  if (options.approvers !== null) taken.add(options.approvers);
  const lists = new ListFiles(taken);
  const inferred = byAction
    .filter(([key]) => isWanted(key, options))
    .map(([key, own]) => inferAction(key, own, { options, lists, taken }));
  const texts = {
    actions: inferred.flatMap(({ text }) => (text === null ? [] : [text])),
    lists: lists.lists,
    approvers: approversOf(options, taken),
  };
  const actions = inferred.map(({ action }) => action);
  if (texts.actions.length === 0) throw new InferError(nothingText(actions));
  return { actions, combined: combine(texts, options) };
}

function approversOf({ approvers, existing }: InferOptions, taken: Set<string>): InferredApprovers {
  if (approvers === null)
    return { name: uniqueName('inferred_reviewers', taken), isDeclared: false, isPlaceholder: true };
  return { name: approvers, isDeclared: approvers === 'owner' || existing !== null, isPlaceholder: false };
}

/** Nothing can be inferred; the message is one sentence in lower case. A class so that callers can tell it from a bug. */
export class InferError extends Error {}

/** A pattern matches no request. */
export class PatternError extends InferError {}

function nothingText(actions: readonly InferredAction[]): string {
  const shownMax = 5;
  const shown = actions.slice(0, shownMax).map(({ key, problem }) => `${key}: ${problem}`);
  const more = actions.length > shownMax ? `; and ${actions.length - shownMax} more actions` : '';
  return `nothing can be inferred: ${shown.join('; ')}${more}`;
}

// ---- which actions

function isWanted(key: string, { patterns, existing }: InferOptions): boolean {
  return patterns.length === 0 || patterns.some((pattern) => isMatch(pattern, key, existing));
}

function isMatch(pattern: string, key: string, existing: InferOptions['existing']): boolean {
  const groups = existing?.set.actions.get(key)?.groups ?? [];
  return matchesAction(pattern, key) || groups.includes(pattern);
}

function checkPatterns({ patterns, existing }: InferOptions, keys: readonly string[]): void {
  for (const pattern of patterns) {
    if (keys.some((key) => isMatch(pattern, key, existing))) continue;
    if (!isPattern(pattern))
      throw new PatternError(`\`${pattern}\` is no pattern: write a key, \`area.*\`, \`*.verb\` or a group`);
    const nearest = nearestOf(pattern, keys);
    const hint = nearest === null ? '' : `: did you mean \`${nearest}\`?`;
    throw new PatternError(`no request has an action that \`${pattern}\` matches${hint}`);
  }
}

/** Every name that the inferred files must not declare. */
function namesOf(set: PolicySet | null): Set<string> {
  if (set === null) return new Set(['owner']);
  const { lists, tables, hours, lets, meters, approvers, policies, guarantees, actions } = set;
  const named = [...policies, ...guarantees, ...lets.values()].map(({ name }) => name);
  const groups = [...actions.values()].flatMap((action) => action.groups);
  const maps = [lists, tables, hours, meters, approvers].flatMap((map) => [...map.keys()]);
  return new Set([...named, ...groups, ...maps, 'owner']);
}

// ---- one action

interface ActionContext {
  readonly options: InferOptions;
  readonly lists: ListFiles;
  readonly taken: Set<string>;
}

interface ActionResult {
  readonly action: InferredAction;
  readonly text: ActionText | null;
}

function inferAction(key: string, samples: readonly Sample[], context: ActionContext): ActionResult {
  const { split: splitOptions } = context.options;
  const excluded: Partial<Record<Exclusion, number>> = {};
  const eligible = samples.filter((sample) => {
    const why = exclusionOf(sample, context.options);
    if (why !== null) excluded[why] = (excluded[why] ?? 0) + 1;
    return why === null;
  });
  const parts = split(eligible, splitOptions);
  const base = { key, requests: samples.length, excluded, parts, misfits: 0, fields: [] };
  const problem = problemOf(key, { eligible, excluded, parts, context });
  if (problem !== null) return { action: { ...base, problem }, text: null };
  return learnAction(base, context);
}

interface EligibleRequests {
  readonly eligible: readonly Sample[];
  readonly excluded: InferredAction['excluded'];
  readonly parts: Split;
  readonly context: ActionContext;
}

function problemOf(key: string, { eligible, excluded, parts, context }: EligibleRequests): string | null {
  const isDeclared = context.options.existing?.set.actions.has(key) === true;
  if (eligible.length === 0) return noneText(excluded);
  if (parts.learned.length < valuesMin) return tooFewText(parts);
  return isDeclared || isDeclarable(key) ? null : 'no action can be declared under this key';
}

function noneText({ denied = 0, ...others }: InferredAction['excluded']): string {
  if (denied > 0) return 'its requests are denied, so they are not learned from (--allow-denied does)';
  const [why] = Object.keys(others);
  return why === 'other_shape'
    ? 'its requests do not fit the declared payload'
    : 'its requests were not granted without people';
}

function tooFewText({ learned, heldOut }: Split): string {
  const bound = Math.ceil(shareAtMost(0, heldOut.length) * 1_000) / 10;
  const some = `${learned.length} to learn from, of at least ${valuesMin}`;
  return `too few requests (${some}); with ${heldOut.length} held out, the bound would be ${bound} %`;
}

type ActionBase = Omit<InferredAction, 'problem'>;

function learnAction(base: ActionBase, context: ActionContext): ActionResult {
  const { key, parts } = base;
  const { existing, isDeniedLearned } = context.options;
  const known = existing?.set.actions.get(key)?.shape ?? null;
  const declaration =
    known === null
      ? declarationOf(
          key,
          parts.learned.map(({ facts }) => facts.payload),
        )
      : null;
  const shape = known ?? shapeOf(key, declaration!);
  if (shape === null) return { action: { ...base, problem: 'its payloads cannot be declared' }, text: null };
  const opened = withoutSecretTypes(shape);
  const fitting = parts.learned.filter(({ facts }) => checkPayload(opened, facts.payload).length === 0);
  const misfits = parts.learned.length - fitting.length;
  if (fitting.length < valuesMin) {
    const problem = `the payloads differ too much: ${fitting.length} of ${parts.learned.length} have one shape`;
    return { action: { ...base, misfits, problem }, text: null };
  }
  const learned = learnRequests(key, { shape, fitting }, context);
  const isAllowing = known === null || isDeniedLearned;
  const text: ActionText = {
    key,
    policy: uniqueName(`inferred_${snakeCase(key)}`, context.taken),
    declaration,
    allow: isAllowing ? { condition: learned.agents?.('agent.name') ?? null, silence: null } : null,
    guards: [
      ...(isAllowing || learned.agents === null ? [] : [agentGuard(learned.agents, fitting.length)]),
      ...uniquelyNamed(learned.guards),
    ],
    fields: learned.fields,
    basis: basisOf(fitting, parts.learned.length),
  };
  return { action: { ...base, misfits, fields: learned.fields, problem: null }, text };
}

/** The shape that a declaration means; null when it does not compile. */
function shapeOf(key: string, declaration: string): Shape | null {
  const { set } = findErrors({
    files: [{ path: 'declaration.policy', text: `${declaration}\n` }],
    readListFile: () => ({ code: 'list-file-missing', message: 'there is none' }),
  });
  return set?.actions.get(key)?.shape ?? null;
}

interface Learned {
  /** The test of the agent's name; null if it does not restrict. */
  readonly agents: Test | null;
  readonly guards: readonly Guard[];
  readonly fields: readonly FieldLesson[];
}

function learnRequests(
  key: string,
  { shape, fitting }: { readonly shape: Shape; readonly fitting: readonly Sample[] },
  { lists }: ActionContext,
): Learned {
  const base = snakeCase(key);
  const payloads = fitting.map(({ facts }) => resolveRecord(shape, facts.payload));
  const lessons = guardsOfPayloads(shape, payloads, (place) =>
    lists.membershipOf(`${base}_${snakeCase(place.replace(/^payload\./, ''))}`),
  );
  const names = fitting.flatMap(({ facts }) => facts.agent.name ?? []);
  const { seen, basis } = learn(agentName, names, lists.membershipOf('known_agents'));
  const agents = names.length === fitting.length ? seen : null;
  const known = names.length === fitting.length ? basis : 'not always known';
  return {
    agents,
    guards: lessons.guards,
    fields: [{ field: 'agent.name', basis: known, isRestricted: agents !== null }, ...lessons.fields],
  };
}

const agentName = {
  type: { kind: 'text', of: 'string', values: null, patterns: [], length: { low: null, high: null } },
  isNullable: false,
  isSecret: false,
  isSigned: false,
} as const;

function agentGuard(test: Test, total: number): Guard {
  return {
    name: 'agent_unseen',
    effect: 'deny',
    clause: `unless ${test('agent.name')}`,
    reason: reasonText(`None of ${total} recorded requests is of this agent`),
    basis: `The agents of ${total} of ${total}.`,
  };
}

function uniquelyNamed(guards: readonly Guard[]): readonly Guard[] {
  const taken = new Set<string>(['seen', 'agent_unseen']);
  return guards.map((guard) => ({ ...guard, name: uniqueName(guard.name, taken) }));
}

function basisOf(fitting: readonly Sample[], total: number): string {
  const times = fitting.map(({ facts }) => facts.nowMs).filter((ms) => !Number.isNaN(ms));
  const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const [from, until] = [minOf(times), maxOf(times)];
  const period = until > from ? `, ${dateOf(from)} to ${dateOf(until)}` : '';
  return `Rests on ${fitting.length} of ${total} requests${period}.`;
}

function minOf(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}

function maxOf(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
}
