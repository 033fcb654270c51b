// The person's own stand-ins, and those for whom the person stands in. A member of an approval group names a stand-in
// here.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { usePerson } from '../../api/session.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Field } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { SendForm } from '../../parts/form/send-form.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { type StandIn, StandInTable } from '../../parts/people/stand-ins.tsx';

export function StandIns() {
  const { id, groups } = usePerson();
  const list = useResource('listStandIns', {}, ['people']);
  const [isNaming, setNaming] = useState(false);
  const own = (list.data?.items ?? []).filter((one) => isOf(one, id));
  return (
    <>
      <ListSection
        title="Stand-ins"
        actions={
          groups.length > 0 && (
            <Button icon="plus" onClick={() => setNaming(true)}>
              Name a stand-in
            </Button>
          )
        }
        lead={
          <p class="account-soft">
            A stand-in votes in your place while you are away. The two of you count as one person.
          </p>
        }
        list={{ ...list, data: list.data && { items: own } }}
        lines={1}
        empty={<p class="account-soft">Nobody stands in for you, and you stand in for nobody.</p>}
      >
        {(standIns) => <StandInTable standIns={standIns} ownId={id} onChange={list.reload} />}
      </ListSection>
      {isNaming && <NameDialog groups={groups} onChange={list.reload} onClose={() => setNaming(false)} />}
    </>
  );
}

function isOf({ person, stand_in }: StandIn, id: string): boolean {
  return person.id === id || stand_in.id === id;
}

interface NameDialogProps {
  readonly groups: readonly string[];
  readonly onChange: () => void;
  readonly onClose: () => void;
}

function NameDialog({ groups, onChange, onClose }: NameDialogProps) {
  const [standIn, setStandIn] = useState('');
  const [group, setGroup] = useState(groups[0] ?? '');
  const [day, setDay] = useState('');
  const { isBusy, problem, run } = useSending();
  const name = (): Promise<void> =>
    run(async () => {
      // Until the end of the day, by the clock of this machine.
      const until = new Date(`${day}T23:59:59`).toISOString();
      await call('nameStandIn', { body: { stand_in: standIn.trim(), group, until } });
      showToast('Your stand-in is named; an admin has to confirm it');
      onChange();
      onClose();
    });
  return (
    <Dialog title="Name a stand-in" onClose={onClose}>
      <SendForm word="Name the stand-in" isBusy={isBusy} problem={problem} onSend={name} onCancel={onClose}>
        <Field label="Group" name="group">
          <select value={group} onChange={({ currentTarget }) => setGroup(currentTarget.value)}>
            {groups.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </Field>
        <Field
          label="E-mail address of the stand-in"
          name="stand_in"
          help="An approver who is not in this group. An admin has to confirm it."
        >
          <input
            type="email"
            autoComplete="off"
            required
            maxLength={254}
            value={standIn}
            onInput={({ currentTarget }) => setStandIn(currentTarget.value)}
          />
        </Field>
        <Field label="Last day" name="until" help="At most 90 days away.">
          <input
            type="date"
            required
            value={day}
            onInput={({ currentTarget }) => setDay(currentTarget.value)}
          />
        </Field>
      </SendForm>
    </Dialog>
  );
}
