// Laws of spelling: however a path, URL, host or e-mail address is spelt, every operator, list, meter, reason
// and trace sees the same text, and no spelling of a guarded place is granted.

import { expect, it } from 'vitest';
import { canonical } from '../../src/language/model/canonical.ts';
import type { JsonObject } from '../../src/language/model/json.ts';
import { type Facts, nothingSatisfied } from '../../src/language/model/request.ts';
import type { TextKind } from '../../src/language/model/type.ts';
import { authorize } from '../../src/language/spec/authorize.ts';
import { createRandom } from '../../src/language/value/random.ts';
import { tries } from '../support/tries.ts';
import { compileSet, ruleIdsOf } from './differential.ts';
import { randomSet } from './policies.ts';
import { randomFacts } from './requests.ts';
import { respellings, respellPayload } from './spellings.ts';

/** `npm run spellings` tries more. */
const spellingsPerKind = Number(process.env.WRIT_SPELLINGS ?? tries(800));

/** A policy with every operator, and with a text of the kind in each place where one may stand. */
const operators = (type: string, text: string, inner: string, folder: string | null): string => `
action place.use { it: ${type}, all: [${type}], may?: ${type}, deep: { it: ${type} } }
list typed: ${type} = ["${text}"]
list untyped = ["none", "${text}"]
list from_file from "listed.txt"
list all_lists = untyped + typed
let other = "${text}"
let named = payload.it == other
let same(one: ${type}) = one == "${text}"
let within_all(one: ${type}, all: [${type}]) = one in all
let deep = payload.deep
table places from "places.csv" key at: ${type} { twin: ${type}, mark?: string }
let place = places[payload.it]
meter used = distinct(payload.it) of place.use per payload.it over 1h
policy uses on place.use {
  risk equal +1 when payload.it == "${text}"
  risk unequal +1 when payload.it != "${text}"
  risk listed +1 when payload.it in ["none", "${text}"]
  risk in_typed +1 when payload.it in typed
  risk in_untyped +1 when payload.it in untyped
  risk in_file +1 when payload.it in from_file
  risk like_part +1 when payload.it like "*${inner}*"
  risk matching +1 when payload.it matches '.*${inner}.*'
  risk starting +1 when payload.it starts with "${text.slice(0, 9)}"
  risk ending +1 when payload.it ends with "${inner}"
  risk containing +1 when payload.it contains "${inner}"
  risk mentioned +1 when payload.it mentions any of ["${inner}"]
  risk quantified +1 when some one in payload.all (one == "${text}" or one ends with "${inner}")
  risk counted +1 when count one in payload.all (one == payload.it) == 2
  risk among +1 when payload.it in payload.all or "${text}" in payload.all
  risk among_entries +1 when payload.it in [payload.deep.it, "none"] and payload.it in [payload.may else "none", "${text}"]
  risk source +1 when some one in payload.all, ["none", "${text}"] (one == payload.it and one != "none")
  risk entries +1 when count one in [payload.deep.it, "${text}"] (one == payload.it or one == "${text}") == 2
  risk joined +1 when payload.it in all_lists and "${text}" in all_lists and "${text}" in typed
  risk otherwise +1 when (payload.may else "${text}") == "${text}"
  risk deeper +1 when payload.deep.it == payload.it and lower(payload.deep.it) like "*${inner}*"
  risk long +1 when length(payload.it) > 12
  risk let_named +1 when named
  risk metered +1 when used > 3
  risk called +1 when same(payload.it) and same(deep.it) and within_all(payload.it, payload.all)
  risk chosen +1 when (if payload.deep.it == payload.it then payload.it else payload.deep.it) == "${text}"
  risk prefixed +1 when payload.all starts with ["${text}"]
  risk row +1 when place.twin == payload.it and place has mark and payload.it in places
  risk cell +1 when (places[payload.deep.it].twin else "none") == "${text}" and not (places["none"] has mark)
  risk text_joined +1 when join("<", payload.it, ">") == "<${text}>"
  ${folder === null ? '' : `risk within +1 when payload.it inside "${folder}"`}
  allow any because "{payload.it} is used"
}`;

