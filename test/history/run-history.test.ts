import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { RunHistory, type RunHistoryOptions } from '../../runtime/history/index.ts';
import { StorageUnavailableError } from '../../runtime/model/index.ts';
import type { RunView } from '../../runtime/runs/index.ts';
import { DOMAIN, emptyModel, removeClasses, type TestModel } from '../model/support/model.ts';
import { describeStorages, withStorage } from '../storage/support/storages.ts';
import { eventually } from '../support/eventually.ts';

const START = Date.UTC(2026, 10, 20);
const QUERY = { interval: ['2026-11-01', '2026-12-01'], order: ['ts'], mask: 'id' };

function run(id: string, changes: Partial<RunView> = {}): RunView {
  return {
    id,
    scenario: 'menu',
    version: '3',
    file: 'menu.yaml',
    callid: `call-${id}`,
    from: '101',
    domain: asDomainName('demo.local'),
    start: START + Number(id),
    trace: [{ step: 1, branch: 'main', block: 'greet', component: 'play', start: START }],
    outcome: {
      status: 'failed',
      steps: 1,
      milliseconds: 20,
      result: {},
      variables: {},
      error: { code: 'timeout', message: 'late' },
    },
    ...changes,
  } as RunView;
}

describeStorages('the history of runs', (newPlace) => {
  const storage = withStorage(newPlace);
  let test: TestModel;
  let warnings: string[];
  const open: RunHistory[] = [];

  beforeEach(async () => {
    test = await emptyModel(storage());
    warnings = [];
  });
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
    await test.model.close();
    await removeClasses(storage());
  });

  function start(options: Partial<RunHistoryOptions> = {}): RunHistory {
    const log = (_details: object, message: string): void => void warnings.push(message);
    const history = new RunHistory({
      model: test.model,
      domainId: (name) => (name === 'demo.local' ? DOMAIN : undefined),
      days: 0,
      log: { info: () => undefined, warn: log, error: log },
      ...options,
    });
    open.push(history);
    return history;
  }
  const ids = async (history: RunHistory): Promise<unknown> =>
    ((await (await history.collection(DOMAIN)).list(QUERY)) as readonly { id: string }[]).map(({ id }) => id);

  it('shows its readers every run that has ended, whole', async () => {
    const history = start();
    history.over(run('1'));
    history.over(run('2', { domain: asDomainName('gone.local') }));
    const filter = ['==', ['property', 'error_code'], 'timeout'];
    const found = await (await history.collection(DOMAIN)).list({ ...QUERY, mask: '', filter });
    expect(found).to.have.length(1);
    expect((found as readonly object[])[0]).to.deep.include({
      id: '1',
      scenario: 'menu',
      from: '101',
      status: 'failed',
      steps: 1,
      milliseconds: 20,
      trace: run('1').trace,
    });
    expect(warnings).to.deep.equal([]);
  });

  it('writes runs with any text, and of a huge trace the latest steps', async () => {
    const history = start();
    history.over(run('1', { args: { text: 'a\0b\ud800' } }));
    const step = { step: 1, branch: 'main' as const, block: 'x'.repeat(4000), component: 'log', start: START };
    history.over(run('2', { trace: Array.from({ length: 200 }, (_, n) => ({ ...step, step: n + 1 })) }));
    const rows = (await (
      await history.collection(DOMAIN)
    ).list({ ...QUERY, mask: '' })) as unknown as readonly RunView[];
    expect(rows[0]?.args).to.deep.equal({ text: 'ab\ufffd' });
    expect(rows[1]?.trace.at(-1)?.step).to.equal(200);
    expect(JSON.stringify(rows[1]?.trace).length).to.be.below(262_145);
  });

  it('waits for a database that is away, and writes then', async () => {
    let isAway = true;
    const model: RunHistoryOptions['model'] = {
      classes: (domain) => test.model.classes(domain),
      collection: (domain, name) => {
        if (isAway) throw new StorageUnavailableError('away');
        return test.model.collection(domain, name);
      },
    };
    const history = start({ model });
    history.over(run('1'));
    await eventually(async () => {
      await history.collection(DOMAIN).catch(() => undefined);
      expect(warnings).to.deep.equal(['traces of runs wait for the database']);
    });
    history.over(run('2'));
    isAway = false;
    expect(await ids(history)).to.deep.equal(['1', '2']);
  });

  it('writes what waits when the node stops', async () => {
    const history = start();
    history.over(run('1'));
    await history.close();
    expect(await ids(start())).to.deep.equal(['1']);
  });
});
