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
}

interface Waiting {
  readonly agentId: string;
  readonly actionKey: string;
  /** The group of each person's last approval, by person. */
  readonly approvals: Map<string, string>;
  steppedUp: { person: string; email: string } | null;
}

export interface Walked {
  readonly grants: number;
  /** One sentence for each grant that should not be there. */
  readonly wrong: readonly string[];
}

const partsOf = 1_000;

export async function walkRecord({ chain }: Pick<Store, 'chain'>): Promise<Walked> {
  const world: World = { agents: new Map(), people: new Map(), switches: new Map(), requests: new Map() };
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

function followChange({ agents, people, switches }: World, entry: ChainEntry): void {
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
    request.approvals.set(detail.person, detail.group);
    return problemsOfGiver(world, detail.person, detail.group);
  }
  if (entry.what === 'stepped-up') request.steppedUp = detail;
  if (entry.what !== 'decided' || entry.status !== 'approved') return null;
  const satisfied: readonly string[] = detail.satisfied.escalate;
  const counting = [...request.approvals].filter(
    ([person, group]) => problemsOfGiver(world, person, group).length === 0,
  );
  const needed = satisfied.length === 0 ? 0 : satisfied.some((rule) => rule.endsWith('/large')) ? 2 : 1;
  return [
    ...forbidden(world, request.agentId, request.actionKey),
    ...(counting.length >= needed ? [] : [`${counting.length} approvals count, it needs ${needed}`]),
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

function problemsOfGiver({ people }: World, id: string, group: string): readonly string[] {
  const person = people.get(id);
  const may = person?.roles.some((role) => role === 'approver' || role === 'admin') === true;
  return [
    ...(person?.status === 'active' ? [] : ['an approver is disabled']),
    ...(may ? [] : ['who approves is no approver']),
    ...(person?.groups.includes(group) === true ? [] : ['who approves is not in the group']),
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
