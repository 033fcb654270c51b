// What the active policies do, in plain sentences for people who do not read policies, each with a link to
// its line.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useSending } from '../../parts/form/form.ts';
import { Button } from '../../parts/layout/button.tsx';
import { Icon } from '../../parts/layout/icon.tsx';
import { Empty, Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { fileHref } from './links.ts';

type SummaryPart = Reply<'getPolicySummary'>;
type SummarisedAction = SummaryPart['actions'][number];

/** `digest`: that of the active set; parts about another set are dropped. */
export function Summary({ digest }: { readonly digest: string }) {
  const first = useResource('getPolicySummary', {}, ['policies']);
  const more = useMoreSentences(first.data, digest);
  if (first.data === null)
    return first.problem === null ? (
      <Loading label="The sentences are being proved" />
    ) : (
      <ProblemNote problem={first.problem} onRetry={first.reload} />
    );
  const actions = [...first.data.actions, ...more.actions];
  if (actions.length === 0)
    return (
      <Empty icon="policy" title="No action is declared yet">
        Undeclared actions are denied.
      </Empty>
    );
  return (
    <>
      <ul class="policies-summary" aria-label="What the policies do">
        {actions.map((one) => (
          <ActionSentences key={one.actions.join(' ')} action={one} />
        ))}
      </ul>
      <Words words={[...first.data.words, ...more.words]} />
      <p class="policies-never">Unknown facts never let a request pass.</p>
      <ProblemNote problem={more.problem} />
      {more.hasMore && (
        <div>
          <Button onClick={more.load} isBusy={more.isBusy}>
            Show more actions
          </Button>
        </div>
      )}
    </>
  );
}

function useMoreSentences(first: SummaryPart | null, digest: string) {
  const [page, setPage] = useState<(SummaryPart & { readonly digest: string }) | null>(null);
  const { problem, isBusy, run } = useSending();
  const ofNow = page?.digest === digest ? page : null;
  const next = ofNow === null ? (first?.next_cursor ?? null) : ofNow.next_cursor;
  const [actions, words] = [ofNow?.actions ?? [], ofNow?.words ?? []];
  const load = (): Promise<void> =>
    run(async () => {
      if (next === null) return;
      const reply = await call('getPolicySummary', { query: { cursor: next } });
      const all = { actions: [...actions, ...reply.actions], words: [...words, ...reply.words] };
      setPage({ ...all, digest, next_cursor: reply.next_cursor });
    });
  return { actions, words, hasMore: next !== null, problem, isBusy, load };
}

function ActionSentences({ action: { actions, title, sentences } }: { readonly action: SummarisedAction }) {
  return (
    <li>
      <h3>
        <PlainText text={actions.join(', ')} isShort />
      </h3>
      {title !== null && (
        <p class="policies-never">
          <PlainText text={title} />
        </p>
      )}
      <ul class="policies-sentences">
        {sentences.map(({ text, file, line, unproved_reason: whyNot }) => (
          <li key={text} class={whyNot === null ? 'verdict-proved' : 'verdict-warning'}>
            <Icon name={whyNot === null ? 'check' : 'warning'} />
            <span>
              {whyNot !== null && `Not confirmed (${whyNot}): `}
              <PlainText text={text} /> <LineLink file={file} line={line} />
            </span>
          </li>
        ))}
      </ul>
    </li>
  );
}

function LineLink({ file, line }: { readonly file: string; readonly line: number }) {
  return (
    <a class="policies-line" href={fileHref({ path: file, line })}>
      {file}:{line}
    </a>
  );
}

function Words({ words }: Pick<SummaryPart, 'words'>) {
  const byName = new Map(words.map((word) => [word.name, word]));
  if (byName.size === 0) return null;
  return (
    <details>
      <summary>Words</summary>
      <ul class="policies-sentences">
        {[...byName.values()].map(({ name, text, file, line }) => (
          <li key={name}>
            <span>
              <b>{name.replaceAll('_', ' ')}</b>: <PlainText text={text} />{' '}
              <LineLink file={file} line={line} />
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
