// What calls return is reported before the caller has it, so that the next decision reads it, from both clients.

import { beforeAll, expect, test } from 'vitest';
import { startService } from '../../service/http/service.ts';
import { inPython, requirePython, settingsOf } from './python.ts';

beforeAll(requirePython);

const startsWith = `
approvers security "Security"
action web.fetch { url: string } result { labels: [string], bytes?: integer 0.., items?: integer 0.., is_error?: boolean }
action mail.send { ... }
meter tainted = count() of web.fetch when "untrusted" in result.labels per session over 1h
policy fetches on web.fetch { allow all }
policy mails on mail.send {
  allow all
  escalate tainted_sender to security when tainted > 0
}
`;

/** For each case, in a session of its own: fetches, sends, and says the reports and whether the mail was sent. */
const program = `
import logging
from dataclasses import dataclass
logging.disable()
@dataclass
class Page:
    labels: list
    text: str
class Object:
    labels = ['web']
    def items(self): ...
is_async = given['kind'] == 'AsyncWrit'
def fails():
    raise RuntimeError('404')
cases = {
    'trusted': lambda: {'labels': [], 'text': 'é'},
    'untrusted': lambda: {'labels': ['untrusted'], 'text': 'x'},
    'dataclass': lambda: Page(['web'], 'x'),
    'object': lambda: Object(),
    'absent': lambda: {'text': 'x'},
    'mistyped': lambda: {'labels': 'web'},
    'none': lambda: None,
    'not json': lambda: {'labels': [object()]},
    'too large': lambda: {'labels': ['x' * 100_000]},
    'list': lambda: ['a', 'b'],
    'failed': fails,
    'function': lambda: 'page',
    'stream': lambda: ['a', 'bc'],
    'broken function': lambda: {'labels': []},
}
functions = {
    'list': lambda values: {'labels': values, 'items': len(values)},
    'function': lambda page: {'labels': [page]},
    'stream': lambda values: {'labels': values},
    'broken function': lambda page: page['missing'],
}
found = {}
for name, make in cases.items():
    client, reports = connect(session=name), []
    def noted(request, reply):
        if request.path.endswith('/outcome'):
            reports.append([json.loads(request.body).get('result'), reply.status])
        return reply
    send, send_async = client._transport.send, client._transport.send_async
    async def noted_async(request):
        return noted(request, await send_async(request))
    client._transport.send = lambda request: noted(request, send(request))
    client._transport.send_async = noted_async
    def fetch(url):
        return make()
    async def fetch_async(url):
        return make()
    def stream(url):
        yield from make()
    async def stream_async(url):
        for one in make():
            yield one
    async def drained(values):
        return [one async for one in values]
    if name == 'stream':
        tool = stream_async if is_async else stream
    else:
        tool = fetch_async if is_async else fetch
    returned = client.guard('web.fetch', result=functions.get(name))(tool)
    def call():
        value = returned(url='https://x')
        return drained(value) if inspect.isasyncgen(value) else list(value) if inspect.isgenerator(value) else value
    kind_of(call)
    fetched, reports = reports, []
    found[name] = [outcome(lambda: client.run('mail.send', {'case': name}, lambda grant: 1))[0], fetched]
say(found)`;

test.each(['Writ', 'AsyncWrit'])('%s', async (kind) => {
  const service = await startService({ startsWith });
  const found = await inPython({ ...settingsOf(service), kind }, program);
  const [refused, without] = [expect.anything(), [null, 200]];
  expect(found).toEqual({
    trusted: ['ran', [[{ labels: [], bytes: 25, is_error: false }, 200]]],
    untrusted: ['PendingError', [[{ labels: ['untrusted'], bytes: 35, is_error: false }, 200]]],
    dataclass: ['ran', [[{ labels: ['web'], bytes: 29, is_error: false }, 200]]],
    object: ['ran', [[{ labels: ['web'], is_error: false }, 200]]],
    absent: ['PendingError', [[refused, 400], without]],
    mistyped: ['PendingError', [[refused, 400], without]],
    none: ['PendingError', [[refused, 400], without]],
    'not json': ['PendingError', [without]],
    'too large': ['PendingError', [without]],
    list: ['ran', [[{ labels: ['a', 'b'], items: 2 }, 200]]],
    failed: ['PendingError', [[{ is_error: true }, 400], without]],
    function: ['ran', [[{ labels: ['page'] }, 200]]],
    stream: ['ran', [[{ labels: ['a', 'bc'] }, 200]]],
    'broken function': ['PendingError', [without]],
  });
});

test('what a call returns by name is counted for lists and streams, too', async () => {
  const found = await inPython(
    {},
    `
from writ.results import Failed, Yielded, result_of
yielded = Yielded(False)
yielded.add('é')
yielded.add({'a': 1})
names = ['items', 'bytes', 'is_error', 'rows']
say([result_of(one, names) for one in (['a', 'b'], b'abc', 'é', {'items': 4, 'rows': 2}, yielded, Failed(), None)])`,
  );
  expect(found).toEqual([
    { items: 2, bytes: 9, is_error: false },
    { bytes: 3, is_error: false },
    { bytes: 2, is_error: false },
    { items: 4, bytes: 20, is_error: false, rows: 2 },
    { items: 2, bytes: 9, is_error: false },
    { is_error: true },
    { bytes: 4, is_error: false },
  ]);
});
