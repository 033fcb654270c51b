// What a proposal is classified as agrees with every decision. Random pairs of small sets are judged; then every kind
// of request is decided by both sets, by the definition. A pair that is said to narrow, or to change nothing, lets nothing
// pass that was stopped, asks no fewer people, lets nobody decide by chat who could not, and keeps every guarantee.

import { judgeProposal } from '../../src/analysis/judge-proposal.ts';
import type { Classification } from '../../src/analysis/proposals/classify.ts';
import { createWorkspace } from '../../src/analysis/workspace.ts';
import { chatLimitsOf } from '../../src/language/model/approvers.ts';
import type { Decision, Outcome } from '../../src/language/model/decision.ts';
import type { GuaranteeClause, PolicySet } from '../../src/language/model/policy.ts';
import { type Facts, nothingSatisfied } from '../../src/language/model/request.ts';
import { authorize } from '../../src/language/spec/authorize.ts';
import {
  isClauseViolated,
  isRequestCovered,
  withClauseFacts,
} from '../../src/language/spec/guarantee-clause.ts';
import { createRandom, type RandomSource } from '../../src/language/value/random.ts';
import { checkSources, type PolicySources } from '../../src/pipeline.ts';
import { packTexts } from '../../src/service/policies/texts.ts';
import { mayDecideByChat } from '../../src/service/requests/approvals/chat-limit.ts';

export interface ProposalTally {
  readonly counts: Record<Classification | 'refused', number>;
  requests: number;
  /** Pairs after which some request may newly be decided by chat. */
  byChat: number;
  /** Violations of the law; must stay empty. */
  readonly breaches: string[];
  /** Pairs that are said to widen, although no request passes more easily. */
  readonly careful: string[];
}

const limits = [10, 20, 30, 40];
const vendors = ['"a"', '"b"', '"c"'];
const conditions = [
  ...limits.flatMap((limit) => [`payload.amount <= ${limit}`, `payload.amount > ${limit}`]),
  'payload.vendor in known',
  'payload.vendor not in known',
  'small',
  'payload.urgent',
  'payload.vendor == "a" and payload.amount <= 20',
];

/** The parts of a set, from which a pair is made by changing some. */
interface Parts {
  readonly known: readonly string[];
  readonly small: number;
  readonly rules: readonly string[];
  readonly guarantees: readonly string[];
  /** The highest risk at which finance and legal may decide by chat; null for never. */
  readonly chat: readonly (number | null)[];
}

function anyRule(random: RandomSource): string {
  const when = random.chance(0.85) ? `\n    when ${random.pick(conditions)}` : '';
  const because = '\n    because "x"';
  switch (random.below(8)) {
    case 0:
    case 1:
      return `allow NAME${random.pick(['', ' for 1h', ' for 2h'])}${when}${because}`;
    case 2:
      return `allow NAME after approval by ${random.pick(['finance', 'finance needs 2', 'legal'])} within 1h${when}${because}`;
    case 3:
      return `escalate NAME to ${random.pick(['finance', 'legal'])}${when}${because}`;
    case 4:
      return `reauth NAME within 5m${when}${because}`;
    case 5:
      return `risk NAME ${random.pick(['+20', '+40', '-10'])}${when}`;
    default:
      return `deny NAME${when}${because}`;
  }
}

function anyGuarantee(random: RandomSource): string {
  return random.pick([
    'never allow unapproved when payload.amount > 40',
    'never allow when payload.vendor not in known',
    'never allow unapproved when not small',
    'always deny when payload.vendor == "c"',
    'never deny when payload.vendor == "a"',
  ]);
}

function anyParts(random: RandomSource): Parts {
  const many = <T>(count: number, of: () => T): T[] => Array.from({ length: count }, of);
  return {
    known: vendors.filter(() => random.chance(0.6)),
    small: random.pick(limits),
    rules: many(1 + random.below(4), () => anyRule(random)),
    guarantees: many(random.below(3), () => anyGuarantee(random)),
    chat: random.chance(0.5) ? [null, null] : many(2, () => random.pick([null, 0, 20, 40, 100])),
  };
}

