// Nothing that is written below one owner's folder allows an action of another owner. Random declarations are put into a
// folder; where the set is accepted, each request for an action of the other owner is decided at least as strictly as
// without the folder.

import { outcomes } from '../../src/language/model/decision.ts';
import { createRandom, type RandomSource } from '../../src/language/value/random.ts';
import { type CompileResult, compile, type PolicySources } from '../../src/pipeline.ts';
import { randomRequest, requestSource } from '../../src/reasoning/guarantees/request.ts';

const owners = `owners:
  payments/**: [payment.*]
  platform/**: ["*"]
`;

const platform = `type short = string ..40

group started {
  service: short
}

action deploy.start in started {
  minutes: integer 1..60
}

action deploy.stop {
  service: short
}

action payment.create in paid {
  amount: integer 1..1_000
}

group paid

list services = ["web", "shop"]
let few = payload.minutes <= 10
meter runs = count() of deploy.start per agent over 1h

policy deploys on deploy.start {
  allow known for 10m
    when payload.service in services and few
    because "Known"

  allow asked after approval by owner within 1h
    when payload.service in services
    because "Asked"

  deny many
    when runs > 3
    risk +40
    because "Many"

  escalate risky to owner
    when risk >= 30
    because "Risky"

  risk late +30
    when payload.minutes > 30
}
`;

const conditions = [
  'payload.service in extra',
  'more',
  '"x" in agent.tags',
  'risk >= 0',
  'payload.minutes < 99',
];
const actions = [
  'deploy.start',
  'deploy.*',
  '*',
  'started',
  'payment.create',
  'paid',
  '*.start',
  'deploy.stop',
];
const effects = ['allow', 'deny', 'deny', 'escalate', 'escalate', 'reauth', 'risk', 'shadow allow'] as const;

function anyRule(random: RandomSource, name: string): string {
  const effect = random.pick(effects);
  const points = random.pick(['-60', '+60']);
  const head = effect === 'risk' ? `risk ${name} ${points}` : `${effect} ${name}${tailOf(random, effect)}`;
  const when = random.chance(0.6) ? `\n    when ${random.pick(conditions)}` : '';
  const risk = effect !== 'risk' && random.chance(0.2) ? `\n    risk ${points}` : '';
  return `  ${head}${when}${risk}${effect === 'risk' ? '' : '\n    because "x"'}\n`;
}

function tailOf(random: RandomSource, effect: (typeof effects)[number]): string {
  if (effect === 'escalate') return ' to owner';
  if (effect === 'reauth') return ' within 5m';
  return effect === 'allow' && random.chance(0.4)
    ? random.pick([' after approval by owner', ' for 30d'])
    : '';
}

/** A declaration with a new name, or with one that is taken. */
function anyDeclaration(random: RandomSource, at: number): string {
  const taken = ['extra', 'more', 'services', 'few', 'short', 'started'];
  const name = (own: string): string => (random.chance(0.8) ? own : random.pick(taken));
  switch (random.below(9)) {
    case 0:
      return `list ${name('extra')} = ["web", "x"]\n`;
    case 1:
      return `let ${name('more')} = ${random.pick(['true', 'payload.service in extra', '"x" in agent.tags'])}\n`;
    case 2:
      return `type ${name(`t${at}`)} = string\n`;
    case 3:
      return `action ${random.pick(['deploy.start', 'deploy.go', 'payment.back'])} in ${random.pick(['started', 'paid'])} {}\n`;
    case 4:
      return `group ${name(`g${at}`)}\n`;
    case 5:
      return `meter ${name(`m${at}`)} = count() of * per agent over 1h\n`;
    default: {
      const rules = Array.from({ length: 1 + random.below(3) }, (_, rule) => anyRule(random, `r${rule}`));
      return `policy ${random.pick([`p${at}`, 'deploys'])} on ${random.pick(actions)} {\n${rules.join('\n')}}\n`;
    }
  }
}

interface OwnersLaw {
  accepted: number;
  refused: number;
  requests: number;
  /** Refused sets that would allow more, if nobody owned anything. */
  averted: number;
  readonly breaches: string[];
}

/** Puts `count` random texts into the folder, and into one of the two owner's rules what it may read there. */
export function ownersHold(count: number, seed: number): OwnersLaw {
  const random = createRandom(seed);
  const law: OwnersLaw = { accepted: 0, refused: 0, requests: 0, averted: 0, breaches: [] };
  for (let at = 0; at < count; at += 1) {
    const reads = random.chance(0.2)
      ? platform.replace('and few', `and few and ${random.pick(conditions)}`)
      : platform;
    const text = Array.from({ length: 1 + random.below(4) }, (_, one) => anyDeclaration(random, one)).join(
      '\n',
    );
    const files = { 'platform/a.policy': reads, 'payments/a.policy': text };
    const owned = compileTree({ ...files, 'owners.yaml': owners });
    const isOwned = owned.set !== null;
    law[isOwned ? 'accepted' : 'refused'] += 1;
    const edited = isOwned ? owned : compileTree(files);
    const looser = edited.set === null ? null : looserRequest(edited, reads, law);
    if (looser !== null && isOwned)
      law.breaches.push(`${text}\n${reads === platform ? '' : reads}\n${looser}`);
    if (looser !== null && !isOwned) law.averted += 1;
  }
  return law;
}

function compileTree(files: Readonly<Record<string, string>>): CompileResult {
  const sources: PolicySources = {
    files: Object.entries(files)
      .filter(([path]) => path.endsWith('.policy'))
      .map(([path, text]) => ({ path, text })),
    readListFile: (path) =>
      path in files ? { text: files[path]! } : { code: 'list-file-missing', message: 'there is none' },
  };
  return compile(sources);
}

const requestsEach = 60;

/** A request for an action of the platform that is decided more mildly than without the folder; null for none. */
function looserRequest(edited: CompileResult, reads: string, law: OwnersLaw): string | null {
  const alone = compileTree({ 'platform/a.policy': reads });
  const set = edited.set!;
  const source = requestSource(set, 3);
  const own = [...set.actions.values()].filter(({ key }) => key.startsWith('deploy.'));
  for (let at = 0; at < requestsEach; at += 1) {
    const request = randomRequest(source, own[at % own.length]!);
    law.requests += 1;
    const now = edited.engine!.decide(request);
    // What the owner's own rules read from the folder is gone with it, so nothing was allowed before.
    const before = alone.engine?.decide(request) ?? null;
    const rank = before === null ? outcomes.indexOf('DENY') : outcomes.indexOf(before.outcome);
    const isLonger = (now.validForSeconds ?? 0) > (before?.validForSeconds ?? Number.POSITIVE_INFINITY);
    if (outcomes.indexOf(now.outcome) < rank || isLonger)
      return `${JSON.stringify(request.payload)} is ${now.outcome}, was ${before?.outcome}`;
  }
  return null;
}
