// The list of people and what each may do. The person whom the address names is open for changes.

import type { Reply } from '../../../api/operations.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { setQuery, usePlace } from '../../navigation/navigation.ts';
import { Marks } from '../../parts/form/roles.tsx';
import { StatusBadge } from '../../parts/layout/badge.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Empty, Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { Pager } from '../../parts/layout/pager.tsx';
import { TableScroll } from '../../parts/layout/table-scroll.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { PersonDialog } from './person-dialog.tsx';

export function People() {
  const { query } = usePlace();
  const cursor = query.get('cursor') ?? undefined;
  const { data, problem, isLoading, reload } = useResource('listPeople', { query: { cursor } }, ['people']);
  const personId = query.get('person');
  return (
    <Section title="People" actions={<Pager nextCursor={data?.next_cursor ?? null} />}>
      <ProblemNote problem={problem} onRetry={reload} />
      {data === null && problem === null && <Loading />}
      {data?.items.length === 0 && <Empty icon="people" title="No one else on this page" />}
      {data !== null && data.items.length > 0 && <PeopleTable people={data.items} isOld={isLoading} />}
      {personId !== null && (
        <PersonDialog id={personId} onChange={reload} onClose={() => setQuery({ person: null })} />
      )}
    </Section>
  );
}

type PersonItem = Reply<'listPeople'>['items'][number];

function PeopleTable({ people, isOld }: { readonly people: readonly PersonItem[]; readonly isOld: boolean }) {
  const mayChange = useGrant('people.change') === 'yes';
  return (
    <TableScroll label="List of people" isOld={isOld}>
      <table class="table table-stack table-brief">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">E-mail address</th>
            <th scope="col">Roles</th>
            <th scope="col">Groups</th>
            <th scope="col">Status</th>
            <th scope="col">Second factor</th>
            <th scope="col">Added</th>
            {mayChange && <td />}
          </tr>
        </thead>
        <tbody>
          {people.map((person) => (
            <tr key={person.id}>
              <td data-label="Name">
                <PlainText text={person.name} isShort />
              </td>
              <td data-label="E-mail">
                <PlainText text={person.email} isShort />
              </td>
              <td data-label="Roles">
                <Marks words={person.roles} />
              </td>
              <td data-label="Groups">
                <Marks words={person.groups} />
              </td>
              <td data-label="Status">
                <StatusBadge status={person.status} />
              </td>
              <td data-label="Second factor" class="brief-hidden">
                {factorWords(person)}
              </td>
              <td data-label="Added" class="access-when brief-hidden">
                <Ago at={person.created_at} />
              </td>
              {mayChange && (
                <td class="table-end">
                  <Button onClick={() => setQuery({ person: person.id })}>
                    Change<span class="visually-hidden"> {person.email}</span>
                  </Button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}

function factorWords({ has_totp: hasCodes, has_passkey: hasPasskey }: PersonItem): string {
  return [...(hasCodes ? ['code'] : []), ...(hasPasskey ? ['passkey'] : [])].join(', ') || 'none';
}
