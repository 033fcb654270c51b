// Converts the trace of a decision to its JSON in a record, and back. The part that describes rules is the
// same for many requests, so its JSON is cached. INVARIANT: reading returns an equal trace.

import { noTrace, type Trace, type TraceForm, truthOf } from '../../../language/model/trace.ts';
import { memo } from '../../../language/value/memo.ts';

/** A trace as stored in a record; an empty list if the gate refused the request. */
export type StoredTrace = (TraceForm & Pick<Trace, 'truths' | 'values'>) | readonly [];

/** The JSON of each form of a trace, without its closing bracket. */
const formTexts = new WeakMap<TraceForm, string>();

export function traceText({ form, truths, values }: Trace): string {
  if (form === noTrace.form) return '[]';
  return `${memo(formTexts, form, formText)},"truths":"${truths}","values":${JSON.stringify(values)}}`;
}

function formText({ rules, paths, others }: TraceForm): string {
  return JSON.stringify({ rules, paths, others }).slice(0, -1);
}

/** Reads a stored trace. Throws if a letter represents no truth value. */
export function readTrace(stored: StoredTrace): Trace {
  if (!('truths' in stored)) return noTrace;
  const { truths, values, ...form } = stored;
  for (const letter of truths) truthOf(letter);
  return { form, truths, values };
}
