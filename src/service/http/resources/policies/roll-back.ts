// POST /v1/policies/roll-back: writes a set of the history back into the policy directory, and records who
// did so and why. INVARIANT: the set that is replaced is first kept in the history, and a set that does not
// become active is taken out again.

import type { PolicyGaps } from '../../../alerts/policy-gaps.ts';
import { recordName } from '../../../people/person.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { FileChangeRefusal } from '../../../policies/change-files.ts';
import type { PolicyHistory } from '../../../policies/policy-history.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import { noRollBack, rollBackFiles } from '../../../policies/roll-back.ts';
import type { SetTexts } from '../../../policies/texts.ts';
import type { Store } from '../../../store/contract/store.ts';
import { notFound } from '../../auth/auth-refusals.ts';
import { ProblemError } from '../../contract/problem.ts';
import { objectSchema, text } from '../../contract/schemas.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';
import { activationExample } from './policy-history-view.ts';
import { policyReport, policyReportExample, policyReportSchema } from './policy-report.ts';

interface RollBackDeps {
  readonly signInDeps: SignInDeps;
  readonly policies: Pick<PolicyHost, 'current' | 'state' | 'reload'>;
  readonly policyHistory: PolicyHistory;
  readonly policyGaps: Pick<PolicyGaps, 'current'>;
  readonly store: Pick<Store, 'documents' | 'replicas'>;
}

interface RollBackInput {
  readonly digest: string;
  readonly active_digest: string;
  readonly reason: string;
}

const rollBackPolicies = route<RollBackDeps, RollBackInput>({
  method: 'POST',
  url: '/v1/policies/roll-back',
  access: 'policies.roll-back',
  operation: {
    id: 'rollBackPolicies',
    summary: 'Rolls the policy directory back to a set of the history',
    description:
      'The reply comes when the set is active. The request is refused, without any change, if a file differs from the active policies, if the directory is read-only or contains links, or if several processes use the store.',
    body: {
      description: 'The set to restore, the set that it replaces, and the reason.',
      schema: objectSchema({
        digest: text(100),
        active_digest: {
          ...text(100),
          description: 'The digest of the active policies that the caller saw.',
        },
        reason: text(500),
      }),
      examples: {
        back: {
          digest: activationExample.digest,
          active_digest: 'sha256:5f0c',
          reason: 'it refused every refund',
        },
      },
    },
    replies: {
      200: {
        description: 'The state of the policies',
        schema: policyReportSchema,
        example: policyReportExample,
      },
    },
    problems: ['not_found', 'conflict'],
  },
  handle: async (deps, call) => {
    const { digest, active_digest: seen, reason } = call.body;
    const present = await presentSet(deps, seen);
    const target = await deps.policyHistory.texts(digest);
    if (target === null) throw notFound('policy set, or its texts are no longer kept');
    const paths = await write(deps, present, target);
    await deps.policies.reload();
    const putBack = async (why: string): Promise<never> => {
      await write(deps, target, present);
      await deps.policies.reload();
      throw refused(why);
    };
    if (deps.policies.current().digest !== digest || deps.policies.state().status !== 'current')
      await putBack('this version of Writ cannot load that set; the files were not changed');
    const recorded = await deps.store.documents
      .write([], {
        atMs: Math.trunc(deps.signInDeps.directory.clock()),
        who: recordName(actorOf(call).person),
        what: 'policies-rolled-back',
        subject: digest,
        before: { digest: seen },
        after: { digest, reason, files: [...paths] },
      })
      .catch(() => 'failed');
    if (recorded !== 'changed') await putBack('it could not be recorded: the files are as they were');
    return policyReport(deps.policies.state(), deps.policyGaps.current());
  },
});

export const rollBackRoutes: readonly Route<RollBackDeps>[] = [rollBackPolicies];

/**
 * The texts of the active policies, once they are sure to be on disk and kept in the history; else throws a
 * ProblemError.
 */
async function presentSet({ policies, policyHistory, store }: RollBackDeps, seen: string): Promise<SetTexts> {
  const never = noRollBack(policies.state(), store.replicas);
  if (never !== null) throw refused(never);
  await policies.reload();
  if (policies.state().status !== 'current')
    throw refused('the files on disk are not active and would be lost: fix or remove them first');
  const { digest, texts } = policies.current();
  if (digest !== seen) throw refused('other policies have become active in the meantime: review them first');
  await policyHistory.note();
  if ((await policyHistory.texts(digest))?.index !== texts.index)
    throw refused('the active policies are not in the history and would be lost');
  return texts;
}

async function write(
  { policies }: RollBackDeps,
  present: SetTexts,
  target: SetTexts,
): Promise<readonly string[]> {
  try {
    // The directory is set: a bundle has been refused before anything was read.
    return await rollBackFiles({ directory: policies.state().directory!, present, target });
  } catch (error) {
    throw error instanceof FileChangeRefusal ? refused(error.message) : error;
  }
}

function refused(why: string): ProblemError {
  return new ProblemError('conflict', why);
}
