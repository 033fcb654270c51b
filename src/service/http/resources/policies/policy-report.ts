// Reports how the policies stand, for `/readyz` and the management API: with the diagnostics of a set that
// did not take over, and without any path of this machine.

import type { PolicyState } from '../../../policies/policy-host.ts';

/**
 * The report on the policies. Stale policies do not make the service unready, because the last good set
 * decides; neither do gaps, because what they concern is not granted.
 */
export function policyReport(state: PolicyState, gaps: readonly string[]) {
  const { status, directory, digest, commit, loadedAt, actions, rules, failure } = state;
  return {
    status,
    digest,
    commit,
    loaded_at: loadedAt,
    actions,
    rules,
    gaps,
    failure: failure === null ? null : failureReport(failure, directory),
  };
}

function failureReport(
  { at, cause, summary, diagnostics }: NonNullable<PolicyState['failure']>,
  directory: string | null,
) {
  // Messages about the whole directory name its path, which is meant for people at a terminal.
  const diagnosticViews = diagnostics.map((one) => ({
    ...one,
    message: directory === null ? one.message : one.message.replaceAll(directory, '.'),
  }));
  return { at, cause, message: summary, diagnostics: diagnosticViews };
}

const positionSchema = {
  type: ['object', 'null'],
  description: 'Starts at 1; columns count code points. Null for a file without text.',
  required: ['line', 'column'],
  properties: { line: { type: 'integer' }, column: { type: 'integer' } },
} as const;

const diagnosticSchema = {
  type: 'object',
  additionalProperties: true,
  required: ['code', 'severity', 'message', 'file', 'start', 'end', 'help'],
  properties: {
    code: { type: 'string' },
    severity: { type: 'string', enum: ['error', 'warning'] },
    message: { type: 'string' },
    file: {
      type: 'string',
      description: 'The path relative to the policy directory; empty for the whole directory.',
    },
    start: positionSchema,
    end: { ...positionSchema, description: 'The position after the last character.' },
    help: { type: ['string', 'null'] },
  },
} as const;

/** The schema of the report on the policies. */
export const policyReportSchema = {
  type: 'object',
  required: ['status', 'digest', 'commit', 'loaded_at', 'actions', 'rules', 'gaps', 'failure'],
  properties: {
    status: { type: 'string', enum: ['current', 'stale'] },
    digest: { type: 'string' },
    commit: { type: ['string', 'null'] },
    loaded_at: { type: 'string', format: 'date-time' },
    actions: { type: 'integer' },
    rules: { type: 'integer' },
    gaps: {
      type: 'array',
      items: { type: 'string' },
      description:
        'What the policies need and this installation lacks, such as members of a group; one sentence per gap.',
    },
    failure: {
      type: ['object', 'null'],
      description: 'Why the policies in the directory are not active.',
      required: ['at', 'cause', 'message', 'diagnostics'],
      properties: {
        at: { type: 'string', format: 'date-time' },
        cause: {
          type: 'string',
          enum: ['policies', 'unsettled', 'compiler', 'bundle'],
          description:
            'The policies have errors or keep changing; the compiler hung, ran out of memory, crashed or could not start; or the bundle is unavailable or must not be used.',
        },
        message: { type: 'string' },
        diagnostics: {
          type: 'array',
          description: 'The first hundred diagnostics.',
          items: diagnosticSchema,
        },
      },
    },
  },
} as const;

export const policyReportExample = {
  status: 'current',
  digest: '9f86d081884c7d65',
  commit: null,
  loaded_at: '2026-05-19T12:00:00.000Z',
  actions: 4,
  rules: 5,
  gaps: [],
  failure: null,
} as const;
