// Entry point of the worker thread that reads records ahead.

import { parentPort, workerData } from 'node:worker_threads';
import type { RecordsLocation } from '../../service/store/contract/log.ts';
import { openRecords } from '../../service/store/open.ts';
import { serveReading } from './reading-worker.ts';

if (parentPort === null) throw new Error('the record reader was started outside a worker thread');
serveReading(parentPort, openRecords(workerData as RecordsLocation));
