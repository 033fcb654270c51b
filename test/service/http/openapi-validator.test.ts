// The OpenAPI document as an independent validator reads it.

import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { shareService } from './service.ts';

const shared = shareService();

test('an independent validator accepts the document, and refuses a broken one', async () => {
  const document = (await (await fetch(`${shared().url}/openapi.json`)).json()) as Record<string, unknown>;
  expect(await new Validator().validate(document)).toEqual({ valid: true });
  expect(await new Validator().validate({ ...document, info: {} })).toMatchObject({ valid: false });
});
