import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { openDirectory } from '../../runtime/domain/index.ts';
import { openScenarioLibrary } from '../../runtime/runs/index.ts';
import { ScriptCompiler, ScriptStore } from '../../runtime/script-store/index.ts';
import { compileHere } from '../../runtime/sandbox/compile-here.ts';
import type { Storage } from '../../runtime/storage/index.ts';
import { eventually } from '../support/eventually.ts';
import { silentLog } from '../support/log.ts';
import { describePostgres, type Place } from '../storage/support/storages.ts';

const DOMAIN = asDomainName('a.example');
const USER = `import { open } from './hours.js';\nexport default async function () { return open; }\n`;
const hours = (value: number) => ({ format: 'js', source: `export const open = ${value};\n` });

describePostgres('imported scripts of several nodes', (newPlace) => {
  const storages: Storage[] = [];
  let place: Place;

  before(async function () {
    this.timeout(60_000);
    place = await newPlace();
  });
  after(async () => {
    for (const storage of storages) await storage.close();
  });

  async function openNode() {
    const storage = await place.open();
    storages.push(storage);
    const compile = async (source: Parameters<typeof compileHere>[0]) =>
      compileHere(source) ?? { ok: false as const, problems: [{ line: 1, column: 1, message: 'it is broken' }] };
    const compiler = new ScriptCompiler({ components, compile, promptsFolder: '' });
    const directory = await openDirectory(storage, { checkScript: compiler.check });
    const files = await openScenarioLibrary({ folders: [], components, log: silentLog });
    const scripts = await ScriptStore.open({ storage, directory, files, fileDomain: DOMAIN, compiler });
    return { directory, scripts };
  }

  it('have new versions on every node when a module changes on one, at once on two, and after a restart', async () => {
    const one = await openNode();
    await one.directory.collections.domains.create({ id: 'd1', name: DOMAIN });
    const two = await openNode();
    const { ivrscripts, svcscripts } = one.directory.collections;
    const module = await svcscripts.create({ domain_id: 'd1', code: 'hours', scriptdata: hours(0) });
    const user = await ivrscripts.create({ domain_id: 'd1', code: 'user', scriptdata: { format: 'js', source: USER } });
    expect(user.problems).to.deep.equal([]);
    const runs = async (node: typeof one) => {
      const program = await node.scripts.program('user', DOMAIN);
      return [program?.version, program?.module?.modules?.[0]?.source];
    };
    expect(await runs(one)).to.deep.equal(['1', hours(0).source]);
    await svcscripts.update(module.id, { scriptdata: hours(1) });
    expect(await runs(one)).to.deep.equal(['2', hours(1).source]);
    await eventually(async () => expect(await runs(two)).to.deep.equal(['2', hours(1).source]));

    // The changes of both nodes follow each other: the last one has the last version.
    const changes = Array.from({ length: 8 }, (_, n) => {
      const { collections } = (n % 2 === 0 ? one : two).directory;
      return n === 5
        ? collections.ivrscripts.update(user.id, { scriptdata: { format: 'js', source: `${USER}// changed\n` } })
        : collections.svcscripts.update(module.id, { scriptdata: hours(10 + n) });
    });
    await Promise.all(changes);
    const last = (await svcscripts.get(module.id))?.scriptdata.source;
    const [number] = [(await ivrscripts.get(user.id))?.version];
    expect(number).to.equal(10);
    for (const node of [one, two]) await eventually(async () => expect(await runs(node)).to.deep.equal(['10', last]));
    expect(await runs(await openNode())).to.deep.equal(['10', last]);
  });
});
