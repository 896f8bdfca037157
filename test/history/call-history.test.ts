import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { CallHistory, type CallHistoryOptions } from '../../runtime/history/index.ts';
import { type Model, StorageUnavailableError } from '../../runtime/model/index.ts';
import { eventually } from '../support/eventually.ts';
import { describeStorages, temporaryFolders, withStorage } from '../storage/support/storages.ts';
import { DOMAIN, emptyModel, removeClasses, type TestModel } from '../model/support/model.ts';
import { endedCall, liveCall } from './facts.ts';

type HistoryModel = CallHistoryOptions['model'];

describeStorages('the history of calls', (newPlace) => {
  const storage = withStorage(newPlace);
  const folders = temporaryFolders();
  let test: TestModel;
  let file: string;
  let warnings: string[];
  const open: CallHistory[] = [];

  beforeEach(async () => {
    test = await emptyModel(storage());
    file = join(folders.make(), 'calls.jsonl');
    warnings = [];
  });
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
    await test.model.close();
    await removeClasses(storage());
  });
  after(() => folders.removeAll());

  function start(options: Partial<CallHistoryOptions> = {}): CallHistory {
    const log = (_details: object, message: string): void => void warnings.push(message);
    const history = CallHistory.open({
      model: test.model,
      domainId: (name) => (name === 'demo.local' ? DOMAIN : undefined),
      recordingsOf: async () => [],
      file,
      limit: 1_000_000,
      days: 0,
      log: { info: () => undefined, warn: log, error: log },
      ...options,
    });
    open.push(history);
    return history;
  }

  const query = { interval: ['2026-11-01', '2026-12-01'], order: ['id'], mask: 'id,result' };
  const stored = (): Promise<unknown> => test.model.collection(DOMAIN, 'callhistory').list(query);
  const written = async (...ids: string[]): Promise<void> => {
    for (const each of open) await each.flush();
    await eventually(async () => {
      expect(await stored()).to.deep.equal(ids.map((id) => ({ id, result: 'answered' })));
    });
  };

  /** The model of a database that can be away. */
  function shaky(): { readonly model: HistoryModel; isAway: boolean; appended: number } {
    const state = {
      isAway: true,
      appended: 0,
      model: {
        classes: (domain: string) => test.model.classes(domain),
        collection: (domain: string, classname: string) => {
          const inner = test.model.collection(domain, classname);
          const append = async (inputs: Parameters<typeof inner.append>[0]): Promise<void> => {
            state.appended += 1;
            await inner.append(inputs);
            // The database has them, but its answer is lost.
            if (state.isAway) throw new StorageUnavailableError('away');
          };
          return new Proxy(inner, { get: (target, key) => (key === 'append' ? append : Reflect.get(target, key)) });
        },
      } satisfies Pick<Model, 'classes' | 'collection'>,
    };
    return state;
  }

  it('writes ended calls in sets, and forgets them then', async () => {
    const counted = shaky();
    counted.isAway = false;
    const history = start({ model: counted.model });
    for (const id of ['1', '2', '3']) history.over(endedCall(id));
    expect(history.state()).to.deep.equal({ state: 'ok', waiting: 3, dropped: 0 });
    await written('1', '2', '3');
    expect(counted.appended).to.equal(1);
    await history.flush();
    expect(history.state().waiting).to.equal(0);
    await history.close();
    expect(readFileSync(file, 'utf8').trim().split('\n').at(-1)).to.equal('{"done":["1","2","3"]}');
  });

  it('writes at once when many have gathered', async () => {
    const history = start();
    for (let n = 0; n < 200; n += 1) history.over(endedCall(`${n}`));
    await eventually(async () => expect(history.state().waiting).to.equal(0));
    const count = await test.model.collection(DOMAIN, 'callhistory').list({ ...query, limit: 0 });
    expect(count).to.deep.equal({ count: 200 });
  });

  it('writes nothing twice when the answer of the database is lost', async () => {
    const database = shaky();
    const history = start({ model: database.model });
    history.over(endedCall('1'));
    await history.flush();
    expect(history.state().state).to.equal('behind');
    expect(warnings).to.deep.equal(['the history of calls waits in its journal for the database']);
    history.over(endedCall('2'));
    database.isAway = false;
    await eventually(async () => expect(history.state()).to.include({ state: 'ok', waiting: 0 }), 6000);
    await written('1', '2');
  });

  it('writes at the next start what waits, and calls that went on as node_died', async () => {
    const killed = start({
      model: shaky().model,
      recordingsOf: () => Promise.reject(new StorageUnavailableError('away')),
    });
    killed.over(endedCall('1'));
    killed.going(liveCall('2'));
    // Not closed: the process was killed.
    start();
    await eventually(async () =>
      expect(await stored()).to.deep.equal([
        { id: '1', result: 'answered' },
        { id: '2', result: 'node_died' },
      ]),
    );
  });

  it('says what is dropped when the journal is full', async () => {
    const away = { recordingsOf: () => Promise.reject(new StorageUnavailableError('away')) };
    const history = start({ ...away, limit: 1 });
    for (const id of ['1', '2', '3']) history.over(endedCall(id));
    expect(history.state()).to.deep.equal({ state: 'full', waiting: 1, dropped: 2 });
    expect(warnings).to.deep.equal([
      'the journal of calls is full: calls that end now are missing in the history until the database is back',
    ]);
  });

  it('leaves out a record that the database refuses, and says so', async () => {
    const history = start();
    history.over(endedCall('1'));
    // The time of a clock that went mad.
    history.over(endedCall('2', { began: Date.UTC(3500, 0, 1) }));
    history.over(endedCall('3'));
    await written('1', '3');
    await history.flush();
    expect(history.state().waiting).to.equal(0);
    expect(warnings).to.deep.equal(['a call is missing in the history']);
  });

  it('takes hostile texts of parties as far as the database can keep them', async () => {
    const history = start();
    const call = endedCall('1');
    const legs = call.legs.map((leg) => ({ ...leg, party: { ...leg.party, name: `a\0b\uD800${'x'.repeat(9999)}` } }));
    history.over({ ...call, legs, dialled: '\0' });
    await written('1');
  });

  it('drops what belongs to a removed domain', async () => {
    const history = start({ domainId: () => undefined });
    history.over(endedCall('1'));
    await history.flush();
    expect(history.state().waiting).to.equal(0);
    expect(warnings).to.deep.equal([]);
  });

  it('keeps days as its setting says, also after a change of it', async () => {
    const days = (): number => test.model.collection(DOMAIN, 'callhistory').definition.opts.store_days;
    await start({ days: 30 }).collection(DOMAIN);
    expect(days()).to.equal(30);
    await start({ days: 7 }).collection(DOMAIN);
    expect(days()).to.equal(7);
  });

  it('leaves an older class of the same name alone', async () => {
    await test.collection({ classname: 'callhistory' });
    const history = start();
    history.over(endedCall('1'));
    await history.flush();
    expect(history.state().waiting).to.equal(0);
    expect(warnings).to.deep.equal(['calls are missing in the history']);
  });
});
