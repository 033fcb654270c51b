// The page of everyone with access: people and what each may do, applications that wait for an answer, and
// invitations. The address says which tab is shown.

import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { useAddress } from '../../navigation/navigation.ts';
import { ButtonLink } from '../../parts/layout/button.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import '../../parts/layout/tabs.css';
import './access.css';
import { Applications } from './applications.tsx';
import { Groups } from './groups.tsx';
import { Invitations } from './invitations.tsx';
import { People } from './people.tsx';
import { StandIns } from './stand-ins.tsx';

const tabs = {
  people: { title: 'People', access: 'people.view', Content: PeopleAndGroups },
  applications: { title: 'Applications', access: 'applications.view', Content: Applications },
  invitations: { title: 'Invitations', access: 'people.view', Content: Invitations },
} as const;

function PeopleAndGroups() {
  return (
    <>
      <Groups />
      <StandIns />
      <People />
    </>
  );
}

type TabName = keyof typeof tabs;
const names = Object.keys(tabs) as TabName[];

export default function Access() {
  const { query } = useAddress();
  const mayInvite = useGrant('people.invite') === 'yes';
  const shown = names.find((name) => name === query.get('tab')) ?? 'people';
  const { Content, access } = tabs[shown];
  const maySee = useGrant(access) !== 'no';
  return (
    <PageFrame
      title="People & access"
      lead="Who has access, and what each person may do."
      actions={
        mayInvite && (
          <ButtonLink variant="primary" icon="plus" href="/access?tab=invitations">
            Invite
          </ButtonLink>
        )
      }
    >
      <nav class="tabs" aria-label="Sections">
        {names.map((name) => (
          <Tab key={name} name={name} isHere={name === shown} />
        ))}
      </nav>
      {maySee ? <Content /> : <p>Your roles do not include this.</p>}
    </PageFrame>
  );
}

function Tab({ name, isHere }: { readonly name: TabName; readonly isHere: boolean }) {
  const { title, access } = tabs[name];
  if (useGrant(access) === 'no') return null;
  return (
    <a href={`/access?tab=${name}`} aria-current={isHere ? 'page' : undefined}>
      {title}
      {name === 'applications' && <OpenCount />}
    </a>
  );
}

/** Number of applications without an answer; marked when any of them is overdue. */
function OpenCount() {
  const { data } = useResource('listApplications', { query: { limit: '200' } }, ['people']);
  const open = (data?.items ?? []).filter(({ status }) => status === 'open');
  const overdue = open.filter(({ is_overdue: isOverdue }) => isOverdue).length;
  if (open.length === 0) return null;
  return (
    <span class={overdue > 0 ? 'access-count access-count-overdue' : 'access-count'}>
      {open.length}
      <span class="visually-hidden"> waiting{overdue > 0 && `, ${overdue} overdue`}</span>
    </span>
  );
}
