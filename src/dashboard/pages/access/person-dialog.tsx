// Changes a person: name, roles, groups, and how they sign in.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { usePerson, useSession } from '../../api/session.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { useSending } from '../../parts/form/form.ts';
import { NameField } from '../../parts/form/name-field.tsx';
import { isRole } from '../../parts/form/roles.tsx';
import { SendForm } from '../../parts/form/send-form.tsx';
import { ResourceView } from '../../parts/layout/resource-view.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { PersonSignIn } from './person-sign-in.tsx';
import { type RolesAndGroups, RolesAndGroupsFields } from './roles-and-groups-fields.tsx';

export type Person = Reply<'getPerson'>;

interface PersonDialogProps {
  readonly id: string;
  readonly onChange: () => void;
  readonly onClose: () => void;
}

export function PersonDialog({ id, onChange, onClose }: PersonDialogProps) {
  const loaded = useResource('getPerson', { params: { id } });
  const onChanged = (): void => {
    loaded.reload();
    onChange();
  };
  return (
    <Dialog title="Change a person" onClose={onClose}>
      <ResourceView resource={loaded}>
        {(person) => (
          <>
            <p class="access-soft">
              <bdi>{person.email}</bdi>
            </p>
            <PersonForm key={person.id} person={person} onChange={onChanged} onClose={onClose} />
            <PersonSignIn person={person} onChange={onChanged} />
          </>
        )}
      </ResourceView>
    </Dialog>
  );
}

interface PartProps {
  readonly person: Person;
  readonly onChange: () => void;
}

function PersonForm({ person, onChange, onClose }: PartProps & { readonly onClose: () => void }) {
  const [name, setName] = useState(person.name);
  const [rolesAndGroups, setRolesAndGroups] = useState<RolesAndGroups>({
    roles: person.roles.filter(isRole),
    groups: person.groups,
  });
  const { isBusy, problem, run } = useSending();
  const { take } = useSession();
  const me = usePerson();
  const save = (): Promise<void> =>
    run(async () => {
      const body = { name: name.trim(), ...rolesAndGroups };
      await call('updatePerson', { params: { id: person.id }, body });
      // After changing their own roles, a person sees at once what they still may do.
      if (person.id === me.id) take(await call('getSession'));
      showToast('Changed');
      onChange();
      onClose();
    });
  return (
    <SendForm word="Save" isBusy={isBusy} problem={problem} onSend={save} onCancel={onClose}>
      <NameField value={name} onChange={setName} />
      <RolesAndGroupsFields rolesAndGroups={rolesAndGroups} onChange={setRolesAndGroups} />
    </SendForm>
  );
}
