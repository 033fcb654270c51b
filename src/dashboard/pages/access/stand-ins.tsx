// All stand-ins, for people who may view people: an admin confirms those that wait for it.

import { useResource } from '../../api/resource.ts';
import { usePerson } from '../../api/session.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { StandInTable } from '../../parts/people/stand-ins.tsx';

export function StandIns() {
  const { id } = usePerson();
  const list = useResource('listStandIns', {}, ['people']);
  return (
    <ListSection
      title="Stand-ins"
      lead={
        <p class="access-soft">
          Who votes in the place of a member of a group. An admin confirms a stand-in.
        </p>
      }
      list={list}
      lines={1}
      empty={<p class="access-soft">Nobody stands in for anybody.</p>}
    >
      {(standIns) => <StandInTable standIns={standIns} ownId={id} onChange={list.reload} />}
    </ListSection>
  );
}
