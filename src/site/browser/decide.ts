// Decides a request by a policy inside a browser, with the same stages as the service: check, program, functions.
// Nothing is granted or recorded, and nothing leaves the browser.

import { locateDiagnostics } from '../../analysis/located-diagnostics.ts';
import type { GivenRequest, LocatedDiagnostic, RequestIssue } from '../../analysis/playground-questions.ts';
import { readGiven } from '../../analysis/request-input.ts';
import { vocabularyOf } from '../../analysis/vocabulary.ts';
import type { Vocabulary } from '../../language/assist/vocabulary.ts';
import { createFunctionCache } from '../../language/emit/cache.ts';
import { type LinkedFunctions, link } from '../../language/emit/link.ts';
import { platformRun } from '../../language/emit/run.ts';
import type { Decision } from '../../language/model/decision.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { type TracedRule, tracedRules } from '../../language/model/trace.ts';
import { unpack } from '../../language/program/packed/unpack.ts';
import { createPlanCache, planPacked } from '../../language/program/plan/incremental.ts';
import { checkSources } from '../../pipeline.ts';
import { smallestChange } from '../../reasoning/counterfactual/change.ts';
import { policyPath } from './policy-path.ts';

export interface PlaygroundQuestion {
  readonly policy: string;
  /** Null while the text of the request is not JSON. */
  readonly request: GivenRequest | null;
}

export interface PlaygroundAnswer {
  readonly diagnostics: readonly LocatedDiagnostic[];
  readonly issues: readonly RequestIssue[];
  /** Null while the policy has an error. */
  readonly vocabulary: Vocabulary | null;
  readonly decided: PlaygroundDecision | null;
}

export interface PlaygroundDecision
  extends Pick<Decision, 'outcome' | 'reason' | 'by' | 'requires' | 'validForSeconds'> {
  /** The upper end of the risk score. */
  readonly risk: number;
  readonly rules: readonly TracedRule[];
  /** The smallest change of the payload that would change the decision; null when none was found. */
  readonly change: string | null;
}

export function answerQuestion({ policy, request }: PlaygroundQuestion): PlaygroundAnswer {
  const { diagnostics, set, files } = checkSources({
    files: [{ path: policyPath, text: policy }],
    readListFile: (path) => ({ code: 'list-file-missing', message: `the playground has no files: ${path}` }),
  });
  const placed = locateDiagnostics(diagnostics, (path) => (path === policyPath ? policy : null));
  const nothing = { diagnostics: placed, issues: [], decided: null };
  if (set === null) return { ...nothing, vocabulary: null };
  const vocabulary = vocabularyOf(set, files);
  if (request === null) return { ...nothing, vocabulary };
  const { facts, issues } = readGiven(request, set, Date.now());
  if (facts === null) return { ...nothing, issues, vocabulary };
  return { ...nothing, vocabulary, decided: decide(set, facts) };
}

function functionsOf(set: PolicySet): LinkedFunctions {
  const packed = planPacked(set, createPlanCache(numberContents()));
  return link(unpack(packed), createFunctionCache(platformRun()));
}

/**
 * Numbers contents in place of digests: equal bytes have equal numbers within one program, which is all that a
 * program needs that is neither stored nor compared with another.
 */
function numberContents(): (bytes: Uint8Array) => Uint8Array {
  const numbers = new Map<string, number>();
  return (bytes) => {
    const content = new TextDecoder('latin1').decode(bytes);
    const number = numbers.get(content) ?? numbers.size + 1;
    numbers.set(content, number);
    const digest = new Uint8Array(digestBytes);
    new DataView(digest.buffer).setUint32(0, number);
    return digest;
  };
}

/** The length of a digest in a program. */
const digestBytes = 32;

function decide(set: PolicySet, facts: Facts): PlaygroundDecision {
  const engine = functionsOf(set);
  const { decision, trace } = engine.decideTraced(facts);
  const { outcome, reason, by, requires, validForSeconds, risk } = decision;
  const [change] = smallestChange(set, facts, { decide: (tried) => engine.decide(tried), changesMax: 1 });
  return {
    outcome,
    reason,
    by,
    requires,
    validForSeconds,
    risk: risk.high,
    rules: tracedRules(trace),
    change: change?.text ?? null,
  };
}
