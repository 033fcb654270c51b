// A policy set in plain sentences, each proved for the set or marked as unconfirmed, with the meaning of the
// words in the sentences. INVARIANT: a sentence is confirmed only if the prover has proved its claims for
// every request of each of its actions, or if it only repeats the risk points of a rule; a sentence that
// something passes is left out if it is proved that nothing passes by it.

import type { Span } from '../../language/diagnostic/span.ts';
import type { GuaranteeClause, PolicySet } from '../../language/model/policy.ts';
import { decideClauses, type Verdict } from '../prove/prove.ts';
import { undecidedReasons } from '../prove/report/wording.ts';
import {
  type ActionSentences,
  type Sentence,
  type SentenceKind,
  type SentenceReading,
  type SummarySource,
  sentencesOf,
} from './sentences.ts';
import { explanations, type NameMeaning } from './vocabulary.ts';

export interface Summary {
  readonly actions: readonly ActionSummary[];
  /** The meanings of names that the sentences mention. */
  readonly words: readonly NameMeaning[];
}

export interface ActionSummary {
  /** Keys of the actions that the sentences are about. */
  readonly actions: readonly string[];
  /**
   * The title of a request, with fields in brackets; null when the actions declare different titles or none.
   */
  readonly title: string | null;
  readonly sentences: readonly SummarySentence[];
}

export interface SummarySentence {
  readonly kind: SentenceKind;
  readonly text: string;
  /** `policy/rule`; null when the sentence comes from no rule. */
  readonly rule: string | null;
  readonly span: Span;
  /** Why the sentence is not proved; null when it is proved. */
  readonly unconfirmed: string | null;
}

/** The summary of all actions, or only of those in `only`. */
export function summaryOf(source: SummarySource, only?: ReadonlySet<string>): Summary {
  const spoken = sentencesOf(source, only);
  const mentioned = new Set(spoken.flatMap((one) => one.mentioned));
  return {
    actions: spoken.map((one) => ({
      actions: one.actions,
      title: titleOf(source.set, one.actions),
      sentences: confirmed(source.set, one),
    })),
    words: explanations(source, mentioned),
  };
}

function titleOf({ actions: declared }: PolicySet, actions: readonly string[]): string | null {
  const titles = actions.map((key) =>
    (declared.get(key)?.title ?? [])
      .map((part) => (typeof part === 'string' ? part : `[${part.steps.join('.')}]`))
      .join(''),
  );
  const [first = ''] = titles;
  return first !== '' && titles.every((title) => title === first) ? first : null;
}

function confirmed(set: PolicySet, { actions, sentences }: ActionSentences): readonly SummarySentence[] {
  const witnesses = new Map(sentences.map((one) => [one, witnessClause(one)]));
  const claims = [
    ...sentences.flatMap(({ readings }) => readings.flatMap((reading) => reading.claims)),
    ...[...witnesses.values()].filter((one) => one !== null),
  ];
  const verdicts = actions.map((action) => decideClauses(set, action, claims));
  return sentences.flatMap((sentence): readonly SummarySentence[] => {
    const { kind, readings, rule, span } = sentence;
    const witness = witnesses.get(sentence) ?? null;
    // If nothing passes by the rule, the last sentence covers it.
    if (witness !== null && verdicts.every((of) => of.get(witness)?.kind === 'proved')) return [];
    const proved = readings.find((reading) => isProved(reading, verdicts));
    const last = readings.at(-1)!;
    const unconfirmed = proved === undefined ? whyNot(last, verdicts) : null;
    return [{ kind, text: (proved ?? last).text, rule, span, unconfirmed }];
  });
}

/**
 * A claim that a request refutes if the request passes as the sentence states; null for sentences about
 * anything else.
 */
function witnessClause({ kind, readings, span }: Sentence): GuaranteeClause | null {
  if (kind !== 'passes') return null;
  const claim = readings.at(-1)!.claims[0]!;
  return { mode: 'never', effect: 'allow', isUnapproved: true, when: claim.when, isDefinite: true, span };
}

type Verdicts = readonly ReadonlyMap<GuaranteeClause, Verdict>[];

function isProved({ claims }: SentenceReading, verdicts: Verdicts): boolean {
  return claims.every((claim) => verdicts.every((of) => of.get(claim)?.kind === 'proved'));
}

function whyNot({ claims }: SentenceReading, outcome: Verdicts): string {
  const verdicts = claims.flatMap((claim) => outcome.map((of) => of.get(claim)));
  if (verdicts.some((one) => one?.kind === 'refuted')) return 'a request refutes it';
  const undecided = verdicts.find((one) => one?.kind === 'undecided');
  return undecided?.kind === 'undecided' ? undecidedReasons[undecided.why] : 'it was not decided';
}
