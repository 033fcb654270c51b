// `writ prove` as people run it: guarantees, questions on the command line, certificates, and refutations
// that can be tried.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writ } from './writ.ts';

const payments = join(import.meta.dirname, '../../policies/payments');
const coding = join(import.meta.dirname, '../../policies/coding');

function temporaryFile(name: string): string {
  return join(mkdtempSync(join(tmpdir(), 'writ-prove-')), name);
}

describe('writ prove', () => {
  it('proves the guarantees of a pack, and explains their meaning', async () => {
    const { code, stdout } = await writ(['prove', payments, '--explain']);
    expect(code).toBe(0);
    expect(stdout).toContain('payment_ceiling: never allow when payload.amount > 10_000 USD proved');
    expect(stdout).toMatch(/every request of the declared shape.*payload\.amount: \d+ cells/s);
  });

  it('refutes a claim with a request that is decided so', async () => {
    const claim = 'never allow when payload.amount > 9_000 USD';
    const { code, stdout } = await writ(['prove', payments, claim, '--on', 'payment.create', '--json']);
    expect(code).toBe(1);
    const [{ result, request, decision, by }] = JSON.parse(stdout).guarantees;
    expect(result).toBe('refuted');
    const decided = await writ(['decide', '--policies', payments], { stdin: JSON.stringify(request) });
    expect(decided.stdout).toContain(decision);
    expect(decided.stdout).toContain(by);
  });

  it('states that a claim also covers requests for which its condition is unknown', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'writ-prove-'));
    const policy = `action pay.make { amount: number 0.. }
meter paid = count() of pay.make per agent over 24h
policy pays on pay.make { allow again when paid > 1 }
guarantee passing on pay.make { always allow when paid > 1 and payload.amount < 10 never deny }
`;
    writeFileSync(join(folder, 'pay.policy'), policy);
    const { code, stdout } = await writ(['prove', folder]);
    expect(code).toBe(1);
    expect(stdout.match(/refuted/g)).toHaveLength(2);
    expect(stdout.match(/the condition is unknown for this request/g)).toHaveLength(1);
  });

  it('names the part of a claim that is unknown for the request, and what to do about it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'writ-prove-'));
    const help =
      'test the currency first: `payload.currency == "USD" and ...`, or compare with a table by currency, `limits[payload.currency]`';
    const policy = (claim: string): string => `action pay.make {
  amount: money(currency) 0.01..
  currency: "USD" | "EUR"
}
table limits = { USD: 50 USD, EUR: 40 EUR }
table most = { USD: 100 USD, EUR: 90 EUR }
policy pays on pay.make { allow small when payload.amount <= limits[payload.currency] }
guarantee ceiling on pay.make { never allow when ${claim} }
`;
    const file = join(folder, 'pay.policy');
    writeFileSync(file, policy('payload.amount > 100 USD'));
    const refuted = await writ(['prove', folder]);
    expect(refuted.code).toBe(1);
    expect(refuted.stdout).toContain(`
    the condition is unknown for this request; a claim covers all requests except those for which its condition is false
    \`payload.amount > 100 USD\`: amounts in EUR and USD are never compared
    help: ${help}
`);
    const [shown] = JSON.parse((await writ(['prove', folder, '--json'])).stdout).guarantees;
    expect(shown).toMatchObject({ condition: 'unknown', unknown: [{ help }] });
    expect((await writ(['check', folder, '--format', 'github'])).stdout).toContain(help);
    // Both ways that the help names.
    for (const claim of [
      'payload.currency == "USD" and payload.amount > 100 USD',
      'payload.amount > most[payload.currency]',
    ]) {
      writeFileSync(file, policy(claim));
      expect((await writ(['prove', folder])).code).toBe(0);
    }
  });

  it('shows errors in a claim', async () => {
    const { code, stderr } = await writ([
      'prove',
      payments,
      'never allow when payload.amuont > 1',
      '--on',
      '*',
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain('amuont');
    expect((await writ(['prove', payments, 'never allow'])).code).toBe(2);
  });

  it('shortens a long condition', async () => {
    const claim = 'never allow unapproved when payload.command contains "rm -rf"';
    const { code, stdout } = await writ(['prove', coding, claim, '--on', 'shell.run']);
    expect(code).toBe(0);
    expect(stdout).toContain('`every c in commands(payload.command)');
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThan(500);
  });

  it('writes proofs that can be checked, and that fail with a clause removed or other policies', async () => {
    const file = temporaryFile('proofs.json');
    expect((await writ(['prove', payments, '--certificate', file])).code).toBe(0);
    expect((await writ(['prove', payments, '--verify', file])).code).toBe(0);
    const proofs = JSON.parse(readFileSync(file, 'utf8'));
    proofs.proofs[0].clauses.splice(20, 1);
    writeFileSync(file, JSON.stringify(proofs));
    const broken = await writ(['prove', payments, '--verify', file]);
    expect([broken.code, broken.stdout]).toEqual([1, expect.stringContaining('it is about other policies')]);
  });

  it('writes each refutation as a test, once, which fails until the policies are fixed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'writ-prove-'));
    const policy = (limit: number): string => `action pay.make { amount: number 0.. }
policy pays on pay.make { allow small when payload.amount <= ${limit} }
guarantee ceiling on pay.make { never allow when payload.amount > 100 }
`;
    writeFileSync(join(folder, 'pay.policy'), policy(200));
    const first = await writ(['prove', folder, '--add-tests']);
    expect([first.code, first.stderr]).toEqual([1, expect.stringContaining('pay.test.yaml: 1 added')]);
    expect(first.stdout).toContain('ALLOW by pays/small (pay.policy:2)');
    const again = await writ(['prove', folder, '--add-tests']);
    expect(again.stderr).toContain('0 added, 1 there already');
    expect((await writ(['test', folder])).stdout).toContain('not ALLOW');
    writeFileSync(join(folder, 'pay.policy'), policy(100));
    expect((await writ(['test', folder])).code).toBe(0);
    const asked = ['prove', folder, 'never allow', '--on', '*', '--add-tests'];
    expect((await writ(asked)).code).toBe(2);
    expect((await writ([...asked, join(folder, 'asked.test.yaml')])).stderr).toContain('1 added');
  });
});
