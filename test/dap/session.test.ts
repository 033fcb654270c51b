// A person debugs a decision: from the launch to its end, forwards and back, with the known values at each
// step.

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Debugger, type Got, openDebugger } from './debugger.ts';

const policy = `action pay.send {
  amount: number 0..
  to:     string
  key:    secret string
  tags:   [string] ..5
}

approvers finance "Finance"

policy paying on pay.send {
  allow small
    when payload.amount <= 100
      and payload.to == "Acme"

  deny dear
    when payload.amount > 1_000

  escalate unsure to finance
    when agent.risk_tier == "high"
}
`;

const request = {
  action_key: 'pay.send',
  payload: { amount: 50, to: 'Acme', key: 'a-secret-value', tags: ['x'] },
  now: '2026-03-02T12:00:00Z',
};

const tests = `policies: [.]
tests:
  - name: a small one
    action: pay.send
    payload: { amount: 50, to: Acme, key: k, tags: [] }
    agent: { risk_tier: low }
    expect: ALLOW
  - name: a dear one
    action: pay.send
    payload: { amount: 5000, to: Acme, key: k, tags: [] }
    agent: { risk_tier: low }
    expect: DENY
`;

const files = {
  'policies/pay.policy': policy,
  'request.json': JSON.stringify(request),
  'policies/pay.test.yaml': tests,
};

async function launched(
  given: object,
  before: (debug: Debugger) => Promise<unknown> = async () => null,
  isProcess = false,
) {
  const debug = openDebugger(files, isProcess);
  expect(await debug.ask('initialize', { adapterID: 'writ' })).toMatchObject({
    success: true,
    body: { supportsStepBack: true, supportsConfigurationDoneRequest: true },
  });
  expect(await debug.ask('launch', given)).toMatchObject({ success: true });
  await debug.event('initialized');
  await before(debug);
  await debug.ask('configurationDone');
  return debug;
}

const policyPath = (debug: Debugger) => join(debug.folder, 'policies/pay.policy');

