// Whether the chain of records is as it was written: walked a stretch a call, with how far it has come, until the end or
// the first record that does not fit. INVARIANT: it says whole only where one walk has reached the end from the beginning.

import { useEffect, useRef, useState } from 'preact/hooks';
import { call, type Reply } from '../../api/client.ts';
import { useSending } from '../../parts/form/form.ts';
import { Button } from '../../parts/layout/button.tsx';
import { Note, ProblemNote } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

type Walk = Reply<'verifyRecords'>;

interface Seen {
  readonly checked: number;
  readonly walk: Walk;
  readonly at: string;
}

export function ChainStatus() {
  const [seen, setSeen] = useState<Seen | null>(null);
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
        cursor = walk.status === 'going-on' ? walk.cursor : null;
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
          <Button look="primary" icon="audit" onClick={() => void verify()}>
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

function Progress({ seen }: { readonly seen: Seen | null }) {
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

function Result({ seen }: { readonly seen: Seen | null }) {
  if (seen === null) {
    return (
      <p>
        Each record carries a hash over itself and the one before. Verifying walks them all and finds the
        first that was changed, taken away, added or moved.
      </p>
    );
  }
  const { walk, checked, at } = seen;
  if (walk.status === 'broken' && walk.break !== null) {
    return (
      <Note tone="deny" icon="warning">
        <strong>The chain is broken at record {walk.break.sequence.toLocaleString()}</strong>
        <p>
          <PlainText text={walk.break.message} />
        </p>
        {walk.break.name !== null && (
          <p>
            It is <PlainText text={walk.break.name} isShort />.
          </p>
        )}
        <p>
          {checked.toLocaleString()} records before it are whole. Compare with a backup, and with checkpoints
          that were kept elsewhere (<code>writ audit verify</code>).
        </p>
      </Note>
    );
  }
  if (walk.status === 'going-on') {
    return (
      <Note>
        <p>
          Stopped after {checked.toLocaleString()} of {walk.last_sequence.toLocaleString()} records; those are
          whole.
        </p>
      </Note>
    );
  }
  return (
    <Note tone="allow" icon="check">
      <strong>The chain is whole</strong>
      <p>
        {checked.toLocaleString()} records, looked at <Ago at={at} />.
      </p>
    </Note>
  );
}
