// Finds the smallest changes of a request that change its decision: those that make it milder or, for ALLOW, those that
// end it. The search changes one place first, then two. INVARIANT: the definition has decided each change that is
// returned, on a payload of the declared shape.

import { whomText } from '../../language/model/approvers.ts';
import {
  type Decision,
  isRefusedByGate,
  type Outcome,
  outcomes,
  type Requirements,
} from '../../language/model/decision.ts';
import type { PolicySet, Rule } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { authorize } from '../../language/spec/authorize.ts';
import { toNumber } from '../../language/value/decimal.ts';
import { atomTruth, isBelow, reads } from './atoms.ts';
import { type Candidate, type ChangeLocation, type ChangeSubject, placesOf } from './locations.ts';
import { createPhrase, type Phrase, phraseKey } from './phrase.ts';
import { createSearch, type Search } from './search.ts';

export interface SmallestChange {
  /** The outcome after the change. */
  readonly outcome: Outcome;
  /** The deciding rule after the change. */
  readonly by: string;
  /** One line, such as `ALLOW if payload.amount <= 1000 USD`. It never contains values of secret fields. */
  readonly text: string;
  /** The conditions of the change: one part for each place, at most two. */
  readonly parts: readonly ChangePart[];
  /** An instance of the change, as it was decided. It contains the payload with its secrets. */
  readonly facts: Facts;
}

export interface ChangePart {
  /** What the part changes; the agent controls only `payload`. */
  readonly of: ChangeSubject;
  readonly text: string;
}

export interface ChangeOptions {
  /** The compiled function; the definition confirms each change that is returned. */
  readonly decide: (facts: Facts) => Decision;
  /** How many decisions may be tried. */
  readonly triesMax?: number;
  readonly changesMax?: number;
}

const triesMaxDefault = 2_000;
const changesMaxDefault = 6;
/** How many changes are kept for one place and one outcome. */
const perPlaceMax = 3;
const pairRepresentativesMax = 14;
const pairsFoundMax = 8;

/**
 * The smallest changes, the most useful first, always in the same order. Empty for a request that the gate
 * refuses: its reason names what to correct.
 */
export function smallestChange(
  set: PolicySet,
  facts: Facts,
  options: ChangeOptions,
): readonly SmallestChange[] {
  const base = options.decide(facts);
  if (isRefusedByGate(base)) return [];
  const search = createSearch(set, {
    facts,
    base,
    decide: options.decide,
    triesMax: options.triesMax ?? triesMaxDefault,
  });
  const tried = [...peoplePlaces(set, base), ...placesOf(search)].map((location) =>
    tryPlace(search, location),
  );
  const singles = tried.flatMap((tries) => singleChanges(search, tries));
  const changes = [...singles, ...pairChanges(search, tried)];
  const ranked = changes.toSorted((a, b) => compareChanges(search, a, b));
  const changesMax = options.changesMax ?? changesMaxDefault;
  const confirmed = new Map<string, SmallestChange>();
  for (const { change } of ranked) {
    if (confirmed.size >= changesMax) break;
    if (!confirmed.has(change.text) && isConfirmed(set, change)) confirmed.set(change.text, change);
  }
  return [...confirmed.values()];
}

// The share of all tries that each stage may have spent when it ends.
const singleShare = 0.5;
const pairShare = 0.8;

interface ChangeTrial {
  readonly candidate: Candidate;
  readonly facts: Facts;
  readonly decision: Decision;
}

interface LocationTrial {
  readonly location: ChangeLocation;
  readonly tries: readonly ChangeTrial[];
}

/** One try for each combination of truths of the conditions, and for each value that has a name. */
function tryPlace(search: Search, location: ChangeLocation): LocationTrial {
  const atoms = search.atoms.filter((atom) => reads(atom, location.key));
  const signature = (facts: Facts): string =>
    atoms.map((atom) => String(atomTruth(atom, search.set, facts))).join();
  const seen = new Set(location.subject === 'people' ? [] : [signature(search.facts)]);
  const tries = location.candidates.flatMap((candidate): ChangeTrial[] => {
    const facts = candidate.apply(search.facts);
    // Conditions are evaluated only on payloads of the declared shape.
    if (location.subject === 'payload' && !search.isWellShaped(facts)) return [];
    const factsKey = location.subject === 'people' ? null : signature(facts);
    const isRepeated =
      factsKey !== null && seen.has(factsKey) && candidate.named === null && candidate.entry === null;
    const decision = isRepeated ? null : search.decide(facts, singleShare);
    if (decision === null) return [];
    if (factsKey !== null) seen.add(factsKey);
    return [{ candidate, facts, decision }];
  });
  return { location, tries };
}

/** A change with the keys that rank it. */
interface RankedChange {
  readonly change: SmallestChange;
  /** The distance of the change as a share of the current value; 1 if the place has no scale. */
  readonly distance: number;
  readonly conditions: number;
  readonly count: number;
}

