// The tampering that the verifier finds, as a table: what is changed, and the finding. Some change files that they were
// given; others have the database and the master key, and make all hashes fit, so that only what records say, or
// evidence from elsewhere, shows it.

import { canonicalJson } from '../../../../src/service/store/contract/canonical-json.ts';
import type { ChainEntry } from '../../../../src/service/store/contract/chain.ts';
import { linkHash } from '../../../../src/service/store/contract/chain.ts';
import {
  checkpointOf,
  claimsOf,
  earlySize,
  inclusionOf,
  type Line,
  lineOf,
  logProofOf,
  relinked,
  statementOf,
  tokenOf,
  type VerifierInput,
  type World,
} from './given.ts';
import { noteKey } from './log.ts';

export interface Tampering {
  readonly name: string;
  /** The code of the finding. */
  readonly finds: string;
  readonly change: (world: World) => Partial<VerifierInput>;
}

type Columns = Readonly<Record<string, string | number | null>>;
// biome-ignore lint/suspicious/noExplicitAny: a record is changed at any place
type Json = any;

/** The place of the first record with these columns. */
function placeOf({ records }: World, columns: Columns, from = 0): number {
  const at = records.findIndex(
    ({ entry }, index) =>
      index >= from && Object.entries(columns).every(([name, value]) => entry[name] === value),
  );
  if (at < 0) throw new Error(`no record has ${JSON.stringify(columns)}`);
  return at;
}

const denial = { kind: 'request', outcome: 'DENY' } as const;
const grant = { kind: 'request', outcome: 'ALLOW', action_key: 'payment.create' } as const;
const vote = { kind: 'event', what: 'approved' } as const;
const decided = { kind: 'event', what: 'decided' } as const;

/** The lines with one of them changed as text. */
function withLine(world: World, columns: Columns, change: (line: string) => string): Partial<VerifierInput> {
  const at = placeOf(world, columns);
  const changed = change(world.lines[at]!);
  if (changed === world.lines[at]) throw new Error('nothing was changed');
  return { lines: world.lines.with(at, changed) };
}

/** The lines with the entry of one of them changed, and no hash. */
function withEntry(
  world: World,
  columns: Columns,
  change: (entry: ChainEntry) => ChainEntry,
): Partial<VerifierInput> {
  const at = placeOf(world, columns);
  const line = world.records[at]!;
  return { lines: world.lines.with(at, lineOf({ ...line, entry: change(line.entry) })) };
}

function column(name: string, value: string | number): (entry: ChainEntry) => ChainEntry {
  return (entry) => ({ ...entry, [name]: value });
}

/** Changes the JSON within a column. */
function within(name: string, change: (json: Json) => void): (entry: ChainEntry) => ChainEntry {
  return (entry) => {
    const json = JSON.parse(String(entry[name])) as Json;
    change(json);
    const text = name === 'detail_json' ? canonicalJson(json) : JSON.stringify(json);
    if (text === entry[name]) throw new Error('nothing was changed');
    return { ...entry, [name]: text };
  };
}

const inRecord = (change: (record: Json) => void) => within('record_json', change);
const inDetail = (change: (detail: Json) => void) => within('detail_json', change);

/** Everything written anew by somebody with the database and the key; no evidence is at hand. */
function rewritten(
  world: World,
  change: (entries: ChainEntry[]) => readonly ChainEntry[],
): Partial<VerifierInput> {
  return { lines: relinked(change(world.records.map(({ entry }) => entry))), evidence: {} };
}

function rewrittenAt(
  world: World,
  columns: Columns,
  change: (entry: ChainEntry) => ChainEntry,
): Partial<VerifierInput> {
  const at = placeOf(world, columns);
  return rewritten(world, (entries) => entries.with(at, change(entries[at]!)));
}

function evidence(files: Readonly<Record<string, string>>): Partial<VerifierInput> {
  return { evidence: files };
}

/** The place of the request that two people approved, its votes and its decision. */
function approvedPlaces(world: World) {
  const decision = placeOf(world, { ...decided, status: 'approved' });
  const request = world.records[decision]!.entry.request_id!;
  return {
    request,
    decision,
    first: placeOf(world, { ...vote, request_id: request }),
    second: placeOf(
      world,
      { ...vote, request_id: request },
      placeOf(world, { ...vote, request_id: request }) + 1,
    ),
  };
}

function rejectedRequest(world: World): string {
  return String(world.records[placeOf(world, { kind: 'event', what: 'rejected' })]!.entry.request_id);
}

