// Loads Cedar itself, as WebAssembly, on demand: it parses and checks the policies, and decides the requests with which the
// import is compared. It is no dependency of Writ. Each function here asks Cedar one thing and returns plain data.

import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UsageError } from '../../output/output.ts';

const packageName = '@cedar-policy/cedar-wasm';
const cedarVersion = '4.13.0';

/** An expression of Cedar's JSON format: an object with one key, the operator. */
export type CedarExpression = Readonly<Record<string, unknown>>;

export interface CedarEntityId {
  readonly type: string;
  readonly id: string;
}

export type CedarEntityJson = CedarEntityId | { readonly __entity: CedarEntityId };

export interface CedarScope {
  readonly op: 'All' | '==' | 'in' | 'is';
  readonly entity?: CedarEntityJson;
  readonly entities?: readonly CedarEntityJson[];
  readonly entity_type?: string;
  readonly in?: { readonly entity?: CedarEntityJson };
}

export interface CedarPolicyJson {
  readonly effect: 'permit' | 'forbid';
  readonly principal: CedarScope;
  readonly action: CedarScope;
  readonly resource: CedarScope;
  readonly conditions: readonly { readonly kind: 'when' | 'unless'; readonly body: CedarExpression }[];
  readonly annotations?: Readonly<Record<string, string | null>>;
}

export interface CedarProblem {
  readonly message: string;
  readonly help: string | null;
  readonly sourceLocations?: readonly { readonly label: string | null; readonly start: number }[];
}

interface Failure {
  readonly type: 'failure';
  readonly errors: readonly CedarProblem[];
}

type Answer<T> = ({ readonly type: 'success' } & T) | Failure;

export interface CedarFinding {
  readonly policyId: string;
  readonly error: CedarProblem;
}

export interface CedarEntity {
  readonly uid: CedarEntityId;
  readonly attrs: Readonly<Record<string, unknown>>;
  readonly parents: readonly CedarEntityId[];
  readonly tags?: Readonly<Record<string, unknown>>;
}

export interface CedarRequest {
  readonly principal: CedarEntityId;
  readonly action: CedarEntityId;
  readonly resource: CedarEntityId;
  readonly context: Readonly<Record<string, unknown>>;
  readonly entities: readonly CedarEntity[];
}

interface CedarResponse {
  readonly decision: 'allow' | 'deny';
  readonly diagnostics: {
    readonly reason: readonly string[];
    readonly errors: readonly { readonly policyId: string; readonly error: CedarProblem }[];
  };
}

type CedarPolicies = { readonly staticPolicies: Readonly<Record<string, string>> };

/** The functions of the package that an import calls. */
export interface Cedar {
  readonly schemaToText: (schema: object) => Answer<{ readonly text: string }>;
  readonly schemaToJsonWithResolvedTypes: (
    schema: string,
  ) => Answer<{ readonly json: Readonly<Record<string, unknown>> }>;
  readonly policySetTextToParts: (
    text: string,
  ) => Answer<{ readonly policies: readonly string[]; readonly policy_templates: readonly string[] }>;
  readonly policyToJson: (policy: string) => Answer<{ readonly json: CedarPolicyJson }>;
  readonly validate: (call: { readonly schema: string; readonly policies: CedarPolicies }) => Answer<{
    readonly validationErrors: readonly CedarFinding[];
  }>;
  readonly preparsePolicySet: (name: string, policies: CedarPolicies) => Answer<object>;
  readonly statefulIsAuthorized: (
    call: CedarRequest & { readonly preparsedPolicySetId: string },
  ) => Answer<{ readonly response: CedarResponse }>;
}

const called = [
  'schemaToText',
  'schemaToJsonWithResolvedTypes',
  'policySetTextToParts',
  'policyToJson',
  'validate',
  'preparsePolicySet',
  'statefulIsAuthorized',
] as const;

/** Loads the package from the `node_modules` of the policies' folder, of the present one, or of Writ. */
export async function loadCedar(folder: string): Promise<Cedar> {
  const places = [join(resolve(folder), 'x'), join(process.cwd(), 'x'), import.meta.url];
  const path = places.flatMap((place) => pathFrom(place) ?? [])[0];
  if (path === undefined)
    throw new UsageError(
      `importing needs Cedar itself, which is not installed: npm install --no-save ${packageName}@${cedarVersion}`,
    );
  const loaded = (await import(pathToFileURL(path).href)) as Partial<Cedar>;
  if (!isWhole(loaded))
    throw new UsageError(`${path} lacks functions of ${packageName} ${cedarVersion}: install that version`);
  return loaded;
}

function pathFrom(place: string): string | null {
  try {
    return createRequire(place).resolve(`${packageName}/nodejs`);
  } catch {
    return null;
  }
}

function isWhole(loaded: Partial<Cedar>): loaded is Cedar {
  return called.every((name) => typeof loaded[name] === 'function');
}

/** The first problem in words, with its help. */
export function problemText(problems: readonly CedarProblem[]): string {
  const [first] = problems;
  if (first === undefined) return 'unknown problem';
  const expected = first.sourceLocations?.[0]?.label ?? null;
  return [first.message, expected, first.help].filter((part) => part !== null && part !== '').join('; ');
}
