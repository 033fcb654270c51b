// The dashboard's types of the management API equal those of the OpenAPI document.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OpenApiDocument } from '../../src/service/http/contract/openapi.ts';
import { shareService } from '../service/http/service.ts';
import { typeText } from './type-text.ts';

const file = join(import.meta.dirname, '../../src/api/operations.ts');
const shared = shareService();

test('are made from the document', async () => {
  const reply = await fetch(`${shared().url}/openapi.json`);
  const text = typeText((await reply.json()) as OpenApiDocument);
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, text);
  expect(readFileSync(file, 'utf8')).toBe(text);
});
