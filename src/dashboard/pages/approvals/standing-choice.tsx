// The choice of an approver: this request only, or later requests with equal keys, too, with a time and a count
// that may be less than the rule allows.

import { Field, FieldGroup } from '../../parts/form/field.tsx';
import { standingWords } from '../../parts/people/standing-words.ts';
import { PlainText } from '../../parts/text/plain-text.tsx';
import type { RequestDetail } from '../requests/timeline-events.ts';

/** Null for an approval of this request only. */
export type StandingChoice = { readonly until: string; readonly times: string } | null;

type Offer = NonNullable<RequestDetail['standing_offers']>[number];

interface StandingFieldsProps {
  readonly offers: readonly Offer[];
  readonly value: StandingChoice;
  readonly onChange: (choice: StandingChoice) => void;
}

export function StandingFields({ offers, value, onChange }: StandingFieldsProps) {
  const [first] = offers;
  if (first === undefined) return null;
  const most = widest(offers);
  return (
    <FieldGroup legend="What you approve" name="standing" class="approval-choice">
      <label class="choice">
        <input type="radio" name="standing" checked={value === null} onChange={() => onChange(null)} />
        This request only
      </label>
      <label class="choice">
        <input
          type="radio"
          name="standing"
          checked={value !== null}
          onChange={() => onChange({ until: localText(most.untilMs), times: String(most.times ?? '') })}
        />
        <span>
          Later requests, too: <PlainText text={standingWords(first.per)} />
        </span>
      </label>
      {value !== null && (
        <>
          <Field label="Until" name="standing.until">
            <input
              type="datetime-local"
              required
              max={localText(most.untilMs)}
              value={value.until}
              onInput={({ currentTarget }) => onChange({ ...value, until: currentTarget.value })}
            />
          </Field>
          <Field label="Requests at most" name="standing.times" isOptional={most.times === null}>
            <input
              type="number"
              min={1}
              required={most.times !== null}
              {...(most.times !== null && { max: most.times })}
              value={value.times}
              onInput={({ currentTarget }) => onChange({ ...value, times: currentTarget.value })}
            />
          </Field>
        </>
      )}
    </FieldGroup>
  );
}

/** The most that one of the rules allows; the service gives each rule no more than its own. */
function widest(offers: readonly Offer[]): { readonly untilMs: number; readonly times: number | null } {
  const seconds = Math.max(...offers.map((offer) => offer.seconds));
  const times = offers.map((offer) => offer.times ?? Number.POSITIVE_INFINITY);
  const most = Math.max(...times);
  return { untilMs: Date.now() + seconds * 1000, times: Number.isFinite(most) ? most : null };
}

/** A time of this machine's zone, to the minute, as the field takes it. */
function localText(ms: number): string {
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The choice as the service reads it. */
export function standingBody(choice: StandingChoice): {
  readonly standing?: { readonly until: string; readonly times?: number };
} {
  if (choice === null) return {};
  const until = new Date(choice.until).toISOString();
  return { standing: choice.times === '' ? { until } : { until, times: Number(choice.times) } };
}