const cases: readonly (readonly [Exclude<TextKind, 'string'>, readonly string[]])[] = [
  ['path', ['/workspace/.github/x', '/workspace/a b/%2e', '/', 'src/.ssh/id', '.', '/workspace/..x/...']],
  ['path ignoring case', ['/workspace/.github/x', '/etc/ssl', 'src/.ssh']],
  [
    'url',
    [
      'https://example.com/a/b',
      'http://xn--bcher-kva.example/',
      'ftp://127.0.0.1/~x/%2F',
      'https://[2001:db8::1]/',
      'wss://example.com:8443//a//b?q=%3D%41/../c#top',
      'git+ssh://example.com/x',
      'https://example.com/?a=1',
    ],
  ],
  [
    'web_address',
    ['https://www.example.com/', 'http://localhost:8080/x', 'https://[::1]/a/', 'www.example.com/a/b'],
  ],
  ['host', ['example.com', 'xn--bcher-kva.example', '127.0.0.1', '[2001:db8::1]', 'localhost']],
  ['email', ['Ann@example.com', 'bob@xn--bcher-kva.example']],
];

function factsOf(payload: JsonObject): Facts {
  return {
    action: 'place.use',
    payload,
    agent: { id: 'a' },
    request: {},
    nowMs: 0,
    meters: {},
    satisfied: nothingSatisfied,
  };
}

it.each(cases)('%s: every spelling decides alike under every operator', (kind, texts) => {
  const random = createRandom(7);
  const each = Math.ceil(spellingsPerKind / texts.length);
  for (const text of texts) {
    const inner =
      text
        .replace(/^[^A-Za-z]*|[^A-Za-z]*$/g, '')
        .split(/[^a-z]/)
        .at(-1) || '.';
    const source = operators(kind, text, inner, kind.startsWith('path') ? text : null);
    const { set, engine, diagnostics } = compileSet({
      files: [{ path: 'a.policy', text: source }],
      lists: {
        'listed.txt': `none\n${respellings[kind](random, text)}\n`,
        'places.csv': `at,twin,mark\n${JSON.stringify(respellings[kind](random, text))},${JSON.stringify(respellings[kind](random, text))},x\n`,
      },
    });
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    const spell = () => respellings[kind](random, text);
    const payload = { it: text, all: [text, text], may: text, deep: { it: text } };
    const known = engine!.decideTraced(factsOf(payload));
    const wanted = JSON.stringify([known.decision, known.trace, engine!.entries(factsOf(payload))]);
    expect(known.decision.outcome).toBe('ALLOW');
    for (const rule of [
      'equal',
      'listed',
      'in_typed',
      'in_untyped',
      'in_file',
      'quantified',
      'counted',
      'among',
      'source',
      'entries',
      'joined',
      'called',
      'chosen',
      'prefixed',
      'row',
      'cell',
    ])
      expect(known.decision.rules, `${kind} ${text}`).toContain(`uses/${rule}`);
    for (let at = 0; at < each; at += 1) {
      const other = { it: spell(), all: [spell(), spell()], may: spell(), deep: { it: spell() } };
      const { decision, trace } = engine!.decideTraced(factsOf(other));
      // Comparing texts is many times faster than comparing trees.
      const said = JSON.stringify([decision, trace, engine!.entries(factsOf(other))]);
      if (said !== wanted) expect({ other, decision, trace }).toEqual({ other, ...known });
      expect(said).toBe(wanted);
      if (at % 50 === 0) expect(authorize(set!, factsOf(other))).toEqual(decision);
    }
  }
});

/**
 * Guards that compare a place by way of a variable, a field of another type or a list; `given` is a spelling
 * of the place.
 */
