import { expect } from 'chai';
import { WaitingRuns } from '../../runtime/cluster/runs/waiting-runs.ts';
import type { KeptRun } from '../../runtime/runs/index.ts';
import { openStorage, type Storage } from '../../runtime/storage/index.ts';
import { silentLog } from '../support/log.ts';
import { eventually } from '../support/eventually.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A run of which only the id counts. */
const kept = (id: string) => ({ run: { id }, caller: { callid: '' } }) as KeptRun;

/** The rows of waiting runs, over the embedded database. */
describe('the rows of waiting runs', function () {
  this.timeout(30_000);
  const folder = temporaryFolder();
  let storage: Storage;
  before(async () => {
    storage = await openStorage({ dataDir: folder });
  });
  after(() => storage.close());
  afterEach(() => storage.db.deleteFrom('waiting_runs').execute());

  const rows = () => storage.db.selectFrom('waiting_runs').select(['run', 'process']).execute();

  /** A node whose runs wait. */
  function node(id: string, waiting: readonly string[]) {
    const database = { isAway: false };
    const runs = new WaitingRuns({
      storage: {
        get db() {
          if (database.isAway) throw new Error('the database is away');
          return storage.db;
        },
      },
      members: { isConnected: true, others: [], listen: () => undefined },
      id,
      isFull: () => true,
      log: silentLog,
    });
    const left = new Set(waiting);
    runs.start(
      {
        save: (_, isKept) =>
          [...left].filter((run) => !isKept(run)).map((run) => ({ id: run, kept: Promise.resolve(kept(run)) })),
        resume: async () => true,
      },
      () => undefined,
    );
    return { runs, database, left };
  }

  it('are given up once: all that goes on at a time gets one answer', async () => {
    const { runs, left } = node('mine', ['a', 'b']);
    await eventually(async () => expect((await rows()).length).to.equal(2));
    left.clear();
    const both = (run: string) => Promise.all([1, 2].map(async () => await runs.goesOn(run)));
    expect(await both('a')).to.deep.equal([true, true]);
    expect(runs.goesOn('a')).to.equal(true);
    // Another node has taken it.
    await storage.db.updateTable('waiting_runs').set({ process: 'other' }).execute();
    expect(await both('b')).to.deep.equal([false, false]);
    expect(await runs.goesOn('b')).to.equal(false);
    expect(await rows()).to.deep.equal([{ run: 'b', process: 'other' }]);
    runs.close();
  });

  it('are deleted later when a run went on without the database', async () => {
    const { runs, database, left } = node('mine', ['a']);
    await eventually(async () => expect((await rows()).length).to.equal(1));
    database.isAway = true;
    expect(await runs.goesOn('a')).to.equal(true);
    left.clear();
    expect((await rows()).length).to.equal(1);
    database.isAway = false;
    await eventually(async () => expect(await rows()).to.deep.equal([]));
    runs.close();
  });
});
