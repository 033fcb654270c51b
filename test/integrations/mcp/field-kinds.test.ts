// The types that generated declarations give to texts: a table of properties as servers write them, and what
// the declarations refuse then.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../integrations/mcp/protocol/messages.ts';
import { declareTools } from '../../../integrations/mcp/review/declarations.ts';
import { nothingSatisfied } from '../../../src/language/model/request.ts';
import { compile } from '../../../src/pipeline.ts';

const text: JsonObject = { type: 'string' };
const says = (description: string): JsonObject => ({ ...text, description });
const ofFormat = (format: string): JsonObject => ({ ...text, format });
const list = (items: JsonObject): JsonObject => ({ type: 'array', items });

interface Tool {
  readonly name?: string;
  readonly description?: string;
}

function declarationOf(name: string, property: JsonObject, tool: Tool = {}): string {
  const inputSchema = { type: 'object', properties: { [name]: property }, required: [name] };
  const { text: declared } = declareTools([{ name: 't', ...tool, inputSchema }], { as: 's', isOpen: false });
  const { diagnostics } = compile({
    files: [{ path: 'a.policy', text: declared }],
    readListFile: () => ({ code: 'list-file-missing', message: 'there is none' }) as const,
  });
  expect([declared, diagnostics]).toEqual([declared, []]);
  return declared;
}

