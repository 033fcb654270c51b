// What an admin can do about a person's sign-in: make a link for a forgotten password, reset second factors,
// end sessions, and end all access.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useSession } from '../../api/session.tsx';
import { OneTimeSecret } from '../../parts/dialog/one-time-secret.tsx';
import { useSending } from '../../parts/form/form.ts';
import { type Proof, ProofForm } from '../../parts/form/proof-form.tsx';
import { SessionTable } from '../../parts/form/session-table.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Note, ProblemNote } from '../../parts/layout/note.tsx';
import { At } from '../../parts/layout/time.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { ChatAccountName } from '../../parts/people/chat-account.tsx';
import type { Person } from './person-dialog.tsx';

interface PartProps {
  readonly person: Person;
  readonly onChange: () => void;
}

type Question = 'password' | 'factors' | 'disable' | null;

/** Actions that take something away from a person ask for confirmation. */
export function PersonSignIn({ person, onChange }: PartProps) {
  const [question, setQuestion] = useState<Question>(null);
  const { isBusy, problem, run } = useSending();
  const isActive = person.status === 'active';
  const close = (): void => setQuestion(null);
  const setStatus = (status: Person['status']): Promise<void> =>
    run(async () => {
      await call('updatePerson', { params: { id: person.id }, body: { status } });
      showToast(status === 'active' ? 'They can sign in again' : 'Disabled; all their sessions have ended');
      close();
      onChange();
    });
  return (
    <section class="access-status" aria-label="Sign-in">
      <ProblemNote problem={problem} />
      {question === null && (
        <div class="form-actions">
          {isActive && <Button onClick={() => setQuestion('password')}>Reset password…</Button>}
          <Button onClick={() => setQuestion('factors')}>Reset second factors…</Button>
          {isActive ? (
            <Button onClick={() => setQuestion('disable')}>Disable…</Button>
          ) : (
            <Button isBusy={isBusy} onClick={() => void setStatus('active')}>
              Enable
            </Button>
          )}
        </div>
      )}
      {question === 'password' && <ResetPassword person={person} onClose={close} />}
      {question === 'factors' && <ResetFactors person={person} onChange={onChange} onClose={close} />}
      {question === 'disable' && (
        <Note tone="escalate" icon="warning">
          <p>
            They lose access immediately: their sessions, tokens and links to chat accounts end. What they did
            stays in the record.
          </p>
          <div class="form-actions">
            <Button variant="danger" isBusy={isBusy} onClick={() => void setStatus('disabled')}>
              Disable them
            </Button>
            <Button onClick={close}>Not now</Button>
          </div>
        </Note>
      )}
      <PersonSessions person={person} />
      <PersonChatAccounts person={person} />
    </section>
  );
}

interface QuestionProps {
  readonly person: Person;
  readonly onClose: () => void;
}

function ResetPassword({ person, onClose }: QuestionProps) {
  const { session } = useSession();
  const mailed = session?.sends_mail === true ? 'Writ has also mailed it to them.' : null;
  const [removesFactors, setRemovesFactors] = useState(false);
  const [made, setMade] = useState<Reply<'createResetLink'> | null>(null);
  const make = async (proof: Proof): Promise<void> => {
    const body = { ...proof, removes_second_factors: removesFactors };
    setMade(await call('createResetLink', { params: { id: person.id }, body }));
  };
  if (made !== null) {
    const link = `${window.location.origin}/reset#token=${made.token}`;
    return (
      <OneTimeSecret title={`Reset link for ${made.email}`} label="reset link" text={link}>
        <p>
          Give this link only to them. It works once, until <At at={made.ends_at} />. {mailed}
        </p>
      </OneTimeSecret>
    );
  }
  return (
    <Note tone="escalate" icon="warning">
      <p>
        You get a link with which they set a new password. This ends their sessions and tokens. It is
        recorded, and they are notified. Make sure that the request really comes from them.
      </p>
      <ProofForm word="Create the link" onProof={make} onClose={onClose}>
        {() => (
          <label class="choice">
            <input
              type="checkbox"
              checked={removesFactors}
              onChange={({ currentTarget }) => setRemovesFactors(currentTarget.checked)}
            />
            <span>
              They have lost their phone as well: the link also removes their one-time codes and passkeys
            </span>
          </label>
        )}
      </ProofForm>
    </Note>
  );
}

function ResetFactors({ person, onChange, onClose }: PartProps & QuestionProps) {
  const reset = async (proof: Proof): Promise<void> => {
    await call('resetSecondFactors', { params: { id: person.id }, body: proof });
    showToast('Their one-time codes and passkeys are removed, and their sessions have ended');
    onClose();
    onChange();
  };
  return (
    <Note tone="escalate" icon="warning">
      <p>
        They sign in with only their password until they set up codes or a passkey again, and their sessions
        end. Make sure that the request really comes from them.
      </p>
      <ProofForm word="Reset the second factors" variant="danger" onProof={reset} onClose={onClose} />
    </Note>
  );
}

function PersonChatAccounts({ person: { id } }: Pick<PartProps, 'person'>) {
  const { data, problem, reload } = useResource('listPersonChatLinks', { params: { id } });
  const { isBusy, problem: problemOfEnding, run } = useSending();
  const end = (link: string): Promise<void> =>
    run(async () => {
      await call('deletePersonChatLink', { params: { id, link } });
      showToast('The link has ended');
      reload();
    });
  return (
    <>
      <ProblemNote problem={problem ?? problemOfEnding} />
      {data !== null && data.items.length > 0 && (
        <>
          <h3 class="access-sessions">Chat accounts</h3>
          <ul>
            {data.items.map(({ id: link, account }) => (
              <li key={link}>
                {account !== null && <ChatAccountName account={account} />}{' '}
                <Button isBusy={isBusy} onClick={() => void end(link)}>
                  End the link
                </Button>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function PersonSessions({ person: { id } }: Pick<PartProps, 'person'>) {
  const { data, problem, reload } = useResource('listPersonSessions', { params: { id } });
  const { isBusy, problem: problemOfEnding, run } = useSending();
  const endAll = (): Promise<void> =>
    run(async () => {
      await call('endPersonSessions', { params: { id } });
      showToast('All their sessions have ended');
      reload();
    });
  const end = async (session: string): Promise<void> => {
    await call('endPersonSession', { params: { id, session } });
    showToast('The session has ended');
    reload();
  };
  return (
    <>
      <ProblemNote problem={problem ?? problemOfEnding} />
      {data?.items.length === 0 && <p class="access-soft">Not signed in anywhere.</p>}
      {data !== null && data.items.length > 0 && (
        <>
          <h3 class="access-sessions">Sessions</h3>
          <SessionTable label="Their sessions" sessions={data.items} onEnd={end} />
          <div class="form-actions">
            <Button isBusy={isBusy} onClick={() => void endAll()}>
              End all sessions
            </Button>
          </div>
        </>
      )}
    </>
  );
}
