// The playground of the documentation: a policy, a request, and the decision with its reasons, all in the browser.

import './main.ts';
import { render } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import '../../dashboard/pages/playground/playground.css';
import '../../dashboard/parts/layout/page.css';
import type { GivenRequest } from '../../analysis/playground-questions.ts';
import { completeRequest } from '../../dashboard/editor/complete-request.ts';
import type { PolicyAnswers } from '../../dashboard/editor/editor.ts';
import { EditorBox, EditorHint } from '../../dashboard/editor/editor-box.tsx';
import { type ReadJson, readJson } from '../../dashboard/editor/json-positions.ts';
import { openPolicyWorker, type PolicyWorker } from '../../dashboard/editor/policy-worker.ts';
import { rangeOf } from '../../dashboard/editor/text-positions.ts';
import { DiagnosticList } from '../../dashboard/pages/playground/diagnostic-list.tsx';
import {
  type Fix,
  fixedFiles,
  markDiagnostics,
  markIssues,
  type PolicyDiagnostic,
} from '../../dashboard/pages/playground/marks.ts';
import { Button } from '../../dashboard/parts/layout/button.tsx';
import { Note } from '../../dashboard/parts/layout/note.tsx';
import { Section } from '../../dashboard/parts/layout/page.tsx';
import { MessageText } from '../../dashboard/parts/text/message-text.tsx';
import type { Vocabulary } from '../../language/assist/vocabulary.ts';
import { Decided } from './decided.tsx';
import { policyPath } from './policy-path.ts';
import { fragmentOf, textsIn } from './start.ts';
import { type AnswerState, useAnswer } from './use-answer.ts';

interface Target {
  readonly at: number;
}

function Playground() {
  const [texts, setTexts] = useState(() => textsIn(location.hash.slice(1)));
  const read = useMemo(() => readJson(texts.request), [texts.request]);
  const request = requestIn(read);
  const state = useAnswer({ policy: texts.policy, request });
  const answer = state.last?.answer ?? null;
  const [words, setWords] = useState<Vocabulary | null>(null);
  useEffect(() => {
    if (answer?.vocabulary != null) setWords(answer.vocabulary);
  }, [answer]);
  useEffect(() => {
    const take = (): void => setTexts(textsIn(location.hash.slice(1)));
    window.addEventListener('hashchange', take);
    return () => window.removeEventListener('hashchange', take);
  }, []);
  return (
    <div class="playground">
      <div class="playground-panes">
        <PolicyPane
          text={texts.policy}
          state={state}
          words={words}
          onChange={(policy) => setTexts((before) => ({ ...before, policy }))}
        />
        <RequestPane
          text={texts.request}
          read={read}
          state={state}
          words={words}
          onChange={(next) => setTexts((before) => ({ ...before, request: next }))}
        />
      </div>
      <div class="playground-answer">
        {state.hasFailed && (
          <Note icon="warning" tone="deny">
            The playground has failed. Load the page again.
          </Note>
        )}
        <Decided decided={answer?.decided ?? null} why={whyNone(state, read)} />
        <ShareButton address={`${location.pathname}#${fragmentOf(texts)}`} />
      </div>
    </div>
  );
}

/** A request that has the two members that every request has. */
function requestIn({ value, fault }: ReadJson): GivenRequest | null {
  const { action_key: action, payload } = (value ?? {}) as Partial<GivenRequest>;
  const isRequest = typeof action === 'string' && typeof payload === 'object' && payload !== null;
  return fault === null && isRequest ? (value as GivenRequest) : null;
}

function whyNone({ last }: AnswerState, { fault }: ReadJson): string {
  if (last === null) return 'The policy is being read.';
  if (last.answer.vocabulary === null) return 'The policy has errors. They are listed below it.';
  if (fault !== null) return `The request is not JSON: ${fault.message}.`;
  return last.answer.issues.length > 0
    ? 'The request has errors. They are listed below it.'
    : 'The request needs `action_key` and `payload`.';
}

