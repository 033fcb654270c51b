// Verifies the chain of records, one stretch a call, and shows the progress. A broken chain and a stored row
// that differs from its seal are reported differently. INVARIANT: the chain is called whole only when one
// walk has gone from the start to the end.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useSending } from '../../parts/form/form.ts';
import { Button } from '../../parts/layout/button.tsx';
import { Note, ProblemNote } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

type Walk = Reply<'verifyRecords'>;

interface ChainSnapshot {
  readonly checked: number;
  readonly walk: Walk;
  readonly at: string;
}

export function ChainStatus() {
  const [seen, setSeen] = useState<ChainSnapshot | null>(null);
  const { isBusy, problem, run } = useSending();
  const isStopped = useRef(false);
  useEffect(
    () => () => {
      isStopped.current = true;
    },
    [],
  );
  const verify = (): Promise<void> =>
    run(async () => {
      isStopped.current = false;
      setSeen(null);
      let cursor: string | null = null;
      let checked = 0;
      do {
        const walk: Walk = await call('verifyRecords', { body: cursor === null ? {} : { cursor } });
        checked += walk.checked;
        setSeen({ checked, walk, at: new Date().toISOString() });
        cursor = walk.status === 'in_progress' ? walk.cursor : null;
      } while (cursor !== null && !isStopped.current);
    });
  return (
    <Section
      title="Chain of records"
      actions={
        isBusy ? (
          <Button
            onClick={() => {
              isStopped.current = true;
            }}
          >
            Stop
          </Button>
        ) : (
          <Button variant="primary" icon="audit" onClick={() => void verify()}>
            Verify the chain
          </Button>
        )
      }
    >
      <ProblemNote problem={problem} />
      {isBusy && <Progress seen={seen} />}
      <div role="status">{!isBusy && problem === null && <Result seen={seen} />}</div>
    </Section>
  );
}

function Progress({ seen }: { readonly seen: ChainSnapshot | null }) {
  const [checked, last] = [seen?.checked ?? 0, seen?.walk.last_sequence ?? 0];
  return (
    <div class="audit-progress">
      <progress aria-label="Records checked" max={Math.max(last, 1)} value={Math.min(checked, last)} />
      <span>
        {checked.toLocaleString()} of {last === 0 ? '…' : last.toLocaleString()} records
      </span>
    </div>
  );
}

function Result({ seen }: { readonly seen: ChainSnapshot | null }) {
  if (seen === null) {
    return (
      <p>
        Each record carries a hash of itself and of the record before it. Verification reads all records and
        finds the first that was changed, removed, added or moved. It then compares the rest of the store with
        the seal of the service.
      </p>
    );
  }
  const { walk, checked, at } = seen;
  if (walk.status === 'broken' && walk.break !== null) {
    return <Broken chainBreak={walk.break} checked={checked} />;
  }
  if (walk.status === 'in_progress') {
    return (
      <Note>
        <p>
          Stopped after {checked.toLocaleString()} of {walk.last_sequence.toLocaleString()} records. These are
          whole.
        </p>
      </Note>
    );
  }
  return (
    <Note tone="allow" icon="check">
      <strong>The chain is intact</strong>
      <p>
        {checked.toLocaleString()} records, checked <Ago at={at} />.
      </p>
    </Note>
  );
}

interface BrokenProps {
  readonly chainBreak: NonNullable<Walk['break']>;
  /** Number of records that were checked before the fault was found. */
  readonly checked: number;
}

function Broken({ chainBreak: found, checked }: BrokenProps) {
  const { sequence, name, difference, message } = found;
  const isStored = difference === 'stored';
  return (
    <Note tone="deny" icon="warning">
      <strong>
        {isStored
          ? 'Data outside the records was changed'
          : `The chain is broken at record ${sequence.toLocaleString()}`}
      </strong>
      <p>
        {name !== null && (
          <>
            <PlainText text={name} isShort />:{' '}
          </>
        )}
        <PlainText text={message} />
      </p>
      <p>
        {isStored
          ? `The chain itself is intact: ${checked.toLocaleString()} records. Another program than Writ changed the database. `
          : `${checked.toLocaleString()} records before it are intact. Compare with a backup, and with checkpoints kept elsewhere. `}
        <code>writ audit verify</code> {isStored ? 'lists everything that differs.' : 'checks them.'}
      </p>
    </Note>
  );
}
