// Roundabout spellings of paths, URLs, hosts and e-mail addresses: other texts that mean the same place. The
// code in this file is independent of the code that undoes the spellings.

import type { Json, JsonObject } from '../../src/language/model/json.ts';
import type { Shape, TextKind, Type } from '../../src/language/model/type.ts';
import type { RandomSource } from '../../src/language/value/random.ts';

export const respellings: Readonly<Record<TextKind, (random: RandomSource, text: string) => string>> = {
  string: (_, text) => text,
  network: (_, text) => text,
  path: respellPath,
  'path ignoring case': (random, text) => flipCase(random, respellPath(random, text)),
  url: respellUrl,
  web_address: (random, text) =>
    respellUrl(random, text.includes('://') ? text : `https://${text}`).replace(/^https:\/\//, (scheme) =>
      random.chance(0.5) && /[.:]|^localhost/.test(text) ? '' : scheme,
    ),
  host: respellHost,
  email: (random, text) => {
    const at = text.lastIndexOf('@');
    return `${text.slice(0, at)}@${respellName(random, text.slice(at + 1))}`;
  },
};

/** The payload with each of its texts spelt differently, if the text has another spelling. */
export function respellPayload(random: RandomSource, shape: Shape, payload: JsonObject): JsonObject {
  const types = new Map(shape.fields.map(({ name, type }) => [name, type]));
  return Object.fromEntries(
    Object.entries(payload).map(([name, value]) => [name, respell(random, types.get(name), value)]),
  );
}

function respell(random: RandomSource, type: Type | undefined, json: Json): Json {
  if (type?.kind === 'text' && typeof json === 'string') return respellings[type.of](random, json);
  if (type?.kind === 'list' && Array.isArray(json))
    return json.map((element: Json) => respell(random, type.element.type, element));
  const isRecord = typeof json === 'object' && json !== null && !Array.isArray(json);
  return type?.kind === 'record' && isRecord ? respellPayload(random, type.shape, json as JsonObject) : json;
}

const names = ['a', '.git', '...', 'x y', '%2e', '..b'];

/** Repeats slashes, adds `.` segments, and goes into a folder and out again. */
function respellPath(random: RandomSource, path: string): string {
  const detour = (): string => {
    let way = '/';
    while (random.chance(0.3)) way += random.pick(['/', './', `${random.pick(names)}/../`, 'a/b/../../']);
    return way;
  };
  const isAbsolute = path.startsWith('/');
  const start = isAbsolute ? '' : random.pick(['', './', 'a/../', './/']);
  const upwards = isAbsolute && random.chance(0.2) ? '/..' : '';
  const end = random.pick(['', '', '/', '/.', '//', '/a/..', '/./']);
  const spelt = `${start}${upwards}${path.replaceAll('/', detour)}`;
  return path === '' || spelt.endsWith('/') ? spelt : `${spelt}${end}`;
}

const usualPorts: Readonly<Record<string, string>> = {
  http: '80',
  https: '443',
  ws: '80',
  wss: '443',
  ftp: '21',
};

function respellUrl(random: RandomSource, url: string): string {
  const match = /^([^:]+):\/\/(\[[^\]]*\]|[^:/?#]*)(:\d*)?([^?#]*)(.*)$/.exec(url);
  if (match === null) return url;
  const [, scheme = '', host = '', port = '', path = '', rest = ''] = match;
  const usual = usualPorts[scheme.toLowerCase()];
  const ports = usual === undefined ? [port] : port === '' ? ['', ':', `:${usual}`, `:0${usual}`] : [port];
  const ways =
    path === ''
      ? ['', '/', '/.', '/a/..']
      : [path === '/' && rest === '' ? '' : respellUrlPath(random, path)];
  const way = random.pick(ways);
  const place = `${flipCase(random, scheme)}://${respellUrlHost(random, host)}${random.pick(ports)}`;
  return `${place}${way}${withEmpties(random, encodeSome(random, rest))}`;
}

/** Adds an empty query or an empty fragment. */
function withEmpties(random: RandomSource, rest: string): string {
  const [beforeFragment = '', ...fragment] = rest.split(/(?=#)/);
  const isQueried = beforeFragment.startsWith('?');
  const query = isQueried || rest.startsWith('#') || !random.chance(0.2) ? beforeFragment : '?';
  const withQuery = rest.startsWith('#') && random.chance(0.2) ? `?${rest}` : `${query}${fragment.join('')}`;
  return withQuery.includes('#') || !random.chance(0.2) ? withQuery : `${withQuery}#`;
}

/** Respells a URL's path, where an empty segment is a segment and stays. */
function respellUrlPath(random: RandomSource, path: string): string {
  const dots = (): string => random.pick(['.', '%2e', '%2E']);
  const detour = (): string => {
    let way = '/';
    while (random.chance(0.25))
      way += random.pick([`${dots()}/`, `${random.pick(['a', '%7Eb'])}/${dots()}${dots()}/`]);
    return way;
  };
  const up = random.chance(0.2) ? `/${dots()}${dots()}` : '';
  return `${up}${encodeSome(random, path).replaceAll('/', detour)}`;
}

/** Writes some unreserved characters as percent codes, with letters of either case. */
function encodeSome(random: RandomSource, text: string): string {
  return text.replace(/%[0-9A-Fa-f]{2}|[A-Za-z0-9~_-]/g, (part) => {
    if (part.startsWith('%')) return flipCase(random, part);
    if (!random.chance(0.2)) return part;
    return flipCase(random, `%${part.charCodeAt(0).toString(16).padStart(2, '0')}`);
  });
}

function respellUrlHost(random: RandomSource, host: string): string {
  return host.startsWith('[')
    ? respellHost(random, host)
    : respellHost(random, host).replace(/^\[?(.*?)\]?$/, '$1');
}

function respellHost(random: RandomSource, host: string): string {
  if (host.includes(':')) {
    const bare = host.replace(/^\[|\]$/g, '');
    const long = random.chance(0.5) ? expandZeros(bare) : bare;
    return `[${flipCase(random, long)}]`;
  }
  return `${respellName(random, host)}${!host.endsWith('.') && random.chance(0.3) ? '.' : ''}`;
}

/** Expands `::1` to `0:0:0:0:0:0:0:1`, some groups with leading zeros. */
function expandZeros(address: string): string {
  if (!address.includes('::') || address.includes('.')) return address;
  const [head = [], tail = []] = address.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return [...head, ...zeros, ...tail].map((group) => group.padStart(4, '0')).join(':');
}

const international: Readonly<Record<string, readonly string[]>> = {
  'xn--bcher-kva.example': [
    'bücher.example',
    'BÜCHER.Example',
    'bu\u0308cher\u3002example',
    'ｂücher．example',
  ],
};

function respellName(random: RandomSource, name: string): string {
  const others = international[name.toLowerCase()];
  return others !== undefined && random.chance(0.6) ? random.pick(others) : flipCase(random, name);
}

function flipCase(random: RandomSource, text: string): string {
  return text.replace(/[A-Za-z]/g, (letter) => {
    if (!random.chance(0.3)) return letter;
    return letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();
  });
}
