// `writ matrix`: which rules apply to which action, and what no rule can allow.

import { describe, expect, it } from 'vitest';
import {
  type MatrixRow,
  matrixOf,
  matrixToMarkdown,
  matrixToText,
} from '../../src/cli/support/decision-matrix.ts';
import { compile } from '../../src/pipeline.ts';
import { createFolder } from '../service/policies/folder.ts';
import { writ } from './writ.ts';

const policies = `action doc.read { id: string }
action doc.write { id: string }
action doc.drop { id: string }
action "x|y.z" {}
approvers editors "Editors"

policy reading on doc.read {
  allow look
}

policy changes on doc.write, doc.drop {
  allow own after approval by editors
    when payload.id starts with "own-" and action.verb == "write"
  shadow deny foreign
    when payload.id contains ".."
    risk +20
}

policy careful on doc.* {
  allow key after reauth
    when payload.id == "key"
  escalate risky to editors
    when agent.risk_tier == "high"
  deny dropping
    when action.key == "doc.drop"
}
`;

describe('matrixOf', () => {
  it('shows for each action the rules that can apply, with their requirements', () => {
    const byAction = Object.fromEntries(
      rows().map(({ action, rules }) => [
        action,
        rules.map(
          ({ id, isUnconditional, after, isShadow }) =>
            `${id} ${[isUnconditional ? 'always' : 'sometimes', after, isShadow ? 'shadow' : null].filter((note) => note !== null).join(' ')}`,
        ),
      ]),
    );
    expect(byAction).toEqual({
      'doc.drop': [
        'careful/dropping always',
        'careful/key sometimes reauth',
        'careful/risky sometimes',
        'changes/foreign sometimes shadow',
      ],
      'doc.read': ['careful/key sometimes reauth', 'careful/risky sometimes', 'reading/look always'],
      'doc.write': [
        'careful/key sometimes reauth',
        'careful/risky sometimes',
        'changes/foreign sometimes shadow',
        'changes/own sometimes approval',
      ],
      'x|y.z': [],
    });
  });

  it('shows which actions nothing can allow, and why', () => {
    expect(rows().map(({ action, closed }) => [action, closed])).toEqual([
      ['doc.drop', 'careful/dropping always denies it'],
      ['doc.read', null],
      ['doc.write', null],
      ['x|y.z', 'no rule allows it'],
    ]);
  });

  it('is printed in columns and in Markdown', () => {
    expect(matrixToText(rows())).toBe(`action     policy   allow             escalate  deny
doc.drop   careful  ○ key (reauth)    ○ risky   ● dropping
           changes                              ○ foreign +20 (shadow)
doc.read   careful  ○ key (reauth)    ○ risky
           reading  ● look
doc.write  careful  ○ key (reauth)    ○ risky
           changes  ○ own (approval)            ○ foreign +20 (shadow)
x|y.z               no rule

● always  ○ conditional  (approval), (reauth): required before the grant  (shadow): recorded, never enforced

never allowed:
  doc.drop: careful/dropping always denies it
  x|y.z: no rule allows it
`);
    expect(matrixToMarkdown(rows())).toContain(
      '| `doc.read` | ○ `careful/key` (reauth)<br>● `reading/look` | ○ `careful/risky` |  |\n| `doc.write` |',
    );
    expect(matrixToMarkdown(rows())).toContain('\n- `x\\|y.z`: no rule allows it\n');
  });
});

describe('writ matrix', () => {
  it('prints each format, and nothing for policies with errors', async () => {
    const folder = createFolder({ 'a.policy': policies });
    const broken = createFolder({ 'a.policy': 'policy' });
    const [json, markdown, wrong] = await Promise.all([
      writ(['matrix', folder, '--json']),
      writ(['matrix', '--format', 'markdown'], { cwd: folder }),
      writ(['matrix', broken]),
    ]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      actions: [{ action: 'doc.drop' }, { action: 'doc.read' }, { action: 'doc.write' }, { action: 'x|y.z' }],
      closed: [{ action: 'doc.drop' }, { action: 'x|y.z', why: 'no rule allows it' }],
    });
    expect(markdown).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\| action \| allow \|/) });
    expect(wrong).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('a.policy:1') });
  });
});

function rows(): readonly MatrixRow[] {
  const { program, diagnostics } = compile({
    files: [{ path: 'a.policy', text: policies }],
    readListFile: (path) => ({ code: 'list-file-missing', message: path }),
  });
  if (program === null) throw new Error(JSON.stringify(diagnostics));
  return matrixOf(program);
}
