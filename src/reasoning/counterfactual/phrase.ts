// Describes a changed place in the words of the conditions: the range around a number, the values that have names, or
// otherwise each condition that the change turned.

import { type Decision, type Outcome, outcomes } from '../../language/model/decision.ts';
import { quoted } from '../../language/model/describe.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { booleanType } from '../../language/model/type.ts';
import { unknown } from '../../language/model/value.ts';
import { authorize } from '../../language/spec/authorize.ts';
import type { SpecTruth } from '../../language/spec/truth.ts';
import { fromNumber, toNumber } from '../../language/value/decimal.ts';
import { formatTimestamp } from '../../language/value/time.ts';
import { type Atom, atomTruth, isAtom, reads } from './atoms.ts';
import { negatedText } from './change-wording.ts';
import type { Candidate, ChangeLocation } from './locations.ts';
import { rangeText } from './scale.ts';
import type { Search } from './search.ts';

export interface Phrase {
  /** The conditions that describe the change; at least one. */
  readonly conditions: readonly string[];
  /** For an ordered value, the share of the value that changes, from 0 to below 1; for any other value, 1. */
  readonly distance: number;
}

export interface Instance {
  readonly candidate: Candidate;
  readonly facts: Facts;
  readonly decision: Decision;
}

const examplesMax = 3;
const allTries = 1;

/** The phrase for instances of one place that have the same decision. Throws if there is no instance. */
export function createPhrase(
  search: Search,
  location: ChangeLocation,
  instances: readonly Instance[],
): Phrase {
  const [first] = instances;
  if (first === undefined) throw new Error('the phrase has no instance');
  if (location.subject === 'people') return plainPhrase(location.name);
  const ranged = scalePhrase(search, location, first);
  if (ranged !== null) return ranged;
  const names = [...new Set(instances.flatMap(({ candidate }) => candidate.named ?? []))];
  if (names.length > 0) return plainPhrase(namesText(location.name, names));
  const { facts } = first;
  const turned = neededAtoms(search, location, first);
  if (turned.length === 0) return plainPhrase(valueText(location, first));
  const holding = turned.map((atom) => holdingText(search, atom, facts));
  const from =
    location.subject === 'time' ? ` (from ${formatTimestamp(fromNumber(facts.nowMs / 1_000))})` : '';
  const conditions = turned.map(
    (atom, index) =>
      `${holding[index]}${examplesText(search, atom, instances)}${index === turned.length - 1 ? from : ''}`,
  );
  // If a condition is the opposite of another, the two read alike once one of them has turned.
  return { conditions: [...new Set(conditions)], distance: 1 };
}

/** A key that is equal for instances of one place and one decision that one phrase describes. */
export function phraseKey(search: Search, location: ChangeLocation, instance: Instance): string {
  const { at, named } = instance.candidate;
  if (at !== null || named !== null || location.subject === 'people') return location.name;
  const turned = neededAtoms(search, location, instance);
  return turned.map((atom) => holdingText(search, atom, instance.facts)).join(' and ');
}

function neededAtoms(
  search: Search,
  location: ChangeLocation,
  { facts, decision }: Instance,
): readonly Atom[] {
  return neededTurns(search, turnedAtoms(search, location, facts), { facts, outcome: decision.outcome });
}

function plainPhrase(text: string): Phrase {
  return { conditions: [text], distance: 1 };
}

function scalePhrase(
  search: Search,
  { scale }: ChangeLocation,
  { candidate: { at }, facts, decision }: Instance,
): Phrase | null {
  if (scale === null || at === null) return null;
  const isAsGood = (other: Decision): boolean =>
    (outcomes.indexOf(other.outcome) - outcomes.indexOf(decision.outcome)) * search.direction >= 0;
  const range = rangeText(scale, at, {
    facts,
    isGood(value) {
      const other = search.decide(scale.put(facts, value), allTries);
      return other === null ? null : isAsGood(other);
    },
  });
  if (range === null) return null;
  // When no tries remain, the ends of the range are unknown.
  const text = search.isSpent() ? `${scale.name} == ${scale.show(facts, at)}` : range;
  const current = scale.current === null ? null : toNumber(scale.current);
  const way = current === null ? 1 : Math.abs(toNumber(at) - current) / Math.max(1, Math.abs(current));
  return { conditions: [text], distance: way / (1 + way) };
}

function namesText(name: string, names: readonly string[]): string {
  return names.length === 1 ? `${name} == ${names[0]}` : `${name} in [${names.join(', ')}]`;
}

