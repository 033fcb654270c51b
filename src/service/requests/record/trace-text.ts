// The trace of a decision into the text that a record keeps of it, and back. What the rules are that it names, which is the
// same for many requests, is written once and used again. INVARIANT: what comes back equals what went in.

import { noTrace, type Trace, type TraceForm, truthOf } from '../../../language/model/trace.ts';
import { memo } from '../../../language/value/memo.ts';

/** A trace as it stands in a record; an empty list where the gate has refused the request. */
export type KeptTrace = (TraceForm & Pick<Trace, 'truths' | 'values'>) | readonly [];

/** The JSON of each form of a trace, without the bracket that ends it. */
const formTexts = new WeakMap<TraceForm, string>();

export function traceText({ form, truths, values }: Trace): string {
  if (form === noTrace.form) return '[]';
  return `${memo(formTexts, form, formText)},"truths":"${truths}","values":${JSON.stringify(values)}}`;
}

function formText({ rules, paths, others }: TraceForm): string {
  return JSON.stringify({ rules, paths, others }).slice(0, -1);
}

/** Throws where a letter stands for no truth. */
export function readTrace(kept: KeptTrace): Trace {
  if (!('truths' in kept)) return noTrace;
  const { truths, values, ...form } = kept;
  for (const letter of truths) truthOf(letter);
  return { form, truths, values };
}