/** Lines of two replicas, with knots: lane, number and the entry's other columns. */
function laneLines(): readonly Line[] {
  const ends = new Map<number, { sequence: number; hash: string }>();
  const lines: Line[] = [];
  const add = (sequence: number, lane: number, columns: Columns) => {
    const end = ends.get(lane) ?? { sequence: 0, hash: '0'.repeat(64) };
    const follows = lane === 0 && end.sequence === sequence - 1 ? {} : { follows: end.sequence };
    const entry = {
      at_ms: 1_800_000_000_000 + sequence,
      sequence,
      ...follows,
      ...columns,
      ...(lane > 0 && { lane }),
    } as unknown as ChainEntry;
    const hash = linkHash(end.hash, entry);
    lines.push({
      sequence,
      at: new Date(Number(entry.at_ms)).toISOString(),
      previous: end.hash,
      hash,
      entry,
    });
    ends.set(lane, { sequence, hash });
  };
  const change = {
    kind: 'change',
    what: 'group-added',
    subject: 'g',
    who: 'ann',
    before_json: null,
    after_json: null,
  };
  const knot = (sequence: number) => {
    const tied = [...ends].filter(([lane]) => lane > 0).map(([lane, end]) => [lane, end.sequence, end.hash]);
    add(sequence, 0, { kind: 'knot', ends_json: JSON.stringify(tied.sort()) });
  };
  add(1, 0, change);
  add(2, 1, change);
  add(3, 2, change);
  add(5, 1, change);
  knot(6);
  add(7, 2, change);
  add(8, 1, change);
  knot(9);
  return lines;
}

function lanes(change: (lines: readonly Line[]) => readonly Line[]): Partial<VerifierInput> {
  return { lines: change(laneLines()).map(lineOf), evidence: {} };
}

export const untouchedLanes = (): Partial<VerifierInput> => lanes((lines) => lines);

function editedSet(world: World, change: (text: string) => string): Partial<VerifierInput> {
  const [[digest, text]] = [...world.sets] as [[string, string]];
  const changed = change(text);
  if (changed === text) throw new Error('nothing was changed');
  return { sets: new Map([...world.sets, [digest, changed]]) };
}

function receiptCase({ month }: World, claims: Readonly<Record<string, unknown>>): Partial<VerifierInput> {
  const type = { typ: 'writ-receipt+jwt', purpose: 'receipts 1' } as const;
  return evidence({ 'receipt.jwt': tokenOf(month, { ...claimsOf(month.receipt), ...claims }, type) });
}

const cut = (world: World, from: number, to = world.lines.length): Partial<VerifierInput> => ({
  lines: world.lines.slice(from, to),
});

const flipped = (text: string): string => text.replace(/[A-Za-z]/, (letter) => (letter === 'A' ? 'B' : 'A'));

