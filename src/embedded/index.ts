// The exports for an embedding program: policies that decide in its own process, and the compiler beneath
// them.

export type { Decision, Outcome } from '../language/model/decision.ts';
export type { Facts, MeterReading } from '../language/model/request.ts';
export { type CompileResult, compile, type PolicySources } from '../pipeline.ts';
export type { DecisionQuestion as AskedDecision, EmbeddedDecision, ExplainedDecision } from './ask.ts';
export {
  loadPolicies,
  type Policies,
  PolicyError,
  type PolicyListener,
  type PolicySource,
} from './policies.ts';
export { type BundledPolicies, BundleError, loadBundle } from './portable.ts';
