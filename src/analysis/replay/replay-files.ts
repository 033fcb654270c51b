// Decides a record again, on its own facts and by the same policies, and compares the results. INVARIANT: a record that
// cannot be decided again never counts as the same.

import { isDeepStrictEqual } from 'node:util';
import type { LinkedFunctions } from '../../language/emit/link.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { type ReadValue, type TracedRule, tracedRules } from '../../language/model/trace.ts';
import {
  type EngineVersions,
  engineVersions,
  versionDifferences,
} from '../../service/requests/record/engine-versions.ts';
import type { RequestRecord } from '../../service/requests/record/record.ts';
import {
  factsOfRecord,
  holdsDigests,
  type RecordedRequest,
  recordedShape,
} from '../records/recorded-request.ts';
import { underRecordedChain } from './engine/recorded-chain.ts';

/** The parts of a record that deciding it again needs, with the recorded result. */
export type ReplayableRecord = RecordedRequest &
  Pick<RequestRecord, 'id' | 'decision' | 'trace' | 'policySet'> & {
    /** The versions of the engine that decided; missing from old records. */
    readonly engine?: EngineVersions;
  };

export interface ReplayPolicies {
  readonly set: PolicySet;
  readonly engine: LinkedFunctions;
  readonly digest: string;
}

export interface ReplayDifference {
  /** The path of the difference, such as `decision.risk.high`. */
  readonly path: string;
  readonly recorded: unknown;
  readonly replayed: unknown;
}

export type ReplayResult =
  /** `isWhole` is true when the trace was compared, too; withheld secrets prevent that. */
  | { readonly kind: 'same'; readonly isWhole: boolean; readonly versions: readonly string[] }
  | {
      readonly kind: 'different';
      readonly differences: readonly ReplayDifference[];
      /** Versions of the engine that differ from the recorded ones. */
      readonly versions: readonly string[];
    }
  /**
   * `rows` holds what the record read from tables that these policies also have, if the value is different in
   * them.
   */
  | { readonly kind: 'other-policies'; readonly digest: string; readonly rows: readonly ReplayDifference[] }
  /** The gate refused the payload for its shape, and the record withholds its content. */
  | { readonly kind: 'withheld' };

export function replay(record: ReplayableRecord, policies: ReplayPolicies): ReplayResult {
  if (record.policySet.digest !== policies.digest)
    return { kind: 'other-policies', digest: record.policySet.digest, rows: rowsDiffering(record, policies) };
  const facts = factsOfRecord(record);
  const versions = record.engine === undefined ? [] : versionDifferences(record.engine, engineVersions);
  if (!holdsDigests(record.payload)) {
    const { decision, trace } = underRecordedChain(policies.engine, record.chain).decideTraced(facts);
    return compare({ decision, trace: tracedRules(trace) }, { record, isWhole: true, versions });
  }
  if (record.decision.by === 'invalid_payload') return { kind: 'withheld' };
  if (record.chain !== undefined) {
    const { decision } = underRecordedChain(policies.engine, record.chain).decideRecorded(facts);
    return compare({ decision }, { record, isWhole: false, versions });
  }
  const { decide } = recordedShape(policies.set, record.actionKey);
  return compare({ decision: decide(facts) }, { record, isWhole: false, versions });
}

/**
 * Finds what the record read from tables and what has another value in these policies. Values are compared by
 * path, so other rules in these policies do not matter.
 */
function rowsDiffering(
  record: ReplayableRecord,
  { set, engine }: ReplayPolicies,
): readonly ReplayDifference[] {
  const tables = [...set.tables.keys()];
  const isOfTable = (path: string): boolean =>
    tables.some((name) => path.startsWith(`${name}[`) || path.endsWith(` in ${name}`));
  const then = readsOf(tracedRules(record.trace));
  const { trace } = engine.decideRecorded(factsOfRecord(record));
  const now = readsOf(tracedRules(trace));
  const paths = [...then.keys()].filter((path) => isOfTable(path) && now.has(path));
  return paths.flatMap((path) => differencesOf(valueRead(then.get(path)!), valueRead(now.get(path)!), path));
}

function readsOf(rules: readonly TracedRule[]): ReadonlyMap<string, ReadValue> {
  return new Map(rules.flatMap(({ reads }) => Object.entries(reads)));
}

function valueRead(read: ReadValue): unknown {
  return 'value' in read ? read.value : read.missing;
}

interface RecordComparison {
  readonly record: ReplayableRecord;
  readonly isWhole: boolean;
  readonly versions: readonly string[];
}

function compare(now: object, { record, isWhole, versions }: RecordComparison): ReplayResult {
  const { decision } = record;
  const then = isWhole ? { decision, trace: tracedRules(record.trace) } : { decision };
  // The results are compared as JSON, because the record holds JSON.
  const plain: unknown = JSON.parse(JSON.stringify(now));
  const differences = differencesOf(then, plain);
  return differences.length === 0
    ? { kind: 'same', isWhole, versions }
    : { kind: 'different', differences: differences.slice(0, differencesMax), versions };
}

const differencesMax = 10;

/** The innermost places where two JSON values differ. */
function differencesOf(then: unknown, now: unknown, path = ''): readonly ReplayDifference[] {
  if (isDeepStrictEqual(then, now)) return [];
  if (!isNested(then) || !isNested(now) || Array.isArray(then) !== Array.isArray(now))
    return [{ path, recorded: then ?? null, replayed: now ?? null }];
  const names = new Set([...Object.keys(then), ...Object.keys(now)]);
  return [...names].flatMap((name) =>
    differencesOf(own(then, name), own(now, name), path === '' ? name : `${path}.${name}`),
  );
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function own(value: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}
