// What is inferred from recorded requests: the forms of values, what is never learned from, and that policies that
// exist are only narrowed.

import { describe, expect, it } from 'vitest';
import { compareInferred } from '../../../src/analysis/infer/compare.ts';
import { evaluate } from '../../../src/analysis/infer/evaluate.ts';
import { InferError, type Inference, type InferOptions, infer } from '../../../src/analysis/infer/infer.ts';
import { deciderOf, type Sample } from '../../../src/analysis/infer/sample.ts';
import type { JsonObject } from '../../../src/language/model/json.ts';
import { isGuard } from '../../../src/language/model/policy.ts';
import { parse } from '../../../src/language/syntax/parse.ts';
import { printFile } from '../../../src/language/syntax/print/print.ts';
import { createRandom } from '../../../src/language/value/random.ts';
import { existingOf } from './existing.ts';
import { agentDynLog, optionsAlone, retailLog, sampleOf, startMs } from './logs.ts';

const everything: InferOptions = { ...optionsAlone, split: { share: 0, isLatest: false, seed: 1 } };

function textOf({ combined }: Inference, path: string): string {
  return combined.files.find((file) => file.path === path)?.text ?? '';
}

/** Samples of one action, made by their number. */
function samples(
  count: number,
  payloadOf: (at: number) => JsonObject,
  action = 'pay.send',
): readonly Sample[] {
  return Array.from({ length: count }, (_, at) =>
    sampleOf(action, payloadOf(at), { agent: 'buyer', atMs: startMs + at * 60_000 }),
  );
}

function inferFrom(log: readonly Sample[], options: Partial<InferOptions> = {}): Inference {
  return infer(log, { ...everything, ...options });
}

/** The outcome of a request of one action by the inferred policies. */
function outcomeOf(inference: Inference, payload: JsonObject, agent = 'buyer'): string {
  const [key = ''] = inference.combined.texts.actions.map((one) => one.key);
  return deciderOf(inference.combined.set)(sampleOf(key, payload, { agent })).outcome;
}