const inExport: readonly Tampering[] = [
  {
    name: 'a denial is dropped',
    finds: 'missing',
    change: (world) => ({ lines: world.lines.toSpliced(placeOf(world, denial), 1) }),
  },
  {
    name: 'an event is dropped',
    finds: 'missing',
    change: (world) => ({ lines: world.lines.toSpliced(placeOf(world, vote), 1) }),
  },
  {
    name: 'the change of a key is dropped',
    finds: 'missing',
    change: (world) => ({ lines: world.lines.toSpliced(placeOf(world, { what: 'key-rotated' }), 1) }),
  },
  {
    name: 'the first records are dropped',
    finds: 'begin',
    change: (world) => ({ ...cut(world, 5), evidence: {}, options: ['--whole'] }),
  },
  {
    name: 'the last record is dropped',
    finds: 'truncated',
    change: (world) => ({ ...cut(world, 0, -1), evidence: { 'late.json': world.evidence['late.json']! } }),
  },
  {
    name: 'the tail is dropped, and only the log knows',
    finds: 'truncated',
    change: (world) => ({ ...cut(world, 0, -9), evidence: { 'late.txt': world.evidence['late.txt']! } }),
  },
  {
    name: 'a record is there twice',
    finds: 'order',
    change: (world) => ({ lines: world.lines.toSpliced(4, 0, world.lines[4]!) }),
  },
  {
    name: 'two records have changed places',
    finds: 'order',
    change: (world) => ({ lines: world.lines.with(4, world.lines[5]!).with(5, world.lines[4]!) }),
  },
  {
    name: 'a record is moved to the end',
    finds: 'order',
    change: (world) => ({ lines: [...world.lines.toSpliced(4, 1), world.lines[4]!] }),
  },
  {
    name: 'an outcome is changed',
    finds: 'hash',
    change: (world) => withEntry(world, denial, column('outcome', 'ALLOW')),
  },
  {
    name: 'a status is changed',
    finds: 'hash',
    change: (world) => withEntry(world, denial, column('status', 'auto_approved')),
  },
  {
    name: 'an agent is changed',
    finds: 'hash',
    change: (world) => withEntry(world, grant, column('agent_id', 'other')),
  },
  {
    name: 'an action is changed',
    finds: 'hash',
    change: (world) => withEntry(world, grant, column('action_key', 'payment.read')),
  },
  {
    name: 'a request is backdated',
    finds: 'hash',
    change: (world) => withEntry(world, grant, column('created_ms', 1_700_000_000_000)),
  },
  {
    name: 'a payload is edited',
    finds: 'hash',
    change: (world) =>
      withEntry(
        world,
        grant,
        inRecord((record) => {
          record.payload.amount = 1;
        }),
      ),
  },
  {
    name: 'a reason is edited',
    finds: 'hash',
    change: (world) =>
      withEntry(
        world,
        denial,
        inRecord((record) => {
          record.decision.reason = 'other';
        }),
      ),
  },
  {
    name: 'the reading of a meter is lowered',
    finds: 'hash',
    change: (world) =>
      withEntry(
        world,
        grant,
        inRecord((record) => {
          record.meters.agent_24h.high = '0';
        }),
      ),
  },
  {
    name: 'the policy set of a record is swapped',
    finds: 'hash',
    change: (world) =>
      withEntry(
        world,
        grant,
        inRecord((record) => {
          record.policySet.digest = '0'.repeat(64);
        }),
      ),
  },
  {
    name: 'a voter is changed',
    finds: 'hash',
    change: (world) =>
      withEntry(
        world,
        vote,
        inDetail((detail) => {
          detail.person = 'eve';
        }),
      ),
  },
  {
    name: 'the comment of a vote is changed',
    finds: 'hash',
    change: (world) =>
      withEntry(
        world,
        vote,
        inDetail((detail) => {
          detail.comment = 'fine';
        }),
      ),
  },
  {
    name: 'who made a change is changed',
    finds: 'hash',
    change: (world) => withEntry(world, { what: 'key-rotated' }, column('who', 'eve')),
  },
  {
    name: 'a hash is changed with the content',
    finds: 'inserted',
    change: (world) => {
      const at = placeOf(world, denial);
      const line = world.records[at]!;
      const entry = { ...line.entry, outcome: 'ALLOW' };
      return {
        lines: world.lines.with(at, lineOf({ ...line, entry, hash: linkHash(line.previous, entry) })),
      };
    },
  },
  {
    name: 'a record names another one before it',
    finds: 'inserted',
    change: (world) =>
      withLine(world, grant, (line) =>
        line.replace(/"previous":"(.)/, (_, digit: string) => `"previous":"${digit === '0' ? '1' : '0'}`),
      ),
  },
  {
    name: 'a line has another number than its record',
    finds: 'columns',
    change: (world) =>
      withLine(world, grant, (line) => line.replace(/^\{"sequence":(\d+)/, '{"sequence":1$1')),
  },
  {
    name: 'the time of a line is another',
    finds: 'line',
    change: (world) => withLine(world, grant, (line) => line.replace(/"at":"2/, '"at":"1')),
  },
  {
    name: 'a line has white space',
    finds: 'line',
    change: (world) => withLine(world, grant, (line) => line.replace('"entry":{', '"entry": {')),
  },
  {
    name: 'the members of a line have another order',
    finds: 'line',
    change: (world) =>
      withLine(world, grant, (line) => line.replace(/("previous":"\w+"),("hash":"\w+")/, '$2,$1')),
  },
  {
    name: 'a number has another spelling',
    finds: 'line',
    change: (world) =>
      withLine(world, grant, (line) => line.replace(/"created_ms":(\d+)/, '"created_ms":$1.0')),
  },
  {
    name: 'a name is there twice, and readers differ',
    finds: 'line',
    change: (world) =>
      withLine(world, denial, (line) => line.replace('"entry":{', '"entry":{"outcome":"ALLOW",')),
  },
  {
    name: 'a letter is written as an escape',
    finds: 'line',
    change: (world) =>
      withLine(world, grant, (line) => line.replace('"kind":"request"', '"kind":"\\u0072equest"')),
  },
  {
    name: 'a line has another member',
    finds: 'line',
    change: (world) => withLine(world, grant, (line) => line.replace(/\}\n$/, ',"note":1}\n')),
  },
  {
    name: 'the last line is cut off',
    finds: 'line',
    change: (world) => ({ lines: world.lines.with(-1, world.lines.at(-1)!.slice(0, -1)) }),
  },
  {
    name: 'a line is no JSON',
    finds: 'line',
    change: (world) => ({ lines: world.lines.with(3, '{"sequence":4\n') }),
  },
  { name: 'nothing is left', finds: 'empty', change: () => ({ lines: [] }) },
  {
    name: 'a made-up record is inserted',
    finds: 'order',
    change: (world) => {
      const line = world.records[placeOf(world, grant)]!;
      const entry = { ...line.entry, id: 'made-up' };
      return {
        lines: world.lines.toSpliced(
          line.sequence,
          0,
          lineOf({ ...line, entry, hash: linkHash(line.previous, entry) }),
        ),
      };
    },
  },
];

const withKey: readonly Tampering[] = [
  {
    name: 'a denial is gone and all hashes fit: an earlier checkpoint',
    finds: 'rewritten',
    change: (world) => ({
      ...rewritten(world, (entries) => entries.toSpliced(placeOf(world, denial), 1)),
      evidence: { 'early.json': world.evidence['early.json']! },
    }),
  },
  {
    name: 'a denial is gone and all hashes fit: the signed log',
    finds: 'root',
    change: (world) => ({
      ...rewritten(world, (entries) => entries.toSpliced(placeOf(world, denial), 1)),
      evidence: { 'early.txt': world.evidence['early.txt']! },
    }),
  },
  {
    name: 'a denial is gone and all hashes fit: a proof of it',
    finds: 'rewritten',
    change: (world) => ({
      ...rewritten(world, (entries) => entries.toSpliced(placeOf(world, denial), 1)),
      evidence: { 'denial.json': world.evidence['denial.json']! },
    }),
  },
  {
    name: 'a denial has become a grant',
    finds: 'decision',
    change: (world) =>
      rewrittenAt(world, denial, (entry) => ({
        ...inRecord((record) => {
          record.decision.outcome = 'ALLOW';
        })(entry),
        outcome: 'ALLOW',
        status: 'auto_approved',
      })),
  },
  {
    name: 'the outcome of a record and its column differ',
    finds: 'columns',
    change: (world) => rewrittenAt(world, denial, column('outcome', 'ALLOW')),
  },
  {
    name: 'the payload of a denial is harmless now',
    finds: 'decision',
    change: (world) =>
      rewrittenAt(
        world,
        { ...denial, action_key: 'payment.create' },
        inRecord((record) => {
          record.payload.amount = 2;
          record.payload.vendor = 'Staples';
        }),
      ),
  },
  {
    name: 'a meter was lower',
    finds: 'decision',
    change: (world) =>
      rewrittenAt(
        world,
        { kind: 'request', outcome: 'ESCALATE', action_key: 'payment.create' },
        inRecord((record) => {
          record.payload.amount = 1;
          record.meters = { agent_24h: { low: '1', high: '1' }, vendor_24h: { low: '1', high: '1' } };
        }),
      ),
  },
  {
    name: 'a request was decided by other policies',
    finds: 'decision',
    change: (world) => {
      const first = placeOf(world, { kind: 'request', outcome: 'ALLOW', action_key: 'payment.create' });
      const digestOf = (at: number) =>
        (JSON.parse(String(world.records[at]!.entry.record_json)) as Json).policySet.digest;
      const other = [...world.sets.keys()].find((digest) => digest !== digestOf(first))!;
      const at = world.records.findIndex(
        ({ entry }) =>
          entry.kind === 'request' && (JSON.parse(String(entry.record_json)) as Json).payload.amount === 950,
      );
      const original = digestOf(at);
      return rewritten(world, (entries) =>
        entries.with(
          at,
          inRecord((record) => {
            record.policySet.digest = original === other ? digestOf(first) : other;
          })(entries[at]!),
        ),
      );
    },
  },
  {
    name: 'the risk of a decision is lower',
    finds: 'decision',
    change: (world) =>
      rewrittenAt(
        world,
        { kind: 'request', outcome: 'ESCALATE', action_key: 'payment.create' },
        inRecord((record) => {
          record.decision.risk = { low: 0, high: 0 };
        }),
      ),
  },
  {
    name: 'a rule was false',
    finds: 'decision',
    change: (world) =>
      rewrittenAt(
        world,
        grant,
        inRecord((record) => {
          record.trace.truths = record.trace.truths.replace('f', 't');
        }),
      ),
  },
  {
    name: 'fewer people were asked',
    finds: 'decision',
    change: (world) =>
      rewrittenAt(
        world,
        { kind: 'request', outcome: 'ESCALATE', action_key: 'payment.create' },
        inRecord((record) => {
          record.decision.requires.approvals[0].needs = 7;
        }),
      ),
  },
  {
    name: 'the facts of an agent are others',
    finds: 'columns',
    change: (world) =>
      rewrittenAt(
        world,
        grant,
        inRecord((record) => {
          record.agent.risk_tier = 'critical';
        }),
      ),
  },
  {
    name: 'a record is of another agent than its column',
    finds: 'columns',
    change: (world) =>
      rewrittenAt(
        world,
        grant,
        inRecord((record) => {
          record.agent.id = 'other';
        }),
      ),
  },
  {
    name: 'a rule was satisfied from the start',
    finds: 'approval',
    change: (world) =>
      rewrittenAt(
        world,
        grant,
        inRecord((record) => {
          record.satisfied.escalate = ['vendor_payments/large_payment'];
        }),
      ),
  },
  {
    name: 'a vote was given for another request',
    finds: 'vote',
    change: (world) =>
      rewrittenAt(
        world,
        vote,
        inDetail((detail) => {
          detail.digest = '0'.repeat(64);
        }),
      ),
  },
  {
    name: 'a vote is moved to another request',
    finds: 'vote',
    change: (world) =>
      rewritten(world, (entries) => {
        const { first } = approvedPlaces(world);
        return entries.with(first, { ...entries[first]!, request_id: rejectedRequest(world) });
      }),
  },
  {
    name: 'a vote is gone, and the grant is left',
    finds: 'approval',
    change: (world) => rewritten(world, (entries) => entries.toSpliced(approvedPlaces(world).first, 1)),
  },
  {
    name: 'one person voted twice',
    finds: 'approval',
    change: (world) =>
      rewritten(world, (entries) => {
        const { first, second } = approvedPlaces(world);
        return entries.with(second, { ...entries[second]!, detail_json: entries[first]!.detail_json! });
      }),
  },
  {
    name: 'a vote was given for another condition',
    finds: 'approval',
    change: (world) =>
      rewritten(world, (entries) => {
        const { first } = approvedPlaces(world);
        return entries.with(
          first,
          inDetail((detail) => {
            detail.rules[0].condition = '0'.repeat(64);
          })(entries[first]!),
        );
      }),
  },
  {
    name: 'a vote was given for another rule',
    finds: 'approval',
    change: (world) =>
      rewritten(world, (entries) => {
        const { first } = approvedPlaces(world);
        return entries.with(
          first,
          inDetail((detail) => {
            detail.rules[0].id = 'vendor_payments/new_vendor';
          })(entries[first]!),
        );
      }),
  },
  {
    name: 'a grant was decided without votes',
    finds: 'approval',
    change: (world) =>
      rewritten(world, (entries) => {
        const { first, second } = approvedPlaces(world);
        return entries.toSpliced(second, 1).toSpliced(first, 1);
      }),
  },
  {
    name: 'a rejection has become an approval',
    finds: 'state',
    change: (world) =>
      rewrittenAt(world, { kind: 'event', what: 'rejected' }, (entry) => ({
        ...entry,
        what: 'approved',
        status: 'approved',
      })),
  },
  {
    name: 'what was rejected is granted later',
    finds: 'state',
    change: (world) =>
      rewritten(world, (entries) => {
        const { decision } = approvedPlaces(world);
        return [
          ...entries,
          {
            ...entries[decision]!,
            request_id: rejectedRequest(world),
            at_ms: Number(entries.at(-1)!.created_ms ?? entries.at(-1)!.at_ms),
          },
        ];
      }),
  },
  {
    name: 'a rejected request was carried out',
    finds: 'state',
    change: (world) =>
      rewritten(world, (entries) => {
        const used = entries[placeOf(world, { what: 'consumed' })]!;
        return [...entries, { ...used, request_id: rejectedRequest(world) }];
      }),
  },
  {
    name: 'a withdrawal is a use',
    finds: 'state',
    change: (world) => rewrittenAt(world, { what: 'withdrawn' }, (entry) => ({ ...entry, what: 'taken' })),
  },
  {
    name: 'an event is of an unknown request',
    finds: 'state',
    change: (world) => rewrittenAt(world, { what: 'consumed' }, column('request_id', 'made-up')),
  },
  {
    name: 'a request is recorded twice',
    finds: 'inserted',
    change: (world) => rewritten(world, (entries) => [...entries, entries[placeOf(world, grant)]!]),
  },
  {
    name: 'a key is backdated',
    finds: 'time',
    change: (world) =>
      rewrittenAt(world, { what: 'key-rotated' }, (entry) => ({
        ...entry,
        at_ms: Number(entry.at_ms) - 86_400_000,
      })),
  },
  {
    name: 'a request is a year older',
    finds: 'time',
    change: (world) =>
      rewrittenAt(world, grant, (entry) => ({
        ...entry,
        created_ms: Number(entry.created_ms) - 31_536_000_000,
      })),
  },
  {
    name: 'a grant used a key that nobody added',
    finds: 'key',
    change: (world) =>
      rewrittenAt(
        world,
        grant,
        inRecord((record) => {
          record.key.id = 'made-up';
        }),
      ),
  },
  {
    name: 'the end of a key is gone',
    finds: 'key',
    change: (world) =>
      rewritten(world, (entries) => entries.toSpliced(placeOf(world, { what: 'key-rotated' }), 1)),
  },
  {
    name: 'an agent was disabled when it got a grant',
    finds: 'key',
    change: (world) =>
      rewritten(world, (entries) => entries.toSpliced(placeOf(world, { what: 'agent-enabled' }), 1)),
  },
  {
    name: 'an agent was never added',
    finds: 'key',
    change: (world) =>
      rewritten(world, (entries) => entries.toSpliced(placeOf(world, { what: 'agent-added' }), 1)),
  },
  {
    name: 'a record holds a name twice',
    finds: 'line',
    change: (world) =>
      rewrittenAt(world, denial, (entry) => ({
        ...entry,
        record_json: String(entry.record_json).replace('{', '{"payload":{"amount":1},'),
      })),
  },
];

const ofPolicies: readonly Tampering[] = [
  {
    name: 'a limit in a policy set is raised',
    finds: 'policy-set',
    change: (world) =>
      editedSet(world, (text) =>
        text.replace(/coefficient:1n,8\\"exponent:4,/, 'coefficient:9n,8\\"exponent:4,'),
      ),
  },
  {
    name: 'a rule of a policy set is gone',
    finds: 'policy-set',
    change: (world) => editedSet(world, (text) => text.replace('blocked_vendor', 'blocked_vendar')),
  },
  {
    name: 'a policy set is another one under its name',
    finds: 'policy-set',
    change: (world) => {
      const [[digest], [, other]] = [...world.sets] as [[string, string], [string, string]];
      return { sets: new Map([...world.sets, [digest, other]]) };
    },
  },
];

const ofEvidence: readonly Tampering[] = [
  {
    name: 'a checkpoint is of another service',
    finds: 'checkpoint',
    change: (world) =>
      evidence({ 'late.json': checkpointOf({ masterKey: Buffer.alloc(32, 7) }, world.records) }),
  },
  {
    name: 'a checkpoint is edited',
    finds: 'checkpoint',
    change: (world) =>
      evidence({
        'late.json': world.evidence['late.json']!.replace(/"sequence":\d+/, '"sequence":3'),
      }),
  },
  {
    name: 'a checkpoint permits deletion now',
    finds: 'checkpoint',
    change: (world) => evidence({ 'late.json': world.evidence['late.json']!.replace('"end"', '"pruned"') }),
  },
  {
    name: 'a later checkpoint covers less',
    finds: 'shrunk',
    change: (world) =>
      evidence({
        'late.json': world.evidence['late.json']!,
        'later.json': checkpointOf(world.month, world.records.slice(0, earlySize), 1_900_000_000_000),
      }),
  },
  {
    name: 'a signed log is of another key',
    finds: 'note',
    change: (world) =>
      evidence({
        'late.txt': world.note(world.records, 1_800_000_000, noteKey(world.logKey.name, 1)),
      }),
  },
  {
    name: 'a signed root is edited',
    finds: 'note',
    change: (world) =>
      evidence({
        'late.txt': world.evidence['late.txt']!.replace(/\n\d+\n(.)/, (text) =>
          text.replace(/.$/, (letter) => (letter === 'A' ? 'B' : 'A')),
        ),
      }),
  },
  {
    name: 'a signed size is edited',
    finds: 'note',
    change: (world) => evidence({ 'late.txt': world.evidence['late.txt']!.replace(/\n(\d+)\n/, '\n1$1\n') }),
  },
  {
    name: 'the checkpoint of another log is shown',
    finds: 'note',
    change: (world) => {
      const other = noteKey('other.example.com/writ', 1);
      return {
        evidence: {
          'late.txt': world
            .note(world.records, 1_800_000_000, other)
            .replace('other.example.com/writ\n', `${world.logKey.name}\n`),
        },
        keys: [...world.keys, other.text],
      };
    },
  },
  {
    name: 'two views of one size are shown',
    finds: 'split-view',
    change: (world) =>
      evidence({
        'late.txt': world.evidence['late.txt']!,
        'other.txt': world.note(world.records.with(3, world.records[4]!)),
      }),
  },
  {
    name: 'the log has shrunk since a witness saw it',
    finds: 'shrunk',
    change: (world) =>
      evidence({
        'late.txt': world.evidence['late.txt']!,
        'later.txt': world.note(world.records.slice(0, earlySize), 1_900_000_000),
      }),
  },
  {
    name: 'no witness has signed',
    finds: 'witness',
    change: (world) =>
      evidence({ 'late.txt': world.evidence['late.txt']!.replaceAll(/— \w+\.example\.org.*\n/g, '') }),
  },
  {
    name: 'one witness of two has signed',
    finds: 'witness',
    change: (world) =>
      evidence({ 'late.txt': world.evidence['late.txt']!.replace(/— two\.example\.org.*\n/, '') }),
  },
  {
    name: 'the signature of a witness is of an earlier size',
    finds: 'note',
    change: (world) =>
      evidence({
        'late.txt': world.evidence['late.txt']!.replace(
          /— one\.example\.org.*\n/,
          () => /— one\.example\.org.*\n/.exec(world.evidence['early.txt']!)![0],
        ),
      }),
  },
  {
    name: 'a proof is for an edited record',
    finds: 'inclusion',
    change: (world) =>
      evidence({
        'denial.json': world.evidence['denial.json']!.replace('"outcome":"DENY"', '"outcome":"ALLOW"'),
      }),
  },
  {
    name: 'a proof is of another place',
    finds: 'inclusion',
    change: (world) =>
      evidence({
        'denial.json': world.evidence['denial.json']!.replace(/"leaf_index":(\d+)/, '"leaf_index":1$1'),
      }),
  },
  {
    name: 'a hash of a proof is edited',
    finds: 'inclusion',
    change: (world) =>
      evidence({
        'denial.json': world.evidence['denial.json']!.replace(
          /"inclusion":\["[^"]+/,
          (text) => `"inclusion":["${flipped(text.slice('"inclusion":["'.length))}`,
        ),
      }),
  },
  {
    name: 'a proof is of another log',
    finds: 'inclusion',
    change: (world) =>
      evidence({
        'denial.json': world.evidence['denial.json']!.replace('"log":"writ', '"log":"wrot'),
      }),
  },
  {
    name: 'a record of a proof is not in the export',
    finds: 'rewritten',
    change: (world) => {
      const made = world.records.with(3, {
        ...world.records[3]!,
        entry: { ...world.records[3]!.entry, id: 'made-up' },
      });
      return evidence({ 'proof.json': inclusionOf(made, 3, world.note(made)) });
    },
  },
  {
    name: 'a short proof is of another leaf',
    finds: 'inclusion',
    change: (world) =>
      evidence({
        'a.tlog-proof': logProofOf(world.records, 3, world.note(world.records)).replace('index 3', 'index 4'),
      }),
  },
  {
    name: 'a short proof lacks a hash',
    finds: 'inclusion',
    change: (world) =>
      evidence({
        'a.tlog-proof': logProofOf(world.records, 3, world.note(world.records)).replace(
          /(index 3\n)[^\n]+\n/,
          '$1',
        ),
      }),
  },
  {
    name: 'a later log does not continue the earlier one',
    finds: 'consistency',
    change: (world) => {
      const other = world.records.with(2, world.records[3]!);
      return evidence({
        'early.txt': world.note(other.slice(0, earlySize)),
        'consistency.json': world.evidence['consistency.json']!,
      });
    },
  },
  {
    name: 'a proof of consistency is of another size',
    finds: 'consistency',
    change: (world) =>
      evidence({
        'early.txt': world.evidence['early.txt']!,
        'consistency.json': world.evidence['consistency.json']!.replace(/"new_size":(\d+)/, '"new_size":1$1'),
      }),
  },
  {
    name: 'a denial is shown as a grant',
    finds: 'receipt',
    change: (world) => {
      const { id } = world.records[placeOf(world, denial)]!.entry;
      return receiptCase(world, { jti: id, txn: id });
    },
  },
  {
    name: 'a receipt is of another key',
    finds: 'receipt',
    change: (world) =>
      evidence({
        'receipt.jwt': tokenOf({ masterKey: Buffer.alloc(32, 7) }, claimsOf(world.month.receipt), {
          typ: 'writ-receipt+jwt',
          purpose: 'receipts 1',
        }),
      }),
  },
  {
    name: 'a receipt is for another payload',
    finds: 'receipt',
    change: (world) =>
      receiptCase(world, {
        authorization_details: [
          { type: 'writ_action', action_key: 'banking.get_balance', payload_digest: 'sha-256:AAAA' },
        ],
      }),
  },
  {
    name: 'a receipt is for another action',
    finds: 'receipt',
    change: (world) =>
      receiptCase(world, { authorization_details: [{ type: 'writ_action', action_key: 'payment.create' }] }),
  },
  {
    name: 'a receipt is of other policies',
    finds: 'receipt',
    change: (world) =>
      receiptCase(world, { policy: { set: `sha256:${'0'.repeat(64)}`, rule: 'account_reading/look' } }),
  },
  {
    name: 'a receipt is of a request that nobody made',
    finds: 'receipt',
    change: (world) => receiptCase(world, { jti: 'made-up', txn: 'made-up' }),
  },
  {
    name: 'a receipt is not signed',
    finds: 'receipt',
    change: (world) =>
      evidence({
        'receipt.jwt': world.month.receipt.replace(
          /^[^.]+/,
          Buffer.from('{"alg":"none","typ":"writ-receipt+jwt"}').toString('base64url'),
        ),
      }),
  },
  {
    name: 'the statement of a denial says that it was allowed',
    finds: 'receipt',
    change: (world) =>
      evidence({
        'a.jwt': statementOf(world.month, world.records[placeOf(world, denial)]!, {
          first_decision: 'ALLOW',
        }),
      }),
  },
  {
    name: 'a statement says that a denial was carried out',
    finds: 'receipt',
    change: (world) =>
      evidence({
        'a.jwt': statementOf(world.month, world.records[placeOf(world, denial)]!, { status: 'consumed' }),
      }),
  },
  {
    name: 'a statement is shown as a receipt',
    finds: 'receipt',
    change: (world) =>
      evidence({
        'a.jwt': tokenOf(
          world.month,
          claimsOf(statementOf(world.month, world.records[placeOf(world, denial)]!)),
          { typ: 'writ-receipt+jwt', purpose: 'statements' },
        ),
      }),
  },
  {
    name: 'a receipt is shown as a statement',
    finds: 'receipt',
    change: (world) =>
      evidence({
        'a.jwt': tokenOf(world.month, claimsOf(world.month.receipt), {
          typ: 'writ-statement+jwt',
          purpose: 'receipts 1',
        }),
      }),
  },
];

