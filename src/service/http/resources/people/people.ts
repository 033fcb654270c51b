// /v1/people: who has access, and what each may do.

import * as personChanges from '../../../people/change-person.ts';
import { resetFactors } from '../../../people/codes.ts';
import type { Directory } from '../../../people/directory.ts';
import { roles } from '../../../people/operations.ts';
import type { Person } from '../../../people/person.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import { conflict, invalidBody, notAllowed, notFound } from '../../auth/auth-refusals.ts';
import { pageOf, pageParameters, pageReply, readPage } from '../../contract/page.ts';
import { idParameter, noContent, objectSchema, text, textList } from '../../contract/schemas.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';
import { groupWarnings } from './group-warnings.ts';
import {
  changedPersonExample,
  changedPersonSchema,
  listedPersonExample,
  listedPersonSchema,
  personExample,
  personSchema,
  personView,
} from './person-view.ts';

interface PeopleDeps {
  readonly policies: Pick<PolicyHost, 'current'>;
  readonly signInDeps: SignInDeps;
}

const id = idParameter('The id in the list.', personExample.id);

const listPeople = route<PeopleDeps>({
  method: 'GET',
  url: '/v1/people',
  access: 'people.view',
  operation: {
    id: 'listPeople',
    summary: 'People, newest first',
    parameters: pageParameters,
    replies: { 200: pageReply('A page of people', listedPersonSchema, listedPersonExample) },
  },
  handle: async ({ signInDeps: { directory } }, { query }) => {
    const { countMax, after } = readPage(query);
    const storedPeople = await directory.people.list({ countMax: countMax + 1, after });
    const { items, next_cursor } = pageOf(storedPeople, countMax, (person) => person);
    return { items: await Promise.all(items.map((person) => listedPerson(directory, person))), next_cursor };
  },
});

const getPerson = route<PeopleDeps>({
  method: 'GET',
  url: '/v1/people/:id',
  access: 'people.view',
  operation: {
    id: 'getPerson',
    summary: 'One person',
    parameters: [id],
    replies: { 200: { description: 'The person', schema: personSchema, example: personExample } },
    problems: ['not_found'],
  },
  handle: async ({ signInDeps: { directory } }, { params }) => {
    const storedPerson = await directory.people.find(params.id ?? '');
    if (storedPerson === null) throw notFound('person');
    return personView(storedPerson.value);
  },
});

const updatePerson = route<PeopleDeps, personChanges.PersonChange>({
  method: 'PATCH',
  url: '/v1/people/:id',
  access: 'people.change',
  operation: {
    id: 'updatePerson',
    summary: 'Changes the name, roles, groups or status of a person; disabling ends all sessions at once',
    parameters: [id],
    body: {
      description: 'Missing fields stay unchanged. `warnings` lists groups that no active policy uses.',
      schema: objectSchema(
        {},
        {
          name: { ...text(100), minLength: 1 },
          roles: { type: 'array', items: { type: 'string', enum: roles }, maxItems: roles.length },
          groups: textList,
          status: { type: 'string', enum: ['active', 'disabled'] },
        },
      ),
      examples: { groups: { roles: ['approver'], groups: ['finance', 'security'] } },
    },
    replies: {
      200: { description: 'The person', schema: changedPersonSchema, example: changedPersonExample },
    },
    problems: ['not_found', 'conflict'],
  },
  handle: async ({ policies, signInDeps: { directory } }, call) => {
    const result = await personChanges.changePerson(directory, actorOf(call), {
      ...call.body,
      id: call.params.id ?? '',
    });
    switch (result.kind) {
      case 'changed':
        return {
          ...personView(result.person),
          warnings: groupWarnings(call.body.groups ?? [], policies),
        };
      case 'invalid':
        throw invalidBody(result);
      case 'not-allowed':
        throw notAllowed(result.detail);
      case 'unknown':
        throw notFound('person');
      case 'conflict':
        throw conflict();
    }
  },
});

const resetSecondFactors = route<PeopleDeps>({
  method: 'DELETE',
  url: '/v1/people/:id/totp',
  access: 'people.change',
  credential: 'proved-session',
  operation: {
    id: 'resetSecondFactors',
    summary: 'Resets the second factors of a person who has lost them',
    description: "Removes the person's one-time codes and passkeys and ends their sessions.",
    parameters: [id],
    replies: { 204: noContent('Removed') },
    problems: ['not_found', 'conflict'],
  },
  handle: async ({ signInDeps }, call) => {
    const result = await resetFactors(signInDeps, actorOf(call), call.params.id ?? '');
    if (result === 'unknown') throw notFound('person');
    if (result === 'conflict') throw conflict();
  },
});

export const peopleRoutes: readonly Route<PeopleDeps>[] = [
  listPeople,
  getPerson,
  updatePerson,
  resetSecondFactors,
];

async function listedPerson({ passkeys }: Pick<Directory, 'passkeys'>, person: Person) {
  const [first] = await passkeys.list({ parent: person.id, countMax: 1 });
  return { ...personView(person), has_passkey: first !== undefined };
}
