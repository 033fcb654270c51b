// Each adapter in its framework, against the real service: a tool runs only under a grant, an approval serves
// one run in any process, and no feature of the framework gets around that.

import { describe, expect, test } from 'vitest';
import { guardTools } from '../../../integrations/typescript/adapters/ai-sdk.ts';
import type { GuardSettings } from '../../../integrations/typescript/adapters/guard.ts';
import { guardTools as guardLangchainTools } from '../../../integrations/typescript/adapters/langchain.ts';
import { guardTool as guardMastraTool } from '../../../integrations/typescript/adapters/mastra.ts';
import { connect } from '../../../integrations/typescript/client.ts';
import { firstAdmin, personWith } from '../../service/http/person-client.ts';
import { shareService } from '../../service/http/service.ts';
import { codeOf, give, look } from '../../service/http/written-policies.ts';
import { everything } from '../../service/store/rows.ts';
import type { Asked } from './framework.ts';
import { frameworks } from './frameworks.ts';

const service = shareService();
let amounts = 0;

/** Requests with a new amount each time, because equal calls of an agent are one request. */
function asking(verb: string, more: Partial<GuardSettings> = {}) {
  const { url, apiKey: key } = service();
  const writ = connect({ url, key, wait: 0 });
  const action = `demo.${verb}`;
  const paid: number[] = [];
  amounts += 10;
  const asked: Asked = {
    settings: { writ, as: 'demo', actions: { pay: action, mcp__demo__pay: action }, ...more },
    amount: amounts,
    pay({ amount, currency }) {
      if (currency !== 'USD') throw new Error('the schema of the tool was left out');
      paid.push(amount);
      return `paid ${amount}`;
    },
  };
  return { asked, paid };
}

async function waiting(): Promise<readonly string[]> {
  return await service().store.requests.openOf(service().agent.id, 100);
}

let approve: ((id: string) => Promise<void>) | null = null;

/** Approves the one request that waits. */
async function approveIt(): Promise<string> {
  if (approve === null) {
    const admin = await firstAdmin(service());
    const who = { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] } as const;
    const ben = await personWith(service(), admin, who);
    approve = async (id) => {
      expect(codeOf(await give(ben, id, 'approve'))).toEqual([200, 'approved']);
    };
  }
  const [id = '', ...others] = await waiting();
  expect(others).toEqual([]);
  await approve(id);
  return id;
}

/** The number of grants recorded as used. */
async function usedCount(): Promise<number> {
  const { items: found } = await service().store.requests.list({
    ...everything,
    agentId: service().agent.id,
    status: 'consumed',
    nowMs: Date.now(),
    after: null,
    countMax: 1000,
  });
  return found.length;
}

/** Withdraws all requests, so that each test finds only its own. */
async function withdrawAll(): Promise<void> {
  const { url, apiKey: key } = service();
  for (const id of await waiting()) await connect({ url, key }).withdraw(id);
}

describe.each(frameworks)('$name', ({ run, evasions }) => {
  test('a grant runs the tool once, and the model gets the result', async () => {
    const { asked, paid } = asking('allow');
    expect(await run(asked)).toMatchObject({ isPaused: false, told: expect.stringContaining('paid') });
    expect(paid).toEqual([asked.amount]);
  });

  test('a refusal runs nothing, and the model reads that the same call is refused again', async () => {
    const { asked, paid } = asking('deny');
    const { isPaused, told } = await run(asked);
    expect(isPaused).toBe(false);
    expect(told).toContain('Not permitted by policy demo: the demo says demo.deny. This is a decision');
    expect(paid).toEqual([]);
  });

  test('a pending request pauses the run; the approve button alone runs nothing, an approval runs the tool once', async () => {
    const { asked, paid } = asking('escalate');
    const paused = await run(asked);
    expect(paused.isPaused).toBe(true);
    const early = await run(asked, structuredCloneOf(paused.saved));
    expect(paid).toEqual([]);
    const id = await approveIt();
    const last = await run(asked, early.isPaused ? early.saved : paused.saved);
    expect(last).toMatchObject({ isPaused: false, told: expect.stringContaining('paid') });
    expect(paid).toEqual([asked.amount]);
    expect((await look(service(), id)).body.status).toBe('consumed');
  });

  test('one of two processes that resume the same run runs the tool', async () => {
    const { asked, paid } = asking('escalate');
    const { saved } = await run(asked);
    await approveIt();
    await Promise.allSettled([run(asked, saved), run(asked, saved)]);
    expect(paid).toEqual([asked.amount]);
    await run(asked, saved).catch(() => undefined);
    expect(paid).toEqual([asked.amount]);
    await withdrawAll();
  });

  test('a withdrawn request runs nothing', async () => {
    const { asked, paid } = asking('reauth');
    const { isPaused, saved } = await run(asked);
    expect(isPaused).toBe(true);
    await withdrawAll();
    await run(asked, saved);
    expect(paid).toEqual([]);
    await withdrawAll();
  });

  test('a tool that fails has used its grant', async () => {
    const { asked } = asking('allow');
    const before = await usedCount();
    const fail = () => {
      throw new Error('the bank is closed');
    };
    await run({ ...asked, pay: fail }).catch(() => undefined);
    expect(await usedCount()).toBe(before + 1);
  });

  test.each(Object.entries(evasions))('%s: runs under a grant alone', async (_, evade) => {
    for (const verb of ['deny', 'escalate']) {
      const { asked, paid } = asking(verb);
      await evade(asked).catch(() => undefined);
      expect(paid, verb).toEqual([]);
      await withdrawAll();
    }
    const { asked, paid } = asking('allow');
    await evade(asked).catch(() => undefined);
    expect(paid.length).toBeGreaterThan(0);
  });
});

test('Vercel AI SDK: a tool of the run that is not guarded is denied', async () => {
  const { asked, paid } = asking('allow');
  const { toolApproval } = guardTools({}, asked.settings);
  const answer = await toolApproval({ toolCall: { toolName: 'pay', input: {} } });
  expect(answer).toEqual({ type: 'denied', reason: 'pay is not guarded' });
  expect(paid).toEqual([]);
});

test('a tool that the host executes is not reported as guarded', () => {
  const { settings } = asking('allow').asked;
  expect(() => guardTools({ search: {} }, settings)).toThrow('the tool search has no `execute`');
  expect(() => guardMastraTool({ id: 'search' }, settings)).toThrow('the tool search has no `execute`');
  expect(() => guardLangchainTools([{ type: 'web_search' }], settings)).toThrow('only tools that run here');
});

/** The saved state as another process reads it; a checkpointer and a storage are shared objects. */
function structuredCloneOf(saved: unknown): unknown {
  return typeof saved === 'string' || Array.isArray(saved) ? structuredClone(saved) : saved;
}
