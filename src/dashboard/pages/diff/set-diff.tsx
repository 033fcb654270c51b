// Which requests two sets decide differently, and how their files differ.

import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { usePerson } from '../../api/session.tsx';
import { go } from '../../navigation/navigation.ts';
import { diffHref, type SetPair } from '../../parts/diff/activations.ts';
import { countsText } from '../../parts/diff/diff-labels.ts';
import { DiffResult } from '../../parts/diff/diff-result.tsx';
import type { FindingWays } from '../../parts/diff/finding.tsx';
import { TextDiff } from '../../parts/diff/text-diff.tsx';
import { useAnswer } from '../../parts/diff/use-answer.ts';
import { Empty, Loading, Note, ProblemNote } from '../../parts/layout/note.tsx';
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
          <Files files={setDiff.files} />
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

function Files({ files }: Pick<SetDiff, 'files'>) {
  if (files.length === 0)
    return (
      <Empty icon="policy" title="No file differs">
        Both sets were made from the same texts.
      </Empty>
    );
  return (
    <div class="diff-files">
      {files.map(({ path, old, new: now, is_complete: isWhole }) => (
        <section key={path} aria-label={path}>
          <h3>
            <PlainText text={path} isShort />
            {old === null && ' (new)'}
            {now === null && ' (gone)'}
          </h3>
          {!isWhole && <p>The file is long: this is the diff of its beginning.</p>}
          <TextDiff before={old ?? ''} after={now ?? ''} label={path} />
        </section>
      ))}
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
      <ul class="diff-sentences" aria-label="Sentences that differ">
        {answer.items.map(({ subject, removed, added }) => (
          <li key={subject}>
            <h3>
              <PlainText text={subject} isShort />
            </h3>
            <ul>
              {removed.map((text) => (
                <li key={text}>
                  <del>
                    <span class="visually-hidden">removed: </span>
                    <PlainText text={text} />
                  </del>
                </li>
              ))}
              {added.map((text) => (
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
      {!answer.is_complete && (
        <p>
          Some actions are missing: <code>writ diff --format markdown</code> lists all sentences.
        </p>
      )}
    </>
  );
}