describe('a request', () => {
  it('is walked step by step, with the condition, the rule and the request around each', async () => {
    const debug = await launched({ decide: 'request.json' }, undefined, true);
    expect(await debug.event('stopped')).toMatchObject({ body: { reason: 'entry', threadId: 1 } });
    expect((await debug.ask('threads')).body.threads).toEqual([{ id: 1, name: 'decision' }]);
    const seen: (readonly string[])[] = [await debug.frames()];
    for (let step = 0; step < 3; step += 1) {
      await debug.ask('stepIn', { threadId: 1 });
      expect(await debug.event('stopped')).toMatchObject({ body: { reason: 'step' } });
      seen.push(await debug.frames());
    }
    expect(seen).toEqual([
      ['The gate opens: `pay.send` is declared, and the payload matches its shape.', '1: request pay.send'],
      ['11: allow paying/small', '1: request pay.send'],
      ['12: payload.amount <= 100 and payload.to == "Acme"', '11: allow paying/small', '1: request pay.send'],
      [
        '12: payload.amount <= 100',
        '12: payload.amount <= 100 and payload.to == "Acme"',
        '11: allow paying/small',
        '1: request pay.send',
      ],
    ]);
    await debug.ask('stepBack', { threadId: 1 });
    await debug.event('stopped');
    expect((await debug.frames())[0]).toBe('12: payload.amount <= 100 and payload.to == "Acme"');
    await debug.ask('next', { threadId: 1 });
    await debug.event('stopped');
    expect((await debug.frames())[0]).toBe('11: It is true, so it may grant.');
    await debug.ask('stepOut', { threadId: 1 });
    await debug.event('stopped');
    expect((await debug.frames())[0]).toBe('True: paying/small.');
    await debug.ask('continue', { threadId: 1 });
    await debug.event('terminated');
    expect(debug.output()).toContain('ESCALATE by paying/unsure');
    // Each step is printed once, although some steps were passed twice.
    expect(debug.output().split('allow paying/small').length).toBe(2);
    await debug.ask('disconnect');
    expect(await debug.ended).toBe(0);
  });

  it('shows what it is decided by, and no secret', async () => {
    const debug = await launched({ decide: { ...request } });
    await debug.event('stopped');
    await debug.ask('stepIn');
    await debug.event('stopped');
    const { body } = await debug.ask('stackTrace', { threadId: 1 });
    const { scopes } = (await debug.ask('scopes', { frameId: body.stackFrames[0].id })).body;
    expect(scopes.map(({ name }: Got) => name)).toEqual([
      'Condition',
      'So far',
      'Payload',
      'Agent',
      'Request',
      'Meters',
      'Unknown',
    ]);
    const inside = async (name: string): Promise<Got> => {
      const { variablesReference } = scopes.find((one: Got) => one.name === name);
      return (await debug.ask('variables', { variablesReference })).body.variables;
    };
    expect(await inside('Condition')).toMatchObject([
      { name: 'payload.amount <= 100 and payload.to == "Acme"', value: 'true' },
    ]);
    const payload = await inside('Payload');
    expect(payload).toMatchObject([
      { name: 'amount', value: '50', evaluateName: 'payload.amount' },
      { name: 'to', value: '"Acme"' },
      { name: 'key' },
      { name: 'tags', value: '["x"]' },
    ]);
    expect(JSON.stringify(payload)).not.toContain('a-secret-value');
    const tags = (await debug.ask('variables', { variablesReference: payload[3].variablesReference })).body;
    expect(tags.variables).toMatchObject([{ name: '0', value: '"x"' }]);
    expect(await inside('Unknown')).toMatchObject([{ name: 'agent.risk_tier' }]);
  });

  it('has expressions evaluated in it', async () => {
    const debug = await launched({ decide: 'request.json' });
    await debug.event('stopped');
    const evaluated = async (expression: string): Promise<string> =>
      (await debug.ask('evaluate', { expression, context: 'watch' })).body.result;
    expect(await evaluated('payload.amount')).toBe('50');
    expect(await evaluated('payload.amount * 2')).toBe('100');
    expect(await evaluated('payload.amount > 40 and payload.to in ["Acme", "Bolt"]')).toBe('true');
    expect(await evaluated('agent.risk_tier == "high"')).toBe('unknown');
    expect(await evaluated('payload.tags')).toBe('["x"]');
    expect(await evaluated('payload.amuont > 3')).toContain('no matched action declares `payload.amuont`');
    expect(await evaluated('payload.amount >')).toContain('expected a value');
    expect(await evaluated('payload.key == "a-secret-value"')).toContain('secret');
    expect(await evaluated('1) } policy other on pay.send { allow all when (true')).not.toBe('true');
  });

  it('is decided anew on a restart, by what is on disk then', async () => {
    const debug = await launched({ decide: 'request.json' });
    await debug.event('stopped');
    debug.write('policies/pay.policy', policy.replace('<= 100', '<= 10'));
    await debug.ask('restart');
    await debug.event('stopped');
    await debug.ask('continue');
    await debug.event('terminated');
    expect(debug.output()).toContain('paying/small');
    expect(debug.output()).toContain('DENY by default_deny');
  });
});