function changed(parts: Parts, random: RandomSource): Parts {
  const others = anyParts(random);
  const keep = <T>(items: readonly T[]): readonly T[] => items.filter(() => random.chance(0.7));
  if (random.chance(0.2)) return { ...parts, chat: others.chat };
  switch (random.below(8)) {
    case 0:
      return { ...parts, known: others.known };
    case 1:
      return { ...parts, small: others.small };
    case 2:
      return { ...parts, guarantees: random.chance(0.5) ? keep(parts.guarantees) : others.guarantees };
    case 3:
      return { ...parts, rules: keep(parts.rules) };
    case 4:
      return { ...parts, rules: [...keep(parts.rules), anyRule(random)] };
    default:
      return { ...parts, rules: [...parts.rules, anyRule(random)] };
  }
}

function textOf({ known, small, rules, guarantees, chat }: Parts): string {
  const named = rules.map((rule, at) => `  ${rule.replace('NAME', `r${at}`)}\n`);
  const claims = [...new Set(guarantees)].map(
    (claim, at) => `guarantee g${at} on pay.make {\n  ${claim}\n}\n`,
  );
  const [finance, legal] = chat.map((risk) => (risk === null ? '' : ` by chat up to risk ${risk}`));
  return `approvers finance "Finance"${finance}
approvers legal "Legal"${legal}
action pay.make {
  amount: integer 1..100
  vendor: string
  urgent: boolean
}
list known = [${known.length === 0 ? '"z"' : known.join(', ')}]
let small = payload.amount <= ${small}
policy p on pay.make {
${named.join('\n')}}
${claims.join('')}`;
}

/**
 * One request for each combination of values that some condition of some set distinguishes, without approvals and
 * with all of them.
 */
function everyRequest(sets: readonly PolicySet[]): readonly Facts[] {
  const amounts = limits.flatMap((limit) => [limit, limit + 1]);
  const payloads = [...amounts, 1].flatMap((amount) =>
    ['a', 'b', 'c', 'd'].flatMap((vendor) => [true, false].map((urgent) => ({ amount, vendor, urgent }))),
  );
  const ids = sets.flatMap(({ policies }) => policies.flatMap(({ rules }) => rules.map(({ id }) => id)));
  const met = { escalate: ids, reauth: ids };
  return payloads.flatMap((payload) =>
    [nothingSatisfied, met].map((satisfied) => ({
      action: 'pay.make',
      payload,
      agent: {},
      request: {},
      nowMs: Date.UTC(2030, 0, 1),
      meters: {},
      satisfied,
    })),
  );
}

function sourcesOf(text: string): PolicySources {
  return {
    files: [{ path: 'p.policy', text }],
    readListFile: () => ({ code: 'list-file-missing', message: 'none' }),
  };
}

const mildness: Readonly<Record<Outcome, number>> = { DENY: 0, REAUTH_REQUIRED: 1, ESCALATE: 2, ALLOW: 3 };

/** A decision, and whether people may give what it asks by chat. */
interface Decided extends Decision {
  readonly isByChat: boolean;
}

function decidedBy(set: PolicySet, facts: Facts): Decided {
  const decision = authorize(set, facts);
  const approvals = decision.requires?.approvals ?? [];
  const asked = [{ approvals, risk: decision.risk }];
  return { ...decision, isByChat: mayDecideByChat(asked, chatLimitsOf(set.approvers.values())) };
}

function isNewlyByChat(old: Decided, now: Decided): boolean {
  return (
    old.outcome === now.outcome && (old.requires?.approvals.length ?? 0) > 0 && now.isByChat && !old.isByChat
  );
}

