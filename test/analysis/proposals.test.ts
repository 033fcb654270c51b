// A proposed change is applied exactly or not at all, and what a comparison of decisions cannot show is never called
// narrowing.

import { describe, expect, test } from 'vitest';
import { judgeProposal } from '../../src/analysis/judge-proposal.ts';
import { applyChange, type ProposedChange } from '../../src/analysis/proposals/proposed-change.ts';
import { createWorkspace } from '../../src/analysis/workspace.ts';
import type { PolicySources } from '../../src/pipeline.ts';
import { packTexts } from '../../src/service/policies/texts.ts';

const lines = (...all: readonly string[]): string => all.map((line) => `${line}\n`).join('');
const text = lines('one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine');

/** Applies a patch to `a.policy`, and a file below a folder. */
async function patched(patch: string, prefix: string | null = null, present = text) {
  const files: Readonly<Record<string, string>> = { 'a.policy': present, 'f/b.policy': 'b\n' };
  return await applyChange({ kind: 'patch', patch, prefix }, async (path) => files[path] ?? null);
}

const edit = (path: string, from = 1): string =>
  lines(`--- a/${path}`, `+++ b/${path}`, `@@ -${from},3 +${from},3 @@`, ' one', '-two', '+2', ' three');

describe('a patch', () => {
  test('is applied where its lines are, also further below', async () => {
    const after = text.replace('two', '2');
    expect(await patched(edit('a.policy'))).toEqual({ files: [{ path: 'a.policy', before: text, after }] });
    const below = `zero\nzero\n${text}`;
    expect(await patched(edit('a.policy'), null, below)).toMatchObject({
      files: [{ after: below.replace('two', '2') }],
    });
  });

  test('may name files from the top of the repository of the policies', async () => {
    const paths = async (patch: string, prefix: string | null) => {
      const applied = await patched(patch, prefix);
      return 'files' in applied ? applied.files.map(({ path }) => path) : applied.problem;
    };
    expect(await paths(edit('rules/live/a.policy'), 'rules/live')).toEqual(['a.policy']);
    expect(await paths(edit('a.policy'), 'rules/live')).toEqual(['a.policy']);
    expect(await paths(edit('rules/a.policy'), 'rules/live')).toContain('is not among the files');
  });

  test('adds and deletes files, as Git writes it', async () => {
    const added = lines(
      'diff --git a/n.policy b/n.policy',
      'new file mode 100644',
      '--- /dev/null',
      '+++ b/n.policy',
      '@@ -0,0 +1,1 @@',
      '+new',
    );
    const gone = lines(
      'diff --git a/f/b.policy b/f/b.policy',
      'deleted file mode 100644',
      '--- a/f/b.policy',
      '+++ /dev/null',
      '@@ -1,1 +0,0 @@',
      '-b',
    );
    expect(await patched(added + gone)).toEqual({
      files: [
        { path: 'f/b.policy', before: 'b\n', after: null },
        { path: 'n.policy', before: null, after: 'new\n' },
      ],
    });
  });

  test.each([
    ['other text', edit('a.policy').replace('-two', '-too'), 'has other text'],
    ['a file that is not there', edit('none.policy'), 'is not among the files'],
    [
      'a new file that is there',
      lines('--- /dev/null', '+++ b/a.policy', '@@ -0,0 +1,1 @@', '+new'),
      'is new in the patch, but exists',
    ],
    [
      'a deletion that leaves text',
      lines('--- a/a.policy', '+++ /dev/null', '@@ -1,1 +0,0 @@', '-one'),
      'has other text',
    ],
    [
      'a renamed file',
      lines(
        'diff --git a/a.policy b/z.policy',
        'similarity index 100%',
        'rename from a.policy',
        'rename to z.policy',
      ),
      'is renamed',
    ],
    ['the same file twice', edit('a.policy') + edit('a.policy'), 'is changed twice'],
    ['a path that leads out', edit('../a.policy'), 'no path relative'],
    ['a hidden path', edit('.git/a.policy'), 'no path relative'],
    ['a broken hunk', lines('--- a/a.policy', '+++ b/a.policy', '@@ -1,9 +1,9 @@', ' one'), ''],
  ])('with %s is not applied', async (_name, patch, why) => {
    const applied = await patched(patch);
    expect(applied).toEqual({ problem: expect.stringContaining(why) });
  });
});

const base = `approvers finance "Finance"
approvers legal "Legal" by chat up to risk 30
action pay.make "Pay {amount}" {
  amount: number 0.01..
  vendor: string
} result { id: string }
table vendors pushed by "crm" key id: string { level: integer }
list trusted = ["a", "b"]
policy p on pay.make {
  allow small when payload.amount <= 100 because "Small"
  deny unknown when payload.vendor not in trusted and payload.amount > 50 because "Unknown"
  deny low when vendors[payload.vendor].level < 3 because "Low"
}
guarantee ceiling on pay.make {
  never allow when payload.amount > 1_000
}
action pay.other { amount: number, vendor: string }
list odd_vendors = ["x"]
policy risks on pay.make, pay.other {
  risk odd +20 when payload.amount > 10
  risk listed +5 when payload.vendor in odd_vendors
}
guarantee vendors_known on pay.make {
  never allow when payload.vendor not in trusted and payload.amount > 50
}
`;

function sourcesOf(policies: string): PolicySources {
  return {
    files: [{ path: 'p.policy', text: policies }],
    readListFile: () => ({ code: 'list-file-missing', message: 'none' }),
  };
}

