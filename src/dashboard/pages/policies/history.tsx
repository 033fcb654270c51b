// The sets that have been active, the latest first; the changes of each are loaded on demand.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { type Activation, diffHref, type SetPair, shortDigest } from '../../parts/diff/activations.ts';
import { closingLines, countsText, findingLine } from '../../parts/diff/diff-labels.ts';
import { useAnswer } from '../../parts/diff/use-answer.ts';
import { Button } from '../../parts/layout/button.tsx';
import { Empty, Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { ResourceView } from '../../parts/layout/resource-view.tsx';
import { At } from '../../parts/layout/time.tsx';
import { MessageText } from '../../parts/text/message-text.tsx';
import { RollBack } from './roll-back.tsx';

/** Number of entries shown at first; a button shows the rest. */
const shownAtFirst = 10;

export function History() {
  return (
    <ResourceView resource={useResource('listActivations', {}, ['policies'])} lines={3}>
      {(history) => <Entries {...history} />}
    </ResourceView>
  );
}

function Entries({ items, no_roll_back: never }: Reply<'listActivations'>) {
  const [isWhole, setWhole] = useState(false);
  if (items.length === 0) return <Empty icon="clock" title="The active policies are being added" />;
  const shown = isWhole ? items : items.slice(0, shownAtFirst);
  return (
    <>
      {never !== null && <p class="policies-never">Rollback is not available here: {never}.</p>}
      <ol class="policies-history">
        {shown.map((one, index) => (
          <Entry
            key={`${one.activated_at} ${one.digest}`}
            activation={one}
            before={items[index + 1] ?? null}
            after={items[index - 1] ?? null}
            active={items[0]?.digest ?? ''}
            mayGoBack={never === null}
          />
        ))}
      </ol>
      {shown.length < items.length && (
        <div>
          <Button onClick={() => setWhole(true)}>Show all {items.length}</Button>
        </div>
      )}
    </>
  );
}

interface EntryProps {
  readonly activation: Activation;
  /** The set that was active before; null for the first. */
  readonly before: Activation | null;
  /** The set that became active next; null for the active one. */
  readonly after: Activation | null;
  readonly active: string;
  readonly mayGoBack: boolean;
}

function Entry({ activation, before, after, active, mayGoBack }: EntryProps) {
  const { activated_at: at, digest, commit } = activation;
  const isKept = activation.has_texts && before?.has_texts === true;
  return (
    <li>
      <p>
        <At at={at} />, <code title={digest}>{shortDigest(digest)}</code>
        {commit !== null && (
          <>
            , commit <code title={commit}>{commit.slice(0, 10)}</code>
          </>
        )}
      </p>
      <p>
        <a href={decisionsHref(at, after?.activated_at ?? null)}>
          Its decisions<span class="visually-hidden"> since {at}</span>
        </a>
      </p>
      {before === null ? (
        <p class="policies-never">The first recorded set.</p>
      ) : isKept ? (
        <ShortDiff pair={{ old: before.digest, new: digest }} at={at} />
      ) : (
        <p class="policies-never">The texts are no longer kept, so the change is unknown.</p>
      )}
      {mayGoBack && digest !== active && activation.has_texts && (
        <RollBack activation={activation} active={active} />
      )}
    </li>
  );
}

/** Address of the requests that were decided while the set was active. */
function decisionsHref(from: string, to: string | null): string {
  return `/requests?${new URLSearchParams({ from, ...(to === null ? {} : { to }) })}`;
}

function ShortDiff({ pair, at }: { readonly pair: SetPair; readonly at: string }) {
  const [isOpen, setOpen] = useState(false);
  const { answer, problem, retry } = useAnswer(isOpen ? diffHref(pair) : null, (signal) =>
    call('diffPolicySets', { query: { ...pair }, signal }),
  );
  const diff = answer?.diff ?? null;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Diff<span class="visually-hidden"> at {at}</span>
      </summary>
      {isOpen && answer === null && problem === null && (
        <Loading label="The diff is being computed" lines={2} />
      )}
      <ProblemNote problem={problem} subject="The diff" onRetry={retry} />
      {answer !== null && diff === null && (
        <p>One of the two sets has errors in this version of the language.</p>
      )}
      {diff !== null && (
        <>
          <p role="status">{countsText(diff)}</p>
          <ul class="policies-changed">
            {diff.findings.slice(0, 5).map((finding, index) => (
              <li key={index}>
                <MessageText text={findingLine(finding)} />
              </li>
            ))}
            {diff.findings.length === 0 && (
              <li>
                <MessageText text={closingLines(diff).at(-1)?.text ?? ''} />
              </li>
            )}
          </ul>
        </>
      )}
      <a href={diffHref(pair)}>
        Full diff<span class="visually-hidden"> at {at}</span>
      </a>
    </details>
  );
}