const ofLanes: readonly Tampering[] = [
  {
    name: 'a lane is gone',
    finds: 'missing',
    change: () => lanes((lines) => lines.filter(({ entry }) => entry.lane !== 2)),
  },
  {
    name: 'a record of a lane is gone',
    finds: 'missing',
    change: () => lanes((lines) => lines.filter(({ sequence }) => sequence !== 5)),
  },
  {
    name: 'the last record of a lane is gone',
    finds: 'missing',
    change: () => lanes((lines) => lines.filter(({ sequence }) => sequence !== 8)),
  },
  {
    name: 'the last record of a lane is another',
    finds: 'rewritten',
    change: () =>
      lanes((lines) =>
        lines.map((line) => {
          if (line.sequence !== 8) return line;
          const entry = { ...line.entry, who: 'eve' };
          return { ...line, entry, hash: linkHash(line.previous, entry) };
        }),
      ),
  },
  {
    name: 'a knot is gone',
    finds: 'missing',
    change: () => lanes((lines) => lines.filter(({ sequence }) => sequence !== 6)),
  },
  {
    name: 'a record is added to a lane',
    finds: 'inserted',
    change: () =>
      lanes((lines) => {
        const last = lines.find(({ sequence }) => sequence === 3)!;
        const entry = { ...last.entry, sequence: 4, follows: 3 };
        const added = { ...last, sequence: 4, previous: last.hash, entry, hash: linkHash(last.hash, entry) };
        return lines.toSpliced(3, 0, added);
      }),
  },
];

export const tampering: readonly Tampering[] = [
  ...inExport,
  ...withKey,
  ...ofPolicies,
  ...ofEvidence,
  ...ofLanes,
];
