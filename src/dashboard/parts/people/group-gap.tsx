// What is missing in an approval group, and what closes the gap: an admin adds themselves, or somebody is
// invited.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant, usePerson, useReloadSession } from '../../api/session.tsx';
import { ConfirmDialog } from '../dialog/confirm-dialog.tsx';
import { Button, ButtonLink } from '../layout/button.tsx';
import { Note } from '../layout/note.tsx';

export type Group = Reply<'listGroups'>['items'][number];

/** Null when the group has as many members as a rule needs. */
export function gapText({ needs, has }: Pick<Group, 'needs' | 'has'>): string | null {
  if (has >= needs) return null;
  if (has === 0) return 'has no members';
  return `has ${has} of the ${needs} members that it needs`;
}

/** The buttons that close the gap, for people who may. */
export function FillGroup({ group }: { readonly group: Group }) {
  const [isJoining, setJoining] = useState(false);
  const { groups } = usePerson();
  const mayJoin = useGrant('people.change') === 'yes' && !groups.includes(group.name);
  const mayInvite = useGrant('people.change') === 'yes';
  return (
    <>
      {mayJoin && (
        <Button onClick={() => setJoining(true)}>
          Add yourself<span class="visually-hidden"> to {group.name}</span>
        </Button>
      )}
      {mayInvite && (
        <ButtonLink href={`/access?${new URLSearchParams({ tab: 'invitations', group: group.name })}`}>
          Invite<span class="visually-hidden"> someone to {group.name}</span>
        </ButtonLink>
      )}
      {isJoining && <JoinDialog group={group} onClose={() => setJoining(false)} />}
    </>
  );
}

function JoinDialog({ group: { name }, onClose }: { readonly group: Group; readonly onClose: () => void }) {
  const { id } = usePerson();
  const reload = useReloadSession();
  const join = async (): Promise<void> => {
    const { groups } = await call('getPerson', { params: { id } });
    await call('updatePerson', { params: { id }, body: { groups: [...new Set([...groups, name])] } });
    await reload();
  };
  return (
    <ConfirmDialog
      title={`Add yourself to ${name}`}
      word="Add yourself"
      variant="primary"
      done={`You are in ${name} now`}
      work={join}
      onDone={() => undefined}
      onClose={onClose}
    >
      You can then approve requests for <strong>{name}</strong>, except requests of agents whose control owner
      you are where a rule excludes you. The change is recorded with your name.
    </ConfirmDialog>
  );
}

interface GroupGapsProps {
  /** What a pending request still needs; null when it does not wait. */
  readonly requires: Reply<'getRequest'>['requires'];
  readonly status: string;
}

/** Says which of the groups that a pending request asks cannot answer. */
export function GroupGaps({ requires, status }: GroupGapsProps) {
  const approvals = status === 'pending' ? (requires?.approvals ?? []) : [];
  const { data } = useResource('listGroups', approvals.length === 0 ? null : {}, ['people', 'policies']);
  const gaps = approvals.flatMap(({ group, needs }) => {
    const counts = data?.items.find(({ name }) => name === group);
    return counts !== undefined && counts.has < needs ? [{ ...counts, needs }] : [];
  });
  if (gaps.length === 0) return null;
  return (
    <>
      {gaps.map((group) => (
        <Note key={group.name} tone="escalate" icon="warning">
          <p>
            <strong>Nobody can answer for {group.name} now.</strong> The group {gapText(group)}. Unless it
            gets them, the request ends unanswered.
          </p>
          <div class="form-actions">
            <FillGroup group={group} />
          </div>
        </Note>
      ))}
    </>
  );
}
