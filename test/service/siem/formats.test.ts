// Every kind of record becomes an event of the format that its receivers can read, and no event holds a value of a
// payload that was not allowed. `ocsf-1.8.0.json` has the classes and objects that are used, as the released schema
// (github.com/ocsf/ocsf-schema, tag 1.8.0, Apache-2.0) declares them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { codeOf, gapEvent, type SiemEvent } from '../../../src/service/siem/events/event.ts';
import { allowedFields } from '../../../src/service/siem/events/payload-fields.ts';
import { cefMessage } from '../../../src/service/siem/formats/cef.ts';
import { ocsfEvent } from '../../../src/service/siem/formats/ocsf.ts';
import { otlpLogRecord, otlpLogsRequest, rejectedIn } from '../../../src/service/siem/formats/otlp.ts';
import { textOf } from '../../support/sources.ts';
import { startMs } from '../store/rows.ts';
import { fillWithEveryKind, openRecords, readEvent, shape } from './stream.ts';

interface Slot {
  readonly type: string;
  readonly array?: boolean;
  readonly required?: boolean;
  readonly enum?: readonly number[];
}

interface Declared {
  readonly attributes: Readonly<Record<string, Slot>>;
  readonly at_least_one?: readonly string[];
}

const schema = JSON.parse(readFileSync(join(import.meta.dirname, 'ocsf-1.8.0.json'), 'utf8')) as {
  readonly version: string;
  readonly classes: Readonly<Record<string, Declared & { readonly category: number }>>;
  readonly objects: Readonly<Record<string, Declared>>;
};

type Json = Readonly<Record<string, unknown>>;

function problemsOfClass(event: Json): readonly string[] {
  const declared = schema.classes[String(event.class_uid)];
  if (declared === undefined) return [`no class ${event.class_uid}`];
  const [classUid, activityId] = [Number(event.class_uid), Number(event.activity_id)];
  return [
    ...(event.category_uid === declared.category ? [] : ['category_uid']),
    ...(event.type_uid === classUid * 100 + activityId ? [] : ['type_uid']),
    ...problemsOf(event, declared, 'event'),
  ];
}

function problemsOf(
  value: Json,
  { attributes, at_least_one: some }: Declared,
  path: string,
): readonly string[] {
  const missing = Object.entries(attributes).filter(([name, { required }]) => required && !(name in value));
  return [
    ...missing.map(([name]) => `${path}.${name} is missing`),
    ...(some === undefined || some.some((name) => name in value) ? [] : [`${path} has none of ${some}`]),
    ...Object.entries(value).flatMap(([name, inner]) => {
      const slot = attributes[name];
      if (slot === undefined) return [`${path}.${name} is not declared`];
      if (slot.array === true)
        return Array.isArray(inner)
          ? inner.flatMap((one) => problemsOfSlot(one, slot, `${path}.${name}[]`))
          : [`${path}.${name} is no list`];
      return problemsOfSlot(inner, slot, `${path}.${name}`);
    }),
  ];
}

function problemsOfSlot(value: unknown, { type, enum: allowed }: Slot, path: string): readonly string[] {
  const declared = schema.objects[type];
  if (declared !== undefined) return problemsOf(value as Json, declared, path);
  if (/^(?:integer|long|timestamp|port)_t$/.test(type)) {
    if (!Number.isSafeInteger(value)) return [`${path} is no integer`];
    return allowed === undefined || allowed.includes(Number(value)) ? [] : [`${path} cannot be ${value}`];
  }
  if (type === 'boolean_t') return typeof value === 'boolean' ? [] : [`${path} is no boolean`];
  if (type === 'json_t' || type === 'object') return [];
  return typeof value === 'string' ? [] : [`${path} is no text`];
}

async function everyEvent(paths: readonly string[] = []): Promise<readonly SiemEvent[]> {
  const store = await openRecords();
  await fillWithEveryKind(store);
  const { records } = await store.chain.segment(0, 100);
  const [first] = records;
  const knot = {
    entry: { kind: 'knot', sequence: 90, at_ms: startMs, lane: 2, follows: 7 },
    hash: 'h',
    later: null,
  } as const;
  const broken = { ...first!, entry: { ...first!.entry, sequence: 91, record_json: '{' } };
  const read = readEvent(paths);
  return [
    ...records.map(read),
    read(knot),
    read(broken),
    gapEvent({ firstSequence: 92, sequence: 95, because: 'deleted', atMs: startMs }),
  ];
}

const source = { version: '0.1.0', host: 'writ.example.com', processId: 42 };
const formats = {
  ocsf: (event: SiemEvent) => ocsfEvent(event, '0.1.0'),
  otlp: (event: SiemEvent) => otlpLogRecord(event, startMs + 1),
  cef: (event: SiemEvent) => cefMessage(event, source),
};