/** The conditions on the place whose truth changed and is known. */
function turnedAtoms(
  { set, facts, atoms }: Search,
  { key }: ChangeLocation,
  changed: Facts,
): readonly Atom[] {
  return atoms
    .filter((atom) => reads(atom, key))
    .filter((atom) => {
      const truth = atomTruth(atom, set, changed);
      return typeof truth === 'boolean' && truth !== atomTruth(atom, set, facts);
    });
}

/** The condition that holds after the change: the atom itself, or its opposite. */
function holdingText({ set, textOf }: Search, atom: Atom, changed: Facts): string {
  return atomTruth(atom, set, changed) === true ? textOf(atom.expression) : negatedText(set, atom.expression);
}

/**
 * Examples in parentheses: the tried entries of the list that the condition names. Empty if there are none.
 */
function examplesText({ set }: Search, atom: Atom, instances: readonly Instance[]): string {
  const { expression } = atom;
  if (expression.kind !== 'in-list') return '';
  const entries = set.lists.get(expression.list)?.entries ?? [];
  const tried = instances
    .filter(({ facts }) => atomTruth(atom, set, facts) === true)
    .flatMap(({ candidate: { entry } }) =>
      entry !== null && entries.includes(entry) ? [quoted(entry)] : [],
    );
  const examples = [...new Set(tried)];
  if (examples.length === 0) return '';
  const more = entries.length > Math.min(examples.length, examplesMax) ? ', ...' : '';
  return ` (${examples.slice(0, examplesMax).join(', ')}${more})`;
}

/** A phrase for a change that no single condition names, such as a sum that became unknown. */
function valueText({ name }: ChangeLocation, { candidate }: Instance): string {
  return candidate.entry === null ? `${name} is another` : `${name} == ${quoted(candidate.entry)}`;
}

// Finds which of the conditions that a change turned are needed for its result. For example, a vendor that
// joins one list may also leave another list that makes no difference. The same rules are decided with each
// condition replaced by its truth.

/** A smallest set of turned atoms that leads to the outcome while all other atoms keep their truth. */
function neededTurns(
  search: Search,
  turned: readonly Atom[],
  change: { readonly facts: Facts; readonly outcome: Outcome },
): readonly Atom[] {
  if (turned.length < 2) return turned;
  const { set, facts: before, atoms, textOf } = search;
  const truths = new Map<string, SpecTruth>(
    atoms.map((atom) => [atom.text, atomTruth(atom, set, change.facts)]),
  );
  return turned.filter((atom) => {
    const needed = truths.get(atom.text) ?? unknown;
    truths.set(atom.text, atomTruth(atom, set, before));
    const assumed = withTruths(set, change.facts.action, (part) => truths.get(textOf(part)) ?? unknown);
    if (authorize(assumed, change.facts).outcome === change.outcome) return false;
    truths.set(atom.text, needed);
    return true;
  });
}

/** The enforced rules of the action, each atom replaced by its truth. */
function withTruths(set: PolicySet, action: string, truthOfAtom: (atom: Expression) => SpecTruth): PolicySet {
  const policies = set.policies
    .filter((policy) => policy.actions.includes(action))
    .map((policy) => ({
      ...policy,
      rules: policy.rules
        .filter((rule) => !rule.isShadow)
        .map((rule) => ({ ...rule, reason: null, condition: assume(set, rule.condition, truthOfAtom) })),
    }));
  return { ...set, policies };
}

function assume(
  set: PolicySet,
  condition: Expression,
  truthOfAtom: (atom: Expression) => SpecTruth,
): Expression {
  const inner = (operand: Expression): Expression => assume(set, operand, truthOfAtom);
  switch (condition.kind) {
    case 'not':
      return { ...condition, operand: inner(condition.operand) };
    case 'and':
    case 'or':
      return { ...condition, operands: condition.operands.map(inner) };
    case 'let': {
      const declared = set.lets.get(condition.id);
      return declared === undefined ? condition : inner(declared.expression);
    }
    default:
      return isAtom(set, condition) ? constant(condition, truthOfAtom(condition)) : condition;
  }
}

/** A condition with a fixed truth. Unknown is the reading of a meter that no policy declares. */
function constant({ span }: Expression, truth: SpecTruth): Expression {
  const node = { type: booleanType, span };
  return truth === unknown
    ? { ...node, kind: 'meter', meter: '' }
    : { ...node, kind: 'literal', value: truth };
}
