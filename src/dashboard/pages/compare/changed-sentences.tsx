// The plain sentences that differ between two sets, removed and added, about the actions that the sets decide
// differently.

import { call } from '../../api/client.ts';
import { compareHref, type SetPair } from '../../parts/comparison/activations.ts';
import { useAnswer } from '../../parts/comparison/use-answer.ts';
import { Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

interface ChangedSentencesProps {
  readonly pair: SetPair;
  /** Must not be empty. */
  readonly actions: readonly string[];
}

export function ChangedSentences({ pair, actions }: ChangedSentencesProps) {
  const query = { ...pair, actions: actions.join(',') };
  const { answer, problem, retry } = useAnswer(`${compareHref(pair)} ${query.actions}`, (signal) =>
    call('getChangedSentences', { query, signal }),
  );
  if (answer === null)
    return problem === null ? (
      <Loading label="The sentences are being proved" lines={2} />
    ) : (
      <ProblemNote problem={problem} onRetry={retry} />
    );
  return (
    <>
      <ul class="compare-sentences" aria-label="What is said otherwise">
        {answer.items.map(({ of, gone, come }) => (
          <li key={of}>
            <h3>
              <PlainText text={of} isShort />
            </h3>
            <ul>
              {gone.map((text) => (
                <li key={text}>
                  <del>
                    <span class="visually-hidden">removed: </span>
                    <PlainText text={text} />
                  </del>
                </li>
              ))}
              {come.map((text) => (
                <li key={text}>
                  <ins>
                    <span class="visually-hidden">added: </span>
                    <PlainText text={text} />
                  </ins>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      {answer.items.length === 0 && <p>No sentence differs.</p>}
      {!answer.is_whole && (
        <p>
          Not all actions were looked at: <code>writ diff --format markdown</code> says them all.
        </p>
      )}
    </>
  );
}
