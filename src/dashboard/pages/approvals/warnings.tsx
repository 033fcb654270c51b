// Warns approvers before they read: of invisible characters, and of secrets that are shown as digests.

import { hasInvisible } from '../../../language/value/invisible.ts';
import { aboutJson } from '../../../language/value/json-parts.ts';
import { Note } from '../../parts/layout/note.tsx';
import { PlainPieces } from '../../parts/text/plain-text.tsx';
import type { RequestDetail } from '../requests/timeline-events.ts';

const placesShown = 10;

export function HiddenThings({ request }: { readonly request: RequestDetail }) {
  const { payload, action_key, reason, agent } = request;
  const { invisible, secrets } = aboutJson(payload);
  const others = [
    ['the action', action_key],
    ['the reason', reason],
    ['the name of the agent', typeof agent.name === 'string' ? agent.name : ''],
  ] as const;
  const places = [
    ...invisible.map((path) => `payload.${path}`),
    ...others.flatMap(([name, text]) => (hasInvisible(text) ? [name] : [])),
  ];
  const more = places.length - placesShown;
  return (
    <>
      {places.length > 0 && (
        <Note tone="escalate" icon="warning">
          <strong>Contains invisible characters</strong>
          <p>
            They are shown below as code points, such as <code>U+202E</code>. Elsewhere this text may look
            different. They are in:
          </p>
          <ul>
            {places.slice(0, placesShown).map((place) => (
              <li key={place}>
                <PlainPieces text={place} />
              </li>
            ))}
            {more > 0 && <li>and {more} more</li>}
          </ul>
        </Note>
      )}
      {secrets > 0 && (
        <Note icon="key">
          <p>
            {secrets === 1 ? 'One value is secret' : `${secrets} values are secret`}, shown as a digest. The
            agent sends the value itself; equal digests mean equal values.
          </p>
        </Note>
      )}
    </>
  );
}
