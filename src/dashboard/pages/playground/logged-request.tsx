// A logged request in the playground, decided on the facts of its record, with a button that copies it for
// changes.

import { useEffect, useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { go, setQuery } from '../../navigation/navigation.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Field } from '../../parts/form/field.tsx';
import { DecisionBadge } from '../../parts/layout/badge.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Empty, Note, ProblemNote } from '../../parts/layout/note.tsx';
import { ResourceView } from '../../parts/layout/resource-view.tsx';
import { Ago, At } from '../../parts/layout/time.tsx';
import { JsonView } from '../../parts/text/json-view.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

interface LoggedRequestProps {
  readonly id: string;
  readonly onCopy: (text: string) => void;
}

export function LoggedRequest({ id, onCopy }: LoggedRequestProps) {
  const loaded = useResource('getRequest', { params: { id } });
  const { data } = loaded;
  return (
    <div class="playground-request">
      <Note icon="list">
        <p>
          A logged request, on the facts of its record: its agent, its time, what its meters read, and the
          approvals that it had.
        </p>
        <div class="form-actions">
          {data !== null && (
            <Button
              onClick={() => {
                onCopy(copyText(data));
                setQuery({ request: null });
              }}
            >
              Edit a copy
            </Button>
          )}
          <Button onClick={() => setQuery({ request: null })}>Write a request instead</Button>
        </div>
      </Note>
      <ResourceView resource={loaded} loading="The request is loading">
        {(request) => (
          <>
            <p>
              <DecisionBadge decision={request.decision} />{' '}
              <a href={`/requests/${encodeURIComponent(id)}`}>{id}</a>, decided <At at={request.created_at} />
            </p>
            <JsonView value={partsOf(request)} label="What was requested" />
          </>
        )}
      </ResourceView>
    </div>
  );
}

function partsOf({ action_key, payload, agent, created_at }: Reply<'getRequest'>) {
  return { action_key, payload, agent, at: created_at };
}

const agentParts = ['id', 'name', 'risk_tier', 'control_owner', 'tags'];

/** The copy leaves out the readings of meters and everything else that only the record holds. */
function copyText(request: Reply<'getRequest'>): string {
  const { agent, ...rest } = partsOf(request);
  const agentFields = Object.fromEntries(Object.entries(agent).filter(([name]) => agentParts.includes(name)));
  return `${JSON.stringify({ ...rest, agent: agentFields }, null, 2)}\n`;
}

export function LoggedRequestDialog({ onClose }: { readonly onClose: () => void }) {
  const mayList = useGrant('requests.view') !== 'no';
  const [text, setText] = useState('');
  const searchText = useRested(text.trim());
  const query = { limit: '10', ...(/[\p{L}\p{N}]/u.test(searchText) ? { text: searchText } : {}) };
  const { data, problem } = useResource('listRequests', mayList ? { query } : null);
  const [id, setId] = useState('');
  const take = (chosen: string): void => {
    onClose();
    go(`/playground?${new URLSearchParams({ request: chosen })}`);
  };
  return (
    <Dialog title="Use a logged request" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (id.trim() !== '') take(id.trim());
        }}
      >
        <Field label="Request ID">
          <input
            value={id}
            autoComplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => setId(currentTarget.value)}
          />
        </Field>
        <div class="form-actions">
          <Button variant="primary" type="submit">
            Use it
          </Button>
        </div>
      </form>
      {mayList && (
        <Field label="Search logged requests">
          <input
            type="search"
            value={text}
            maxLength={200}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </Field>
      )}
      <ProblemNote problem={problem} />
      {data !== null && data.items.length === 0 && (
        <Empty icon="list" title={searchText === '' ? 'No requests yet' : 'No requests match'} />
      )}
      {data !== null && data.items.length > 0 && (
        <section aria-label="Latest requests">
          <h3>{searchText === '' ? 'Latest requests' : 'Latest requests that match'}</h3>
          <ul class="playground-last">
            {data.items.map((item) => (
              <li key={item.request_id}>
                <Button variant="quiet" onClick={() => take(item.request_id)}>
                  <DecisionBadge decision={item.decision} />
                  <PlainText
                    text={item.title === '' ? item.action_key : `${item.action_key}: ${item.title}`}
                    isShort
                  />
                  <span class="playground-soft">
                    <Ago at={item.created_at} />
                  </span>
                </Button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </Dialog>
  );
}

/** Milliseconds without typing before a search is sent. */
const typingPauseMs = 350;

function useRested(text: string): string {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), typingPauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}
