// `writ requests assign` and `writ requests put-off`: set who looks after a request that waits, and when the
// caller sees the request again. Neither command decides anything.

import type { Command } from 'commander';
import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import { toNumber } from '../../language/value/decimal.ts';
import { parseDuration } from '../../language/value/time.ts';
import { type Api, type ApiOptions, refuse, step, withApi, withApiOptions } from '../client/api-client.ts';
import { type ExitCode, print, UsageError } from '../output/output.ts';

type Finish = (code: ExitCode) => void;

interface Handling {
  readonly people: readonly { readonly id: string; readonly name: string; readonly is_you: boolean }[];
}

export function defineAssign(command: Command, finish: Finish): void {
  withApiOptions(command.command('assign').description('say who looks after a request that waits'))
    .argument('<id>')
    .argument('<person>', 'the name of somebody who can answer it, `me`, or `nobody`')
    .addHelpText('after', '\nExample:\n  writ requests assign 019a0000-0000-7000-8000-000000000000 "Ben"')
    .action(async (id: string, person: string, _own: unknown, own: Command) => {
      finish(await withApi(own.optsWithGlobals<ApiOptions>(), (api) => assign(api, id, person)));
    });
}

async function assign(api: Api, id: string, person: string): Promise<void> {
  const path = `/v1/requests/${step(id)}`;
  if (person === 'nobody') {
    await api.delete(`${path}/assign`);
    return print(`nobody in particular looks after ${id}\n`);
  }
  const { people } = await api.get<Handling>(`${path}/handling`);
  const found = people.filter((one) => (person === 'me' ? one.is_you : one.name === person));
  const [one] = found;
  if (one === undefined || found.length > 1) {
    const names = people.map(({ name, is_you }) => (is_you ? `${name} (me)` : name)).join(', ');
    const how = found.length > 1 ? 'several people have this name' : 'nobody of this name can answer it';
    refuse(
      `${how}: ${people.length === 0 ? 'it waits for nobody' : `these can: ${escapeForTerminal(names)}`}`,
    );
  }
  await api.post(`${path}/assign`, { person: one.id });
  print(`${escapeForTerminal(one.name)} looks after ${id}\n`);
}

export function definePutOff(command: Command, finish: Finish): void {
  withApiOptions(command.command('put-off').description('take a request out of your inbox for a while'))
    .argument('<id>')
    .argument('<duration>', 'such as `30m`, `2h` or `1d`; `0s` brings it back')
    .addHelpText('after', '\nExample:\n  writ requests put-off 019a0000-0000-7000-8000-000000000000 2h')
    .action(async (id: string, duration: string, _own: unknown, own: Command) => {
      const seconds = readSeconds(duration);
      finish(await withApi(own.optsWithGlobals<ApiOptions>(), (api) => putOff(api, id, seconds)));
    });
}

function readSeconds(text: string): number {
  const duration = parseDuration(text);
  const seconds = duration === null ? Number.NaN : toNumber(duration);
  if (!(seconds >= 0)) throw new UsageError(`\`${text}\` is not a duration such as 30m, 2h or 1d`);
  return seconds;
}

async function putOff(api: Api, id: string, seconds: number): Promise<void> {
  const path = `/v1/requests/${step(id)}/snooze`;
  if (seconds === 0) {
    await api.delete(path);
    return print(`${id} is back in your inbox\n`);
  }
  const until = new Date(Date.now() + seconds * 1_000).toISOString();
  await api.post(path, { until });
  print(`${id} is out of your inbox until ${until}, or until something becomes of it\n`);
}