function singleChanges(search: Search, { location, tries }: LocationTrial): readonly RankedChange[] {
  const successful = tries.filter(({ decision }) => isWanted(search, decision));
  return outcomes.flatMap((outcome) => {
    const towards = successful.filter(({ decision }) => decision.outcome === outcome);
    const phrases =
      location.scale === null
        ? plainPhrases(search, location, towards)
        : nearestPhrases(search, location, towards);
    return phrases
      .toSorted((a, b) => a.phrase.conditions.length - b.phrase.conditions.length)
      .slice(0, perPlaceMax)
      .map(({ phrase, instance }) => rankedChange([{ location, phrase }], instance));
  });
}

interface ChangePhrase {
  readonly phrase: Phrase;
  readonly instance: ChangeTrial;
}

/** The nearest change on each side of the current value, and the changes that have no point on the scale. */
function nearestPhrases(
  search: Search,
  location: ChangeLocation,
  tries: readonly ChangeTrial[],
): readonly ChangePhrase[] {
  const current = location.scale?.current ?? null;
  const isAbove = ({ candidate: { at } }: ChangeTrial): boolean =>
    at !== null && current !== null && toNumber(at) > toNumber(current);
  const onScale = tries.filter(({ candidate }) => candidate.at !== null);
  const nearest = [onScale.find((one) => !isAbove(one)), onScale.find(isAbove)].filter(
    (one) => one !== undefined,
  );
  const others = tries.filter(({ candidate }) => candidate.at === null);
  return [...nearest, ...others].map((instance) => ({
    phrase: createPhrase(search, location, [instance]),
    instance,
  }));
}

/** Merges the tries that one phrase describes, and the values that have names. */
function plainPhrases(
  search: Search,
  location: ChangeLocation,
  tries: readonly ChangeTrial[],
): readonly ChangePhrase[] {
  const groups = new Map<string, ChangeTrial[]>();
  for (const one of tries) {
    const key = phraseKey(search, location, one);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()].map((group) => ({
    phrase: createPhrase(search, location, group),
    instance: group[0] as ChangeTrial,
  }));
}

/**
 * Changes of two places at once, if no change of one place reaches the mildest outcome. Approvals and
 * step-ups are no part of them.
 */
function pairChanges(search: Search, tried: readonly LocationTrial[]): readonly RankedChange[] {
  const ownTried = tried.filter(({ location }) => location.subject !== 'people');
  const best = Math.min(
    ...ownTried.flatMap(({ tries }) => tries.map(({ decision }) => rankOf(decision.outcome))),
  );
  if (search.direction === 1 || best === 0) return [];
  const groups = new Map<string, TryPair[]>();
  for (const [a, b] of pairsOf(ownTried)) {
    if (groups.size >= pairsFoundMax) break;
    const facts = b.one.candidate.apply(a.one.facts);
    const decision = search.decide(facts, pairShare);
    if (decision === null || rankOf(decision.outcome) >= Math.min(best, rankOf(search.base.outcome)))
      continue;
    const pair = [a, b].map(({ location, one }) => ({ location, one: { ...one, facts, decision } }));
    const keys = pair.map(({ location: place, one }) => phraseKey(search, place, one));
    const key = [decision.outcome, ...keys].join(' and ');
    groups.set(key, [...(groups.get(key) ?? []), pair]);
  }
  return [...groups.values()].map((group) => rankedPair(search, group));
}

/** Two places with their tries, and the facts and decision of both changes together. */
type TryPair = readonly PlacedTry[];

/** The ranked change for pairs that one phrase describes. */
function rankedPair(search: Search, group: readonly TryPair[]): RankedChange {
  const [first] = group as readonly [TryPair];
  const parts = first.map(({ location }, index) => ({
    location,
    phrase: createPhrase(
      search,
      location,
      group.flatMap((pair) => pair[index]?.one ?? []),
    ),
  }));
  return rankedChange(parts, (first[0] as PlacedTry).one);
}

interface PlacedTry {
  readonly location: ChangeLocation;
  readonly one: ChangeTrial;
}

/** The first candidate of every place, then the second of every place, and so on. */
function pairsOf(tried: readonly LocationTrial[]): readonly (readonly [PlacedTry, PlacedTry])[] {
  const pairs = tried.flatMap((first, index) =>
    tried
      .slice(index + 1)
      .filter(({ location }) => !areNested(location.key, first.location.key))
      .flatMap((second) =>
        first.tries.slice(0, pairRepresentativesMax).flatMap((a, i) =>
          second.tries.slice(0, pairRepresentativesMax).map((b, j) => ({
            order: i + j,
            pair: [
              { location: first.location, one: a },
              { location: second.location, one: b },
            ] as const,
          })),
        ),
      ),
  );
  return pairs.toSorted((a, b) => a.order - b.order).map(({ pair }) => pair);
}

