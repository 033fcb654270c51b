// Comparisons of policy sets: the findings of kept edits, in their order and words; each with a request that
// both definitions decide as stated; and the same comparison in the other direction.

import { describe, expect, it } from 'vitest';
import type { Decision } from '../../src/language/model/decision.ts';
import type { PolicySet } from '../../src/language/model/policy.ts';
import { authorize } from '../../src/language/spec/authorize.ts';
import { checkSources } from '../../src/pipeline.ts';
import { type DiffOptions, diffPolicies, type PolicyDiff } from '../../src/reasoning/diff/diff.ts';
import { allowing, otherConditions, sameConditions } from './condition-diffs.ts';
import { editsWithMeaning, editsWithoutMeaning } from './construct-diffs.ts';
import { type DiffCase, diffCases } from './diff-cases.ts';
import { everydayDiffs } from './everyday-diffs.ts';

const edits = [...diffCases, ...everydayDiffs];

function setOf(text: string, lists: Readonly<Record<string, string>> = {}): PolicySet {
  const { set, diagnostics } = checkSources({
    files: [{ path: 'a.policy', text }],
    readListFile: (path) =>
      lists[path] === undefined ? { code: 'list-file-missing', message: path } : { text: lists[path] },
  });
  if (set === null)
    throw new Error(JSON.stringify(diagnostics.filter(({ severity }) => severity === 'error')));
  return set;
}

function compared(
  { before, after, lists }: Pick<DiffCase, 'before' | 'after' | 'lists'>,
  options?: DiffOptions,
) {
  const sets = { before: setOf(before, lists?.before), after: setOf(after, lists?.after) };
  return { ...sets, diff: diffPolicies(sets.before, sets.after, options) };
}

function linesOf({ findings }: PolicyDiff): readonly string[] {
  return findings
    .filter(({ tier }) => tier < 6)
    .map(({ tier, from, to, when }) => `${tier} ${from} ${to}: ${when.join(' and ')}`);
}

describe('kept edits', () => {
  it.each(edits)('$name', (kept) => {
    const { diff } = compared(kept);
    expect(linesOf(diff)).toEqual(kept.findings);
    expect(diff.limits).toEqual([]);
  });

  it.each(edits)('$name: each request is decided as it says, and is one of its finding alone', (kept) => {
    const { before, after, diff } = compared(kept);
    for (const { example, from, to, isMetBy } of diff.findings) {
      expect(example).not.toBeNull();
      expect(authorize(before, example!.facts.before).outcome).toBe(from);
      expect(authorize(after, example!.facts.after).outcome).toBe(to);
      expect(isMetBy(example!.facts)).toBe(true);
    }
  });

  it.each(edits)('$name: the other way round it is no finding fewer', (kept) => {
    const { diff } = compared({
      before: kept.after,
      after: kept.before,
      ...(kept.lists === undefined ? {} : { lists: { before: kept.lists.after, after: kept.lists.before } }),
    });
    expect(linesOf(diff).length > 0).toBe(kept.findings.length > 0);
    expect(diff.limits).toEqual([]);
  });

  it.each(edits)('$name: compared with itself nothing changes', ({ before, lists }) => {
    const same = {
      before,
      after: before,
      ...(lists === undefined ? {} : { lists: { before: lists.before, after: lists.before } }),
    };
    const { diff } = compared(same);
    expect(diff.findings).toEqual([]);
    expect(diff.compared).toEqual([]);
  });
});

describe('edits of one condition', () => {
  it.each(sameConditions)('%s: no decision changes with %s', (old, now) => {
    const { diff } = compared({ before: allowing(old), after: allowing(now) });
    expect([diff.findings, diff.limits]).toEqual([[], []]);
  });

  it.each(otherConditions)('%s: each change has an example with %s', (old, now) => {
    const { before, after, diff } = compared({ before: allowing(old), after: allowing(now) });
    expect(diff.findings.length).toBeGreaterThan(0);
    expect(diff.limits).toEqual([]);
    for (const { example, from, to } of diff.findings) {
      expect(authorize(before, example!.facts.before).outcome).toBe(from);
      expect(authorize(after, example!.facts.after).outcome).toBe(to);
    }
  });
});

/** What the enforcement of a decision consists of; approvers count by who they are, however they are written. */
function enforced({ outcome, requires }: Decision): unknown {
  const asked = requires?.approvals.map(({ group, anyOf, ...rest }) => ({
    ...rest,
    whom: (anyOf ?? [{ group }]).map((one) =>
      'unknown' in one ? 'nobody' : 'person' in one ? one.person : `group ${one.group}`,
    ),
  }));
  return { outcome, asked: asked ?? null, reauth: requires?.reauth ?? null };
}

describe('edits of rows, definitions, conditionals and approvers', () => {
  it('are as many as were wanted', () => {
    expect([editsWithoutMeaning.length, editsWithMeaning.length]).toEqual([25, 29]);
  });

  it.each(editsWithoutMeaning)('$name: no decision changes', (edit) => {
    const { diff } = compared(edit);
    expect([linesOf(diff), diff.limits]).toEqual([[], []]);
  });

  it.each(editsWithMeaning)('$name: each change has an example that is decided otherwise', (edit) => {
    const { before, after, diff } = compared(edit);
    expect(diff.limits).toEqual([]);
    const decisive = diff.findings.filter(({ tier }) => tier < 6);
    const shown = decisive.filter(({ example }) => example !== null);
    const changes = shown.map(({ tier, from, to }) => `${tier < 5 ? 'loosened' : 'tightened'} ${from} ${to}`);
    expect([...new Set(changes)].toSorted()).toEqual(edit.changes.toSorted());
    expect(shown.length < decisive.length).toBe(edit.isPartlyOpen === true);
    for (const { example, from, to } of shown) {
      const [old, now] = [authorize(before, example!.facts.before), authorize(after, example!.facts.after)];
      expect([old.outcome, now.outcome]).toEqual([from, to]);
      expect(enforced(now)).not.toEqual(enforced(old));
    }
  });
});
