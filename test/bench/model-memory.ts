/** Lists of a large class in memory, and their delays of the thread that also carries calls. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openModel } from '../../runtime/model/index.ts';
import { openFiles } from '../../runtime/storage/files/index.ts';
import { openStorage } from '../../runtime/storage/index.ts';
import type { Figure } from './support/report.ts';

const STATES = ['new', 'open', 'done', 'void'];
/** Concurrent lists. */
const TOGETHER = 8;

const LISTS: readonly (readonly [what: string, query: object])[] = [
  [
    'filter by an indexed range, its order, limit 20',
    { filter: ['>=', ['property', 'age'], 500], order: ['age'], limit: 20 },
  ],
  [
    'filter and order without an index, limit 20',
    { filter: ['like', ['property', 'name'], '%77%'], order: [{ note: 'desc' }], limit: 20 },
  ],
  ['count with a filter without an index', { filter: ['like', ['property', 'name'], '%77%'], countonly: true }],
  [
    'aggregate of all by group',
    { aggr: { n: ['count'], mean: ['avg', ['property', 'age']] }, groupby: { state: 'state' } },
  ],
];

export async function measureMemory(rows: number): Promise<readonly Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'ringmaster-bench-'));
  const storage = await openStorage({ dataDir });
  const model = await openModel(storage, { files: openFiles(join(dataDir, 'files')) });
  try {
    await model.classes('d').create({
      classname: 'm',
      storage_mode: 'ram',
      properties: [
        { name: 'name', data_type: 'string' },
        { name: 'state', data_type: 'enum', items: STATES, index: true },
        { name: 'age', data_type: 'integer', index: true },
        { name: 'note', data_type: 'string' },
      ],
    });
    const collection = model.collection('d', 'm');
    for (let n = 0; n < rows; n += 1) {
      const age = (n * 7919) % (rows / 10);
      await collection.create({ id: `e${n}`, name: `name ${n}`, state: STATES[n % 4], age, note: `note ${n % 1000}` });
    }
    const figures: Figure[] = [];
    for (const [what, query] of LISTS) {
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      const began = performance.now();
      await Promise.all(Array.from({ length: TOGETHER }, () => collection.list(query)));
      const ms = (performance.now() - began) / TOGETHER;
      delay.disable();
      const [p99, max] = [delay.percentile(99) / 1e6, delay.max / 1e6].map((each) => each.toFixed(1));
      figures.push({
        what: `ms a list, ${what}; memory, ${rows.toLocaleString('en')} entities`,
        figure: ms,
        note: `event loop delay, ms: p99 ${p99}, longest ${max}`,
      });
    }
    return figures;
  } finally {
    await model.close();
    await storage.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}
