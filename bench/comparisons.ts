// Measures how long it takes to compare two policy sets: `node bench/comparisons.ts` prints wall and
// processor time for one changed rule among many, and for one more line in a long list. The time includes
// reading and checking the second set, not the first.

import { checkSources, createCompileCache, type PolicySources } from '../src/pipeline.ts';
import { diffPolicies } from '../src/reasoning/diff/diff.ts';

interface Case {
  readonly name: string;
  readonly target: string;
  readonly before: PolicySources;
  readonly after: PolicySources;
}

const conditions = [
  (at: number) => `allow r when payload.amount > ${at * 7} and payload.to == "t${at}"`,
  (at: number) => `deny r when payload.memo starts with "m${at}"`,
  (at: number) => `allow r when payload.amount <= ${at * 3} and payload.tier == "a"`,
  (at: number) => `escalate r to owner when payload.to in ["x${at}", "y${at}"]`,
  (at: number) => `deny r when payload.currency == "C${at}"`,
];

const perFile = 500;

function ruleSources(rules: number, actions: number, changed: number | null): PolicySources {
  const shape = 'amount: number 0.., to: string, memo: string, currency: string, tier: "a" | "b" | "c"';
  const declared = Array.from({ length: actions }, (_, at) => `action pay.make${at} { ${shape} }\n`).join('');
  const policies = Array.from({ length: rules }, (_, at) => {
    const rule = conditions[at % conditions.length]!(at);
    const text =
      at === changed ? rule.replace(/> (\d+)/, (_match, number) => `> ${Number(number) - 5}`) : rule;
    return `policy p${at} on pay.make${Math.floor((at * actions) / rules)} {\n  ${text}\n}\n`;
  });
  const files = Array.from({ length: Math.ceil(rules / perFile) }, (_, at) => ({
    path: `policies-${at}.policy`,
    text: policies.slice(at * perFile, (at + 1) * perFile).join(''),
  }));
  const none = { code: 'list-file-missing', message: 'there are no list files' } as const;
  return { files: [{ path: 'actions.policy', text: declared }, ...files], readListFile: () => none };
}

function listSources(lines: number): PolicySources {
  const text = `action web.get { host: string }
list hosts: string from "hosts.txt"
policy reading on web.get {
  allow known when payload.host in hosts
}
`;
  const list = Array.from({ length: lines }, (_, at) => `host-${at}.example.com`).join('\n');
  const none = { code: 'list-file-missing', message: 'there is none' } as const;
  return {
    files: [{ path: 'web.policy', text }],
    readListFile: (path) => (path === 'hosts.txt' ? { text: list } : none),
  };
}

function middleAllow(rules: number): number {
  return Math.floor(rules / 2 / conditions.length) * conditions.length;
}

const cases: readonly Case[] = [
  {
    name: 'one rule of 1,000 of one action',
    target: '1 s',
    before: ruleSources(1_000, 1, null),
    after: ruleSources(1_000, 1, middleAllow(1_000)),
  },
  {
    name: 'one rule of 10,000 over 100 actions',
    target: '2 s',
    before: ruleSources(10_000, 100, null),
    after: ruleSources(10_000, 100, middleAllow(10_000)),
  },
  {
    name: 'one line more in a list of 100,000',
    target: '2 s',
    before: listSources(100_000),
    after: listSources(100_001),
  },
];

const rounds = 3;

for (const { name, target, before, after } of cases) {
  const taken = Array.from({ length: rounds }, () => measured(before, after));
  const best = taken.toSorted((a, b) => a.cpuMs - b.cpuMs)[0]!;
  console.log(
    `${name}: ${best.wallMs.toFixed(0)} ms, ${best.cpuMs.toFixed(0)} ms of processor (target ${target}); ${best.found}`,
  );
}

function measured(before: PolicySources, after: PolicySources) {
  const memory = createCompileCache();
  const old = checkSources(before, memory).set!;
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  const now = checkSources(after, memory).set!;
  const { findings, limits } = diffPolicies(old, now);
  const used = process.cpuUsage(cpu);
  const found = findings.map(({ from, to, when }) => `${from} -> ${to} when ${when.join(' and ')}`);
  return {
    wallMs: performance.now() - start,
    cpuMs: (used.user + used.system) / 1_000,
    found: `${found.join('; ')}${limits.length > 0 ? ', not complete' : ''}`,
  };
}
