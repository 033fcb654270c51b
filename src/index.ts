// The embedded engine: compile a policy set and decide in the caller's own process.

export type { Decision, Outcome } from './language/model/decision.ts';
export type { Facts, Reading } from './language/model/request.ts';
export { type Compiled, compile, type PolicySources } from './pipeline.ts';
