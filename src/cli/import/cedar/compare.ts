// Decides requests by Cedar and by the written policies. The requests are those that the prover finds for each rule, requests
// that differ from these in one value, and random ones. INVARIANT: a request that Cedar denies and the policies do not is in
// the result.

import { loadPolicies } from '../../../embedded/policies.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../language/model/json.ts';
import type { PolicySet } from '../../../language/model/policy.ts';
import { createRandom, type RandomSource } from '../../../language/value/random.ts';
import { checkSources } from '../../../pipeline.ts';
import { decideClauses } from '../../../reasoning/prove/prove.ts';
import { SettingsError } from '../host-settings.ts';
import type { CedarPolicy } from './cedar-policies.ts';
import { type RequestOfBoth, requestOf } from './cedar-requests.ts';
import type { CedarSchema } from './cedar-schema.ts';
import { type Cedar, type CedarRequest, problemText } from './cedar-wasm.ts';
import { and, type Condition, conditionText, or } from './condition.ts';
import type { Environment } from './environment.ts';
import { type PayloadSource, type Pools, randomPayload, withFewIds } from './payload-values.ts';
import { cellValues, poolsOf } from './pools.ts';
import type { WrittenRule } from './write-cedar.ts';

/** A request with both decisions. */
export interface ComparedRequest {
  readonly key: string;
  readonly payload: JsonObject;
  readonly cedar: CedarRequest;
  /** The policies that decided for Cedar, by id. */
  readonly policies: readonly string[];
  /** The decision of the written policies, and what decided. */
  readonly decision: string;
  readonly rule: string;
}

export interface Comparison {
  readonly requests: number;
  readonly allowed: number;
  readonly denied: number;
  /** Requests that Cedar denies and the policies do not. */
  readonly looser: readonly ComparedRequest[];
  /** How many requests Cedar alone allows, by what decides them here, each with an example. */
  readonly stricter: ReadonlyMap<string, { readonly count: number; readonly example: ComparedRequest }>;
  /** By policy, the first request that it decided, alone if there is one. */
  readonly decided: ReadonlyMap<string, ComparedRequest>;
  /** Policies whose evaluation ended in an error, by the number of requests. */
  readonly errors: ReadonlyMap<string, number>;
}

export interface ComparisonSource {
  readonly cedar: Cedar;
  readonly schema: CedarSchema;
  readonly policies: readonly CedarPolicy[];
  readonly environments: readonly Environment[];
  readonly rules: readonly WrittenRule[];
  /** The text of the written policies. */
  readonly policy: string;
  readonly point: string;
}

export interface ComparisonOptions {
  readonly requests: number;
  readonly seed: number;
  readonly onProgress: (done: number) => void;
}

/** The time of each decision, which no condition reads. */
const decisionTime = new Date('2026-03-02T10:00:00Z');
const looserMax = 20;
const progressSteps = 1_000;

export async function compareWithCedar(
  source: ComparisonSource,
  { requests, seed, onProgress }: ComparisonOptions,
): Promise<Comparison> {
  const decide = await decidersOf(source);
  const random = createRandom(seed);
  const makers = makersOf(source, random);
  const looser: ComparedRequest[] = [];
  const stricter = new Map<string, { count: number; example: ComparedRequest }>();
  const decided = new Map<string, ComparedRequest>();
  const errors = new Map<string, number>();
  let allowed = 0;
  for (let done = 0; done < requests && makers.length > 0 && looser.length < looserMax; done += 1) {
    const { env, make } = makers[done % makers.length]!;
    const { isAllowed, failed, compared } = decide(env, make());
    if (isAllowed) allowed += 1;
    for (const id of failed) errors.set(id, (errors.get(id) ?? 0) + 1);
    for (const id of compared.policies) if (isClearer(compared, decided.get(id))) decided.set(id, compared);
    if (!isAllowed && compared.decision !== 'DENY') looser.push(compared);
    if (isAllowed && compared.decision !== 'ALLOW') {
      const { count, example } = stricter.get(compared.rule) ?? { count: 0, example: compared };
      stricter.set(compared.rule, { count: count + 1, example });
    }
    if (done % progressSteps === 0) onProgress(done);
  }
  onProgress(requests);
  return { requests, allowed, denied: requests - allowed, looser, stricter, decided, errors };
}

/** A request that one policy decided shows more about it than one that several decided. */
function isClearer({ policies }: ComparedRequest, other: ComparedRequest | undefined): boolean {
  return other === undefined || (policies.length === 1 && other.policies.length > 1);
}

interface BothDecisions {
  readonly isAllowed: boolean;
  readonly failed: readonly string[];
  readonly compared: ComparedRequest;
}