const guards = [
  'some one in [GIVEN] (one == payload.it)',
  'not (every one in given (payload.it != one))',
  'not (no one in given (payload.it in [one]))',
  'some one in given (one in payload.all)',
  'some one in given (one in typed)',
  'some one in payload.all, given (one == payload.it and one != "none")',
  'count one in [payload.it, GIVEN] (one == GIVEN) == 2',
  'payload.text == payload.it',
  'payload.it in payload.texts',
  'payload.text in payload.all',
  'payload.text in typed',
  'payload.it in typed',
  'GIVEN in typed',
  'payload.it in joined',
  'payload.it in [payload.text]',
  'same(payload.it)',
  'some one in payload.all (same(one))',
  'payload.all starts with [GIVEN]',
  '(if payload.it == GIVEN then payload.it else GIVEN) == payload.it',
  'payload.it in places',
  'places[GIVEN].twin == payload.it',
  '(places[payload.it] has mark)',
] as const;

it.each(cases)('%s: a guard meets every spelling, or is refused', (kind, texts) => {
  const random = createRandom(11);
  const kept = new Set<string>();
  for (const text of texts) {
    for (const guard of guards) {
      const given = JSON.stringify(respellings[kind](random, text));
      const source = `
action place.use { it: ${kind}, all: [${kind}], text: string, texts: [string] }
list typed: ${kind} = [${given}]
list untyped = [${given}]
list joined: ${kind} = untyped
let given = [${given}]
let same(one: ${kind}) = one == ${given}
table places from "places.csv" key at: ${kind} { twin: ${kind}, mark?: string }
policy uses on place.use {
  allow any
  deny guarded when ${guard.replaceAll('GIVEN', given)}
}`;
      const { engine, diagnostics } = compileSet({
        files: [{ path: 'a.policy', text: source }],
        lists: { 'places.csv': `at,twin,mark\n${given},${given},x\n` },
      });
      if (engine === null) {
        expect(diagnostics.map(({ code }) => code)).toContain('type-mismatch');
        continue;
      }
      kept.add(guard);
      const spell = () => respellings[kind](random, text);
      for (let at = 0; at < 20; at += 1) {
        const written = spell();
        const payload = { it: spell(), all: [spell()], text: written, texts: [written] };
        const { outcome } = engine.decide(factsOf(payload));
        expect(outcome, `${guard} with ${given} on ${JSON.stringify(payload)}`).toBe('DENY');
      }
    }
  }
  // Constants in these guards are read as rules see the place, so the checker refuses none of them.
  expect(kept.size).toBeGreaterThanOrEqual(5);
});

it('a field that is spelt in two ways is read by no constant', () => {
  const source = `
action place.use { it: path }
action place.read { it: string }
policy uses on place.* {
  allow any
  deny guarded when payload.it == "/etc/"
}`;
  const { engine, diagnostics } = compileSet({ files: [{ path: 'a.policy', text: source }], lists: {} });
  expect(engine).toBeNull();
  expect(diagnostics.map(({ code }) => code)).toContain('field-types-differ');
});

it('random policies decide every spelling of a request alike', { timeout: 240_000 }, () => {
  let respelt = 0;
  for (let seed = 1; respelt < tries(1_200); seed += 1) {
    const random = createRandom(seed);
    const generated = randomSet(random);
    const { set, engine } = compileSet(generated);
    const ruleIds = ruleIdsOf(set!);
    for (let at = 0; at < 40; at += 1) {
      const facts = randomFacts(random, generated, ruleIds);
      const shape = set!.actions.get(facts.action)?.shape;
      if (shape === undefined) continue;
      const payload = respellPayload(random, shape, facts.payload);
      const other = { ...facts, payload };
      if (JSON.stringify(payload) === JSON.stringify(facts.payload)) continue;
      respelt += 1;
      const said = [engine!.decide(other), engine!.entries(other)];
      const wanted = [engine!.decide(facts), engine!.entries(facts)];
      if (canonical(said) !== canonical(wanted))
        expect({ seed, payload, said }).toEqual({ seed, payload, said: wanted });
      if (at % 10 === 0)
        expect({ seed, payload, said: authorize(set!, other) }).toEqual({
          seed,
          payload,
          said: authorize(set!, facts),
        });
    }
  }
});