async function judged(now: string, more: Extract<ProposedChange, { kind: 'files' }>['files'] = []) {
  const workspace = createWorkspace();
  workspace.take(packTexts({ sources: sourcesOf(base) }, []));
  const change = { kind: 'files', files: [{ path: 'p.policy', text: now }, ...more] } as const;
  return await judgeProposal(workspace, { change, directory: null, repositoryPath: null });
}

const deny = '  deny odd when payload.amount == 13 because "Odd"\n}\nguarantee ceiling';

describe('a change of', () => {
  test.each<readonly [string, (policies: string) => string, string, readonly string[]]>([
    ['one guard more', (p) => p.replace('}\nguarantee ceiling', deny), 'narrows', []],
    [
      'who pushes rows',
      (p) => p.replace('pushed by "crm"', 'pushed by "crm", "web"'),
      'widens-within-guarantees',
      ['who pushes rows of the table `vendors`'],
    ],
    [
      'the result',
      (p) => p.replace('result { id: string }', 'result { id: string, cost: number }'),
      'widens-within-guarantees',
      ['the declared result of `pay.make`'],
    ],
    [
      'a title',
      (p) => p.replace('"Pay {amount}"', '"Pay {amount} to {vendor}"'),
      'no-change',
      ['the title of `pay.make`'],
    ],
    [
      'the title of a group',
      (p) => p.replace('"Finance"', '"Everybody"'),
      'no-change',
      ['approval group `finance`'],
    ],
    [
      'a group that may newly decide by chat',
      (p) => p.replace('"Finance"', '"Finance" by chat up to risk 0'),
      'widens-within-guarantees',
      ['`finance` may decide by chat up to risk 0, until now never'],
    ],
    [
      'a higher risk by chat',
      (p) => p.replace('up to risk 30', 'up to risk 31'),
      'widens-within-guarantees',
      ['`legal` may decide by chat up to risk 31, until now up to 30'],
    ],
    [
      'a lower risk by chat',
      (p) => p.replace('up to risk 30', 'up to risk 29'),
      'narrows',
      ['`legal` may decide by chat up to risk 29, until now up to 30'],
    ],
    [
      'a group that may no longer decide by chat',
      (p) => p.replace(' by chat up to risk 30', ''),
      'narrows',
      ['`legal` may no longer decide by chat, until now up to risk 30'],
    ],
    ['more risk', (p) => p.replace('odd +20', 'odd +30'), 'no-change', []],
    ['a new risk', (p) => p.replace('risk odd', 'risk new +10\n  risk odd'), 'no-change', []],
    ...(
      [
        ['less risk', (p) => p.replace('odd +20', 'odd +10')],
        ['a risk that is gone', (p) => p.replace(/risk odd.*\n/, '')],
        ['a risk in shadow', (p) => p.replace('risk odd', 'shadow risk odd')],
        [
          'a risk under another condition',
          (p) => p.replace('odd +20 when payload.amount > 10', 'odd +20 when payload.amount > 11'),
        ],
        ['a new risk below zero', (p) => p.replace('risk odd', 'risk new -1\n  risk odd')],
        ['a list that a risk reads', (p) => p.replace('["x"]', '["y"]')],
        [
          'the actions of a risk',
          (p) => p.replace('policy risks on pay.make, pay.other', 'policy risks on pay.make'),
        ],
      ] as const satisfies readonly (readonly [string, (policies: string) => string])[]
    ).map(
      ([name, edited]) =>
        [name, edited, 'widens-within-guarantees', ['the risk of some requests may be lower']] as const,
    ),
    [
      'less risk where nobody decides by chat up to a risk',
      (p) => p.replace('odd +20', 'odd +10').replace(' up to risk 30', ' up to risk 100'),
      'widens-within-guarantees',
      ['`legal` may decide by chat up to risk 100, until now up to 30'],
    ],
    [
      'a reason',
      (p) => p.replace('because "Low"', 'because "Too low"'),
      'no-change',
      ['reasons that people read'],
    ],
    ['a limit', (p) => p.replace('<= 100', '<= 200'), 'widens-within-guarantees', []],
    ['a limit beyond a guarantee', (p) => p.replace('<= 100', '<= 2_000'), 'breaks-guarantee', []],
    [
      'the list that a guarantee reads, longer',
      (p) => p.replace('"b"]', '"b", "c"]'),
      'breaks-guarantee',
      [],
    ],
    ['the list that a guarantee reads, shorter', (p) => p.replace('"a", "b"]', '"a"]'), 'narrows', []],
    ['a guarantee that is gone', (p) => p.replace(/guarantee ceiling[^}]*\}\n/, ''), 'breaks-guarantee', []],
    ['a guarantee that says less', (p) => p.replace('> 1_000', '> 2_000'), 'breaks-guarantee', []],
    [
      'a new guarantee that does not hold',
      (p) => `${p}guarantee none on pay.make {\n  never allow\n}\n`,
      'breaks-guarantee',
      [],
    ],
    [
      'a new guarantee that holds',
      (p) => `${p}guarantee more on pay.make {\n  never allow when payload.amount > 500\n}\n`,
      'no-change',
      [],
    ],
  ])('%s', async (_name, edited, classification, notes) => {
    const now = edited(base);
    expect(now).not.toBe(base);
    const answer = await judged(now);
    expect(answer).toMatchObject({ kind: 'judged', classification });
    if (answer.kind !== 'judged') return;
    expect(answer.notes).toEqual(notes.map((note) => expect.stringContaining(note)));
    expect(answer.broken.length > 0).toBe(classification === 'breaks-guarantee');
  });
});