/** Whether the new decision lets more pass than the old one, alone or with the same people asked. */
function isMilder(old: Decided, now: Decided): boolean {
  if (mildness[now.outcome] !== mildness[old.outcome]) return mildness[now.outcome] > mildness[old.outcome];
  if (now.outcome === 'ALLOW') return (now.validForSeconds ?? 0) > (old.validForSeconds ?? 0);
  const asked = ({ requires }: Decision) => new Map(requires?.approvals.map((one) => [one.group, one.needs]));
  const [before, after] = [asked(old), asked(now)];
  if (isNewlyByChat(old, now)) return true;
  return [...before].some(([group, needs]) => (after.get(group) ?? 0) < needs);
}

/** Judges pairs of sets; the seed alone decides which. */
export async function classificationsHold(pairs: number, seed: number): Promise<ProposalTally> {
  const random = createRandom(seed);
  const tally: ProposalTally = {
    counts: { 'no-change': 0, narrows: 0, 'widens-within-guarantees': 0, 'breaks-guarantee': 0, refused: 0 },
    requests: 0,
    byChat: 0,
    breaches: [],
    careful: [],
  };
  for (let pair = 0; pair < pairs; pair += 1) {
    const parts = anyParts(random);
    const texts = [textOf(parts), textOf(changed(parts, random))] as const;
    await holdOne(tally, texts);
  }
  return tally;
}

async function holdOne(tally: ProposalTally, [old, now]: readonly [string, string]): Promise<void> {
  const [before, after] = [old, now].map((text) => checkSources(sourcesOf(text)).set);
  if (before == null) return;
  const workspace = createWorkspace();
  workspace.take(packTexts({ sources: sourcesOf(old) }, []));
  const change = { kind: 'files', files: [{ path: 'p.policy', text: now }] } as const;
  const judged = await judgeProposal(workspace, { change, directory: null, repositoryPath: null });
  if (judged.kind === 'refused' || after == null) {
    if (judged.kind !== 'refused' || after != null) tally.breaches.push(`refused or not\n${old}\n${now}`);
    tally.counts.refused += 1;
    return;
  }
  const { classification } = judged;
  tally.counts[classification] += 1;
  const about = (what: string): string => `${classification}, but ${what}\n${old}\n---\n${now}`;
  const requests = everyRequest([before, after]);
  tally.requests += requests.length;
  const decided = requests.map((facts) => [decidedBy(before, facts), decidedBy(after, facts)] as const);
  const isWider = decided.some(([was, is]) => isMilder(was, is));
  if (decided.some(([was, is]) => isNewlyByChat(was, is))) tally.byChat += 1;
  const broken = claimsKept(before, requests).find((one) => isBroken(one, after));
  if (broken !== undefined && classification !== 'breaks-guarantee')
    tally.breaches.push(about(`${broken.name} is broken`));
  const isSaidWider = classification === 'widens-within-guarantees';
  if (isWider && (classification === 'narrows' || classification === 'no-change'))
    tally.breaches.push(about('something passes more easily'));
  // What a limit by chat and the risk of requests come to is not proved, so that more of these pairs are called wider.
  const isByChat = chatLimitsOf(after.approvers.values()).size > 0;
  if (!isWider && isSaidWider && !isByChat) tally.careful.push(about('nothing passes more easily'));
}

/** The claims of the old set that it keeps itself, with the requests that each covers as the old set means it. */
function claimsKept(before: PolicySet, requests: readonly Facts[]): readonly KeptClaim[] {
  return before.guarantees.flatMap(({ name, claims }) =>
    claims.flatMap((claim) => {
      const given = requests
        .map((facts) => withClauseFacts(claim, facts))
        .filter((facts) => isRequestCovered(before, claim, facts, authorize(before, facts)));
      const isKept = given.every((facts) => !isClauseViolated(before, claim, authorize(before, facts)));
      return isKept ? [{ name, claim, given }] : [];
    }),
  );
}

interface KeptClaim {
  readonly name: string;
  readonly claim: GuaranteeClause;
  readonly given: readonly Facts[];
}

function isBroken({ claim, given }: KeptClaim, after: PolicySet): boolean {
  return given.some((facts) => isClauseViolated(after, claim, authorize(after, facts)));
}