const guarded = `
action file.write { path: path, folded: path ignoring case }
action web.open { url: url, link: web_address, host: host, mail: email }
list secret_files = ["/workspace/.env"]
policy files on file.write {
  allow workspace when payload.path inside "/workspace"
  deny workflows when payload.path like "*/.github/workflows/*"
  deny env when payload.path in secret_files or payload.path == "/workspace/keys/"
  deny hooks when payload.path matches '.*/\\.git/hooks/[^/]+'
  deny certificates when payload.path ends with ".pem"
  deny vault when payload.path starts with "/workspace/vault/" or payload.path contains "/node_modules/"
  deny caseless when payload.folded like "*/Secrets/*" or payload.folded inside "/Workspace/Private"
}
policy pages on web.open {
  allow all_pages when payload.url like "https://*" or payload.url like "http://*"
  deny admin when payload.url like "https://example.com/admin/*" or payload.link like "https://example.com/admin*"
  deny metadata when payload.host == "metadata.example" or payload.host in ["xn--bcher-kva.example", "169.254.169.254"]
  deny inner when payload.url starts with "https://intern.example/" or host(payload.url) ends with ".corp"
  deny strangers when payload.mail ends with "@evil.example" or domain(payload.mail) == "bad.example"
}`;

it('no spelling of what is guarded is granted', () => {
  const { engine } = compileSet({ files: [{ path: 'a.policy', text: guarded }], lists: {} });
  const file = { path: '/workspace/a', folded: '/workspace/a' };
  const page = {
    url: 'https://example.com/',
    link: 'example.com',
    host: 'example.com',
    mail: 'a@example.com',
  };
  const guardedPlaces: readonly (readonly [string, JsonObject, string, TextKind, readonly string[]])[] = [
    [
      'file.write',
      file,
      'path',
      'path',
      [
        '/workspace/.github/workflows/x.yml',
        '/workspace/.env',
        '/workspace/keys',
        '/workspace/.git/hooks/pre-push',
        '/workspace/tls.pem',
        '/workspace/vault/x',
        '/workspace/a/node_modules/b',
        '/etc/passwd',
      ],
    ],
    ['file.write', file, 'folded', 'path ignoring case', ['/workspace/secrets/x', '/workspace/private']],
    [
      'web.open',
      page,
      'url',
      'url',
      ['https://example.com/admin/x', 'https://intern.example/', 'http://a.corp/x'],
    ],
    ['web.open', page, 'link', 'web_address', ['https://example.com/admin/x', 'https://example.com/admin']],
    ['web.open', page, 'host', 'host', ['metadata.example', 'xn--bcher-kva.example', '169.254.169.254']],
    ['web.open', page, 'mail', 'email', ['a@evil.example', 'b@bad.example']],
  ];
  const random = createRandom(11);
  for (const [action, base, field, kind, texts] of guardedPlaces) {
    expect(engine!.decide({ ...factsOf(base), action }).outcome).toBe('ALLOW');
    for (const text of texts) {
      for (let at = 0; at < tries(400); at += 1) {
        const spelt = respellings[kind](random, text);
        const { outcome } = engine!.decide({ ...factsOf({ ...base, [field]: spelt }), action });
        if (outcome !== 'DENY') expect([spelt, outcome]).toEqual([spelt, 'DENY']);
      }
    }
  }
});

it.each([
  '/workspace/.github/./workflows/x.yml',
  '/workspace/.github//workflows/x.yml',
  '/workspace/a/../.github/workflows/x.yml',
  '/workspace/.github/a/../workflows/x.yml',
  '/workspace/.env/',
])('the guard is not walked around by %s', (path) => {
  const { engine } = compileSet({ files: [{ path: 'a.policy', text: guarded }], lists: {} });
  const facts = { ...factsOf({ path, folded: '/workspace/a' }), action: 'file.write' };
  expect(engine!.decide(facts).outcome).toBe('DENY');
});