describe('no format', () => {
  test('leaves out a record', async () => {
    const events = await everyEvent();
    expect(events.map(codeOf)).toEqual([
      ...['decision', 'decision', 'decision', 'refusal', 'request.approved', 'request.decided'],
      ...['signed-in', 'password-changed', 'group-changed', 'agent-disabled', 'table-row-pushed'],
      ...['something-new', 'knot', 'unreadable', 'gap'],
    ]);
    for (const format of Object.values(formats))
      for (const event of events) expect(format(event)).toContain(String(event.sequence));
  });

  test('sends a value of a payload that is not listed, a secret, a comment, a title or a reason', async () => {
    const events = await everyEvent(['amount', 'iban', 'iban.secret', 'vendor_key', 'missing.x']);
    for (const format of Object.values(formats)) {
      const text = events.map(format).join('\n');
      expect(text).not.toMatch(/Staples|hmac-sha256|is small|Pay 25/);
      expect(text).toMatch(/amount/);
    }
  });
});

describe('a listed field', () => {
  const digest = { secret: `hmac-sha256:${'ab'.repeat(32)}` };
  test.each([
    [{ amount: 25 }, 'amount', { amount: 25 }],
    [{ to: { country: 'CH' } }, 'to.country', { 'to.country': 'CH' }],
    [{ tags: ['a', 'b'] }, 'tags', { tags: ['a', 'b'] }],
    [{ to: { country: 'CH' } }, 'to', {}],
    [{ list: [{ a: 1 }] }, 'list', {}],
    [{ iban: digest }, 'iban', {}],
    [{ iban: digest }, 'iban.secret', {}],
    [digest, 'secret', {}],
    [{ secret: 'plain' }, 'secret', { secret: 'plain' }],
    [{ vendor_key: 'k' }, 'vendor_key', {}],
    [{ a: null }, 'a', {}],
    [{}, 'toString', {}],
    [JSON.parse('{"__proto__":1}') as object, '__proto__.x', {}],
  ] as const)('of %j: %s', (payload, path, expected) => {
    expect(allowedFields(payload as never, [path], shape)).toEqual(expected);
  });
});

describe('OCSF', () => {
  test('events are of the released schema', async () => {
    expect(textOf('src/service/siem/formats/ocsf.ts')).toContain(`ocsfVersion = '${schema.version}'`);
    for (const event of await everyEvent(['amount']))
      expect([codeOf(event), problemsOfClass(JSON.parse(formats.ocsf(event)) as Json)]).toEqual([
        codeOf(event),
        [],
      ]);
  });

  test('the check of events finds what is wrong', async () => {
    const [event] = await everyEvent();
    const right = JSON.parse(formats.ocsf(event!)) as Json;
    for (const change of [
      { actor: undefined },
      { actor: {} },
      { activity_id: 7 },
      { type_uid: 1 },
      { category_uid: 3 },
      { nonsense: 1 },
      { src_endpoint: {} },
      { authorizations: {} },
      { message: 1 },
    ]) {
      const wrong = JSON.parse(JSON.stringify({ ...right, ...change })) as Json;
      expect([change, problemsOfClass(wrong).length > 0]).toEqual([change, true]);
    }
  });

  test('a decision is API Activity with its authorization result', async () => {
    const [granted, denied, held, refused] = (await everyEvent(['amount'])).map(
      (event) => JSON.parse(formats.ocsf(event)) as Json,
    );
    expect(granted).toMatchObject({
      class_uid: 6003,
      type_uid: 600399,
      severity_id: 1,
      status_id: 1,
      action_id: 1,
      disposition_id: 1,
      time: startMs,
      actor: { app_name: 'buyer', app_uid: 'agent-1', user: { uid: 'u1', email_addr: 'ann@example.com' } },
      api: { operation: 'payment.create', request: { data: { amount: 25 } } },
      src_endpoint: { ip: '192.0.2.7' },
      authorizations: [
        {
          decision: 'ALLOW',
          policy: { name: 'payments', uid: 'payments/small', is_applied: true, version: 'd1' },
        },
      ],
      metadata: { version: '1.8.0', sequence: 1, profiles: ['security_control'], event_code: 'decision' },
      message: 'ALLOW payment.create for buyer by payments/small',
      unmapped: { lane: 0, follows: 0, key_id: 'key00001', session: 'run 7' },
    });
    expect(denied).toMatchObject({ severity_id: 3, status_id: 2, action_id: 2, disposition_id: 2 });
    expect(held).toMatchObject({ severity_id: 2, status_id: 99, action_id: 99, disposition_id: 14 });
    expect(refused).toMatchObject({
      class_uid: 6003,
      status_code: 'invalid_body',
      api: { response: { code: 400 } },
    });
  });

  test('votes and changes have classes of their own', async () => {
    const classes = (await everyEvent()).slice(4).map((event) => {
      const { class_uid: uid, activity_id: activity } = JSON.parse(formats.ocsf(event)) as Json;
      return [codeOf(event), uid, activity];
    });
    expect(classes).toEqual([
      ['request.approved', 3004, 3],
      ['request.decided', 3004, 3],
      ['signed-in', 3002, 1],
      ['password-changed', 3001, 3],
      ['group-changed', 3006, 99],
      ['agent-disabled', 3004, 9],
      ['table-row-pushed', 3004, 1],
      ['something-new', 3004, 99],
      ['knot', 0, 99],
      ['unreadable', 0, 99],
      ['gap', 0, 99],
    ]);
  });
});

