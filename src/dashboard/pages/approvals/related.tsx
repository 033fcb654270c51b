// Links from a request to similar ones: of the same agent, for the same action, or with the same value in the
// payload, such as a payee. They lead to the list of requests, which shows what the person may see.

import { PlainText } from '../../parts/text/plain-text.tsx';
import { agentName } from '../requests/request-table.tsx';
import type { RequestDetail } from '../requests/timeline-events.ts';

interface RelatedLink {
  readonly words: string;
  /** The text after the words of the link. */
  readonly value: string;
  readonly address: string;
}

/** The most values of the payload that get a link; the first ones. */
const valuesMax = 3;
const lengthMin = 4;
const lengthMax = 60;

export function RelatedRequests({ request }: { readonly request: RequestDetail }) {
  return (
    <ul class="approval-related">
      {waysFrom(request).map(({ words, value, address }) => (
        <li key={address}>
          <a href={address}>
            {words} <PlainText text={value} isShort />
          </a>
        </li>
      ))}
    </ul>
  );
}

function waysFrom(request: RequestDetail): readonly RelatedLink[] {
  const { agent, action_key: action, payload } = request;
  const listed = (query: Readonly<Record<string, string>>) => `/requests?${new URLSearchParams(query)}`;
  const id = typeof agent.id === 'string' ? agent.id : null;
  const ofAgent =
    id === null ? [] : [{ words: 'By', value: agentName(request), address: listed({ agent: id }) }];
  const values = Object.entries(payload).flatMap(([name, value]) =>
    isTelling(value) ? [[name, value]] : [],
  );
  return [
    ...ofAgent,
    { words: 'For', value: action, address: listed({ action }) },
    ...values.slice(0, valuesMax).map(([name = '', value = '']) => ({
      words: 'With',
      value: `${name}: ${value}`,
      address: listed({ text: `"${value}"` }),
    })),
  ];
}

/** Whether other requests may hold the text too, and a search in quotes finds it unchanged. */
function isTelling(value: unknown): value is string {
  if (typeof value !== 'string' || value.length < lengthMin || value.length > lengthMax) return false;
  return /^[\p{L}\p{N}\p{P}\p{S} ]+$/u.test(value) && !value.includes('"');
}
