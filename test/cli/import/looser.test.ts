// No import is looser than its host: what the policies decide about random calls is as strict as what a reference matcher of
// the host decides, or stricter. `npm run import-calls` tries a million calls.

import { expect, test } from 'vitest';
import { importFiles } from '../../../src/cli/import/import-files.ts';
import { readCommentedJson } from '../../../src/cli/output/commented-json.ts';
import { loadPolicies } from '../../../src/embedded/policies.ts';
import { createRandom } from '../../../src/language/value/random.ts';
import { randomCall, wordsOfSettings } from './calls.ts';
import { type ImportCase, importCases } from './cases.ts';
import { type Call, claudeDecides } from './reference/claude.ts';
import {
  codexDecides,
  codexRules,
  cursorDecides,
  geminiDecides,
  geminiPolicyDecides,
  geminiRules,
} from './reference/others.ts';
import type { Effect } from './reference/shell-text.ts';

const callsInAll = Number(process.env.WRIT_IMPORT_CALLS ?? 20_000);
const seed = Number(process.env.WRIT_IMPORT_SEED ?? 7);
const strictness = { allow: 0, ask: 1, deny: 2, ALLOW: 0, ESCALATE: 1, REAUTH_REQUIRED: 1, DENY: 2 } as const;

/** The host's matcher. Codex has no lists for tools of servers, and no entry of its settings is about a call. */
function referenceOf({ source, file, text }: ImportCase): ((call: Call) => Effect) | null {
  const json = () => readCommentedJson(text) as object;
  switch (source) {
    case 'claude-settings':
      return (call) => claudeDecides(json(), call);
    case 'codex': {
      if (file.endsWith('.toml')) return null;
      const rules = codexRules(text);
      return (call) => codexDecides(rules, call);
    }
    case 'gemini': {
      if (!file.endsWith('.toml')) return (call) => geminiDecides(json(), call);
      const rules = geminiRules(text);
      return (call) => geminiPolicyDecides(rules, call);
    }
    case 'cursor':
      return (call) => cursorDecides(json(), call);
  }
}

const tried = importCases().flatMap((one) => {
  const decides = referenceOf(one);
  return decides === null ? [] : [{ ...one, decides }];
});

/** What random calls of a case find: calls that the policies decide less strictly than the host, and counts. */
async function tryCalls({ settings, decides }: (typeof tried)[number], policy: string, calls: number) {
  const policies = await loadPolicies([{ path: 'import.policy', text: policy }]);
  const words = wordsOfSettings(settings);
  const random = createRandom(seed);
  const looser: string[] = [];
  const counts = { allow: 0, ask: 0, deny: 0 };
  let stricter = 0;
  for (let left = calls; left > 0; left -= 1) {
    const call = randomCall(random, settings, words);
    // Lists of servers are not in this matcher of Gemini CLI; the goldens show them.
    if (settings.name === 'gemini' && call.tool.startsWith('mcp_')) continue;
    const effect = decides(call);
    const { decision, rule } = policies.decide({ action: call.action, payload: call.payload });
    counts[effect] += 1;
    if (strictness[decision] > strictness[effect]) stricter += 1;
    if (strictness[decision] < strictness[effect])
      looser.push(`${call.tool} ${JSON.stringify(call.value)}: ${effect}, but ${decision} by ${rule}`);
  }
  return { looser, counts, stricter };
}

test.each(tried)('$name is as strict as its host', async (one) => {
  const { policy } = await importFiles(one.settings);
  const { looser, counts, stricter } = await tryCalls(one, policy, Math.ceil(callsInAll / tried.length));
  expect(looser.slice(0, 20)).toEqual([]);
  expect(counts.allow + counts.ask + counts.deny).toBeGreaterThan(100);
  if (process.env.WRIT_IMPORT_COUNTS !== undefined) console.info(one.name, counts, { stricter });
});

test('finds an import without the guards, and one that allows every line', async () => {
  const one = tried.find(({ name }) => name === 'claude-node')!;
  const guardless = { ...one.settings, rules: one.settings.rules.filter(({ effect }) => effect === 'allow') };
  const { policy } = await importFiles(guardless);
  expect((await tryCalls(one, policy, 1_000)).looser.length).toBeGreaterThan(5);
  const open = (await importFiles(one.settings)).policy.replace(
    'payload.command matches any of plain_lines',
    'true',
  );
  expect((await tryCalls(one, open, 2_000)).looser.length).toBeGreaterThan(0);
});
