// `replay`: what the policies would have decided about exported requests, as `writ replay` counts it.

import type { LogFaults } from '../../../analysis/replay/log-source.ts';
import { NoExportError, openExport } from '../../../analysis/replay/read-export.ts';
import { replayJson } from '../../../analysis/replay/replay-json.ts';
import { replayLog } from '../../../analysis/replay/replay-log.ts';
import { renderReplay } from '../../../analysis/replay/replay-text.ts';
import type { JsonObject } from '../../../language/model/json.ts';
import { many } from '../../output/many.ts';
import { createMarks, UsageError } from '../../output/output.ts';
import { readSince } from '../../support/parse-time.ts';
import { planReplay } from '../../support/plan-replay.ts';
import { filedComparison, findingsToFile } from '../../support/replay-baseline.ts';
import { sideErrors, workingInWorkspace } from '../tool/policies.ts';
import { anyObject, count, listOf, optional, orNull, text } from '../tool/schema.ts';
import { defineTool, pathField } from '../tool/tool.ts';
import { fileInWorkspace, refuseOutside } from '../tool/workspace.ts';
import { plainJson } from './check.ts';

export const replay = defineTool({
  name: 'replay',
  title: 'Try policies on past requests',
  description:
    'Decides exported requests again with the policies as they are now: how many would be decided differently, what people would have been asked, and examples. A person exports them with `writ audit export > log.jsonl`.',
  input: {
    export: text('a file of exported requests in the workspace (JSON Lines)'),
    path: optional(pathField),
    since: optional(text('requests since this time: 90d, 12h, 2w, a date or a time')),
    against: optional(
      text(
        'a revision in Git, or a directory, to compare with (default: HEAD, if it decided some of the requests)',
      ),
    ),
  },
  output: {
    requests: count('number of requests'),
    decided_differently: count('number of requests with another decision'),
    other_approvers: count('number of requests that ask other people'),
    unreadable: count('number of lines that could not be read'),
    from: orNull(text('the time of the first request')),
    until: orNull(text('the time of the last request')),
    matrix: anyObject('number of requests by the decision before and now'),
    people: listOf(anyObject('group, votes, day'), 'what is asked of whom, before and now'),
    parts: listOf(text('a part of the text'), 'the parts of the text'),
  },
  async run({ export: named, path, since, against }, onStage) {
    const file = fileInWorkspace(named);
    const sinceMs = since === undefined ? undefined : readSince(since, Date.now());
    if (against !== undefined) refuseOutside([against]);
    const working = await workingInWorkspace(path);
    const plan = await planReplay(working, { ...(against === undefined ? {} : { against }), sinceMs });
    if ('errors' in plan) throw sideErrors(plan, working.path);
    const log = await openExport(file).catch((error: unknown) => {
      if (error instanceof NoExportError) throw new UsageError(`cannot read \`${named}\`: ${error.message}`);
      throw error;
    });
    const { candidate, reading, compared } = plan;
    const result = await replayLog(log, {
      candidate,
      reading,
      sinceMs,
      findings: findingsToFile(compared),
      onProgress: (share) => onStage(`${Math.floor(share * 100)} % of the requests read`),
    });
    const filed = filedComparison(compared, result);
    const { faults } = log;
    const { path: place, digest } = plan;
    const json = plainJson(replayJson(result, { path: place, digest, sinceMs, faults, filed })) as JsonObject;
    const [head = '', ...parts] = renderReplay(result, { path: place, filed, marks: createMarks() }).split(
      '\n\n',
    );
    return {
      lead: [head.trimEnd(), ...unreadLines(log.faults)].join('\n'),
      data: {
        requests: result.requests,
        decided_differently: result.changes.outcome,
        other_approvers: result.changes.asked,
        unreadable: faults.count,
        from: json.from ?? null,
        until: json.until ?? null,
        matrix: json.matrix ?? {},
        people: ((json.people ?? []) as readonly JsonObject[]).slice(0, 20),
      },
      lists: ['parts'],
      entries: parts
        .map((part) => part.trimEnd())
        .filter((part) => part !== '')
        .map((part) => ({ list: 'parts', text: part, data: part })),
    };
  },
});

const shownFaults = 3;

function unreadLines({ count: all, named }: LogFaults): readonly string[] {
  if (all === 0) return [];
  const more = all > shownFaults ? `; and ${all - shownFaults} more` : '';
  return [
    `${many(all, 'line')} unreadable, not in the figures: ${named.slice(0, shownFaults).join('; ')}${more}`,
  ];
}
