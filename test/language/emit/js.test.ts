import { describe, expect, it } from 'vitest';
import { identifier, type Js, joinJs, js, render } from '../../../src/language/emit/code/js.ts';

/** The value of the text as JavaScript. */
function meaning(code: Js): unknown {
  return new Function(`return ${render(code)}`)();
}

const hostile = [
  '");globalThis.stolen = 1;("',
  "'; throw 1; '",
  ['`$', '{globalThis}`'].join(''),
  '\\',
  '\\"',
  '\u2028\u2029',
  '</script><script>',
  '*/ throw 1 /*',
  '\u0000\n\r',
  '\ud800',
  '__proto__',
];

describe('the js tag', () => {
  it.each(hostile)('makes a literal of the text %j', (text) => {
    expect(meaning(js`${text}`)).toBe(text);
    expect(meaning(js`({ [${text}]: 1 })[${text}]`)).toBe(1);
  });

  it('leaves nothing in the text that ends a line or a script element', () => {
    expect(render(js`${'\u2028\u2029</script>'}`)).not.toMatch(/[\u2028\u2029]|<\//);
  });

  it('makes literals of numbers, also behind an operator', () => {
    for (const value of [0, -1, 1.5, 1e300, -5e-324, Number.POSITIVE_INFINITY]) {
      expect(meaning(js`1 - ${value}`)).toBe(1 - value);
    }
    expect(Object.is(meaning(js`${-0}`), -0)).toBe(true);
    expect(() => js`${Number.NaN}`).toThrow(TypeError);
  });

  it('splices only fragments that it has made', () => {
    expect(meaning(js`${js`1 + `}${2}`)).toBe(3);
    expect(() => js`${{ kind: 'js', text: 'globalThis' } as Js}`).toThrow(TypeError);
    expect(() => js`${JSON.parse('{"kind":"js"}') as Js}`).toThrow(TypeError);
    expect(() => render({ ...js`1` })).toThrow(TypeError);
  });

  it('is no function of texts', () => {
    expect(() => js(['globalThis'] as unknown as TemplateStringsArray)).toThrow(TypeError);
  });

  it('takes no text as an identifier', () => {
    expect(render(joinJs([identifier('c', 0), identifier('t', 12)], js`, `))).toBe('c0, t12');
    for (const [letters, at] of [
      ['a b', 0],
      ['a;', 0],
      ['a', -1],
      ['a', 1.5],
    ] as const) {
      expect(() => identifier(letters, at)).toThrow(TypeError);
    }
  });
});
