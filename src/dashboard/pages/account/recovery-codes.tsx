// Recovery codes: how many are left, a dialog that makes new ones, and the codes themselves, which are shown
// once.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useReloadSession } from '../../api/session.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { ShownOnce } from '../../parts/dialog/shown-once.tsx';
import { type Proof, ProofForm } from '../../parts/form/proof-form.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Note, ProblemNote } from '../../parts/layout/note.tsx';

/** At this number or fewer, the page urges the person to make new codes. */
const fewLeft = 3;

export function RecoveryCodes() {
  const { data, problem, reload } = useResource('getRecoveryCodes', {});
  const [isMaking, setMaking] = useState(false);
  const left = data?.left ?? null;
  return (
    <>
      <ProblemNote problem={problem} onRetry={reload} />
      {left !== null && left > fewLeft && (
        <p class="account-soft">{left} recovery codes are left for the day when you lose your phone.</p>
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
    const { recovery_codes: made } = await call('makeRecoveryCodes', { body: proof });
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

export function RecoveryCodesDialog({ codes, onClose }: CodesProps) {
  return (
    <Dialog title="Your recovery codes" onClose={onClose}>
      <p>
        If you lose your phone, type one of these instead of the six digits. Each works once. Keep them where
        your phone is not.
      </p>
      <ShownOnce title={`${codes.length} recovery codes`} label="recovery codes" text={codes.join('\n')} />
      <div class="form-actions">
        <Button look="primary" onClick={onClose}>
          I have stored them
        </Button>
      </div>
    </Dialog>
  );
}
