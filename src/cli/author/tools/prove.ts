// `prove`: the verdict on each guarantee, or on a claim of the model's own, as `writ prove` finds it.

import { evaluateGuarantees, isGoodClause } from '../../../analysis/findings/guarantee-results.ts';
import { many } from '../../output/many.ts';
import { UsageError } from '../../output/output.ts';
import { loadClaims } from '../../support/load-claims.ts';
import { policyErrors } from '../tool/policies.ts';
import { anyObject, count, flag, listOf, optional, text } from '../tool/schema.ts';
import { defineTool, pathField } from '../tool/tool.ts';
import { policiesInWorkspace } from '../tool/workspace.ts';
import { claimEntries } from './check.ts';

export const prove = defineTool({
  name: 'prove',
  title: 'Prove a claim',
  description:
    'Proves a claim about every possible request, or refutes it with a request. Without arguments it proves the guarantees in the files. With `on` and `claim` it proves a claim of yours, for example on: "payment.*", claim: "never allow when payload.currency == "USD" and payload.amount > 500 USD".',
  input: {
    path: optional(pathField),
    on: optional(text('actions: a key, a group, or a pattern such as `payment.*`')),
    claim: optional(
      text(
        'a claim as in a `guarantee`, such as `never allow unapproved when payload.currency == "EUR" and payload.amount > 50 EUR`',
      ),
    ),
  },
  output: {
    ok: flag('whether every claim is proved'),
    proved: count('number of proved claims'),
    refuted: count('number of refuted claims'),
    undecided: count('number of undecided claims'),
    guarantees: listOf(
      anyObject('guarantee, claim, result, file, line; request of a refutation'),
      'refuted ones first',
    ),
  },
  async run({ path, on, claim }) {
    if ((on === undefined) !== (claim === undefined)) throw new UsageError('give `on` and `claim` together');
    const question = on === undefined || claim === undefined ? null : { on, claim };
    const query = await loadClaims(policiesInWorkspace(path), question);
    if ('errors' in query) throw policyErrors(query.errors, query);
    const judged = evaluateGuarantees(query.set, { decide: query.decide });
    const of = (kind: string): number => judged.filter((one) => one.kind === kind).length;
    const counts = `${of('proved')} of ${many(judged.length, 'claim')} proved, ${of('refuted')} refuted, ${of('undecided')} undecided`;
    return {
      lead: judged.length === 0 ? 'There are no guarantees: add some, or ask with `on` and `claim`.' : counts,
      data: {
        ok: judged.every((one) => isGoodClause(one, true)),
        proved: of('proved'),
        refuted: of('refuted'),
        undecided: of('undecided'),
      },
      lists: ['guarantees'],
      entries: claimEntries(judged, query),
      next:
        of('refuted') === 0
          ? []
          : ['`explain` with the request of a refutation shows which rule lets it pass.'],
    };
  },
});
