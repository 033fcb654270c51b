// Why the policy directory failed to load: each diagnostic at its place in the text that failed.

import { useEffect, useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useGrant } from '../../api/session.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { DiagnosticLink } from '../../parts/policy/diagnostic-link.tsx';
import { PolicySource, type SourceMark } from '../../parts/policy/policy-source.tsx';
import { MessageText } from '../../parts/text/message-text.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { type Excerpt, excerptsOf, type FailureDiagnostic } from './excerpts.ts';
import { fileHref, fixHref } from './links.ts';

type Failure = NonNullable<Reply<'getPolicies'>['state']['failure']>;

const causes: Readonly<Record<Failure['cause'], string>> = {
  policies: 'The files in the policy directory have errors',
  unsettled: 'The files in the policy directory keep changing',
  compiler: 'The compiler could not finish',
  bundle: 'The bundle cannot be served',
};

export function FailureNote({ failure }: { readonly failure: Failure }) {
  const { at, cause, message, diagnostics } = failure;
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  return (
    <Note tone="deny" icon="warning">
      <strong>{causes[cause]}</strong>
      <p>
        The last valid set still decides. It failed <Ago at={at} />
        {errors > 0 && `, with ${errors} ${errors === 1 ? 'error' : 'errors'}`}. Correct the files; they are
        read again when they change.
      </p>
      {diagnostics.length === 0 && (
        <p>
          <PlainText text={message} />
        </p>
      )}
    </Note>
  );
}

/** The diagnostics, file by file. */
export function FailurePlaces({ failure: { at, diagnostics } }: { readonly failure: Failure }) {
  const files = [...new Set(diagnostics.map(({ file }) => file))];
  return (
    <div class="policies-failure">
      {files.map((file) => (
        <FailedFile
          key={file}
          file={file}
          at={at}
          diagnostics={diagnostics.filter((one) => one.file === file)}
        />
      ))}
    </div>
  );
}

interface FailedFileProps {
  /** Empty for diagnostics of the whole directory. */
  readonly file: string;
  readonly at: string;
  readonly diagnostics: readonly FailureDiagnostic[];
}

function FailedFile({ file, at, diagnostics }: FailedFileProps) {
  const mayTry = useGrant('policies.try') !== 'no';
  const text = useFailedText(file, at);
  const excerpts = text === null ? [] : excerptsOf(text, diagnostics);
  const shown = new Set(excerpts.flatMap((excerpt) => excerpt.diagnostics));
  const placed = diagnostics.filter(({ start }) => start !== null);
  const firstError = (placed.find(({ severity }) => severity === 'error') ?? placed[0])?.start ?? null;
  const others = diagnostics.filter((one) => !shown.has(one));
  return (
    <section class="policies-failed-file" aria-label={file === '' ? 'The policy directory' : file}>
      <header>
        <h3>
          {file === '' ? (
            'The policy directory'
          ) : (
            <a href={fileHref({ path: file, of: 'failed' })}>
              <PlainText text={file} isShort />
            </a>
          )}
        </h3>
        {mayTry && file.endsWith('.policy') && (
          <a href={fixHref(file, firstError)}>Fix it in the playground</a>
        )}
      </header>
      {excerpts.map((excerpt) => (
        <FailedExcerpt key={excerpt.firstLine} file={file} excerpt={excerpt} />
      ))}
      {others.map((one, index) => (
        <div key={index} class="policies-diagnostic">
          <DiagnosticText diagnostic={one} />
        </div>
      ))}
    </section>
  );
}

function FailedExcerpt({ file, excerpt }: { readonly file: string; readonly excerpt: Excerpt }) {
  const { firstLine, text, diagnostics } = excerpt;
  return (
    <PolicySource
      text={text}
      firstLine={firstLine}
      label={`${file}, from line ${firstLine}`}
      marks={diagnostics.flatMap(markOf)}
      isPlain={!file.endsWith('.policy')}
      lineHref={(line) => fileHref({ path: file, of: 'failed', line })}
    />
  );
}

/** A diagnostic as a note below its line; empty when it has no place. */
export function markOf(diagnostic: FailureDiagnostic): readonly SourceMark[] {
  const { severity, start, end } = diagnostic;
  if (start === null) return [];
  return [
    {
      tone: severity,
      line: start.line,
      column: start.column,
      ...(end === null ? {} : { endLine: end.line, endColumn: end.column }),
      note: <DiagnosticText diagnostic={diagnostic} />,
    },
  ];
}

function DiagnosticText({
  diagnostic: { severity, message, help, code, start },
}: {
  diagnostic: FailureDiagnostic;
}) {
  return (
    <>
      <p>
        <span class="visually-hidden">
          {severity}
          {start === null ? '' : ` in line ${start.line}`}:{' '}
        </span>
        <MessageText text={message} />
      </p>
      <p class="policies-help">
        {help !== null && <MessageText text={help} />} <DiagnosticLink code={code} />
      </p>
    </>
  );
}

let before: Promise<unknown> = Promise.resolve();

/** Runs questions one after the other: the service answers only a few such questions of a person at once. */
function inTurn<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const answer = before.then(ask);
  before = answer.catch(() => null);
  return answer;
}

/** The text of a file in the set that failed at that time; null until it arrives, or when there is none. */
function useFailedText(path: string, at: string): string | null {
  const [text, setText] = useState<string | null>(null);
  // `at` is a dependency because another failure has another text.
  useEffect(() => {
    if (path === '') return;
    let isWanted = true;
    const ask = (): Promise<Reply<'getPolicyFile'> | null> =>
      isWanted ? call('getPolicyFile', { query: { path, set: 'failed' } }) : Promise.resolve(null);
    const take = (value: string | null): void => {
      if (isWanted) setText(value);
    };
    // Without the text, the diagnostics are still shown.
    inTurn(ask).then(
      (file) => take(file?.text ?? null),
      () => take(null),
    );
    return () => {
      isWanted = false;
    };
  }, [path, at]);
  return text;
}
