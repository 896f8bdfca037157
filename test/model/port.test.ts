import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { startRun } from '../../runtime/runs/run/start-run.ts';
import { SimulatedCall } from '../../runtime/workbench/simulation/simulated-call.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { modelPort } from '../../runtime/node/adapters/model.ts';
import { silentLog } from '../support/log.ts';
import { program, services } from '../support/scenarios.ts';
import { describeStorages, withStorage } from '../storage/support/storages.ts';
import { DOMAIN, emptyModel, removeClasses, type TestModel } from './support/model.ts';

describeStorages('the data model of scenarios', (newPlace) => {
  const storage = withStorage(newPlace);
  let test: TestModel;
  beforeEach(async () => {
    test = await emptyModel(storage());
    await test.collection({
      classname: 'crm/customers-2',
      properties: [
        { name: 'number', data_type: 'string', unique: true },
        { name: 'calls', data_type: 'integer', default: 0 },
      ],
    });
    await test.collection({ classname: 'log', storage_mode: 'history' });
  });
  afterEach(async () => {
    await test.model.close();
    await removeClasses(storage());
  });

  /** Runs blocks in a domain; answers the variables of the trace's last results by block. */
  async function run(blocks: string, domain = 'demo.local'): Promise<Record<string, unknown>> {
    const clock = new VirtualClock();
    const source = `id: t
start: first
blocks:
${blocks.replaceAll(/^(?=.)/gm, '  ')}`;
    const started = startRun(program(source), {
      call: new SimulatedCall(clock, {}),
      clock,
      log: silentLog,
      domain: asDomainName(domain),
      services: services({ model: modelPort(test.model, (name) => (name === 'demo.local' ? DOMAIN : undefined)) }),
    });
    // Real time passes in the database.
    const stop = setInterval(() => void clock.run(Promise.resolve()), 5);
    await started.finished;
    clearInterval(stop);
    return Object.fromEntries(
      started.trace.map(({ block, exit, result, error }) => [block, error?.code ?? { exit, ...result }]),
    );
  }

  it('is written, read and listed by script blocks', async () => {
    const made = await run(`first:
  model_write: { class: crm/customers-2, entity: { number: "101" } }
  next: second
second:
  model_write: { class: crm/customers-2, id: "\${first.id}", entity: { calls: 5 } }
  next: third
third:
  model_read: { class: crm/customers-2, id: "\${first.id}" }
  exits: { next: fourth, missing: end }
fourth:
  model_list: { class: crm/customers-2, filter: { calls: "2~" }, order: [number] }
  next: fifth
fifth:
  model_write: { class: crm/customers-2, id: "\${first.id}", remove: true }
  next: sixth
sixth:
  model_read: { class: crm/customers-2, id: "\${first.id}" }
  exits: { next: end, missing: seventh }
seventh:
  model_list: { class: log, interval: ["2026-11-01", "2026-12-01"] }
  exits: { next: end, empty: end }
`);
    expect(made).to.have.nested.property('third.entity.calls', 5);
    expect(made).to.have.nested.property('fourth.count', 1);
    expect(made).to.have.nested.property('sixth.exit', 'missing');
    expect(made).to.have.nested.property('seventh.exit', 'empty');
  });

  it('refuses the same as REST, with an error code', async () => {
    const port = modelPort(test.model, () => DOMAIN);
    await port.create(asDomainName('any'), 'crm/customers-2', { number: '1' });
    const code = async (act: Promise<unknown>): Promise<unknown> =>
      act.then(
        () => undefined,
        (error: { code: string }) => error.code,
      );
    expect(await code(port.create(asDomainName('any'), 'crm/customers-2', { number: '1' }))).to.equal('model_conflict');
    expect(await code(port.create(asDomainName('any'), 'crm/customers-2', { calls: 'x' }))).to.equal('model_refused');
    expect(
      await code(port.list(asDomainName('any'), 'crm/customers-2', { filter: ['x'], limit: 1, offset: 0 })),
    ).to.equal('model_refused');
    expect(await code(port.read(asDomainName('any'), 'nothing', 'x'))).to.equal('model_unknown_class');
    expect(await port.read(asDomainName('any'), 'crm/customers-2', 'x')).to.equal(undefined);
    expect(await port.update(asDomainName('any'), 'crm/customers-2', 'x', {})).to.equal(undefined);
    expect(await port.remove(asDomainName('any'), 'crm/customers-2', 'x')).to.equal(false);
    const { id = '' } = (await port.create(asDomainName('any'), 'log', { ts: '2026-11-20' })) as { id?: string };
    expect(await port.read(asDomainName('any'), 'log', `2026-11-20/${id}`)).to.deep.include({ id });
  });

  it('of another domain is unknown', async () => {
    const read = `first:
  model_read: { class: crm/customers-2, id: x }
  exits: { next: end, missing: end }
`;
    expect(await run(read)).to.have.nested.property('first.exit', 'missing');
    expect(await run(read, 'other.local')).to.deep.equal({ first: 'model_unknown_class' });
  });
});