describe('inferred policies', () => {
  it('find domains, folders, patterns, texts, amounts, flags and lengths of a retail assistant', () => {
    const inference = inferFrom(retailLog(1, 4_000));
    const text = textOf(inference, 'retail.policy');
    for (const part of [
      'unless domain(payload.email) == "example.com"',
      `unless payload.order_id matches '#W[0-9]{7}'`,
      'unless payload.reason in ["no longer needed", "ordered by mistake", "other"]',
      'when length(payload.item_ids) > 3',
      `unless every each_of_them in payload.item_ids (each_of_them matches '[0-9]{10}')`,
      'unless payload.path inside any of ["/receipts/2025", "/receipts/2026"]',
      'host(payload.link) in ["cdn.example.com", "files.example.com"]',
      'scheme(payload.link) == "https"',
      'unless not payload.urgent',
      'amount:   money(currency)',
      'currency: "EUR" | "USD"',
      'payload.currency == "USD" and payload.amount in ',
      'note?:    string',
    ])
      expect(text).toContain(part);
    expect(text).toMatch(/# Rests on (\d+) of \1 requests, 2026-03-02 to 2026-03-\d\d\.\n/);
  });

  it.each([
    ['a retail assistant', retailLog(2, 4_000)],
    ['AgentDyn', agentDynLog()],
  ])('are formatted and pass the strict check for %s', (_name, log) => {
    const { combined } = inferFrom(log);
    expect(combined.diagnostics).toEqual([]);
    for (const { path, text } of combined.files.filter((file) => file.path.endsWith('.policy')))
      expect(printFile(parse({ path, text }).file)).toBe(text);
  });

  it('allow what they were made from, or ask about it', () => {
    const log = agentDynLog();
    const inference = inferFrom(log);
    const now = deciderOf(inference.combined.set);
    const misfits = new Map(inference.actions.map(({ key, misfits: count }) => [key, count]));
    const refused = new Map<string, number>();
    const inferred = log.filter(({ facts }) => inference.combined.set.actions.has(facts.action));
    expect(inferred.length).toBeGreaterThan(10_000);
    for (const sample of inferred) {
      if (now(sample).outcome !== 'DENY') continue;
      const { action } = sample.facts;
      refused.set(action, (refused.get(action) ?? 0) + 1);
    }
    for (const [key, count] of refused) expect([key, count]).toEqual([key, misfits.get(key)]);
  });

  it('put many values into a list file, and ask people about rare ones', () => {
    const inference = inferFrom(
      samples(400, (at) => ({ to: at === 7 ? 'odd' : `vendor ${'abcdefghijkl'[at % 12]}` })),
    );
    expect(textOf(inference, 'lists/pay_send_to.txt').split('\n')).toHaveLength(14);
    expect(textOf(inference, 'pay.policy')).toContain('list pay_send_to from "lists/pay_send_to.txt"');
    expect(outcomeOf(inference, { to: 'vendor c' })).toBe('ALLOW');
    expect(outcomeOf(inference, { to: 'odd' })).toBe('ESCALATE');
    expect(outcomeOf(inference, { to: 'vendor z' })).toBe('DENY');
    expect(outcomeOf(inference, { to: 'vendor c' }, 'stranger')).toBe('DENY');
    expect(textOf(inference, 'approvers.policy')).toContain('# A placeholder: nobody can approve');
  });

  it('ask about an amount far above the others, and refuse a larger one', () => {
    const inference = inferFrom(
      samples(400, (at) => ({ amount: at === 9 ? 5_000 : 10 + (at % 50), currency: 'EUR' })),
    );
    const outcomes = [40, 59, 60, 5_000, 5_001, 9].map((amount) =>
      outcomeOf(inference, { amount, currency: 'EUR' }),
    );
    expect(outcomes).toEqual(['ALLOW', 'ALLOW', 'ESCALATE', 'ESCALATE', 'DENY', 'DENY']);
    expect(outcomeOf(inference, { amount: 40, currency: 'USD' })).toBe('DENY');
  });

  it('bound amounts by currency', () => {
    const inference = inferFrom(
      samples(200, (at) =>
        at % 2 === 0 ? { amount: 10 + (at % 7), currency: 'EUR' } : { amount: 90, currency: 'USD' },
      ),
    );
    expect(outcomeOf(inference, { amount: 90, currency: 'USD' })).toBe('ALLOW');
    expect(outcomeOf(inference, { amount: 90, currency: 'EUR' })).toBe('DENY');
    expect(outcomeOf(inference, { amount: 12, currency: 'USD' })).toBe('DENY');
  });

  it('say why they allow without a condition where nothing restricts', () => {
    const bare = samples(40, () => ({}), 'mail.sync').map(({ facts, ...sample }) => ({
      ...sample,
      facts: { ...facts, agent: {} },
    }));
    const inference = inferFrom(bare);
    expect(inference.combined.diagnostics).toEqual([]);
    expect(textOf(inference, 'mail.policy')).toContain(
      '# writ: allow allow-unconditional because the recorded requests show nothing to limit it by\n  allow seen\n',
    );
  });

  it('name the approval group that was named', () => {
    const inference = inferFrom(
      samples(200, (at) => ({ to: at === 7 ? 'odd' : 'usual' })),
      { approvers: 'finance' },
    );
    expect(textOf(inference, 'pay.policy')).toContain('escalate to_rare to finance');
    expect(textOf(inference, 'approvers.policy')).toContain('approvers finance "');
  });

  it('hold no value of a field that is secret by its name or its digest', () => {
    const inference = inferFrom(
      samples(60, (at) => ({
        password: `hunter${at % 2}`,
        card: { secret: 'hmac-sha256:00' },
        to: 'x',
      })).map((sample) => ({ ...sample, holdsDigests: true })),
    );
    expect(JSON.stringify(inference.combined.files)).not.toMatch(/hunter|hmac/);
    expect(textOf(inference, 'pay.policy')).toContain('password: secret string');
    expect(textOf(inference, 'pay.policy')).toContain('card:     secret string');
  });

  it('refuse a payload of another shape than most', () => {
    const inference = inferFrom(samples(60, (at) => (at === 3 ? { count: 'two' } : { count: 2 })));
    expect(inference.actions[0]).toMatchObject({ misfits: 1, problem: null });
    expect(outcomeOf(inference, { count: 'two' })).toBe('DENY');
    expect(outcomeOf(inference, { count: 2 })).toBe('ALLOW');
    expect(outcomeOf(inference, { count: 2, more: 1 })).toBe('DENY');
  });
});

describe('requests that are held out', () => {
  const log = samples(200, (at) => ({ to: at < 150 ? 'early' : 'late' }));
  const split = { share: 0.25, isLatest: true, seed: 1 };

  it('have no part in what is inferred', () => {
    const inference = inferFrom(log, { split });
    expect(JSON.stringify(inference.combined.files)).not.toContain('late');
    const now = deciderOf(inference.combined.set);
    const { total } = evaluate({ actions: inference.actions, now, before: null, isDeclared: () => false });
    expect(total).toEqual({ heldOut: 50, refused: 50, asks: 0, atMost: 1 });
  });

  it('are the same for the same seed, and others for another', () => {
    const heldOutBy = (seed: number) =>
      inferFrom(log, { split: { share: 0.25, isLatest: false, seed } }).actions[0]!.parts.heldOut.map(
        ({ facts }) => facts.nowMs,
      );
    expect(heldOutBy(3)).toEqual(heldOutBy(3));
    expect(heldOutBy(3)).not.toEqual(heldOutBy(4));
  });

  it('tell how many requests a day people would be asked about', () => {
    // A day's requests, every tenth of them rare.
    const rare = samples(1_440, (at) => ({ to: at % 10 === 0 ? `rare ${at % 4}` : 'usual' })).map(
      (sample, at) => ({
        ...sample,
        facts: { ...sample.facts, payload: { ...sample.facts.payload, n: at === 0 ? 900 : at % 5 } },
      }),
    );
    const inference = inferFrom(rare, { split: { share: 0.5, isLatest: false, seed: 2 } });
    const now = deciderOf(inference.combined.set);
    const { asksPerDay } = evaluate({
      actions: inference.actions,
      now,
      before: null,
      isDeclared: () => false,
    });
    expect(asksPerDay).toEqual({ now: expect.any(Number), before: 0 });
    const waiting = inference.actions[0]!.parts.heldOut.filter((one) => now(one).outcome === 'ESCALATE');
    expect(asksPerDay!.now).toBeCloseTo(2 * waiting.length, 6);
  });
});

describe('requests that were stopped', () => {
  const granted = samples(100, () => ({ to: 'usual' }));
  const strange = (status: Sample['status'], count = 50) =>
    samples(count, () => ({ to: status })).map((sample) => ({ ...sample, status }));

  it.each(['denied', 'rejected', 'unanswered', 'approved'] as const)('are not learned from: %s', (status) => {
    const inference = inferFrom([...granted, ...strange(status)]);
    expect(outcomeOf(inference, { to: status })).toBe('DENY');
    expect(inference.actions[0]!.excluded).toEqual({ [status]: 50 });
  });

  it('are learned from with the option if policies denied them, never if people rejected them', () => {
    const inference = inferFrom([...granted, ...strange('denied'), ...strange('rejected')], {
      isDeniedLearned: true,
    });
    expect(outcomeOf(inference, { to: 'denied' })).toBe('ALLOW');
    expect(outcomeOf(inference, { to: 'rejected' })).toBe('DENY');
  });
});

describe('policies that exist', () => {
  const existing = existingOf(`
    action pay.send { to: string, amount?: integer, memo?: string }
    approvers finance "Finance"
    policy paying on pay.send {
      allow some when payload.to in ["usual", "other", "odd"]
      escalate large to finance when payload.amount else 0 > 100
    }`);
  const log = samples(300, (at) => ({ to: at === 5 ? 'odd' : 'usual', amount: at % 30 }));

  it('are narrowed by guards alone', () => {
    const inference = inferFrom(log, { existing, prefix: 'inferred/' });
    const own = inference.combined.set.policies.filter(({ name }) => name.startsWith('inferred'));
    expect(own.flatMap(({ rules }) => rules).length).toBeGreaterThan(2);
    expect(own.flatMap(({ rules }) => rules).every(isGuard)).toBe(true);
    expect(inference.combined.diagnostics).toEqual([]);
    expect(outcomeOf(inference, { to: 'usual' })).toBe('ALLOW');
    expect(outcomeOf(inference, { to: 'other' })).toBe('DENY');
    expect(outcomeOf(inference, { to: 'odd' })).toBe('ESCALATE');
    expect(outcomeOf(inference, { to: 'usual', memo: 'new' })).toBe('DENY');
  });

  it('keep rules that a guard would make needless: the guard is left out and named', () => {
    const { combined } = inferFrom(log, { existing, prefix: 'inferred/' });
    expect(combined.dropped).toEqual([
      { action: 'pay.send', guard: 'amount_unseen', why: expect.stringContaining('`large` never decides') },
    ]);
  });

  it('keep denying actions and requests that they deny, whatever was recorded', () => {
    const denied = samples(100, () => ({ to: 'stranger' }));
    const inference = inferFrom([...log, ...denied], { existing, prefix: 'inferred/' });
    expect(outcomeOf(inference, { to: 'stranger' })).toBe('DENY');
    expect(inference.actions[0]!.excluded).toEqual({ denied: 100 });
    const others = samples(100, () => ({ url: 'https://example.com' }), 'web.fetch');
    expect(() => inferFrom(others, { existing, prefix: 'inferred/' })).toThrow(/--allow-denied/);
  });

  it('are widened with the option, and explicit guards still deny', () => {
    const strict = existingOf(`
      action pay.send { to: string }
      policy paying on pay.send {
        allow usual when payload.to == "usual"
        deny never when payload.to == "never"
      }`);
    const denied = samples(100, (at) => ({ to: at % 2 === 0 ? 'stranger' : 'never' }));
    const options = { existing: strict, prefix: 'inferred/', isDeniedLearned: true };
    const inference = inferFrom([...denied, ...samples(100, () => ({ to: 'usual' }))], options);
    const outcomes = ['stranger', 'never', 'usual'].map((to) => outcomeOf(inference, { to }));
    expect(outcomes).toEqual(['ALLOW', 'DENY', 'ALLOW']);
  });

  it('are never widened by a fault: a result that allows more is an error', () => {
    const { combined } = inferFrom(samples(100, () => ({ to: 'usual' })));
    const input = { before: null, combined, path: '.' };
    expect(() => compareInferred({ ...input, mayWiden: false })).toThrow(
      'allow what the existing policies deny',
    );
    expect(compareInferred({ ...input, mayWiden: true }).loosened).toBeGreaterThan(0);
  });
});

describe('requests from which nothing can be inferred', () => {
  it('are named, with the bound that so few could show', () => {
    const few = samples(12, () => ({ to: 'x' }));
    expect(() => inferFrom(few, { split: { share: 0.3, isLatest: false, seed: 1 } })).toThrow(
      'nothing can be inferred: pay.send: too few requests (8 to learn from, of at least 20); with 4 held out, the bound would be 52.8 %',
    );
    expect(() => inferFrom([])).toThrow('there is no request to infer from');
  });

  it('are other actions than the patterns match', () => {
    const log = samples(50, () => ({ to: 'x' }));
    expect(() => inferFrom(log, { patterns: ['pay.sent'] })).toThrow(
      'no request has an action that `pay.sent` matches: did you mean `pay.send`?',
    );
    expect(() => inferFrom(log, { patterns: ['pay.se*'] })).toThrow('`pay.se*` is no pattern');
    expect(inferFrom(log, { patterns: ['*.send'] }).actions).toHaveLength(1);
  });
});

describe('texts of requests', () => {
  const nasty = [
    'x"\n  allow all\n#',
    "it's",
    '{payload.to}',
    '\\u0041',
    'a\u202Eb',
    '',
    ' ',
    '# writ: allow never-true because x',
    'ünï\u0000code',
    '\uD800',
    '[0-9]{3}',
    'c:\\temp\\x',
    ' x ',
    'p\u0430ypal',
    'CAPS lock',
    'a'.repeat(300),
  ];

  it('do not lift a restriction: one that no policy should hold is refused', () => {
    const inference = inferFrom(samples(100, (at) => ({ to: at === 9 ? 'p\u0430ypal' : `INV-${100 + at}` })));
    expect(inference.combined.diagnostics).toEqual([]);
    expect(outcomeOf(inference, { to: 'INV-555' })).toBe('ALLOW');
    expect(outcomeOf(inference, { to: 'p\u0430ypal' })).toBe('DENY');
    expect(textOf(inference, 'pay.policy')).toContain('refused: 1 that no policy should hold');
  });

  it('cannot change what a file means, whatever they contain', () => {
    const random = createRandom(4);
    let rules = 0;
    for (let round = 0; round < 30; round += 1) {
      const keys = random.some(nasty, 0.4).filter((key) => key !== '' && key !== '\uD800');
      const values = random.some(nasty, 0.6);
      const log = samples(80, () => {
        const pick = () => (values.length === 0 ? 'x' : random.pick(values));
        return { to: pick(), list: [pick()], ...Object.fromEntries(keys.map((key) => [key, pick()])) };
      }).map((sample) => ({ ...sample, facts: { ...sample.facts, agent: { name: random.pick(nasty) } } }));
      const rulesOf = (): readonly string[] => {
        try {
          const { combined } = inferFrom(log);
          expect(combined.diagnostics).toEqual([]);
          return combined.set.policies.flatMap(({ rules }) =>
            rules.map(({ effect, name }) => `${effect} ${name}`),
          );
        } catch (error) {
          if (!(error instanceof InferError)) throw error;
          return [];
        }
      };
      for (const rule of rulesOf()) {
        expect(rule).toMatch(/^(allow seen|(deny|escalate) \w+_(unseen|rare|given|long)(_\d+)?)$/);
        rules += 1;
      }
    }
    expect(rules).toBeGreaterThan(20);
  });
});
