// The standing approvals that the person may see, with a button that revokes them.

import { useResource } from '../../api/resource.ts';
import { useAddress } from '../../navigation/navigation.ts';
import { ButtonLink } from '../../parts/layout/button.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { Empty } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import { StandingTable } from '../../parts/people/standing-approvals.tsx';

export default function StandingApprovalsPage() {
  const { query } = useAddress();
  const cursor = query.get('cursor') ?? undefined;
  const list = useResource('listStandingApprovals', { query: { cursor } }, ['approvals', 'requests']);
  return (
    <PageFrame
      title="Standing approvals"
      lead="Approvals that also serve later requests, within their keys, time and count."
      actions={<ButtonLink href="/approvals">Inbox</ButtonLink>}
    >
      <ListSection
        title="All standing approvals"
        list={list}
        empty={
          <Empty icon="inbox" title="No standing approval">
            <p>
              If a rule has a <code>standing</code> clause, its approvers can approve later requests, too.
            </p>
          </Empty>
        }
      >
        {(items, isOld) => <StandingTable items={items} isOld={isOld} reload={list.reload} />}
      </ListSection>
    </PageFrame>
  );
}
