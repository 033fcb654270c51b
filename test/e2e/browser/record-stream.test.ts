// The page Audit shows how far a SIEM has the records, while it has all, catches up, and refuses one.

import { expect, test } from 'vitest';
import { firstAdmin } from '../../service/http/person-client.ts';
import { authorize, startService } from '../../service/http/service.ts';
import { startHttpReceiver } from '../../service/siem/receivers.ts';
import { siemSettings } from '../../service/siem/stream.ts';
import { accessibilityFaults, shareBrowser } from './browser.ts';

const open = shareBrowser();

test('the page shows a stream that works, one that fails, and one that has stopped', async () => {
  const receiver = await startHttpReceiver();
  const service = await startService({ siem: siemSettings({ url: receiver.url }) });
  await firstAdmin(service);
  const { page } = await open(service, { email: 'ann@example.com' });
  await page.goto('/audit');
  const stream = page.getByRole('region', { name: 'Stream to the SIEM' });
  await stream.getByText(/^localhost:\d+ \(OCSF\) has all \d+ records\.$/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  receiver.reply = () => ({ status: 503, text: 'maintenance' });
  await authorize(service, { body: '{"action_key":"demo.allow","payload":{}}' });
  await stream.getByText('The receiver takes no records').waitFor();
  await stream.getByText(/the receiver answered 503: maintenance/).waitFor();
  await stream.getByText(/lacks 1 record; the oldest was made/).waitFor();
  await stream.getByRole('progressbar', { name: 'Records sent' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  receiver.reply = () => ({ status: 400, text: 'no such field <b>' });
  await stream.getByText(/The stream has stopped at record \d+/).waitFor();
  await stream.getByText('the receiver answered 400: no such field <b>').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
});
