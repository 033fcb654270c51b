// The three laws of the language, each over random sets, and over every case of the policies' own tests.

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tries } from '../support/tries.ts';
import { type Degradation, degradeTests } from './degradation.ts';
import { guardsNeverOpen, orderNeverMatters, unknownNeverOpens } from './monotone.ts';

const timeout = 120_000;

describe('the laws, over random sets', () => {
  it('what is unknown never opens the gate', { timeout }, () => {
    const { compared, stricter, breaches } = unknownNeverOpens(tries(20), 1);
    expect(breaches).toEqual([]);
    expect(compared).toBeGreaterThan(tries(3_000));
    expect(stricter).toBeGreaterThan(8);
  });

  it('one more guard never weakens a decision', { timeout }, () => {
    const { compared, stricter, breaches } = guardsNeverOpen(tries(20), 1);
    expect(breaches).toEqual([]);
    expect(compared).toBeGreaterThanOrEqual(tries(800));
    expect(stricter).toBeGreaterThan(8);
  });

  it('no order changes a decision', { timeout }, () => {
    const { compared, breaches } = orderNeverMatters(tries(20), 1);
    expect(breaches).toEqual([]);
    expect(compared).toBeGreaterThanOrEqual(tries(200));
  });
});

describe("the policies' own cases, with one thing less", async () => {
  const found = await degradeTests([join(import.meta.dirname, '../../policies')]);
  const of = (loss: Degradation['loss']): readonly Degradation[] => found.filter((one) => one.loss === loss);

  it('are never weaker for a fact that is unknown', () => {
    expect(of('fact').length).toBeGreaterThan(300);
    expect(of('fact').filter(({ change }) => change === 'weaker')).toEqual([]);
  });

  it('are refused without a required field', () => {
    expect(of('required field').length).toBeGreaterThan(100);
    expect(of('required field').filter(({ after }) => !after.startsWith('DENY'))).toEqual([]);
  });

  it('are never weaker without a field that no rule asks for', () => {
    expect(of('optional field').length).toBeGreaterThan(5);
    expect(of('optional field').filter(({ change }) => change === 'weaker')).toEqual([]);
  });
});
