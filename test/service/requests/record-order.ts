// Walks the chain from its first record and reports grants recorded behind a record that forbids them. The
// walk is independent of how the service decides: it keeps agents, keys, switches and people as the records
// so far describe them.

import { isControlOwner } from '../../../src/service/agents/agent-facts.ts';
import type { ChainEntry } from '../../../src/service/store/contract/chain.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';

interface Agent {
  status: string;
  riskTier: string;
  controlOwner: string;
  keys: readonly { readonly id: string; readonly notAfterMs: number | null }[];
}

interface Person {
  readonly email: string;
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  readonly status: string;
}

interface World {
  readonly agents: Map<string, Agent>;
  readonly people: Map<string, Person>;
  /** The scope of each switch that is on, by id. */
  readonly switches: Map<string, { kind: string; tier?: string; area?: string; agentId?: string }>;
  readonly requests: Map<string, Waiting>;
  /** Stand-ins that are confirmed and have not been ended, by id. */
  readonly standIns: Map<string, { person: string; stand_in: string; group: string; ends_at_ms: number }>;
}

interface Waiting {
  readonly agentId: string;
  readonly actionKey: string;
  /** Each person's last approval, by person. */
  readonly approvals: Map<string, Approval>;
  steppedUp: { person: string; email: string } | null;
}

interface Approval {
  readonly person: string;
  readonly group: string;
  readonly standsInFor?: { readonly id: string };
}

export interface Walked {
  readonly grants: number;
  /** One sentence for each grant that should not be there. */
  readonly wrong: readonly string[];
}

const partsOf = 1_000;

export async function walkRecord({ chain }: Pick<Store, 'chain'>): Promise<Walked> {
  const world: World = {
    agents: new Map(),
    people: new Map(),
    switches: new Map(),
    requests: new Map(),
    standIns: new Map(),
  };
  const wrong: string[] = [];
  let grants = 0;
  for (let after = 0; ; after += partsOf) {
    const { records, lastSequence } = await chain.segment(after, partsOf);
    for (const { entry } of records) {
      const problems = follow(world, entry);
      if (problems === null) continue;
      grants += 1;
      for (const problem of problems) wrong.push(`record ${entry.sequence}: ${problem}`);
    }
    if (after + partsOf >= lastSequence) return { grants, wrong };
  }
}

