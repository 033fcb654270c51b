// Finds what a decision missed narrowly: the rules of which only a single part was not true, and the unknown
// facts, each with the reason.

import { pathText } from '../../language/model/describe.ts';
import type { Expression, FieldRead } from '../../language/model/expression.ts';
import type { Effect, PolicySet } from '../../language/model/policy.ts';
import { type Facts, factAt } from '../../language/model/request.ts';
import { agentSigner, isVouched, signersOf } from '../../language/model/signers.ts';
import { unknown } from '../../language/model/value.ts';
import { judge } from '../../language/spec/authorize.ts';
import { evaluateCondition } from '../../language/spec/evaluate.ts';
import { readField } from '../../language/spec/read-path.ts';
import { compare, formatDecimal } from '../../language/value/decimal.ts';
import { parseIp } from '../../language/value/ip.ts';
import { type Atom, atomsOf, atomTruth } from './atoms.ts';
import { expressionText } from './change-wording.ts';

export interface NearRule {
  /** The id of the rule. */
  readonly rule: string;
  readonly effect: Effect;
  /** The part of the rule's condition that is not true, as the language writes it. */
  readonly missing: string;
  readonly isUnknown: boolean;
}

/**
 * Enforced rules of which all parts but one hold, `allow` rules first. Guards with a single part are left
 * out, since they are near every request. The payload must have the declared shape.
 */
export function nearRules(set: PolicySet, facts: Facts): readonly NearRule[] {
  const { judged, scope } = judge(set, facts, (rule) => !rule.isShadow);
  const near = judged.flatMap(({ rule: { id, effect, condition } }): readonly NearRule[] => {
    const conjuncts = conjunctsOf(set, condition);
    const failing = conjuncts
      .map((part) => ({ part, truth: evaluateCondition(part, scope) }))
      .filter(({ truth }) => truth !== true);
    const [one] = failing;
    if (one === undefined || failing.length > 1) return [];
    if (effect !== 'allow' && conjuncts.length === 1) return [];
    const missing = expressionText(set, one.part);
    return [{ rule: id, effect, missing, isUnknown: one.truth === unknown }];
  });
  return near.toSorted((a, b) => Number(a.effect !== 'allow') - Number(b.effect !== 'allow'));
}

export interface UnknownFact {
  readonly name: string;
  readonly why: string;
}

/**
 * The facts that left conditions of enforced rules unknown, in rule order. An absent field is not among them,
 * since its absence is known. The payload must have the declared shape.
 */
export function unknownFacts(set: PolicySet, facts: Facts): readonly UnknownFact[] {
  const atoms = atomsOf(set, facts.action, []).filter((atom) => atomTruth(atom, set, facts) === unknown);
  const unknowns = new Map<string, string>();
  for (const atom of atoms) {
    const causes = causesOf(atom, facts);
    if (causes.length === 0 && readsAbsent(atom, set, facts)) continue;
    const all = causes.length > 0 ? causes : [{ name: atom.text, why: noAnswer }];
    for (const { name, why } of all) unknowns.set(name, why);
  }
  return [...unknowns].map(([name, why]) => ({ name, why }));
}

function readsAbsent({ parts }: Atom, set: PolicySet, facts: Facts): boolean {
  const scope = { set, facts, variables: new Map() };
  return parts.some(
    (part) => part.kind === 'field' && part.root === 'payload' && readField(part, scope) === undefined,
  );
}

const noAnswer = 'has no exact answer: it divides by zero, overflows or brings two currencies together';

function conjunctsOf(set: PolicySet, condition: Expression): readonly Expression[] {
  if (condition.kind === 'and') return condition.operands.flatMap((operand) => conjunctsOf(set, operand));
  return [condition];
}

function causesOf({ keys, parts }: Atom, facts: Facts): readonly UnknownFact[] {
  const unsigned = parts.flatMap((part) =>
    part.kind === 'field' && !isVouched(part, facts.request)
      ? [{ name: pathText(part.root, part.steps), why: whyUnvouched(part) }]
      : [],
  );
  return [
    ...unsigned,
    ...[...keys].flatMap((name) => {
      const why = whyUnknown(name, facts);
      return why === null ? [] : [{ name: name.replace(/^meters\./, ''), why }];
    }),
  ];
}

function whyUnvouched(read: FieldRead): string {
  const points = signersOf(read).filter((signer) => signer !== agentSigner);
  if (points.length === 0) return 'the request carries no signature';
  return `the request does not come by the enforcement point \`${points[0]}\``;
}

function whyUnknown(key: string, { agent, request, meters }: Facts): string | null {
  const [root, name = ''] = key.split('.');
  if (root === 'agent') return Object.hasOwn(agent, name) ? null : 'the registry has no such attribute';
  if (root === 'meters') {
    const reading = Object.hasOwn(meters, name) ? meters[name] : undefined;
    if (reading === undefined) return 'there is no reading of this meter';
    if (compare(reading.low, reading.high) === 0) return null;
    return `requests are pending: between ${formatDecimal(reading.low)} and ${formatDecimal(reading.high)}`;
  }
  if (root !== 'request') return null;
  if (key === 'request.ip' && request.ip !== undefined && parseIp(request.ip) === null)
    return 'it is no IP address';
  if (factAt({ agent, request, meters }, key) !== undefined) return null;
  return name === 'user' ? 'no verified token names the person behind the agent' : 'the host does not say';
}
