// From a policy set to the digest that names it in every record: SHA-256 over its canonical text, list files
// included, in hexadecimal. Equal sets have equal digests, however their files were arranged.

import { createHash } from 'node:crypto';
import type { PolicySet } from '../model/policy.ts';
import { digestText } from '../pipeline.ts';

export function digest(set: PolicySet): string {
  return createHash('sha256').update(digestText(set)).digest('hex');
}
