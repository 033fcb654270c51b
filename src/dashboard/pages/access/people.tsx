// The list of people and what each may do. The person whom the address names is open for changes.

import type { Reply } from '../../../api/operations.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { setQuery, useAddress } from '../../navigation/navigation.ts';
import { Marks } from '../../parts/form/roles.tsx';
import { StatusBadge } from '../../parts/layout/badge.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { Empty } from '../../parts/layout/note.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { PersonDialog } from './person-dialog.tsx';

export function People() {
  const { query } = useAddress();
  const cursor = query.get('cursor') ?? undefined;
  const list = useResource('listPeople', { query: { cursor } }, ['people']);
  const mayChange = useGrant('people.change') === 'yes';
  const personId = query.get('person');
  return (
    <>
      <ListSection
        title="People"
        list={list}
        empty={<Empty icon="people" title="No one else on this page" />}
      >
        {(people, isOld) => (
          <DataTable
            label="List of people"
            columns={mayChange ? [...columns, changeColumn] : columns}
            rows={people}
            rowKey={({ id }) => id}
            narrow="brief"
            isOld={isOld}
          />
        )}
      </ListSection>
      {personId !== null && (
        <PersonDialog id={personId} onChange={list.reload} onClose={() => setQuery({ person: null })} />
      )}
    </>
  );
}

type PersonItem = Reply<'listPeople'>['items'][number];

const columns: readonly Column<PersonItem>[] = [
  { head: 'Name', kind: 'row', cell: ({ name }) => <PlainText text={name} isShort /> },
  { head: 'E-mail address', label: 'E-mail', cell: ({ email }) => <PlainText text={email} isShort /> },
  { head: 'Roles', cell: ({ roles }) => <NamedMarks name="Roles" words={roles} /> },
  { head: 'Groups', cell: ({ groups }) => <NamedMarks name="Groups" words={groups} /> },
  { head: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { head: 'Second factor', class: 'brief-hidden', cell: factorText },
  { head: 'Added', class: 'table-when table-wide', cell: ({ created_at: at }) => <Ago at={at} /> },
];

const changeColumn: Column<PersonItem> = {
  head: 'Actions',
  kind: 'actions',
  cell: ({ id, email }) => (
    <Button onClick={() => setQuery({ person: id })}>
      Change<span class="visually-hidden"> {email}</span>
    </Button>
  ),
};

function factorText({ has_totp: hasCodes, has_passkey: hasPasskey }: PersonItem): string {
  return [...(hasCodes ? ['code'] : []), ...(hasPasskey ? ['passkey'] : [])].join(', ') || 'none';
}

/** Roles or groups; on a phone, where the table has no heads, with their name. */
function NamedMarks({ name, words }: { readonly name: string; readonly words: readonly string[] }) {
  return (
    <div class="access-marks">
      <span class="brief-word access-soft">{name}</span>
      <Marks words={words} />
    </div>
  );
}
