// The request that is tried: written as JSON with the facts that policies read, started from an example of an
// action, or a logged request with the facts of its record.

import { useMemo, useState } from 'preact/hooks';
import type { Vocabulary } from '../../../language/assist/vocabulary.ts';
import { completeRequest } from '../../editor/complete-request.ts';
import { EditorBox, EditorHint } from '../../editor/editor-box.tsx';
import type { ReadJson } from '../../editor/json-positions.ts';
import { Field } from '../../parts/form/field.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Loading } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { MessageText } from '../../parts/text/message-text.tsx';
import { exampleText } from './example-request.ts';
import { LoggedRequest, LoggedRequestDialog } from './logged-request.tsx';
import { type EditorMark, markIssues, type RequestIssue } from './marks.ts';
import type { PlaygroundState } from './use-playground.ts';

interface RequestPaneProps {
  readonly playground: PlaygroundState;
  /** Id of a logged request that is tried instead of the text; null when there is none. */
  readonly requestId: string | null;
  readonly read: ReadJson;
  readonly issues: readonly RequestIssue[];
}

export function RequestPane(props: RequestPaneProps) {
  const { playground, requestId } = props;
  const { vocabulary, openedAt, setRequest } = playground;
  const [isChoosing, setChoosing] = useState(false);
  return (
    <Section
      title="Request"
      actions={
        <div class="playground-bar">
          {requestId === null && vocabulary !== null && (
            <ExampleChoice
              vocabulary={vocabulary}
              onChoose={(action) => {
                const words = vocabulary.actions.find(({ key }) => key === action);
                if (words !== undefined) setRequest(exampleText(words, vocabulary, openedAt));
              }}
            />
          )}
          <Button icon="list" onClick={() => setChoosing(true)}>
            Logged request
          </Button>
        </div>
      }
    >
      {requestId !== null ? (
        <LoggedRequest key={requestId} id={requestId} onCopy={setRequest} />
      ) : playground.isRequestLoading ? (
        <Loading label="The request is loading" lines={10} />
      ) : (
        <WrittenRequest {...props} />
      )}
      {isChoosing && <LoggedRequestDialog onClose={() => setChoosing(false)} />}
    </Section>
  );
}

interface ExampleChoiceProps {
  readonly vocabulary: Vocabulary;
  readonly onChoose: (action: string) => void;
}

function ExampleChoice({ vocabulary, onChoose }: ExampleChoiceProps) {
  return (
    <Field label="Example">
      <select value="" onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        <option value="" disabled>
          Start with…
        </option>
        {vocabulary.actions.map(({ key }) => (
          <option key={key} value={key}>
            {key}
          </option>
        ))}
      </select>
    </Field>
  );
}

function WrittenRequest({ playground, read, issues }: RequestPaneProps) {
  const { request: text, vocabulary, setRequest } = playground;
  const marked = useMemo(() => markIssues(read, issues), [read, issues]);
  const marks = useMemo(() => ({ text, items: marked.map((mark) => ({ ...mark, fix: null })) }), [marked]);
  const [target, setTarget] = useState<{ readonly at: number } | null>(null);
  return (
    <div class="playground-request">
      <EditorBox
        text={text}
        marks={marks}
        target={target}
        label="Request as JSON"
        language="json"
        onChange={setRequest}
        complete={(whole, at, isAsked) =>
          vocabulary === null ? null : completeRequest(vocabulary, whole, { at, isAsked })
        }
      />
      <EditorHint />
      <IssueList marked={marked} text={text} onGo={(at) => setTarget({ at })} />
    </div>
  );
}

interface IssueListProps {
  readonly marked: readonly EditorMark[];
  readonly text: string;
  readonly onGo: (at: number) => void;
}

function IssueList({ marked, text, onGo }: IssueListProps) {
  return (
    <div role="status">
      {marked.length > 0 && (
        <ul class="playground-diagnostic-list">
          {marked.map(({ from, message }, index) => (
            <li key={index} class="verdict-error">
              <p>
                <MessageText text={message} />
              </p>
              <div class="playground-diagnostic-actions">
                <button type="button" class="text-button" onClick={() => onGo(from)}>
                  line {text.slice(0, from).split('\n').length}
                </button>
              </div>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
