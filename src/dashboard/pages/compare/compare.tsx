// Compares two policy sets that were active at some time: which requests they decide differently, and how
// their texts differ. INVARIANT: the address names both sets, so that it can be passed on.

import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { setQuery, usePlace } from '../../navigation/navigation.ts';
import {
  type Activation,
  chosenPair,
  comparableSets,
  compareHref,
  type SetPair,
  setName,
  shortDigest,
} from '../../parts/comparison/activations.ts';
import { useAnswer } from '../../parts/comparison/use-answer.ts';
import { Field } from '../../parts/form/field.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Empty, Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { PageFrame, Section } from '../../parts/layout/page.tsx';
import { CopyText } from '../../parts/text/copy.tsx';
import './compare.css';
import { ComparedSetsView } from './compared-sets.tsx';

export default function Compare() {
  const { data, problem, reload } = useResource('listActivations', {}, ['policies']);
  return (
    <PageFrame
      title="Compare"
      lead="Which requests one policy set decides otherwise than another, proved for all of them, and what differs in the text."
    >
      <ProblemNote problem={problem} onRetry={reload} />
      {data === null ? (
        problem === null && <Loading label="The history of policies is loading" />
      ) : (
        <Comparing activations={data.items} />
      )}
    </PageFrame>
  );
}

function Comparing({ activations }: { readonly activations: readonly Activation[] }) {
  const { query } = usePlace();
  const pair = chosenPair(activations, { old: query.get('old'), new: query.get('new') });
  if (pair === null)
    return (
      <Empty icon="policy" title="There is one set so far">
        As soon as another becomes active, the two can be compared here.
      </Empty>
    );
  return (
    <>
      <Choices activations={activations} pair={pair} />
      <Compared key={`${pair.old} ${pair.new}`} pair={pair} />
    </>
  );
}

interface ChoicesProps {
  readonly activations: readonly Activation[];
  readonly pair: SetPair;
}

function Choices({ activations, pair }: ChoicesProps) {
  const { old, new: now } = pair;
  const choose = (changes: Partial<SetPair>): void => setQuery({ ...pair, ...changes }, { replace: true });
  return (
    <Section
      title="Sets"
      actions={
        <Button icon="refresh" onClick={() => choose({ old: now, new: old })}>
          Swap
        </Button>
      }
    >
      <div class="compare-choices">
        <SetChoice
          label="From"
          activations={activations}
          value={old}
          onChoose={(one) => choose({ old: one })}
        />
        <SetChoice
          label="To"
          activations={activations}
          value={now}
          onChoose={(one) => choose({ new: one })}
        />
      </div>
      <CopyText label="link to this comparison" text={`${window.location.origin}${compareHref(pair)}`} />
    </Section>
  );
}

interface SetChoiceProps extends Pick<ChoicesProps, 'activations'> {
  readonly label: string;
  /** Digest of the chosen set. */
  readonly value: string;
  readonly onChoose: (digest: string) => void;
}

function SetChoice({ label, activations, value, onChoose }: SetChoiceProps) {
  const sets = comparableSets(activations);
  const isThere = sets.some(({ digest }) => digest === value);
  return (
    <Field label={label}>
      <select value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        {!isThere && <option value={value}>{shortDigest(value)} (not kept)</option>}
        {sets.map((one, index) => (
          <option key={one.digest} value={one.digest}>
            {setName(one)}
            {index === 0 && ' (active)'}
          </option>
        ))}
      </select>
    </Field>
  );
}

function Compared({ pair }: { readonly pair: SetPair }) {
  const mayTry = useGrant('policies.try') !== 'no';
  const key = mayTry ? compareHref(pair) : null;
  const { answer, problem, retry } = useAnswer(key, (signal) =>
    call('diffPolicySets', { query: { ...pair }, signal }),
  );
  return (
    <>
      <ProblemNote problem={problem} onRetry={retry} />
      {answer === null ? (
        problem === null && <Loading label="The sets are being compared" />
      ) : (
        <ComparedSetsView compared={answer} pair={pair} />
      )}
    </>
  );
}