describe('breakpoints', () => {
  it('stop at lines, or at the next line with a step, and each line once', async () => {
    const debug = await launched({ decide: 'request.json', stopOnEntry: false }, async (debug) => {
      const asked = {
        source: { path: policyPath(debug) },
        breakpoints: [{ line: 14 }, { line: 12 }, { line: 40 }],
      };
      expect((await debug.ask('setBreakpoints', asked)).body.breakpoints).toMatchObject([
        { verified: true, line: 15 },
        { verified: true, line: 12 },
        { verified: false },
      ]);
    });
    expect(await debug.event('stopped')).toMatchObject({ body: { reason: 'breakpoint' } });
    expect((await debug.frames())[0]).toBe('12: payload.amount <= 100 and payload.to == "Acme"');
    await debug.ask('continue');
    await debug.event('stopped');
    expect((await debug.frames())[0]).toBe('15: deny paying/dear');
    await debug.ask('reverseContinue');
    await debug.event('stopped');
    expect((await debug.frames())[0]).toBe('12: payload.amount <= 100 and payload.to == "Acme"');
    const { body } = await debug.ask('breakpointLocations', {
      source: { path: policyPath(debug) },
      line: 10,
      endLine: 16,
    });
    expect(body.breakpoints).toEqual([{ line: 11 }, { line: 12 }, { line: 13 }, { line: 15 }, { line: 16 }]);
  });

  it('stop at rules by name, and at what is not known', async () => {
    const debug = await launched({ decide: 'request.json', stopOnEntry: false }, async (debug) => {
      const { body } = await debug.ask('setFunctionBreakpoints', {
        breakpoints: [{ name: 'dear' }, { name: 'paying/unsure' }, { name: 'other' }],
      });
      expect(body.breakpoints).toMatchObject([{ verified: true }, { verified: true }, { verified: false }]);
      await debug.ask('setExceptionBreakpoints', { filters: ['unknown'] });
    });
    expect(await debug.event('stopped')).toMatchObject({ body: { reason: 'function breakpoint' } });
    await debug.ask('continue');
    expect(await debug.event('stopped')).toMatchObject({ body: { reason: 'function breakpoint' } });
    expect((await debug.frames())[0]).toBe('18: escalate paying/unsure');
    await debug.ask('continue');
    expect(await debug.event('stopped')).toMatchObject({
      body: { reason: 'exception', text: expect.stringContaining('agent.risk_tier') },
    });
    expect((await debug.ask('exceptionInfo')).body).toMatchObject({ exceptionId: 'unknown' });
  });
});

describe('a case of a test file', () => {
  it.each([
    ['by its name', { case: 'a dear one' }],
    ['by a line in it', { line: 9 }],
  ])('is found %s', async (_, which) => {
    const debug = await launched({ test: 'policies/pay.test.yaml', stopOnEntry: false, ...which });
    await debug.event('terminated');
    expect(debug.output()).toContain('DENY by paying/dear');
  });
});

describe('a launch that cannot be', () => {
  it.each([
    ['nothing to debug', {}, 'the launch needs a target'],
    ['a file that is not there', { decide: 'no.json' }, 'there is no file'],
    ['no request', { decide: 'policies/pay.policy' }, 'this is a policy file'],
    ['an action that is not declared', { decide: { action: 'pay.sent', payload: {} } }, null],
    ['several cases', { test: 'policies/pay.test.yaml' }, 'name the `case` to debug, one of `a small one`'],
    ['a misspelt case', { test: 'policies/pay.test.yaml', case: 'a deer one' }, 'did you mean `a dear one`?'],
    ['policies that are not there', { decide: 'request.json', policies: 'elsewhere' }, 'does not exist'],
  ])('for %s says so', async (_, given, said) => {
    const debug = openDebugger(files);
    await debug.ask('initialize');
    const { success, message, body } = await debug.ask('launch', given);
    if (said === null) return expect(success).toBe(true);
    expect([success, body?.error?.showUser]).toEqual([false, true]);
    expect(message).toContain(said);
  });

  it('for policies with errors shows them', async () => {
    const debug = openDebugger({ ...files, 'policies/pay.policy': policy.replace('when', 'wehn') });
    await debug.ask('initialize');
    const { message } = await debug.ask('launch', { decide: 'request.json' });
    expect(message).toContain('the policies have errors:\nerror[');
    expect(message).toContain('pay.policy:12');
    // The session goes on: corrected policies can be launched.
    debug.write('policies/pay.policy', policy);
    expect(await debug.ask('launch', { decide: 'request.json' })).toMatchObject({ success: true });
    expect(await debug.ask('gotoTargets')).toMatchObject({ success: false });
  });
});
