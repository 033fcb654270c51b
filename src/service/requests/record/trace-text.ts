// The trace of a decision into the text that a record keeps of it, and back. The part that describes rules is
// the same for many requests; its text is made once and used again. INVARIANT: what comes back equals what
// went in.

import { noTrace, type Trace, type TraceForm, truthOf } from '../../../language/model/trace.ts';
import { memo } from '../../../language/value/memo.ts';

/** A trace as it stands in a record; an empty list when the gate has refused the request. */
export type KeptTrace = (TraceForm & Pick<Trace, 'truths' | 'values'>) | readonly [];

/** The JSON of each form of a trace, without its closing bracket. */
const formTexts = new WeakMap<TraceForm, string>();

export function traceText({ form, truths, values }: Trace): string {
  if (form === noTrace.form) return '[]';
  return `${memo(formTexts, form, formText)},"truths":"${truths}","values":${JSON.stringify(values)}}`;
}

function formText({ rules, paths, others }: TraceForm): string {
  return JSON.stringify({ rules, paths, others }).slice(0, -1);
}

/** Reads a kept trace. Throws when a letter stands for no truth. */
export function readTrace(kept: KeptTrace): Trace {
  if (!('truths' in kept)) return noTrace;
  const { truths, values, ...form } = kept;
  for (const letter of truths) truthOf(letter);
  return { form, truths, values };
}
