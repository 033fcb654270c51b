// Changes a person: name, roles, groups, whether they may sign in, and a reset for a lost authenticator.

import { useState } from 'preact/hooks';
import { call, type Reply } from '../../api/client.ts';
import { detailFor } from '../../api/problem.ts';
import { useResource } from '../../api/resource.ts';
import { usePerson, useSession } from '../../api/session.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Field } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { type Proof, ProofForm } from '../../parts/form/proof-form.tsx';
import { isRole } from '../../parts/form/roles.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Loading, Note, ProblemNote } from '../../parts/layout/note.tsx';
import { tellDone } from '../../parts/layout/toast.tsx';
import { type RolesAndGroups, RolesAndGroupsFields } from './roles-and-groups-fields.tsx';

export type Person = Reply<'getPerson'>;

interface PersonDialogProps {
  readonly id: string;
  readonly onChange: () => void;
  readonly onClose: () => void;
}

export function PersonDialog({ id, onChange, onClose }: PersonDialogProps) {
  const { data, problem, reload } = useResource('getPerson', { params: { id } });
  const onChanged = (): void => {
    reload();
    onChange();
  };
  return (
    <Dialog title="Change a person" onClose={onClose}>
      <ProblemNote problem={problem} onRetry={reload} />
      {data === null && problem === null && <Loading />}
      {data !== null && (
        <>
          <p class="access-soft">
            <bdi>{data.email}</bdi>
          </p>
          <PersonForm key={data.id} person={data} onChange={onChanged} onClose={onClose} />
          <FactorsAndStatus person={data} onChange={onChanged} />
        </>
      )}
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
      await call('changePerson', { params: { id: person.id }, body });
      // Who changes their own roles sees at once what is left to them.
      if (person.id === me.id) take(await call('getSession'));
      tellDone('Changed');
      onChange();
      onClose();
    });
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <ProblemNote problem={problem} />
      <Field label="Name" problem={detailFor(problem, 'name')}>
        <input
          required
          maxLength={100}
          autoComplete="off"
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </Field>
      <RolesAndGroupsFields rolesAndGroups={rolesAndGroups} onChange={setRolesAndGroups} problem={problem} />
      <div class="form-actions">
        <Button look="primary" type="submit" isBusy={isBusy}>
          Save
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  );
}

type Question = 'factors' | 'disable' | null;

/** What is asked twice: it takes something away from somebody. */
function FactorsAndStatus({ person, onChange }: PartProps) {
  const [question, setQuestion] = useState<Question>(null);
  const { isBusy, problem, run } = useSending();
  const isActive = person.status === 'active';
  const params = { id: person.id };
  const setStatus = (status: Person['status']): Promise<void> =>
    run(async () => {
      await call('changePerson', { params, body: { status } });
      tellDone(status === 'active' ? 'They can sign in again' : 'Disabled; all their sessions have ended');
      setQuestion(null);
      onChange();
    });
  const resetFactors = async (proof: Proof): Promise<void> => {
    await call('resetFactorsOfPerson', { params, body: proof });
    tellDone('Their one-time codes and passkeys are removed, and their sessions have ended');
    setQuestion(null);
    onChange();
  };
  return (
    <section class="access-status" aria-label="Sign-in">
      <ProblemNote problem={problem} />
      {question === null && (
        <div class="form-actions">
          <Button onClick={() => setQuestion('factors')}>Reset second factors</Button>
          {isActive ? (
            <Button onClick={() => setQuestion('disable')}>Disable</Button>
          ) : (
            <Button isBusy={isBusy} onClick={() => void setStatus('active')}>
              Enable
            </Button>
          )}
        </div>
      )}
      {question === 'factors' && (
        <Note tone="escalate" icon="warning">
          <p>
            They sign in with their password alone until they set up codes or a passkey again, and their
            sessions end. Make sure that the request really comes from them.
          </p>
          <ProofForm
            word="Reset the second factors"
            look="danger"
            onProof={resetFactors}
            onClose={() => setQuestion(null)}
          />
        </Note>
      )}
      {question === 'disable' && (
        <Note tone="escalate" icon="warning">
          <p>They lose access at once: their sessions and tokens end. What they did stays in the record.</p>
          <div class="form-actions">
            <Button look="danger" isBusy={isBusy} onClick={() => void setStatus('disabled')}>
              Disable them
            </Button>
            <Button onClick={() => setQuestion(null)}>Not now</Button>
          </div>
        </Note>
      )}
    </section>
  );
}