function typeOf(name: string, property: JsonObject, tool: Tool = {}): string {
  const line = declarationOf(name, property, tool)
    .split('\n')
    .find((one) => /^ {2}["a-zA-Z]/.test(one));
  return line!.replace(/^ *[^:]*: /, '');
}

describe('by its name, a text is', () => {
  const names: Readonly<Record<string, string>> = {
    path: `path file filename fileName file_name dir directory folder cwd pwd filePath file_path file-path
      outputDir OUTPUT_DIR working_directory workdir destFolder repo_path root_dir path2 pathName workspace
      folder_path configFile`,
    url: 'url uri link href base_url baseURL callbackUrl webhook_url image_uri downloadLink pageURL url_string',
    host: 'host hostname host_name targetHost',
    email: 'email email_address userEmail mail_to mailto e_mail_address',
    'secret string': `password token api_key apiKey API_KEY access_token authToken client_secret secret
      privateKey passphrase credentials bearer_token jwt db_password webhook_secret secret_value token_string`,
    string: `content text name title path_type file_type file_id file_content url_count link_text email_subject
      page_token nextPageToken cursor key sort_key primary_key profile pathology hosting secret_name
      password_policy token_count source destination to query path_or_url`,
  };
  test.each(
    Object.entries(names).flatMap(([type, all]) => all.split(/\s+/).map((name) => [name, type] as const)),
  )('%s: %s', (name, type) => {
    expect(typeOf(name, text)).toBe(type);
  });

  test.each([
    ['source', 'Moves or renames a file', 'path'],
    ['destination', 'Copies a folder', 'path'],
    ['root', 'Searches for files', 'path'],
    ['to', 'Sends an email', 'email'],
    ['cc', 'Send an e-mail to somebody', 'email'],
    ['source', 'Translates a text', 'string'],
    ['to', 'Translates a text', 'string'],
  ])('%s of a tool that %s: %s', (name, description, type) => {
    expect(typeOf(name, text, { description })).toBe(type);
  });

  test('of the kind that the name of the tool means', () => {
    expect(typeOf('destination', text, { name: 'move_file' })).toBe('path');
  });
});

describe('by its description, a text is', () => {
  test.each([
    ['path', 'Path to the file'],
    ['path', 'The absolute path of what is read'],
    ['path', 'Directory to search in'],
    ['path', 'File to write'],
    ['path', 'Name of the file.'],
    ['path', 'Path'],
    ['url', 'The URL of the page'],
    ['url', 'URL to open'],
    ['url', 'A link, such as https://example.com'],
    ['host', 'Hostname to connect to'],
    ['email', 'Email address of the customer'],
    ['secret string', 'The API key to use'],
    ['secret string', 'Password of the user'],
    ['string', 'Path or URL of the document'],
    ['string', 'File contents'],
    ['string', 'URL-encoded text'],
    ['string', 'Email subject'],
    ['string', 'What to write into the file'],
    ['string', 'Directory listing format'],
    ['string', 'Password policy'],
  ])('%s: %s', (type, description) => {
    expect(typeOf('x', says(description))).toBe(type);
  });
});

describe('by its format, a text is', () => {
  test.each([
    ['uri', 'url'],
    ['uri-reference', 'url'],
    ['iri', 'url'],
    ['email', 'email'],
    ['idn-email', 'email'],
    ['hostname', 'host'],
    ['password', 'secret string'],
    ['date', 'date'],
    ['date-time', 'timestamp'],
    ['ipv4', 'ip'],
    ['uuid', 'string'],
  ])('%s: %s', (format, type) => {
    expect(typeOf('x', ofFormat(format))).toBe(type);
  });

  test('of that kind, which overrides its name', () => {
    expect([typeOf('path', ofFormat('uri')), typeOf('file', ofFormat('uuid'))]).toEqual(['url', 'string']);
  });
});

describe('in other shapes', () => {
  test.each<[string, JsonObject, string]>([
    ['paths', list(text), '[path]'],
    ['paths', { ...list({ ...text, maxLength: 9 }), minItems: 1, maxItems: 5 }, '[path ..9] 1..5'],
    ['urls', list(text), '[url]'],
    ['x', list(ofFormat('uri')), '[url]'],
    ['x', list(says('Path to a file')), '[path]'],
    ['emails', { ...list(text), maxItems: 3 }, '[email] ..3'],
    ['tokens', list(text), 'secret [string]'],
    ['path', { type: ['string', 'null'] }, 'path | null'],
    ['path', { anyOf: [text, { type: 'null' }] }, 'path | null'],
    ['token', { type: ['string', 'null'] }, 'secret string | null'],
    ['path', { ...text, enum: ['a', 'b'] }, '"a" | "b"'],
    ['path', { ...text, minLength: 1, maxLength: 255 }, 'path 1..255'],
    ['url', { ...text, maxLength: 2000 }, 'url ..2000'],
    ['note', { ...text, minLength: 1, maxLength: 255 }, 'string 1..255'],
    ['password', { ...text, minLength: 8 }, 'secret string 8..'],
    ['x', { type: 'object', properties: { a: text }, writeOnly: true }, 'secret {'],
    ['file', { type: 'integer' }, 'integer'],
    ['max_token', { type: 'integer', minimum: 1, maximum: 9 }, 'integer 1..9'],
    ['n', { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 10 }, 'integer 1..9'],
    ['n', { type: 'integer', exclusiveMinimum: -0.5, maximum: 4, exclusiveMaximum: 10 }, 'integer 0..4'],
    ['n', { type: 'number', exclusiveMinimum: 0 }, 'number 0..'],
    ['n', { enum: [3, 1, 2] }, 'integer 1..3'],
    ['n', { enum: [0.5, 2] }, 'number 0.5..2'],
  ])('%s %j: %s', (name, schema, type) => {
    expect(typeOf(name, schema)).toBe(type);
  });

  test('a path behind a reference, and one within a record', () => {
    const inputSchema = {
      $defs: { place: text },
      properties: { path: { $ref: '#/$defs/place' }, items: list({ properties: { file: text } }) },
    };
    const { text: declared } = declareTools([{ name: 'a', inputSchema }], { as: 's', isOpen: false });
    expect(declared).toContain('  path?: path\n');
    expect(declared).toContain('    file?: path\n');
  });
});

test('an ambiguous field, or one of several shapes, is left to a person', () => {
  expect(declarationOf('path_or_url', text)).toContain('Perhaps `path` or `url`');
  const either = { anyOf: [text, list(text)] };
  expect(declarationOf('paths', either)).toContain('Perhaps `path`');
  expect(declarationOf('api_token', either)).toContain('A secret?');
});

test('the generated file says what its types refuse, and what to write instead', () => {
  expect(declarationOf('note', text)).not.toMatch(/^# `/m);
  const declared = declarationOf('path', text).replaceAll('\n# ', ' ');
  expect(declared).toContain('It refuses `../x` and backslashes. A tool that needs them gets `string`');
  expect(declarationOf('url', text)).toMatch(/^# `url`/m);
  expect(declarationOf('password', text)).toMatch(/^# `secret`/m);
});

test('a rule on a folder covers a generated path', () => {
  const declared = declarationOf('path', text);
  const rule = 'policy all on s.t { allow it when payload.path inside "/workspace" }';
  const { engine, diagnostics } = compile({
    files: [{ path: 'a.policy', text: `${declared}\n${rule}` }],
    readListFile: () => ({ code: 'list-file-missing', message: 'there is none' }) as const,
  });
  expect(diagnostics).toEqual([]);
  const facts = { agent: { name: 'a' }, request: {}, nowMs: 0, meters: {}, satisfied: nothingSatisfied };
  const by = (path: string) => engine!.decide({ ...facts, action: 's.t', payload: { path } }).by;
  expect(['/workspace/a', '/workspace/./a', '/workspace/../etc/passwd', '.', 'C:\\x'].map(by)).toEqual([
    'all/it',
    'all/it',
    'default_deny',
    'default_deny',
    'invalid_payload',
  ]);
});
