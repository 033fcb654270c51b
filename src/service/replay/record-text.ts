// A record's text into what deciding it again needs. The trace is most of it and of no use here, so it is cut out before
// the rest is parsed. INVARIANT: the result is what parsing the whole gives, but for the trace.

/** Throws a SyntaxError where it is not JSON. */
export function parseWithoutTrace(text: string): unknown {
  const start = text.indexOf(traceBegins);
  const end = start < 0 ? -1 : text.indexOf(decisionBegins, start);
  if (end < 0) return JSON.parse(text);
  try {
    return { ...JSON.parse(`${text.slice(0, start)}}`), ...JSON.parse(`{${text.slice(end + 1)}`) };
  } catch {
    return JSON.parse(text);
  }
}

// A quote in a text is escaped, so both can only be names of members. Where one of them is that of a member further
// inside, what is before it lacks a brace, or what is after it has one too many, and is no JSON by itself.
const traceBegins = ',"trace":{"rules":[';
const decisionBegins = ',"decision":{"outcome":';
