// Measures what proving guarantees costs at scale, beside reading and compiling the same policies: many rules
// of one action, many actions, a long list. Run it by hand: `node bench/proofs.ts`

import { compileToProgram, type PolicySources } from '../src/pipeline.ts';
import { createProblem } from '../src/reasoning/prove/problem.ts';
import { proveGuarantees } from '../src/reasoning/prove/prove.ts';

interface ProofFigures {
  readonly name: string;
  readonly compileMs: number;
  readonly proveMs: number;
  /**
   * Time to build the proof problem of one action, which a comparison of two revisions needs when one rule
   * has changed.
   */
  readonly buildMs: number;
  readonly kinds: Readonly<Record<string, number>>;
}

export function measureProofs(name: keyof typeof sets): ProofFigures {
  const sources = sets[name]();
  const { set, diagnostics, ms: compileMs } = timed(() => compileToProgram(sources));
  if (set === null)
    throw new Error(`${name}: ${diagnostics.find(({ severity }) => severity === 'error')?.message}`);
  const { verdicts, ms: proveMs } = timed(() => ({ verdicts: proveGuarantees(set) }));
  const kinds: Record<string, number> = {};
  for (const { kind } of verdicts) kinds[kind] = (kinds[kind] ?? 0) + 1;
  const [action] = set.actions.keys();
  const { ms: buildMs } = timed(() => ({ problem: createProblem(set, action!) }));
  return { name, compileMs, proveMs, buildMs, kinds };
}

/** Measures processor time, so that other work on the machine does not count. */
function timed<T extends object>(run: () => T): T & { readonly ms: number } {
  const started = process.cpuUsage();
  const result = run();
  const { user, system } = process.cpuUsage(started);
  return { ...result, ms: (user + system) / 1000 };
}

export const sets = {
  '1,000 rules of one action': () => withFiles(ruleFiles(1_000, 1)),
  '10,000 rules of 100 actions': () => withFiles(ruleFiles(10_000, 100)),
  'a list of 100,000 entries': listed,
} as const;

function withFiles(texts: readonly string[]): PolicySources {
  return {
    files: texts.map((text, at) => ({ path: `${at}.policy`, text })),
    readListFile: () => ({ code: 'list-file-missing', message: 'there are no list files' }),
  };
}

const shape =
  '{ amount: number 0.., vendor: string 1..100, currency: "USD" | "EUR" | "GBP", path: string ..500, country: string 2..2, at: timestamp }';

const conditions: readonly ((at: number) => string)[] = [
  (at) => `payload.vendor == "vendor ${at}" and payload.amount > ${at * 10}`,
  (at) => `payload.amount in ${at * 7}..${at * 7 + 500} and payload.currency == "EUR"`,
  (at) => `payload.path like "/team-${at}/*" and agent.risk_tier == "high"`,
  (at) => `payload.path starts with "/etc/${at}/" or payload.path ends with ".key${at}"`,
  (at) => `payload.country == "${letters(at)}" and payload.amount >= ${at}`,
  (at) => `payload.vendor in ["v${at}", "w${at}", "vendor ${at + 1}"] and now not in office`,
  (at) => `risk >= ${30 + (at % 60)} and payload.vendor == "r${at}"`,
  (at) => `payload.path contains "secret-${at}" and payload.amount < ${at * 3 + 1}`,
];

function letters(at: number): string {
  return String.fromCharCode(65 + (Math.floor(at / 26) % 26), 65 + (at % 26));
}

/** Returns files with guards of many forms, and one allow of small amounts for each action. */
function ruleFiles(rules: number, actions: number): readonly string[] {
  const keys = Array.from({ length: actions }, (_, at) => `work.act_${at}`);
  const head = `hours office = mon-fri 09:00-17:00 in "Europe/Berlin"\napprovers boss "Boss"\n${keys.map((key) => `action ${key} ${shape}\n`).join('')}`;
  const each = rules / actions;
  const bodies = keys.map((key, number) => {
    const guards = Array.from({ length: each - 1 }, (_, at) => {
      const condition = conditions[at % conditions.length]!(at + number);
      const effect = ['deny', 'escalate'][at % 2]!;
      return `  ${effect} r${at} ${effect === 'deny' ? '' : 'to boss '}when ${condition}\n`;
    });
    return `policy p${number} on ${key} {\n  allow small when payload.amount <= 10_000 and payload.currency != "GBP"\n${guards.join('')}}\n`;
  });
  const claims = [
    'never allow when payload.amount > 10_000',
    'never allow when payload.currency == "GBP"',
    'never allow unapproved when payload.vendor == "vendor 0" and payload.amount > 0',
    'never allow when payload.amount > 9_000',
    'never escalate when payload.country == "AA"',
    'always allow when payload.amount < 5 and payload.currency == "USD"',
  ];
  return [head, ...bodies, `guarantee g on work.* {\n${claims.map((claim) => `  ${claim}\n`).join('')}}\n`];
}

function listed(): PolicySources {
  const lines = (count: number, name: string): string =>
    Array.from({ length: count }, (_, at) => `${name} ${at}\n`).join('');
  const text = `
action pay.make { vendor: string 1..100, amount: number 0.., note: string ..500 }
list blocked ignoring case from "blocked.txt"
list known from "known.txt"
policy p on pay.make {
  allow known when payload.vendor in known
  deny blocked when payload.vendor in blocked
  deny hidden when payload.vendor like "*;*"
}
guarantee g on pay.make {
  never allow when payload.vendor in blocked
  never allow when payload.vendor == "BLOCKED 99999"
  never allow when payload.vendor == "Known 1"
  never allow when payload.vendor contains "known 5"
  always allow when payload.vendor in known
  always deny when payload.vendor not in known
}
`;
  const files: Readonly<Record<string, string>> = {
    'blocked.txt': lines(100_000, 'blocked'),
    'known.txt': lines(60_000, 'known'),
  };
  return {
    files: [{ path: 'a.policy', text }],
    readListFile: (path) =>
      path in files ? { text: files[path]! } : { code: 'list-file-missing', message: 'there is none' },
  };
}

function line({ name, compileMs, proveMs, buildMs, kinds }: ProofFigures): string {
  const said = Object.entries(kinds).map(([kind, count]) => `${count} ${kind}`);
  const ms = [compileMs, proveMs, buildMs].map((one) => `${one.toFixed(0)} ms`.padStart(9));
  return `${name.padEnd(30)} ${ms.join(' ')} ${(proveMs / compileMs).toFixed(1).padStart(6)}x  ${said.join(', ')}`;
}

if (process.argv[1] === import.meta.filename) {
  console.log(`${''.padEnd(30)}   compile     prove     build  ratio`);
  for (const name of Object.keys(sets) as (keyof typeof sets)[]) console.log(line(measureProofs(name)));
}
