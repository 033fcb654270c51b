// Chains of delegations over random sets: a delegated decision is never milder than that of the policies, and
// the fast path decides as the definition does, which is the set with one more guard for each link.

import { checkLink, type DeclaredActions } from '../../src/language/check/delegation.ts';
import { type EvaluatedGuards, underGuards } from '../../src/language/emit/delegated.ts';
import { type Decision, outcomes } from '../../src/language/model/decision.ts';
import { linkIndexOf, linksMax, type ResolvedLink } from '../../src/language/model/delegation.ts';
import type { Facts } from '../../src/language/model/request.ts';
import { authorize } from '../../src/language/spec/authorize.ts';
import { authorizeDelegated, withGuards } from '../../src/language/spec/delegation.ts';
import { createRandom, type RandomSource } from '../../src/language/value/random.ts';
import { type CompileResult, linkSet } from '../../src/pipeline.ts';
import { linkGuards } from '../../src/service/policies/link-guards.ts';
import { condition } from './conditions.ts';
import { compileSet, ruleIdsOf } from './differential.ts';
import type { Breach } from './monotone.ts';
import { conditionScope, type RandomSet, randomSet } from './policies.ts';
import { randomFacts } from './requests.ts';

export interface DelegationRun {
  /** Pairs of a chain and a request. */
  readonly compared: number;
  /** How many of them a guard of the chain refused that the policies alone would not have refused. */
  readonly stricter: number;
  /** How many decisions name a link as what decided. */
  readonly byLink: number;
  /** How many links have a condition, and how many chains have the greatest length. */
  readonly conditions: number;
  readonly longest: number;
  readonly breaches: readonly Breach[];
}

const patterns = ['*', 'area.*', '*.delete', 'other.*'];
const chainsPerSet = 10;
const requestsPerChain = 4;
/** One chain in this many is also compiled as a part of its set. */
const compiledEvery = 10;

/** Tries `chains` random chains; the seed alone determines them. */
export function delegationNeverLoosens(chains: number, seed: number): DelegationRun {
  const run = { compared: 0, stricter: 0, byLink: 0, conditions: 0, longest: 0, breaches: [] as Breach[] };
  for (let tried = 0, at = 0; tried < chains; at += 1) {
    const subject = createSubject(seed + at);
    for (let i = 0; i < chainsPerSet && tried < chains; i += 1, tried += 1) {
      const chain = randomChain(subject);
      run.conditions += chain.filter(({ when }) => when !== null).length;
      run.longest += Number(chain.length === linksMax);
      const guards = guardsOf(subject, chain);
      const whole = tried % compiledEvery === 0 ? linkSet(withGuards(subject.set, chain)) : null;
      for (let j = 0; j < requestsPerChain; j += 1) {
        const facts = randomFacts(subject.random, subject.generated, subject.ruleIds);
        const before = authorize(subject.set, facts);
        const defined = authorizeDelegated(subject.set, chain, facts);
        const problem =
          looserThan(before, defined) ??
          differsFrom(defined, decideFast(subject, guards, facts)) ??
          (whole === null ? null : differsFrom(defined, whole.decide(facts)));
        run.compared += 1;
        run.stricter += Number(defined.outcome !== before.outcome);
        run.byLink += Number(linkIndexOf(defined.by) >= 0);
        if (problem !== null)
          run.breaches.push({ seed: seed + at, problem, files: subject.generated.files, facts });
      }
    }
  }
  return run;
}

interface Subject {
  readonly random: RandomSource;
  readonly generated: RandomSet;
  readonly set: NonNullable<CompileResult['set']>;
  readonly engine: NonNullable<CompileResult['engine']>;
  readonly ruleIds: readonly string[];
  readonly declared: DeclaredActions;
}

function createSubject(seed: number): Subject {
  const random = createRandom(seed);
  const generated = randomSet(random);
  const { set, engine } = compileSet(generated);
  if (set === null || engine === null) throw new Error(`the set of seed ${seed} does not compile`);
  const declared = { keys: [...engine.actions()], shapeOf: engine.shapeOf };
  return { random, generated, set, engine, ruleIds: ruleIdsOf(set), declared };
}

function randomChain(subject: Subject): readonly ResolvedLink[] {
  return Array.from({ length: 1 + subject.random.below(linksMax) }, (_, at) =>
    randomLink(subject, `link-${at}`),
  );
}

/** A random link; one with names of the set in its condition is drawn again. */
function randomLink({ random, generated, declared }: Subject, name: string): ResolvedLink {
  const matching = [...patterns, ...declared.keys].filter(
    (one) => checkLink({ name, actions: [one], when: null }, declared).link !== null,
  );
  const actions = random.chance(0.5) ? ['*'] : [random.pick(matching)];
  const plain = checkLink({ name, actions, when: null }, declared).link!;
  const matched = generated.actions.filter(({ key }) => plain.actions.includes(key));
  for (let i = 0; i < 8 && random.chance(0.9); i += 1) {
    const when = condition(conditionScope({ random, actions: generated.actions, meters: [] }, matched), 1);
    const { link } = checkLink({ name, actions, when }, declared);
    if (link !== null) return link;
  }
  return plain;
}

/** Evaluates the guards of a chain, linked once for each action; null for an action that is not declared. */
type Guards = (facts: Facts) => EvaluatedGuards | null;

function guardsOf({ engine }: Subject, chain: readonly ResolvedLink[]): Guards {
  const names = chain.map(({ name }) => name);
  const linked = new Map<string, ReturnType<typeof linkGuards>>();
  return (facts) => {
    const shape = engine.shapeOf(facts.action);
    if (shape === null) return null;
    const guards = linked.get(facts.action) ?? linkGuards(chain, facts.action, shape);
    linked.set(facts.action, guards);
    return { names, trace: guards.decideTraced(facts).trace };
  };
}

function decideFast({ engine }: Subject, guards: Guards, facts: Facts): Decision {
  const traced = engine.decideTraced(facts);
  const evaluated = guards(facts);
  return evaluated === null ? traced.decision : underGuards(traced, evaluated).decision;
}

function looserThan(before: Decision, after: Decision): string | null {
  if (outcomes.indexOf(after.outcome) >= outcomes.indexOf(before.outcome)) return null;
  return `${before.outcome} became ${after.outcome} by a delegation`;
}

function differsFrom(defined: Decision, fast: Decision): string | null {
  for (const key of Object.keys(defined) as (keyof Decision)[]) {
    const [a, b] = [JSON.stringify(fast[key]), JSON.stringify(defined[key])];
    if (a !== b) return `${key}: the function says ${a}, the definition ${b}`;
  }
  return null;
}
