// What a set proves to be needless in it: rules that can do nothing and conditions that say nothing, for every request of
// every action that they speak of. From a set without errors to warnings, each with a request that shows it where one can.

import { applySilences } from '../../language/check/silences.ts';
import { alsoProved } from '../../language/diagnostic/check-codes.ts';
import { type Diagnostic, sortDiagnostics } from '../../language/diagnostic/diagnostic.ts';
import { isWithinSpan, type SourceText, type Span } from '../../language/diagnostic/span.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { PolicySet, Rule } from '../../language/model/policy.ts';
import type { PolicyFile } from '../../language/syntax/tree/tree.ts';
import { type ConstantTruth, smallestConstants } from './conditions.ts';
import { type ActionFindings, findingsOfAction, type ShownFinding } from './findings.ts';
import { constantWarning, ruleWarning } from './messages.ts';

/** A set that has been checked, with the trees and the texts that it comes from. */
export interface LintedSet {
  readonly set: PolicySet;
  readonly files: readonly PolicyFile[];
  readonly texts: readonly SourceText[];
  readonly diagnostics: readonly Diagnostic[];
  /** What comments took off. */
  readonly silenced: readonly Diagnostic[];
  /** Whether actions of many rules are looked at, too, however long it takes. */
  readonly isThorough?: boolean;
}

/** The diagnostics with what is proved beside them, less what comments take off; sorted by place. */
export function withLints({
  set,
  files,
  texts,
  diagnostics,
  silenced,
  isThorough = false,
}: LintedSet): readonly Diagnostic[] {
  const looked = isThorough ? new Set(set.actions.keys()) : actionsLookedAt(set);
  const found = lintSet({ set, files, looked }, [...diagnostics, ...silenced]);
  const off = silenced.filter(({ code }) => alsoProved.has(code));
  const isWhole = looked.size === set.actions.size;
  const applied = applySilences(files, texts, [...found, ...off], (code) => isWhole && alsoProved.has(code));
  // What is wrong with the silences themselves has been said.
  const isNew = ({ code }: Diagnostic): boolean => alsoProved.has(code) || code === 'silence-unused';
  return sortDiagnostics([...diagnostics, ...applied.diagnostics.filter(isNew)]);
}

interface Looked {
  readonly set: PolicySet;
  readonly files: readonly PolicyFile[];
  readonly looked: ReadonlySet<string>;
}

/** `known` are the warnings that there are: nothing is said twice of one place. */
function lintSet({ set, files, looked }: Looked, known: readonly Diagnostic[]): readonly Diagnostic[] {
  const byAction = new Map(
    [...set.actions.keys()].map((action) => [
      action,
      looked.has(action) ? findingsOfAction(set, action) : null,
    ]),
  );
  const said = known.filter(({ code }) => alsoProved.has(code));
  const constants = constantsOf(set, byAction).filter(({ span }) => !said.some((one) => isSaidOf(one, span)));
  const names = nameSpans(files);
  const nameOf = (rule: Rule): Span => names.get(keyOf(rule.span)) ?? rule.span;
  const saidBefore = [...said, ...constants];
  const rules = rulesOf(set, byAction).filter(
    ({ rule }) =>
      !saidBefore.some(({ span }) => isWithinSpan(span, rule.span) || isSame(span, rule.condition.span)),
  );
  return [...constants, ...rules.map((finding) => ruleWarning(finding, nameOf))];
}

/** Each rule is looked at beside all others of its action, so many rules are left alone. */
const rulesMax = 300;
const pairsMax = 300_000;

/** The actions of the fewest rules, as far as the pairs of their rules go. */
function actionsLookedAt({ actions, policies }: PolicySet): ReadonlySet<string> {
  const counts = new Map([...actions.keys()].map((action) => [action, 0]));
  for (const policy of policies)
    for (const action of policy.actions) counts.set(action, (counts.get(action) ?? 0) + policy.rules.length);
  let pairs = 0;
  const taken = [...counts]
    .toSorted(([, a], [, b]) => a - b)
    .filter(([, count]) => {
      pairs += count * count;
      return count <= rulesMax && pairs <= pairsMax;
    });
  return new Set(taken.map(([action]) => action));
}

