// Asks a running service how often each rule has decided, and for recorded requests. The service is that of
// `WRIT_URL`, or the one of `writ.yaml` if that listens on this machine. INVARIANT: the token comes from the
// environment, and a file of the workspace cannot send it beyond this machine.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../service/settings/load.ts';

export interface RecordedHits {
  /** When the service began to count. */
  readonly since: string;
  /** Counts by `policy/rule`. */
  readonly rules: ReadonlyMap<string, RuleHitCount>;
  /** Decisions of the last day, by policy; only the policies that have decided most. */
  readonly lastDay: ReadonlyMap<string, number>;
}

interface RuleHitCount {
  readonly decided: number;
  readonly met: number;
  readonly lastAt: string | null;
}

export interface RecordedExplanation {
  readonly id: string;
  readonly text: string;
}

export interface PolicyService {
  /** The counts; null when no service is named, or the service does not answer at once. */
  hits(): Promise<RecordedHits | null>;
  /** The newest request that a policy has decided, explained; a text with the reason when there is none. */
  lastRequest(policy: string): Promise<RecordedExplanation | string>;
}

interface ServiceAccess {
  readonly base: string;
  readonly token: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The service to ask; null when none is named, or there is no token for it. */
export function serviceOf(folders: readonly string[], environment: Environment): PolicyService | null {
  const token = environment.WRIT_TOKEN ?? '';
  const base = environment.WRIT_URL || localAddress(folders);
  if (token === '' || base === null) return null;
  return serviceAt({ base: base.replace(/\/$/, ''), token });
}

function localAddress(folders: readonly string[]): string | null {
  const folder = folders.find((one) => existsSync(join(one, 'writ.yaml')));
  if (folder === undefined) return null;
  const loaded = loadConfig({ directory: folder, environment: {}, flags: {} });
  if (!loaded.ok || loaded.config.port === 0) return null;
  const { host, port } = loaded.config;
  const isHere = ['127.0.0.1', '::1', 'localhost', '0.0.0.0', '::'].includes(host);
  const name = host.includes(':') || host === '0.0.0.0' ? 'localhost' : host;
  return isHere ? `http://${name}:${port}` : null;
}

/**
 * Milliseconds. Counts are kept for a while, because they change slowly. A hover must not wait long; a person
 * who asks for a request waits until it is found.
 */
const [keptMs, hoverMs, askedMs] = [30_000, 2_000, 15_000];

function serviceAt({ base, token }: ServiceAccess): PolicyService {
  let cachedHits: { readonly atMs: number; readonly hits: Promise<RecordedHits | null> } | null = null;
  const get = async <T>(path: string, timeoutMs = askedMs): Promise<T> => {
    const reply = await fetch(base + path, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!reply.ok) throw new Error(`${base} answered ${path} with status ${reply.status}`);
    return (await reply.json()) as T;
  };
  return {
    hits() {
      const nowMs = performance.now();
      if (cachedHits === null || nowMs - cachedHits.atMs > keptMs)
        cachedHits = { atMs: nowMs, hits: readHits((path) => get(path, hoverMs)).catch(() => null) };
      return cachedHits.hits;
    },
    async lastRequest(policy) {
      try {
        return await readLast(get, policy);
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
  };
}

type GetJson = <T>(path: string) => Promise<T>;

interface HitsReply {
  readonly since: string;
  readonly items: readonly {
    readonly policy: string;
    readonly rule: string;
    readonly decided: number;
    readonly met: number;
    readonly last_at: string | null;
  }[];
}

interface OverviewReply {
  readonly policies: readonly ({ readonly name: string | null } & Readonly<
    Record<string, number | string | null>
  >)[];
}

async function readHits(get: GetJson): Promise<RecordedHits> {
  const [hits, overview] = await Promise.all([
    get<HitsReply>('/v1/policies/hits'),
    get<OverviewReply>('/v1/overview?buckets=1'),
  ]);
  const lastDay = overview.policies.map(({ name, ...counts }) => [
    name ?? '',
    Object.values(counts).reduce<number>((sum, count) => sum + Number(count ?? 0), 0),
  ]);
  return {
    since: hits.since,
    rules: new Map(
      hits.items.map(({ policy, rule, decided, met, last_at: lastAt }) => [
        `${policy}/${rule}`,
        { decided, met, lastAt },
      ]),
    ),
    lastDay: new Map(lastDay as [string, number][]),
  };
}

interface RequestsReply {
  readonly items: readonly { readonly request_id: string }[];
}

interface ExplainReply {
  readonly decision: string;
  readonly change: string | null;
  readonly is_same_set: boolean;
  readonly conditions: readonly {
    readonly rule: string;
    readonly truth: string;
    readonly lines: readonly { readonly depth: number; readonly text: string; readonly value: string }[];
  }[];
}

async function readLast(get: GetJson, policy: string): Promise<RecordedExplanation | string> {
  const { items } = await get<RequestsReply>(`/v1/requests?${new URLSearchParams({ policy, limit: '1' })}`);
  const [last] = items;
  if (last === undefined) return `\`${policy}\` has not decided a request yet`;
  const { request_id: id } = last;
  const explained = await get<ExplainReply>(`/v1/requests/${encodeURIComponent(id)}/explain`);
  return { id, text: explainedText(id, explained) };
}

function explainedText(
  id: string,
  { decision, change, is_same_set: isSameSet, conditions }: ExplainReply,
): string {
  const rules = conditions.flatMap(({ rule, truth, lines }) => [
    `${truth} ${rule}`,
    ...lines.map(({ depth, text, value }) => `${'  '.repeat(depth + 1)}${text}: ${value}`),
  ]);
  const changed = change === null ? [] : [change];
  return [
    `${id}: ${decision} by ${isSameSet ? 'its own policies' : 'the active policies'}`,
    ...changed,
    ...rules,
  ].join('\n');
}
