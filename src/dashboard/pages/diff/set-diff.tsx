// Which requests two sets decide differently, and how their files differ.

import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { usePerson } from '../../api/session.tsx';
import { go } from '../../navigation/navigation.ts';
import { diffHref, type SetPair } from '../../parts/diff/activations.ts';
import { ChangedFiles, SentenceList } from '../../parts/diff/changed-texts.tsx';
import { countsText } from '../../parts/diff/diff-labels.ts';
import { DiffResult } from '../../parts/diff/diff-result.tsx';
import type { FindingWays } from '../../parts/diff/finding.tsx';
import { useAnswer } from '../../parts/diff/use-answer.ts';
import { Loading, Note, ProblemNote } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { keepDraft, readDraft } from '../playground/draft-files.ts';

type SetDiff = Reply<'diffPolicySets'>;

interface SetDiffProps {
  readonly setDiff: SetDiff;
  readonly pair: SetPair;
}

export function SetDiffView({ setDiff, pair }: SetDiffProps) {
  const findings = setDiff.diff?.findings ?? [];
  const actions = [...new Set(findings.flatMap((finding) => finding.actions))];
  return (
    <div class="diff-panes">
      <Section title="Decisions that differ">
        <Decided setDiff={setDiff} />
      </Section>
      <div class="diff-texts">
        {actions.length > 0 && (
          <Section title="In sentences">
            <ChangedSentences pair={pair} actions={actions} />
          </Section>
        )}
        <Section title="Text diff">
          <ChangedFiles files={setDiff.files} />
        </Section>
      </div>
    </div>
  );
}

const sides = { old: 'Before', new: 'After' } as const;

function Decided({ setDiff }: { readonly setDiff: SetDiff }) {
  const { diff, failed, diagnostics, requests } = setDiff;
  const person = usePerson();
  const ways: FindingWays = {
    sides,
    onTry: (request) => {
      const storage = window.sessionStorage;
      const draft = readDraft(storage, person.id);
      keepDraft(storage, person.id, { ...draft, request: `${JSON.stringify(request, null, 2)}\n` });
      go('/playground');
    },
  };
  if (diff === null)
    return (
      <Note tone="deny" icon="warning">
        <p>
          {failed === 'old' ? 'The set before' : 'The set after'} has errors in this version of the language,
          so there is no diff of the two.
        </p>
        <ul>
          {diagnostics
            .filter(({ severity }) => severity === 'error')
            .slice(0, 5)
            .map(({ file, line, message }) => (
              <li key={`${file} ${line} ${message}`}>
                <PlainText text={`${file}:${line}: ${message}`} />
              </li>
            ))}
        </ul>
      </Note>
    );
  return (
    <div class="diff">
      <p role="status">{countsText(diff)}</p>
      <DiffResult diff={diff} requests={requests} ways={ways} />
    </div>
  );
}

// The plain sentences that differ between two sets, removed and added, about the actions that the sets decide
// differently.

interface ChangedSentencesProps {
  readonly pair: SetPair;
  /** Must not be empty. */
  readonly actions: readonly string[];
}

function ChangedSentences({ pair, actions }: ChangedSentencesProps) {
  const query = { ...pair, actions: actions.join(',') };
  const { answer, problem, retry } = useAnswer(`${diffHref(pair)} ${query.actions}`, (signal) =>
    call('diffPolicySummaries', { query, signal }),
  );
  if (answer === null)
    return problem === null ? (
      <Loading label="The sentences are being proved" lines={2} />
    ) : (
      <ProblemNote problem={problem} subject="The diff" onRetry={retry} />
    );
  return (
    <>
      <SentenceList items={answer.items} />
      {answer.items.length === 0 && <p>No sentence differs.</p>}
      {!answer.is_complete && (
        <p>
          Some actions are missing: <code>writ diff --format markdown</code> lists all sentences.
        </p>
      )}
    </>
  );
}