test.each([Number.NaN, -1, 1e20, 1.5])(
  'a record changed to the time %s is sent all the same',
  async (atMs) => {
    const store = await openRecords();
    await fillWithEveryKind(store);
    const { records } = await store.chain.segment(3, 1);
    const [refusal] = records;
    const event = readEvent([])({ ...refusal!, entry: { ...refusal!.entry, at_ms: atMs } });
    expect(event.kind).toBe('refusal');
    for (const format of Object.values(formats)) expect(format(event)).toContain('4');
    expect(problemsOfClass(JSON.parse(formats.ocsf(event)) as Json)).toEqual([]);
  },
);

describe('OTLP', () => {
  test('log records have times in nanoseconds, severities and typed attributes', async () => {
    const [granted] = await everyEvent(['amount']);
    const message = JSON.parse(otlpLogsRequest([formats.otlp(granted!)], '0.1.0'));
    const [{ resource, scopeLogs }] = message.resourceLogs;
    expect(resource.attributes).toContainEqual({ key: 'service.name', value: { stringValue: 'writ' } });
    expect(scopeLogs[0].scope).toEqual({ name: 'writ', version: '0.1.0' });
    const [record] = scopeLogs[0].logRecords;
    expect(record).toMatchObject({
      timeUnixNano: `${startMs}000000`,
      observedTimeUnixNano: `${startMs + 1}000000`,
      severityNumber: 9,
      severityText: 'INFO',
      eventName: 'writ.decision',
      body: { stringValue: 'ALLOW payment.create for buyer by payments/small' },
    });
    const values = Object.fromEntries(record.attributes.map(({ key, value }: never) => [key, value]));
    expect(values).toMatchObject({
      'gen_ai.agent.id': { stringValue: 'agent-1' },
      'gen_ai.tool.name': { stringValue: 'payment.create' },
      'gen_ai.conversation.id': { stringValue: 'run 7' },
      'writ.sequence': { intValue: '1' },
      'writ.signed': { boolValue: false },
      'writ.payload.amount': { intValue: '25' },
    });
    expect(Object.keys(values)).toHaveLength(record.attributes.length);
  });

  test('severities and nested values follow the protocol', async () => {
    const records = (await everyEvent()).map((event) => JSON.parse(formats.otlp(event)));
    expect(new Set(records.map(({ severityNumber }) => severityNumber))).toEqual(new Set([9, 10, 13, 17]));
    const disabled = records.find(({ eventName }) => eventName === 'writ.agent-disabled');
    expect(disabled.attributes).toContainEqual({
      key: 'writ.after',
      value: { kvlistValue: { values: [{ key: 'status', value: { stringValue: 'disabled' } }] } },
    });
  });

  test.each([
    ['{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"too old"}}', 2],
    ['{"partialSuccess":{"rejectedLogRecords":1}}', 1],
    ['{"partialSuccess":{"errorMessage":"a warning"}}', 0],
    ['{"partialSuccess":{"rejectedLogRecords":"-1"}}', 0],
    ['{}', 0],
    ['null', 0],
    ['<html>', 0],
    ['', 0],
  ])('an answer %s rejects %i', (answer, count) => {
    expect(rejectedIn(answer).count).toBe(count);
  });
});

describe('CEF', () => {
  test('a message has the headers of syslog and of CEF, and known fields', async () => {
    const [granted] = await everyEvent(['amount']);
    const text = formats.cef(granted!);
    expect(text).toMatch(
      /^<110>1 2026-03-02T10:00:00\.000Z writ\.example\.com writ 42 decision - CEF:0\|Writ\|Writ\|0\.1\.0\|decision\|ALLOW payment\.create for buyer by payments\/small\|1\|rt=/,
    );
    for (const field of [
      ...['externalId=1', 'act=payment.create', 'outcome=ALLOW', 'src=192.0.2.7', 'suser=buyer'],
      ...['cs6={"amount":25}', 'cs6Label=payload'],
    ])
      expect(text).toContain(` ${field} `.trimEnd());
  });

  test('a value can neither end its field nor its message', async () => {
    const hostile = 'a|b\\c=d\r\ne suser=root \u2028\u0000\ud800';
    const decision = (await everyEvent())[0]!;
    const text = formats.cef({
      ...decision,
      kind: 'decision',
      agentName: hostile,
      action: hostile,
    } as SiemEvent);
    expect(text).not.toMatch(/[\r\n\0\u2028]/);
    expect(text).toContain('suser=a|b\\\\c\\=d\\ne suser\\=root \\n \ufffd ');
    const [, , , , , name] = text.split(/(?<!\\)\|/);
    expect(name).toContain('a\\|b\\\\c=d');
    expect(text.isWellFormed()).toBe(true);
  });

  test('a message has at most 8,000 bytes, and says what was cut', async () => {
    const change = (await everyEvent()).find(({ kind }) => kind === 'change')!;
    const long = { text: '東'.repeat(3_000) };
    const text = formats.cef({ ...change, kind: 'change', before: long, after: long } as never);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8_000);
    expect(text).toContain('flexString1=true');
  });
});
