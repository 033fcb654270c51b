// Renders a Helm chart with the part of Go's templates that the chart uses: `if`, `with`, `define`, `include` and pipelines
// of functions. INVARIANT: a construct outside of that part is an error. `test/external/chart.test.ts` compares the result
// with Go's own templates.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments, parse as parseYaml, stringify } from 'yaml';

// biome-ignore lint/suspicious/noExplicitAny: values of a chart are any YAML
type Data = any;

type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly pipeline: string }
  | {
      readonly kind: 'if' | 'with';
      readonly pipeline: string;
      readonly then: Body;
      readonly otherwise: Body;
    };
type Body = readonly TemplateNode[];

interface Scope {
  readonly dot: Data;
  readonly root: Data;
  readonly templates: ReadonlyMap<string, Body>;
}

export interface Release {
  readonly name: string;
  readonly values?: object;
}

/** The values of the chart with those of a release laid over them, as Helm lays objects over objects. */
export function chartValues(chart: string, values: object = {}): object {
  return laidOver(parseYaml(readFileSync(join(chart, 'values.yaml'), 'utf8')), values);
}

/** The objects that the chart makes of a release. */
export function renderChart(chart: string, release: Release): readonly Data[] {
  const templates = new Map<string, Body>();
  const bodies = [...chartTemplates(chart)].map(([file, text]) => [file, parsed(text, templates)] as const);
  const root = {
    ...chartData(chart, release),
    Files: { Get: (path: string) => readFileSync(join(chart, path), 'utf8') },
  };
  return bodies
    .filter(([file]) => file.endsWith('.yaml'))
    .flatMap(([, body]) => objectsOf(rendered(body, { dot: root, root, templates })));
}

/** The texts of the templates by file. */
export function chartTemplates(chart: string): ReadonlyMap<string, string> {
  const folder = join(chart, 'templates');
  return new Map(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
}

/** What the templates read, except for `.Files`. */
export function chartData(chart: string, { name, values }: Release): object {
  const { appVersion, version } = parseYaml(readFileSync(join(chart, 'Chart.yaml'), 'utf8'));
  return {
    Values: chartValues(chart, values),
    Release: { Name: name, Namespace: 'default', Service: 'Helm' },
    Chart: { Name: 'writ', Version: version, AppVersion: appVersion },
  };
}

/** The objects in a text of YAML. */
export function objectsOf(text: string): readonly Data[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(`${document.errors[0]?.message}\n${text}`);
    return document.toJS() ?? [];
  });
}

function laidOver(below: Data, above: Data): Data {
  const isObject = (one: Data): boolean => typeof one === 'object' && one !== null && !Array.isArray(one);
  if (!isObject(below) || !isObject(above)) return above;
  const merged = Object.entries(above).map(([key, value]) => [
    key,
    key in below ? laidOver(below[key], value) : value,
  ]);
  return { ...below, ...Object.fromEntries(merged) };
}

/** Reads a template; its definitions go into `templates`. */
function parsed(text: string, templates: Map<string, Body>): Body {
  const pieces = text
    .replace(/\s*\{\{- /g, '{{ ')
    .replace(/ -\}\}\s*/g, ' }}')
    .split(/(\{\{.*?\}\})/);
  const body = bodyOf(pieces, templates);
  if (pieces.length > 0) throw new Error(`unexpected ${pieces[0]}`);
  return body;
}

function bodyOf(pieces: string[], templates: Map<string, Body>): Body {
  const nodes: TemplateNode[] = [];
  while (pieces.length > 0) {
    const piece = pieces[0]!;
    const [, inner] = /^\{\{ (.*?) \}\}$/.exec(piece) ?? [];
    if (inner === 'end' || inner === 'else') return nodes;
    pieces.shift();
    if (inner === undefined) {
      if (piece.includes('{{')) throw new Error(`not understood: ${piece}`);
      nodes.push({ kind: 'text', text: piece });
      continue;
    }
    const [word = '', rest = ''] = /^(\S+)\s*(.*)$/.exec(inner)?.slice(1) ?? [];
    if (word === 'define') {
      templates.set(JSON.parse(rest), bodyOf(pieces, templates));
      pieces.shift();
    } else if (word === 'if' || word === 'with') {
      const then = bodyOf(pieces, templates);
      const hasElse = pieces.shift() === '{{ else }}';
      const otherwise = hasElse ? bodyOf(pieces, templates) : [];
      if (hasElse) pieces.shift();
      nodes.push({ kind: word, pipeline: rest, then, otherwise });
    } else nodes.push({ kind: 'action', pipeline: inner });
  }
  return nodes;
}

function rendered(body: Body, scope: Scope): string {
  return body.map((node) => nodeText(node, scope)).join('');
}

function nodeText(node: TemplateNode, scope: Scope): string {
  if (node.kind === 'text') return node.text;
  const value = evaluated(node.pipeline, scope);
  if (node.kind === 'action') return String(value);
  const isTrue = !isEmpty(value);
  const dot = isTrue && node.kind === 'with' ? value : scope.dot;
  return rendered(isTrue ? node.then : node.otherwise, { ...scope, dot });
}

function isEmpty(value: Data): boolean {
  return typeof value === 'object' && value !== null ? Object.keys(value).length === 0 : !value;
}

function evaluated(pipeline: string, scope: Scope): Data {
  return pipeline.split(' | ').reduce<Data>((piped, command, index) => {
    const [first = '', ...rest] = command.match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? [];
    const args = [...rest.map((word) => operand(word, scope)), ...(index === 0 ? [] : [piped])];
    if (Object.hasOwn(functions, first)) return functions[first]!(args, scope);
    const value = operand(first, scope);
    return typeof value === 'function' ? value(...args) : value;
  }, undefined);
}

function operand(word: string, { dot, root }: Scope): Data {
  if (/^["\d]/.test(word)) return JSON.parse(word);
  if (!/^\$?\.[\w.]*$/.test(word)) throw new Error(`not understood: ${word}`);
  const steps = word.split('.').filter((step) => step !== '' && step !== '$');
  return steps.reduce((value, step) => value?.[step], word.startsWith('$') ? root : dot);
}

const functions: Readonly<Record<string, (args: readonly Data[], scope: Scope) => Data>> = {
  include: ([name, dot], { templates }) => rendered(templates.get(name)!, { dot, root: dot, templates }),
  nindent: ([count, text]) => `\n${String(text).replaceAll(/^/gm, ' '.repeat(count))}`,
  toYaml: ([value]) => stringify(value).trimEnd(),
  quote: ([value]) => JSON.stringify(String(value)),
  default: ([otherwise, value]) => (isEmpty(value) ? otherwise : value),
  eq: ([one, other]) => one === other,
  contains: ([part, text]) => String(text).includes(part),
  printf: ([form, ...args]) => args.reduce((text, value) => text.replace('%s', value), form),
};
