// JSON while it is typed: the reader returns the same value as JSON.parse, each part is at its stated place,
// and a fault has a place.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rangeAtPointer, readJson } from '../../src/dashboard/editor/json-positions.ts';

/** Numbers with few digits, and unique names. */
const value = fc.jsonValue({ maxDepth: 4 }).map((one) => JSON.parse(JSON.stringify(one, shorter)) as unknown);

function shorter(_name: string, one: unknown): unknown {
  return typeof one === 'number' ? Number(one.toPrecision(12)) : one;
}

describe('JSON', () => {
  it('is read as JSON.parse reads it, whatever the blanks', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2, '\t', ' \r'), (one, indent) => {
        const text = JSON.stringify(one, null, indent);
        expect(readJson(text)).toMatchObject({ fault: null, value: JSON.parse(text) });
      }),
    );
  });

  it('is refused where JSON.parse refuses it', () => {
    fc.assert(
      fc.property(value, fc.nat(), fc.string({ maxLength: 2 }), (one, at, noise) => {
        const text = JSON.stringify(one, null, 1);
        const place = at % (text.length + 1);
        const broken = text.slice(0, place) + noise + text.slice(place + 1);
        const { fault } = readJson(broken);
        if (!parses(broken)) expect(fault, broken).not.toBeNull();
        // The reader is stricter than JSON.parse in only two ways.
        else if (fault !== null) expect(fault.message).toMatch(/twice|a double cannot represent/);
      }),
      { numRuns: 500 },
    );
  });

  it('knows the place of each part', () => {
    const text = '{ "payload": { "a/b": [1, "two"] } }';
    const { positions: places } = readJson(text);
    const shown = (pointer: string) => {
      const place = rangeAtPointer(places, pointer);
      return text.slice(place.from, place.to);
    };
    expect(shown('/payload/a~1b/1')).toBe('"two"');
    expect(shown('/payload/a~1b')).toBe('[1, "two"]');
    expect(shown('/payload/a~1b/7/x')).toBe('[1, "two"]');
    expect(shown('/other')).toBe('{');
  });

  it('reports an error and its place', () => {
    const fault = (text: string) => readJson(text).fault;
    expect(fault('{"a": }')).toEqual({ message: 'a value is expected here', from: 6, to: 7 });
    expect(fault('{"a": 1')).toEqual({ message: 'a comma or } is expected here', from: 7, to: 7 });
    expect(fault('{"a": 1, "a": 2}')).toEqual({ message: '`a` is written twice', from: 9, to: 12 });
    expect(fault("{'a': 1}")?.message).toBe('a name in double quotes is expected here');
    expect(fault('[1234567890.12345678]')?.message).toBe(
      'a double cannot represent this number: use fewer digits, or a string',
    );
    expect(fault('[1234567890.1234567, 0.30000000000000004, 1e400]')).toMatchObject({ from: 42, to: 47 });
    expect(fault('[1000000000000000000]')).toBeNull();
    expect(fault('[01]')?.message).toMatch(/not a JSON number/);
    expect(fault('"a\nb"')?.message).toMatch(/not closed/);
    expect(fault('')?.message).toBe('a value is missing at the end');
    expect(fault('['.repeat(10_000))?.message).toBe('it is nested more than 32 deep');
    expect(fault('1 2')?.message).toBe('nothing may follow the value');
  });

  it('reads a member with the name of an object method as a plain member', () => {
    expect(Object.hasOwn(readJson('{"__proto__": {"x": 1}}').value as object, '__proto__')).toBe(true);
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
