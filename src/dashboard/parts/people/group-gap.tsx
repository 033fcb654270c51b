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

interface FillGroupProps {
  readonly group: Group;
  /** The id or address of a person who would not close the gap; null when anybody would. */
  readonly except?: string | null;
}

/** The buttons that close the gap, for people who may. */
export function FillGroup({ group, except = null }: FillGroupProps) {
  const [isJoining, setJoining] = useState(false);
  const person = usePerson();
  const mayJoin =
    useGrant('people.change') === 'yes' && !person.groups.includes(group.name) && !isNamed(person, except);
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
      You can then approve requests for <strong>{name}</strong>. Your approval does not count for agents whose
      control owner you are where two or more people must approve. The change is recorded with your name.
    </ConfirmDialog>
  );
}

/** Whether the text is the id or the address of the person. */
function isNamed(
  { id, email }: { readonly id: string; readonly email: string },
  text: string | null,
): boolean {
  return id === text || email.toLowerCase() === text?.toLowerCase();
}

type GroupGapsProps = Pick<Reply<'getRequest'>, 'requires' | 'status' | 'agent'>;

/** A group that cannot answer a request. */
interface RequestGap {
  readonly group: Group;
  /** The control owner of the agent, where their approval does not count; else null. */
  readonly except: string | null;
  readonly isExceptMember: boolean;
}

/** Says which of the groups that a pending request asks cannot answer. */
export function GroupGaps({ requires, status, agent }: GroupGapsProps) {
  const approvals = status === 'pending' ? (requires?.approvals ?? []) : [];
  const { data } = useResource('listGroups', approvals.length === 0 ? null : {}, ['people', 'policies']);
  const owner = typeof agent.control_owner === 'string' ? agent.control_owner : null;
  const gaps = approvals.flatMap(({ group, needs }) => {
    const found = data?.items.find(({ name }) => name === group);
    return found === undefined ? [] : requestGap({ ...found, needs }, owner);
  });
  if (gaps.length === 0) return null;
  return (
    <>
      {gaps.map(({ group, except, isExceptMember }) => (
        <Note key={group.name} tone="escalate" icon="warning">
          <p>
            <strong>
              {group.has === 0 ? 'Nobody' : 'Too few people'} can answer for {group.name} now.
            </strong>{' '}
            The group {gapText(group)}
            {isExceptMember && ', as the approval of the control owner of the agent does not count'}. Unless
            it gets them, the request ends unanswered.
          </p>
          <div class="form-actions">
            <FillGroup group={group} except={except} />
          </div>
        </Note>
      ))}
    </>
  );
}

/** Where two or more people must approve, the control owner of the agent is none of them. */
function requestGap(group: Group, owner: string | null): readonly RequestGap[] {
  const except = group.needs > 1 ? owner : null;
  const isExceptMember = group.members?.some((member) => isNamed(member, except)) === true;
  const has = group.has - (isExceptMember ? 1 : 0);
  return has < group.needs ? [{ group: { ...group, has }, except, isExceptMember }] : [];
}