interface PaneProps {
  readonly text: string;
  readonly state: AnswerState;
  readonly words: Vocabulary | null;
  readonly onChange: (text: string) => void;
}

function PolicyPane({ text, state: { last }, words, onChange }: PaneProps) {
  const [target, setTarget] = useState<Target | null>(null);
  const policy = usePolicyAnswers(words);
  const diagnostics: readonly PolicyDiagnostic[] = last?.answer.diagnostics ?? [];
  const answered = last?.question.policy ?? '';
  const apply = (fix: Fix): void => {
    const [changed] = fixedFiles(fix, () => answered) ?? [];
    if (changed !== undefined) onChange(changed.text);
  };
  const marks = useMemo(
    () => ({
      text: answered,
      items: markDiagnostics(answered, diagnostics).map(({ fix, ...mark }) => ({
        ...mark,
        fix: fix === null ? null : { title: fix.title, apply: () => apply(fix) },
      })),
    }),
    [last],
  );
  return (
    <Section title="Policy">
      <div class="playground-policy">
        <EditorBox
          text={text}
          marks={marks}
          target={target}
          label="Policy"
          language="policy"
          policy={policy}
          onChange={onChange}
          complete={(whole, at, isAsked) => policy?.complete(whole, at, isAsked) ?? null}
        />
        <EditorHint isPolicy />
      </div>
      <DiagnosticList
        diagnostics={diagnostics}
        onFix={apply}
        onGo={(one) => setTarget({ at: rangeOf(answered, one).from })}
      />
    </Section>
  );
}

/** Null until the worker is ready and the policy has once been without errors. */
function usePolicyAnswers(words: Vocabulary | null): PolicyAnswers | null {
  const [worker, setWorker] = useState<PolicyWorker | null>(null);
  useEffect(() => {
    const opened = openPolicyWorker();
    setWorker(opened);
    return opened.close;
  }, []);
  return useMemo(() => {
    if (worker === null || words === null) return null;
    worker.take({ words, files: [] });
    const path = policyPath;
    return {
      complete: (text, at, isAsked) => worker.ask('complete', { path, text, at, isAsked }),
      colours: (text) => worker.ask('colours', { path, text }),
      hover: (text, at) => worker.ask('hover', { path, text, at }),
      format: (text) => worker.ask('format', { path, text }),
    };
  }, [worker, words]);
}

function RequestPane({
  text,
  read,
  state: { last },
  words,
  onChange,
}: PaneProps & { readonly read: ReadJson }) {
  const marked = useMemo(() => markIssues(read, last?.answer.issues ?? []), [read, last]);
  const marks = useMemo(() => ({ text, items: marked.map((mark) => ({ ...mark, fix: null })) }), [marked]);
  return (
    <Section title="Request">
      <div class="playground-request">
        <EditorBox
          text={text}
          marks={marks}
          target={null}
          label="Request as JSON"
          language="json"
          onChange={onChange}
          complete={(whole, at, isAsked) =>
            words === null ? null : completeRequest(words, whole, { at, isAsked })
          }
        />
        <EditorHint />
        <div role="status">
          <ul class="playground-issues">
            {marked.map(({ message }) => (
              <li key={message}>
                <MessageText text={message} />
              </li>
            ))}
          </ul>
        </div>
      </div>
    </Section>
  );
}

function ShareButton({ address }: { readonly address: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => setCopied(false), [address]);
  return (
    <Button
      icon="copy"
      onClick={async () => {
        history.replaceState(null, '', address);
        await navigator.clipboard.writeText(location.href).then(
          () => setCopied(true),
          () => undefined,
        );
      }}
    >
      {isCopied ? 'Copied' : 'Copy a link to this'}
    </Button>
  );
}

const host = document.getElementById('try');
if (host === null) throw new Error('the page has no element for the playground');
render(<Playground />, host);
