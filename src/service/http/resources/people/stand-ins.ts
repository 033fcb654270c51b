// /v1/stand-ins: who may vote in a person's place for one group until a date.

import { isoTime, isoTimeOrNull } from '../../../../language/value/iso-time.ts';
import type { Directory } from '../../../people/directory.ts';
import { grantOf } from '../../../people/operations.ts';
import type { Actor, Person } from '../../../people/person.ts';
import {
  confirmStandIn as confirm,
  endStandIn as end,
  findStandIn,
  nameStandIn as name,
  type ShownStandIn,
  standInDaysMax,
  standInsFor,
} from '../../../people/stand-ins.ts';
import { conflict, invalidBody, notAllowed, notFound } from '../../auth/auth-refusals.ts';
import {
  idParameter,
  listReply,
  noContent,
  objectSchema,
  text,
  textOrNull,
  time,
  timeOrNull,
} from '../../contract/schemas.ts';
import type { StandInEvents } from '../../events/stand-in-messages.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';

interface StandInDeps {
  readonly signInDeps: { readonly directory: Directory };
  readonly standInEvents: StandInEvents;
}

const personShape = objectSchema({ id: text(100), email: text(254), name: text(100) });

const standInSchema = objectSchema({
  id: text(100),
  person: { ...personShape, description: 'The person who has named the stand-in.' },
  stand_in: { ...personShape, description: 'The person who may vote in their place.' },
  group: text(100),
  created_at: time,
  until: time,
  confirmed_at: {
    ...timeOrNull,
    description: 'Null until an admin has confirmed it; it counts from then on.',
  },
  confirmed_by: textOrNull,
  can_confirm: { type: 'boolean', description: 'Whether the caller can confirm it.' },
  can_end: { type: 'boolean', description: 'Whether the caller can end it.' },
});

const standInExample = {
  id: '1c2d0000-0000-4000-8000-000000000000',
  person: { id: 'b3f1c2d4-0000-4000-8000-000000000000', email: 'ann@example.com', name: 'Ann' },
  stand_in: { id: 'c4f1c2d4-0000-4000-8000-000000000000', email: 'ben@example.com', name: 'Ben' },
  group: 'finance',
  created_at: '2026-03-02T10:00:00.000Z',
  until: '2026-03-16T10:00:00.000Z',
  confirmed_at: null,
  confirmed_by: null,
  can_confirm: false,
  can_end: true,
};

const standInReply = { description: 'The stand-in', schema: standInSchema, example: standInExample };
const standInId = idParameter('The id in the list.', standInExample.id);

const listStandIns = route<StandInDeps>({
  method: 'GET',
  url: '/v1/stand-ins',
  access: 'signed-in',
  credential: 'session-or-token',
  operation: {
    id: 'listStandIns',
    summary:
      'The stand-ins of the caller, and those for whom the caller stands in; all for people who may view people',
    description: 'Stand-ins that have ended are left out.',
    replies: { 200: listReply('The stand-ins, newest first', standInSchema, standInExample) },
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const actor = actorOf(call);
    return { items: (await standInsFor(directory, actor)).map((one) => standInView(one, actor)) };
  },
});

const nameStandIn = route<StandInDeps, { stand_in: string; group: string; until: string }>({
  method: 'POST',
  url: '/v1/stand-ins',
  access: 'signed-in',
  credential: 'session-or-token',
  operation: {
    id: 'nameStandIn',
    summary: 'Names a stand-in for one of the groups of the caller',
    description: 'It counts once an admin has confirmed it.',
    body: {
      description: `\`stand_in\` is the e-mail address or id of an active approver outside of the group; \`until\` is at most ${standInDaysMax} days away.`,
      schema: objectSchema({ stand_in: text(254), group: text(100), until: time }),
      examples: { ben: { stand_in: 'ben@example.com', group: 'finance', until: '2026-03-16T10:00:00Z' } },
    },
    replies: { 201: standInReply },
    problems: ['conflict'],
  },
  handle: async ({ signInDeps: { directory }, standInEvents }, call) => {
    const { stand_in: standIn, group, until } = call.body;
    const actor = actorOf(call);
    const result = await name(directory, actor, { standIn, group, untilMs: Date.parse(until) });
    if (result.kind === 'invalid') throw invalidBody(result);
    if (result.kind === 'conflict') throw conflict(result.detail);
    const shown = await shownOf(directory, result.standIn.id);
    standInEvents.named(shown);
    call.reply.code(201);
    return standInView(shown, actor);
  },
});

const confirmStandIn = route<StandInDeps>({
  method: 'POST',
  url: '/v1/stand-ins/:id/confirm',
  access: 'people.change',
  operation: {
    id: 'confirmStandIn',
    summary: 'Confirms a stand-in, which counts from then on',
    parameters: [standInId],
    replies: { 200: standInReply },
    problems: ['not_found', 'conflict'],
  },
  handle: async ({ signInDeps: { directory }, standInEvents }, call) => {
    const actor = actorOf(call);
    const result = await confirm(directory, actor, call.params.id ?? '');
    if (result.kind === 'unknown') throw notFound('stand-in');
    if (result.kind === 'conflict') throw conflict(result.detail);
    const shown = await shownOf(directory, result.standIn.id);
    standInEvents.confirmed(shown);
    return standInView(shown, actor);
  },
});

const endStandIn = route<StandInDeps>({
  method: 'DELETE',
  url: '/v1/stand-ins/:id',
  access: 'signed-in',
  credential: 'session-or-token',
  operation: {
    id: 'endStandIn',
    summary: 'Ends a stand-in',
    description:
      'By either of the two people, or an admin. Approvals that were given in the place of the person no longer count for pending requests.',
    parameters: [standInId],
    replies: { 204: noContent('Ended') },
    problems: ['not_found', 'not_allowed'],
  },
  handle: async ({ signInDeps: { directory }, standInEvents }, call) => {
    const actor = actorOf(call);
    const shown = await findStandIn(directory, call.params.id ?? '');
    const result = await end(directory, actor, call.params.id ?? '');
    if (result.kind === 'unknown') throw notFound('stand-in');
    if (result.kind === 'not-allowed') throw notAllowed(result.detail);
    if (shown !== null) standInEvents.ended(shown, actor.person);
  },
});

export const standInRoutes: readonly Route<StandInDeps>[] = [
  listStandIns,
  nameStandIn,
  confirmStandIn,
  endStandIn,
];

async function shownOf(directory: Directory, id: string): Promise<ShownStandIn> {
  const shown = await findStandIn(directory, id);
  if (shown === null) throw conflict();
  return shown;
}

function standInView({ value, person, standIn }: ShownStandIn, { person: { id: own }, roles }: Actor) {
  const mayChange = grantOf(roles, 'people.change') === 'yes';
  return {
    id: value.id,
    person: personView(person),
    stand_in: personView(standIn),
    group: value.group,
    created_at: isoTime(value.createdAtMs),
    until: isoTime(value.endsAtMs),
    confirmed_at: isoTimeOrNull(value.confirmed?.atMs ?? null),
    confirmed_by: value.confirmed?.who ?? null,
    can_confirm: value.confirmed === null && mayChange,
    can_end: mayChange || own === person.id || own === standIn.id,
  };
}

function personView({ id, email, name: called }: Person) {
  return { id, email, name: called };
}
