// /v1/groups: the groups whose approval the active policies ask for, who is in each, and how many pending
// requests ask each.

import { isControlOwner } from '../../../agents/agent-facts.ts';
import { approvalGroups } from '../../../people/approval-groups.ts';
import type { Directory } from '../../../people/directory.ts';
import { grantOf } from '../../../people/operations.ts';
import type { Person } from '../../../people/person.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import type { Store } from '../../../store/contract/store.ts';
import { chatRisk, listReply, objectSchema, text } from '../../contract/schemas.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';

interface GroupDeps {
  readonly policies: Pick<PolicyHost, 'current'>;
  readonly signInDeps: { readonly directory: Directory };
  readonly store: Pick<Store, 'requests' | 'agents'>;
}

const shownMembersMax = 100;

const count = { type: 'integer', minimum: 0 } as const;

const memberSchema = objectSchema({ id: text(100), email: text(254), name: text(100) });

const groupSchema = objectSchema({
  name: text(100),
  title: text(200),
  chat_max_risk: chatRisk,
  needs: { type: 'integer', minimum: 1, description: 'The most people of the group that one rule needs.' },
  has: { ...count, description: 'How many active people can approve for the group.' },
  rules: { type: 'array', items: text(400), description: 'The ids of the rules that ask the group.' },
  pending: {
    type: ['integer', 'null'],
    minimum: 0,
    description: 'How many pending requests ask the group; null for people who may not view all requests.',
  },
  members: {
    type: ['array', 'null'],
    items: memberSchema,
    maxItems: shownMembersMax,
    description: `These people, at most ${shownMembersMax}; null for people who may not view people.`,
  },
  owners_needed: {
    type: ['array', 'null'],
    items: memberSchema,
    maxItems: shownMembersMax,
    description:
      'Members who are the control owner of an active agent, where too few are left for the requests of that agent: where two or more people must approve, its control owner is none of them. Null for people who may not view people.',
  },
});

const groupExample = {
  name: 'finance',
  title: 'Finance, on call',
  chat_max_risk: 40,
  needs: 2,
  has: 1,
  rules: ['payments/large'],
  pending: 3,
  members: [{ id: 'b3f1c2d4-0000-4000-8000-000000000000', email: 'ann@example.com', name: 'Ann' }],
  owners_needed: [],
};

const listGroups = route<GroupDeps>({
  method: 'GET',
  url: '/v1/groups',
  access: 'policies.view',
  operation: {
    id: 'listGroups',
    summary: 'The groups whose approval the active policies ask for, and how many people can give it',
    replies: { 200: listReply('The groups', groupSchema, groupExample) },
  },
  handle: async ({ policies, signInDeps: { directory }, store }, call) => {
    const { roles } = actorOf(call);
    const isShownMembers = grantOf(roles, 'people.view') === 'yes';
    const isShownPending = grantOf(roles, 'requests.view') === 'yes';
    const active = policies.current();
    const titles = new Map(active.about().approvers.map(({ name, title }) => [name, title]));
    const limits = active.chatLimits();
    const groups = eachGroup(await approvalGroups(directory, active.about().asks));
    const nowMs = Math.trunc(directory.clock());
    const waiting = isShownPending ? await store.requests.pendingByGroup(nowMs) : [];
    const pending = new Map(waiting.map(({ group, count: requests }) => [group, requests]));
    const owners = isShownMembers && groups.some(isJustEnough) ? await controlOwners(store) : [];
    const items = groups.map(({ name, needs, rules, members }) => ({
      name,
      title: titles.get(name) ?? '',
      chat_max_risk: limits.get(name)?.maxRisk ?? null,
      needs,
      has: members.length,
      rules,
      pending: isShownPending ? (pending.get(name) ?? 0) : null,
      members: isShownMembers ? members.slice(0, shownMembersMax).map(memberView) : null,
      owners_needed: isShownMembers ? ownersAmong({ needs, members }, owners).map(memberView) : null,
    }));
    return { items };
  },
});

type AskedGroups = Awaited<ReturnType<typeof approvalGroups>>[number];

function memberView({ id, email, name }: Person) {
  return { id, email, name };
}

/** Whether a group has no member more than its rules need, and they need several. */
function isJustEnough({ needs, members }: Pick<AskedGroups, 'needs' | 'members'>): boolean {
  return needs > 1 && members.length === needs;
}

async function controlOwners({ agents }: Pick<Store, 'agents'>): Promise<readonly string[]> {
  const active = (await agents.list()).filter(({ status }) => status === 'active');
  return [...new Set(active.map(({ controlOwner }) => controlOwner))];
}

/** The members for whose own agents too few members are left. */
function ownersAmong(
  group: Pick<AskedGroups, 'needs' | 'members'>,
  owners: readonly string[],
): readonly Person[] {
  if (!isJustEnough(group)) return [];
  return group.members.filter((person) => owners.some((owner) => isControlOwner(person, owner)));
}

/**
 * One row a group, with what asks it most. For a group that is asked together with others, the members of all
 * of them count, because any may approve.
 */
function eachGroup(asked: readonly AskedGroups[]): readonly (AskedGroups & { readonly name: string })[] {
  const rows = new Map<string, AskedGroups & { readonly name: string }>();
  const lackOf = ({ needs, members }: AskedGroups) => needs - members.length;
  for (const one of asked)
    for (const name of one.groups) {
      const row = rows.get(name);
      if (row === undefined || lackOf(one) > lackOf(row)) rows.set(name, { ...one, name });
    }
  return [...rows.values()];
}

export const groupRoutes: readonly Route<GroupDeps>[] = [listGroups];
