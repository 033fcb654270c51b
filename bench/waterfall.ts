// Makes the first tables of a run: what a request does, in process and at the service, and what each of its
// promises costs, one after the other.

import { duration, figureOf, times } from '../src/measure/figure.ts';
import type { EngineKey } from './engines.ts';
import type { PromiseStep } from './service/promises.ts';
import { type Results, withSpread } from './targets.ts';

export function headlineRows({ decisions, served }: Results): readonly string[] {
  const rows = [1_000, 100_000].flatMap((policies) => {
    const of = (engine: EngineKey) =>
      decisions.find(
        (one) => one.workload === 'actions' && one.policies === policies && one.engine === engine,
      );
    const [request, decision, byHand] = [of('writ-request'), of('writ'), of('hand-written')];
    if (request === undefined || decision === undefined) return [];
    const beside = byHand === undefined ? '' : `; ${byHand.name} ${duration(byHand.figure.median)}`;
    const what = `in process, ${policies.toLocaleString('en')} policies: payload check, decision, trace`;
    return [
      `| ${what} | ${withSpread(request.figure)} | the bare decision ${duration(decision.figure.median)}${beside} |`,
    ];
  });
  const atService = served === null ? [] : [servedRow(served)];
  const all = [...rows, ...atService];
  return all.length === 0 ? [] : ['| | figure | beside |', '|---|---|---|', ...all];
}

function servedRow({ steps, rateToBare, requestsPerSecond }: NonNullable<Results['served']>): string {
  const processor = steps.at(-2)?.figure;
  const bare = steps[0]?.figure;
  const rate = figureOf(requestsPerSecond).median.toLocaleString('en');
  const beside =
    bare === undefined
      ? ''
      : `bare Fastify ${withSpread(bare)}; by rate ${times(figureOf(rateToBare).median)}`;
  const figure = processor === undefined ? '' : `, ${withSpread(processor)} of the processor`;
  return `| at the service, recorded, 32 connections: all of it | ${rate} a second${figure} | ${beside} |`;
}

const barLengthMax = 40;

/**
 * Returns a row for each promise: what it adds, the total with all promises before it, and a bar that begins
 * where the previous bar ends.
 */
export function waterfallRows(steps: readonly PromiseStep[]): readonly string[] {
  if (steps.length === 0) return [];
  const most = Math.max(...steps.map(({ figure }) => figure.median));
  const unitsOf = (nanoseconds: number) => Math.round((nanoseconds / most) * barLengthMax);
  const rows = steps.map(({ what, figure }, at) => {
    const before = steps[at - 1]?.figure.median ?? 0;
    const [from, to] = [unitsOf(Math.min(before, figure.median)), unitsOf(figure.median)];
    const bar = `${'·'.repeat(from)}${'█'.repeat(to - from)}`;
    return `| ${what} | ${addedText(figure.median - before)} | ${withSpread(figure)} | ${bar} |`;
  });
  return ['| with each promise more | adds | processor a request | |', '|---|---|---|---|', ...rows];
}

/** A negative difference is due to chance, so it is shown as `nothing`. */
function addedText(nanoseconds: number): string {
  return nanoseconds < 0 ? 'nothing' : duration(nanoseconds);
}
