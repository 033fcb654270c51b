// Sets up one-time codes with a secret for an authenticator app and the app's first code, and removes them
// after a proof of identity.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { usePerson, useReloadSession } from '../../api/session.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { OneTimeSecret } from '../../parts/dialog/one-time-secret.tsx';
import { useSending } from '../../parts/form/form.ts';
import { CodeField, codeDigits } from '../../parts/form/password-and-code.tsx';
import { type Proof, ProofForm } from '../../parts/form/proof-form.tsx';
import { Badge } from '../../parts/layout/badge.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Note, ProblemNote } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { CopyText } from '../../parts/text/copy.tsx';
import { QrCode } from './qr-code.tsx';

/** At this number or fewer, the page urges the person to make new codes. */
const fewLeft = 3;

function RecoveryCodes() {
  const { data, problem, reload } = useResource('getRecoveryCodes', {});
  const [isMaking, setMaking] = useState(false);
  const left = data?.remaining ?? null;
  return (
    <>
      <ProblemNote problem={problem} onRetry={reload} />
      {left !== null && left > fewLeft && (
        <p class="account-soft">{left} recovery codes are left, in case you lose your phone.</p>
      )}
      {left !== null && left <= fewLeft && (
        <Note tone="escalate" icon="warning">
          {left === 0 ? 'No recovery code is left.' : `Only ${left} recovery codes are left.`} Create new ones
          before you need them.
        </Note>
      )}
      <div class="form-actions">
        <Button onClick={() => setMaking(true)}>New recovery codes…</Button>
      </div>
      {isMaking && <MakeDialog onChange={reload} onClose={() => setMaking(false)} />}
    </>
  );
}

interface DialogProps {
  readonly onChange: () => void;
  readonly onClose: () => void;
}

function MakeDialog({ onChange, onClose }: DialogProps) {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const reload = useReloadSession();
  const make = async (proof: Proof): Promise<void> => {
    const { recovery_codes: made } = await call('createRecoveryCodes', { body: proof });
    setCodes(made);
    onChange();
    await reload();
  };
  if (codes !== null) return <RecoveryCodesDialog codes={codes} onClose={onClose} />;
  return (
    <Dialog title="New recovery codes" onClose={onClose}>
      <p>The old ones stop working.</p>
      <ProofForm word="Create them" onProof={make} onClose={onClose} />
    </Dialog>
  );
}

interface CodesProps {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

function RecoveryCodesDialog({ codes, onClose }: CodesProps) {
  return (
    <Dialog title="Your recovery codes" onClose={onClose}>
      <p>
        If you lose your phone, type one of these instead of the six digits. Each works once. Do not keep them
        on your phone.
      </p>
      <OneTimeSecret
        title={`${codes.length} recovery codes`}
        label="recovery codes"
        text={codes.join('\n')}
      />
      <div class="form-actions">
        <Button variant="primary" onClick={onClose}>
          I have stored them
        </Button>
      </div>
    </Dialog>
  );
}

export function Codes() {
  const { has_totp: isSetUp } = usePerson();
  const [offer, setOffer] = useState<Reply<'startTotpSetup'> | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const [recoveryCodes, setRecoveryCodes] = useState<readonly string[] | null>(null);
  const { isBusy, problem, run } = useSending();
  return (
    <Section
      title="One-time codes"
      actions={isSetUp ? <Badge tone="allow">Set up</Badge> : <Badge tone="unknown">Not set up</Badge>}
    >
      <p>
        {isSetUp
          ? 'You need a code from your authenticator app to sign in with your password and to step up.'
          : 'An authenticator app on your phone shows a code that is valid for half a minute. A step-up needs a code or a passkey.'}
      </p>
      <ProblemNote problem={problem} />
      {isSetUp && (
        <>
          <RecoveryCodes key={String(recoveryCodes)} />
          <div class="form-actions">
            <Button onClick={() => setRemoving(true)}>Remove</Button>
          </div>
        </>
      )}
      {!isSetUp && offer === null && (
        <div class="form-actions">
          <Button
            icon="reauth"
            isBusy={isBusy}
            onClick={() => void run(async () => setOffer(await call('startTotpSetup')))}
          >
            Set up
          </Button>
        </div>
      )}
      {!isSetUp && offer !== null && (
        <Confirm offer={offer} onDone={setRecoveryCodes} onClose={() => setOffer(null)} />
      )}
      {recoveryCodes !== null && (
        <RecoveryCodesDialog codes={recoveryCodes} onClose={() => setRecoveryCodes(null)} />
      )}
      {isRemoving && <RemoveDialog onClose={() => setRemoving(false)} />}
    </Section>
  );
}

interface ConfirmProps {
  readonly offer: Reply<'startTotpSetup'>;
  readonly onDone: (recoveryCodes: readonly string[]) => void;
  readonly onClose: () => void;
}

function Confirm({ offer, onDone, onClose }: ConfirmProps) {
  const [code, setCode] = useState('');
  const reload = useReloadSession();
  const confirm = async (proof: Proof): Promise<void> => {
    const body = { ...proof, secret: offer.secret, code: codeDigits(code) };
    const { recovery_codes: made } = await call('confirmTotpSetup', { body });
    showToast('One-time codes are set up');
    onDone(made);
    onClose();
    await reload();
  };
  return (
    <div class="account-code">
      <QrCode text={offer.uri} label="QR code for an authenticator app; the secret is next to it as text" />
      <div class="form">
        <p>Scan it with your app, or type the secret there:</p>
        <CopyText text={offer.secret} label="secret" />
        <ProofForm word="Confirm" onProof={confirm} onClose={onClose}>
          <CodeField
            label="First code"
            help="The six digits that the app shows now."
            code={code}
            onCode={setCode}
          />
        </ProofForm>
      </div>
    </div>
  );
}

function RemoveDialog({ onClose }: { readonly onClose: () => void }) {
  const reload = useReloadSession();
  const remove = async (proof: Proof): Promise<void> => {
    await call('deleteTotp', { body: proof });
    showToast('One-time codes are removed');
    onClose();
    await reload();
  };
  return (
    <Dialog title="Remove one-time codes" onClose={onClose}>
      <p>You then sign in with only your password.</p>
      <ProofForm word="Remove them" variant="danger" onProof={remove} onClose={onClose} />
    </Dialog>
  );
}
