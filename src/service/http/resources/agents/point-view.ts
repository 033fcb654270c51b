// Shows an enforcement point as the management API does, with the names of its agents. INVARIANT: no key is
// shown.

import { keysOf } from '../../../agents/points/change-point.ts';
import type { EnforcementPoint } from '../../../agents/points/point.ts';
import { agentStatuses } from '../../../store/contract/records.ts';
import type { Store } from '../../../store/contract/store.ts';
import type { JsonSchema, OperationReply } from '../../contract/operation.ts';
import { objectSchema, text, time, timeOrNull, timeText, timeTextOrNull } from '../../contract/schemas.ts';

/** The point as a reply. An agent that can no longer be found is shown by its id. */
export async function shownPoint(
  { agents, documents }: Pick<Store, 'agents' | 'documents'>,
  point: EnforcementPoint,
) {
  const { id, name, status, mayRelease, createdAtMs, changedAtMs } = point;
  const assigned = await Promise.all(
    point.agents.map(async (agentId) => ({
      id: agentId,
      name: (await agents.find(agentId))?.name ?? agentId,
    })),
  );
  const uses = (await keysOf(documents, id)).map(({ lastUsedAtMs }) => lastUsedAtMs ?? 0);
  const seenAtMs = Math.max(0, ...uses);
  return {
    id,
    name,
    status,
    agents: assigned,
    may_release: mayRelease === true,
    created_at: timeText(createdAtMs),
    changed_at: timeText(changedAtMs),
    last_seen_at: timeTextOrNull(seenAtMs === 0 ? null : seenAtMs),
  };
}

const assignedSchema: JsonSchema = {
  type: 'array',
  description: 'The agents that it asks for.',
  items: objectSchema({ id: text(100), name: text(200) }),
};

export const pointSchema = objectSchema({
  id: text(100),
  name: text(200),
  status: { type: 'string', enum: agentStatuses },
  agents: assignedSchema,
  may_release: {
    type: 'boolean',
    description: 'Whether its report that a grant is not used takes the grant out of the meters.',
  },
  created_at: time,
  changed_at: time,
  last_seen_at: {
    ...timeOrNull,
    description: 'When it last asked with a key that it has, to the minute; null before the first time.',
  },
});

export const pointExample = {
  id: 'b0e27000-0000-4000-8000-000000000000',
  name: 'files proxy',
  status: 'active',
  agents: [{ id: 'a9e27000-0000-4000-8000-000000000000', name: 'buyer' }],
  may_release: false,
  created_at: '2026-03-02T10:00:00.000Z',
  changed_at: '2026-03-02T10:00:00.000Z',
  last_seen_at: '2026-03-02T10:05:00.000Z',
};

export const pointReply: OperationReply = {
  description: 'The enforcement point',
  schema: pointSchema,
  example: pointExample,
};

export function pointWithKey(
  description: string,
  more: Readonly<Record<string, JsonSchema>> = {},
): OperationReply {
  const example = { point: pointExample, api_key: `writpep_${'0'.repeat(46)}` };
  const ends = Object.hasOwn(more, 'old_keys_end_at') ? { old_keys_end_at: pointExample.created_at } : {};
  return {
    description,
    schema: objectSchema({ point: pointSchema, api_key: text(100), ...more }),
    example: { ...example, ...ends },
  };
}
