// The stream of records to a SIEM: how far it is, and what is wrong with it. Nothing is shown when the settings name no
// receiver.

import { useEffect } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { useResource } from '../../api/resource.ts';
import { Note } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

type Stream = NonNullable<Reply<'getRecordStream'>['stream']>;

const everyMs = 2_000;

export function RecordStream() {
  const read = useResource('getRecordStream', {}, []);
  const stream = read.data?.stream ?? null;
  const isThere = stream !== null;
  useEffect(() => {
    if (!isThere) return;
    const timer = setInterval(read.reload, everyMs);
    return () => clearInterval(timer);
  }, [isThere, read.reload]);
  return stream === null ? null : (
    <Section title="Stream to the SIEM">
      <Position stream={stream} />
      <Faults stream={stream} />
    </Section>
  );
}

function Position({ stream }: { readonly stream: Stream }) {
  const { receiver, format, sequence, last_sequence: last, lacking, lacking_since: since } = stream;
  const where = (
    <>
      <PlainText text={receiver} isShort /> ({format.toUpperCase()})
    </>
  );
  if (sequence === null) return <p>Nothing was sent to {where} yet.</p>;
  if (lacking === 0 || since === null)
    return (
      <p>
        {where} has all {last.toLocaleString()} records.
      </p>
    );
  return (
    <>
      <p>
        {where} lacks {lacking === 1 ? '1 record' : `${lacking.toLocaleString()} records`}; the oldest was
        made <Ago at={since} />.
      </p>
      <div class="audit-progress">
        <progress aria-label="Records sent" max={last} value={sequence} />
        <span>
          {sequence.toLocaleString()} of {last.toLocaleString()} records
        </span>
      </div>
    </>
  );
}

function Faults({ stream: { failure, refused, gap } }: { readonly stream: Stream }) {
  return (
    <>
      {refused !== null && (
        <Note tone="deny" icon="warning">
          <strong>The stream has stopped at record {refused.sequence}</strong>
          <p>
            <PlainText text={refused.reason} />
          </p>
        </Note>
      )}
      {failure !== null && (
        <Note tone="unknown" icon="warning">
          <strong>The receiver takes no records</strong>
          <p>
            <PlainText text={failure.reason} />
            {'. First attempt that failed: '}
            <Ago at={failure.since} />.
          </p>
        </Note>
      )}
      {gap !== null && (
        <Note tone="unknown" icon="warning">
          <p>
            The SIEM did not get records {gap.first_sequence} to {gap.last_sequence}, found{' '}
            <Ago at={gap.at} />.
          </p>
        </Note>
      )}
    </>
  );
}
