// Turns the rules of the grammar into a self-contained page of railroad diagrams: drawings as SVG, each rule
// a link target, colours for light and dark, no script.

import { readFileSync } from 'node:fs';
import { type Notation, notate, type Production } from './productions.ts';

/** A drawing; its text is SVG. */
interface Shape {
  toString(): string;
}

/** The functions of the drawing script that comes with the parser library. */
export interface RailroadShapes {
  Diagram(...items: readonly Shape[]): Shape;
  Sequence(...items: readonly Shape[]): Shape;
  Choice(normal: number, ...items: readonly Shape[]): Shape;
  Optional(item: Shape): Shape;
  OneOrMore(item: Shape, between?: Shape): Shape;
  ZeroOrMore(item: Shape, between?: Shape): Shape;
  Terminal(text: string): Shape;
  NonTerminal(text: string, href?: string): Shape;
}

export function railroadPage(rules: readonly Production[], shapes: RailroadShapes): string {
  const style = readFileSync(new URL('railroad.css', import.meta.url), 'utf8');
  const sections = rules.map((rule) => section(rule, shapes)).join('\n');
  const links = rules.map(({ name = '' }) => `<a href="#${name}">${name}</a>`).join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>The grammar of policy files</title>
<style>
${style}</style>
</head>
<body>
<h1>The grammar of policy files</h1>
<p>Made from src/language/syntax/parse by <code>npm run grammar</code>. Round: written as it stands. Angular: another rule, or a
token in <i>italics</i>, which grammar.ebnf describes at its end.</p>
<nav>
${links}
</nav>
${sections}
</body>
</html>
`;
}

function section(rule: Production, shapes: RailroadShapes): string {
  const { name = '' } = rule;
  const drawing = String(shapes.Diagram(notate(rule, drawings(shapes))));
  return `<h2 id="${name}">${name}</h2>\n${plain(drawing)}`;
}

/** The drawing without attributes that the script writes for other uses, and without line breaks inside. */
function plain(svg: string): string {
  return svg
    .replaceAll(/ \w+="undefined"/g, '')
    .replaceAll(/ label="[^"]*"/g, '')
    .replaceAll('xlink:href', 'href')
    .replaceAll(/>\n(?=<)/g, '>')
    .trim();
}

function drawings(shapes: RailroadShapes): Notation<Shape> {
  return {
    sequence: (parts) => (parts.length === 1 ? parts[0]! : shapes.Sequence(...parts)),
    choice: (alternatives) => shapes.Choice(0, ...alternatives),
    optional: (part) => shapes.Optional(part),
    oneOrMore: (part, separator) => shapes.OneOrMore(part, separator),
    anyNumber: (part, separator) => shapes.ZeroOrMore(part, separator),
    text: (text) => shapes.Terminal(text),
    token: (name) => shapes.NonTerminal(name),
    rule: (name) => shapes.NonTerminal(name, `#${name}`),
  };
}
