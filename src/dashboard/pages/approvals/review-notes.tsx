// Warns approvers of what came with the review of a request: texts that could be mistaken for others, a high risk, and
// earlier grants of the same thing.

import type { Reply } from '../../../api/operations.ts';
import type { CharacterMarks } from '../../../language/value/text-pieces.ts';
import { useGrant } from '../../api/session.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { PlainPieces } from '../../parts/text/plain-text.tsx';
import type { RequestDetail } from '../requests/timeline-events.ts';

type Review = NonNullable<Reply<'getRequest'>['review']>;
type Confusable = Review['confusables'][number];
export type EarlierGrant = Review['earlier_grants'][number];

const placesShown = 10;

/** The characters to mark in a text of the payload, each with its name. */
export function marksOf(
  { review }: Pick<RequestDetail, 'review'>,
  path: string,
  text: string,
): CharacterMarks | null {
  const confusable = review?.confusables.find((one) => one.path === path && isCutOf(one.value, text));
  if (confusable === undefined || confusable.characters.length === 0) return null;
  return new Map(confusable.characters.map((one) => [one.character, nameOf(one)]));
}

export function ReviewNotes({ request }: { readonly request: Pick<RequestDetail, 'review' | 'risk_score'> }) {
  const { review, risk_score: risk } = request;
  if (review === null) return null;
  const { warnings, confusables, earlier_grants: grants } = review;
  const more = confusables.length - placesShown;
  return (
    <>
      {confusables.length > 0 && (
        <Note tone="escalate" icon="warning">
          <strong>Contains letters that may deceive</strong>
          <ul>
            {confusables.slice(0, placesShown).map((one, index) => (
              <li key={index}>
                <About confusable={one} />
              </li>
            ))}
            {more > 0 && <li>and {more} more</li>}
          </ul>
        </Note>
      )}
      {warnings.includes('high_risk') && (
        <Note tone="escalate" icon="warning">
          <p>
            <strong>High risk: {risk} of 100.</strong> It is not approved together with others.
          </p>
        </Note>
      )}
      {grants.length > 0 && (
        <Note icon="copy">
          <strong>{grants.length === 1 ? 'Granted before' : `Granted ${grants.length} times before`}</strong>
          <ul>
            {grants.map((grant) => (
              <li key={grant.request_id}>
                <EarlierGrantText grant={grant} isLink />
              </li>
            ))}
          </ul>
        </Note>
      )}
    </>
  );
}

interface EarlierGrantProps {
  readonly grant: EarlierGrant;
  /** Links to the earlier request, for people who may see it. */
  readonly isLink?: boolean;
}

/** How an earlier grant compares with this request, and when it was: "the same payload 2 h ago". */
export function EarlierGrantText({ grant, isLink = false }: EarlierGrantProps) {
  const maySeeAll = useGrant('requests.view') === 'yes';
  const { request_id: id, at, is_identical } = grant;
  const words = is_identical ? 'Same payload' : 'Same amount and subject';
  return (
    <>
      {isLink && maySeeAll ? <a href={`/requests/${id}`}>{words}</a> : words} <Ago at={at} />
    </>
  );
}

function About({
  confusable: { path, value, scripts, confusable_with: known, characters },
}: {
  readonly confusable: Confusable;
}) {
  const marks = new Map(characters.map((one) => [one.character, nameOf(one)]));
  return (
    <>
      <code>
        <PlainPieces text={path} />
      </code>{' '}
      {scripts.length > 0 && <>mixes {listed(scripts)}: </>}
      <strong>
        <PlainPieces text={value} marks={marks} />
      </strong>
      {characters.length > 0 && <> ({characters.map(nameOf).join('; ')})</>}
      {known !== null && (
        <>
          . It looks like{' '}
          <strong>
            <PlainPieces text={known.value} />
          </strong>
          , which the agent was granted {known.count === 1 ? 'once' : `${known.count} times`} before
        </>
      )}
      .
    </>
  );
}

function nameOf({ code_point, name }: Confusable['characters'][number]): string {
  return name === '' ? code_point : `${code_point} ${name}`;
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

/** Whether a text is the value that the service reported, which is cut to its first code points when long. */
function isCutOf(cut: string, text: string): boolean {
  return cut === text || ([...cut].length === cutLength && text.startsWith(cut));
}

const cutLength = 100;