/** What is wrong with the grant in the record; null when the record is no grant. */
function follow(world: World, entry: ChainEntry): readonly string[] | null {
  switch (entry.kind) {
    case 'change':
      followChange(world, entry);
      return null;
    case 'refusal':
    case 'knot':
      return null;
    case 'request':
      return followRequest(world, entry);
    case 'event':
      return followEvent(world, entry);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks into what was recorded
function jsonIn(entry: ChainEntry, name: string): any {
  return JSON.parse(String(entry[name] ?? 'null'));
}

function followChange({ agents, people, switches, standIns }: World, entry: ChainEntry): void {
  const [subject, after] = [String(entry.subject), jsonIn(entry, 'after_json')];
  const agent = agents.get(subject);
  switch (entry.what) {
    case 'agent-added':
      agents.set(subject, { ...after });
      break;
    case 'agent-disabled':
    case 'agent-enabled':
    case 'agent-revoked':
    case 'agent-changed':
    case 'key-rotated':
      if (agent !== undefined) Object.assign(agent, after);
      break;
    case 'kill-switch-created':
      switches.set(subject, after.scope);
      break;
    case 'kill-switch-deactivated':
      switches.delete(subject);
      break;
    case 'stand-in-confirmed':
      standIns.set(subject, after);
      break;
    case 'stand-in-ended':
      standIns.delete(subject);
      break;
    case 'first-admin-set-up':
    case 'invitation-accepted':
    case 'person-changed':
      people.set(subject, after);
  }
}

function followRequest(world: World, entry: ChainEntry): readonly string[] | null {
  const record = jsonIn(entry, 'record_json');
  const [agentId, actionKey] = [String(entry.agent_id), String(entry.action_key)];
  world.requests.set(String(entry.id), { agentId, actionKey, approvals: new Map(), steppedUp: null });
  if (entry.status !== 'auto_approved') return null;
  const agent = world.agents.get(agentId);
  const key = agent?.keys.find(({ id }) => id === record.key.id);
  return [
    ...forbidden(world, agentId, actionKey),
    ...(record.agent.risk_tier === agent?.riskTier ? [] : ['it was decided for another tier']),
    ...(key === undefined ? ['its key is unknown'] : []),
    ...(key?.notAfterMs != null && key.notAfterMs <= Number(entry.created_ms) ? ['its key had ended'] : []),
  ];
}

function followEvent(world: World, entry: ChainEntry): readonly string[] | null {
  const request = world.requests.get(String(entry.request_id));
  if (request === undefined) return null;
  const detail = jsonIn(entry, 'detail_json');
  if (entry.what === 'approved') {
    request.approvals.set(detail.person, detail);
    return problemsOfGiver(world, detail, Number(entry.at_ms));
  }
  if (entry.what === 'stepped-up') request.steppedUp = detail;
  if (entry.what !== 'decided' || entry.status !== 'approved') return null;
  const satisfied: readonly string[] = detail.satisfied.escalate;
  const counting = [...request.approvals.values()].filter(
    (approval) => problemsOfGiver(world, approval, Number(entry.at_ms)).length === 0,
  );
  // A person and their stand-ins count as one.
  const places = new Set(counting.map(({ person, standsInFor }) => standsInFor?.id ?? person));
  const needed = satisfied.length === 0 ? 0 : satisfied.some((rule) => rule.endsWith('/large')) ? 2 : 1;
  return [
    ...forbidden(world, request.agentId, request.actionKey),
    ...(places.size >= needed ? [] : [`${places.size} approvals count, it needs ${needed}`]),
    ...(detail.satisfied.reauth.length === 0 ? [] : problemsOfStepUp(world, request)),
  ];
}

/** What the agent's state or a switch forbids. */
function forbidden({ agents, switches }: World, agentId: string, actionKey: string): readonly string[] {
  const agent = agents.get(agentId);
  const isStopped = [...switches.values()].some(
    (scope) =>
      scope.kind === 'all' ||
      scope.tier === agent?.riskTier ||
      scope.agentId === agentId ||
      (scope.area !== undefined && actionKey.startsWith(`${scope.area}.`)),
  );
  return [
    ...(agent?.status === 'active' ? [] : [`the agent is ${agent?.status ?? 'unknown'}`]),
    ...(isStopped ? ['a switch forbids it'] : []),
  ];
}

function problemsOfGiver(
  { people, standIns }: World,
  { person: id, group, standsInFor }: Approval,
  atMs: number,
): readonly string[] {
  const isStandIn = [...standIns.values()].some(
    (one) =>
      one.stand_in === id && one.person === standsInFor?.id && one.group === group && one.ends_at_ms > atMs,
  );
  return [
    ...(standsInFor === undefined || isStandIn ? [] : ['who approves is no stand-in']),
    ...[...new Set([id, standsInFor?.id ?? id])].flatMap((one) => {
      const person = people.get(one);
      const may = person?.roles.some((role) => role === 'approver' || role === 'admin') === true;
      return [
        ...(person?.status === 'active' ? [] : ['an approver is disabled']),
        ...(may ? [] : ['who approves is no approver']),
      ];
    }),
    ...(people.get(standsInFor?.id ?? id)?.groups.includes(group) === true
      ? []
      : ['who approves is not in the group']),
  ];
}

function problemsOfStepUp({ agents, people }: World, { agentId, steppedUp }: Waiting): readonly string[] {
  if (steppedUp === null) return [];
  const { person: id, email } = steppedUp;
  const isOwner = isControlOwner({ id, email }, agents.get(agentId)?.controlOwner ?? '');
  return [
    ...(people.get(id)?.status === 'active' ? [] : ['who stepped up is disabled']),
    ...(isOwner ? [] : ['who stepped up is not the control owner']),
  ];
}