/** Keys of the actions that have too many rules to be looked at in passing. */
export function actionsLeftOut(set: PolicySet): readonly string[] {
  const looked = actionsLookedAt(set);
  return [...set.actions.keys()].filter((action) => !looked.has(action)).toSorted();
}

type ByAction = ReadonlyMap<string, ActionFindings | null>;

/** A rule can do nothing where it can for none of its actions. */
function rulesOf({ policies }: PolicySet, byAction: ByAction): readonly ShownFinding[] {
  return policies.flatMap(({ actions, rules }) =>
    rules.flatMap((rule) => {
      const found = actions.map((action) => byAction.get(action)?.rules.get(rule) ?? null);
      return found.includes(null) ? [] : joined(found as readonly ShownFinding[], actions, policies);
    }),
  );
}

/** What is so for one action because the rule is never true there is so for the others' reason, too. */
function joined(
  found: readonly ShownFinding[],
  actions: readonly string[],
  policies: PolicySet['policies'],
): readonly ShownFinding[] {
  const kinds = new Set(found.map(({ kind }) => kind).filter((kind) => kind !== 'never-true'));
  const [kind = 'never-true'] = kinds;
  const [first] = found.toSorted((a, b) => Number(b.kind === kind) - Number(a.kind === kind));
  if (first === undefined || kinds.size > 1) return [];
  const by = [...new Set(found.flatMap((one) => one.by))];
  const isSame = kind !== 'rule-duplicated' || (by.length === 1 && hasActions(by[0]!, actions, policies));
  return [{ ...first, kind: isSame ? kind : 'rule-implied', by }];
}

function hasActions({ policy }: Rule, actions: readonly string[], policies: PolicySet['policies']): boolean {
  return policies.some(({ name, actions: own }) => name === policy && own.join() === actions.join());
}

/** Parts of conditions that are the same for every request of every action for which they are read. */
function constantsOf(set: PolicySet, byAction: ByAction): readonly Diagnostic[] {
  const constants = new Map<Expression, ConstantTruth | null>();
  for (const found of byAction.values()) {
    for (const [part, constant] of found?.constants ?? []) {
      const isOther = constants.has(part) && constants.get(part) !== constant;
      constants.set(part, isOther ? null : constant);
    }
  }
  const conditions = [
    ...set.policies.flatMap(({ rules }) => rules.map(({ condition }) => condition)),
    ...set.guarantees.flatMap(({ claims }) => claims.flatMap(({ when }) => when ?? [])),
  ];
  const smallest = conditions.flatMap((condition) => smallestConstants(condition, constants));
  const bySpan = new Map(smallest.map((part) => [keyOf(part.span), part]));
  return [...bySpan.values()].map((part) => constantWarning(constants.get(part)!, part.span));
}

/** Whether it says already of the place, or of a part or the whole of it, that it comes out alike. */
function isSaidOf({ span: said }: Diagnostic, span: Span): boolean {
  return isWithinSpan(said, span) || isWithinSpan(span, said);
}

function isSame(a: Span, b: Span): boolean {
  return isWithinSpan(a, b) && isWithinSpan(b, a);
}

function keyOf({ file, start, end }: Span): string {
  return `${file} ${start} ${end}`;
}

function nameSpans(files: readonly PolicyFile[]): ReadonlyMap<string, Span> {
  const rules = files.flatMap(({ declarations }) =>
    declarations.flatMap((one) => (one.kind === 'policy' ? one.rules : [])),
  );
  return new Map(rules.map(({ span, name }) => [keyOf(span), name.span]));
}