async function decidersOf({
  cedar,
  policies,
  policy,
  point,
}: ComparisonSource): Promise<(env: Environment, request: RequestOfBoth) => BothDecisions> {
  const written = await loadPolicies([{ path: 'cedar.policy', text: policy }]);
  const preparsedPolicySetId = 'import';
  const staticPolicies = Object.fromEntries(policies.map(({ id, text }) => [id, text]));
  const parsed = cedar.preparsePolicySet(preparsedPolicySetId, { staticPolicies });
  if (parsed.type === 'failure') throw new SettingsError(problemText(parsed.errors));
  return ({ key }, { cedar: request, payload }) => {
    const answer = cedar.statefulIsAuthorized({ ...request, preparsedPolicySetId });
    if (answer.type === 'failure')
      throw new SettingsError(`Cedar decides no request: ${problemText(answer.errors)}`);
    const { decision: theirs, diagnostics } = answer.response;
    const { id } = request.principal;
    const { decision, rule } = written.decide({
      action: key,
      payload,
      agent: { name: id },
      request: { point, user: { id } },
      now: decisionTime,
    });
    return {
      isAllowed: theirs === 'allow',
      failed: diagnostics.errors.map(({ policyId }) => policyId),
      compared: { key, payload, cedar: request, policies: diagnostics.reason, decision, rule },
    };
  };
}

// ---- requests

interface RequestMaker {
  readonly env: Environment;
  readonly make: () => RequestOfBoth;
}

function makersOf(
  { policies, schema, environments, rules, policy }: ComparisonSource,
  random: RandomSource,
): readonly RequestMaker[] {
  const pools = poolsOf(policies, schema);
  const set = setOf(policy);
  return environments.map((env) => {
    const own: Pools = { ...pools, places: cellValues(set, env.key) };
    const source: PayloadSource = { env, random, pools: own };
    const seeds = seedsOf(env, rules, policy);
    let next = 0;
    return {
      env,
      make: () => {
        const few = withFewIds(source);
        const seed = seeds[next];
        next += 1;
        if (seed !== undefined) return requestOf(few, seed);
        if (seeds.length === 0 || random.chance(0.4)) return requestOf(few, randomPayload(few));
        return requestOf(few, changed(few, random.pick(seeds)));
      },
    };
  });
}

function setOf(text: string): PolicySet {
  const { set } = checkSources({
    files: [{ path: 'cedar.policy', text }],
    readListFile: () => ({ code: 'list-file-missing', message: 'there are no list files' }),
  });
  if (set === null) throw new SettingsError('the written policies have an error');
  return set;
}

/** Requests that the prover finds: for each rule, one that it decides. */
function seedsOf({ key }: Environment, rules: readonly WrittenRule[], policy: string): readonly JsonObject[] {
  const own = rules.filter(({ keys }) => keys.includes(key));
  const conditionsOf = (effect: WrittenRule['effect']): readonly Condition[] =>
    own.flatMap(({ effect: one, condition }) => (one === effect ? [condition] : []));
  const permits = conditionsOf('permit');
  const claims = [
    ...permits.map((condition) => `never allow when ${conditionText(condition)}`),
    ...conditionsOf('forbid').map(
      (condition) => `never deny when ${conditionText(and(condition, or(...permits)))}`,
    ),
  ].filter((claim) => !/when (?:true|false)$/.test(claim));
  if (claims.length === 0) return [];
  const set = setOf(`${policy}\nguarantee requests_to_compare on ${key} {\n${claims.join('\n')}\n}\n`);
  const asked = set.guarantees.flatMap((guarantee) => guarantee.claims);
  return [...decideClauses(set, key, asked).values()].flatMap((verdict) =>
    verdict.kind === 'refuted' ? [verdict.facts.payload] : [],
  );
}

/** A payload that differs in one value, or a few, from the given one, and has the shape of a random one. */
function changed(source: PayloadSource, seed: JsonObject): JsonObject {
  const share = source.random.pick([1 / countValues(seed), 0.1, 0.3]);
  return mixed(seed, randomPayload(source), () => source.random.chance(share)) as JsonObject;
}

function countValues(json: Json): number {
  if (typeof json !== 'object' || json === null) return 1;
  return Object.values(json).reduce((sum: number, one) => sum + countValues(one), 1);
}

/** The first value with parts of the second; `isTaken` draws which. A field that only one of two records has is optional. */
function mixed(own: Json, drawn: Json | undefined, isTaken: () => boolean): Json {
  if (Array.isArray(own) && Array.isArray(drawn) && !isTaken())
    return own.map((one, at) => mixed(one, drawn[at], isTaken));
  if (!isJsonObject(own) || !isJsonObject(drawn)) return drawn !== undefined && isTaken() ? drawn : own;
  const names = [...new Set([...Object.keys(own), ...Object.keys(drawn)])];
  const entries = names.flatMap((name): readonly [string, Json][] => {
    const [one, other] = [own[name], drawn[name]];
    if (one !== undefined && other !== undefined) return [[name, mixed(one, other, isTaken)]];
    const isKept = (one === undefined) === isTaken();
    return isKept ? [[name, (one ?? other)!]] : [];
  });
  return Object.fromEntries(entries);
}