function areNested(a: string, b: string): boolean {
  return a === b || isBelow(a, b) || isBelow(b, a);
}

interface PhrasedPart {
  readonly location: ChangeLocation;
  readonly phrase: Phrase;
}

function rankedChange(phrased: readonly PhrasedPart[], { facts, decision }: ChangeTrial): RankedChange {
  const { outcome, by } = decision;
  const texts = new Set<string>();
  const parts = phrased.flatMap(({ location, phrase }): ChangePart[] => {
    // A condition that reads both places of a pair appears once.
    const newConditions = phrase.conditions.filter((condition) => !texts.has(condition));
    for (const condition of newConditions) texts.add(condition);
    return newConditions.length === 0 ? [] : [{ of: location.subject, text: newConditions.join(' and ') }];
  });
  const verb = parts.every(({ of }) => of === 'people') ? 'once' : 'if';
  const text = `${outcome} ${verb} ${parts.map((part) => part.text).join(' and ')}`;
  return {
    change: { outcome, by, text, parts, facts },
    distance: Math.max(...phrased.map(({ phrase }) => phrase.distance)),
    conditions: texts.size,
    count: phrased.length,
  };
}

const subjects: readonly ChangeSubject[] = ['payload', 'people', 'time', 'meters', 'request', 'agent'];

function compareChanges({ direction }: Search, a: RankedChange, b: RankedChange): number {
  const outcome = rankOf(a.change.outcome) - rankOf(b.change.outcome);
  const subject = ({ change }: RankedChange): number =>
    Math.max(...change.parts.map(({ of }) => subjects.indexOf(of)));
  const count = a.count - b.count;
  // The nearest boundary ends an ALLOW, whatever lies beyond it.
  const near = a.distance - b.distance;
  const from = subject(a) - subject(b);
  const kind = direction === 1 ? from || near || outcome : outcome || from;
  return count || kind || a.conditions - b.conditions || near;
}

function isWanted({ base, direction }: Search, { outcome }: Decision): boolean {
  return (rankOf(outcome) - rankOf(base.outcome)) * direction > 0;
}

function rankOf(outcome: Outcome): number {
  return outcomes.indexOf(outcome);
}

function isConfirmed(set: PolicySet, { facts, outcome, by }: SmallestChange): boolean {
  const decision = authorize(set, facts);
  return decision.outcome === outcome && decision.by === by;
}

/** One place for each requirement that people can satisfy; none if the decision requires nobody. */
function peoplePlaces(set: PolicySet, decision: Decision): readonly ChangeLocation[] {
  const { requires } = decision;
  if (requires === null) return [];
  const rules = set.policies
    .flatMap((policy) => policy.rules)
    .filter(({ id }) => decision.rules.includes(id));
  const approved = rules.filter((rule) => isApproved(rule, requires)).map(({ id }) => id);
  const steppedUp = rules.filter(({ requirement }) => requirement?.kind === 'reauth').map(({ id }) => id);
  const approval = requires.approvals
    .map(({ needs, ...whom }) => `${whomText(whom)} (${people(needs)})`)
    .join(' and ');
  const isOnePerson = requires.approvals.length === 1 && requires.approvals[0]?.needs === 1;
  const verb = isOnePerson ? 'approves' : 'approve';
  const approve = approval === '' ? [] : [{ name: `${approval} ${verb}`, escalate: approved, reauth: [] }];
  const stepUp =
    requires.reauth === null
      ? []
      : [{ name: "the agent's control owner steps up", escalate: [], reauth: steppedUp }];
  const both = [...approve, ...stepUp];
  const together = {
    name: both.map(({ name }) => name).join(' and '),
    escalate: both.flatMap(({ escalate }) => escalate),
    reauth: both.flatMap(({ reauth }) => reauth),
  };
  return (both.length > 1 ? [...both, together] : both).map(peoplePlace);
}

function people(needs: number): string {
  return needs === 1 ? '1 person' : `${needs} people`;
}

/**
 * Whether the required approvals satisfy a rule: it asks only their groups, and no more people than they
 * need.
 */
function isApproved({ requirement }: Rule, { approvals }: Requirements): boolean {
  return (
    requirement?.kind === 'approval' &&
    requirement.groups.every((approverGroup) =>
      approvals.some(({ group, needs }) => group === approverGroup && requirement.needs <= needs),
    )
  );
}

interface RequirementChange {
  readonly name: string;
  readonly escalate: readonly string[];
  readonly reauth: readonly string[];
}

function peoplePlace({ name, escalate, reauth }: RequirementChange): ChangeLocation {
  const apply = (facts: Facts): Facts => ({
    ...facts,
    satisfied: {
      escalate: [...facts.satisfied.escalate, ...escalate],
      reauth: [...facts.satisfied.reauth, ...reauth],
    },
  });
  const candidates = [{ apply, at: null, named: null, entry: null }];
  return { subject: 'people', key: 'satisfied', name, scale: null, candidates };
}
