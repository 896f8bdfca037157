import { mkdir, rename, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { runCheck } from '../../runtime/workbench/check-command.ts';
import { type ScenarioLibrary, openScenarioLibrary } from '../../runtime/runs/library.ts';
import { beginChecks } from '../../runtime/runs/file-checks.ts';
import { isSoundProblem, resolveSound } from '../../runtime/language/prompts.ts';
import { ScenarioRunner } from '../../runtime/runs/runner.ts';
import { SimulatedCall } from '../../runtime/workbench/simulation/simulated-call.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { eventually } from '../support/eventually.ts';
import { keepingLog, silentLog } from '../support/log.ts';
import { services } from '../support/scenarios.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const GOOD = `id: one
name: First
start: a
blocks:
  a:
    answer:
    next: b
  b:
    wait: 1s
    next: end
`;

describe('scenario library', () => {
  const folder = temporaryFolder({ each: true });
  let log: ReturnType<typeof keepingLog>;
  let library: ScenarioLibrary;
  let stamp = 1_700_000_000;

  /** Writes with a time of its own: two writes in one tick of the file system's clock are told apart. */
  async function write(name: string, text: string): Promise<void> {
    const file = path.join(folder, name);
    await writeFile(file, text);
    stamp += 1;
    await utimes(file, stamp, stamp);
  }

  beforeEach(async () => {
    log = keepingLog();
    await write('one.yaml', GOOD);
    library = await openScenarioLibrary({ folders: [folder, path.join(folder, 'missing')], components, log });
  });

  it('finds a scenario by its id', async () => {
    expect((await library.program('one'))?.name).to.equal('First');
    expect(await library.program('two')).to.equal(undefined);
    expect(library.programs().map(({ id }) => id)).to.deep.equal(['one']);
  });

  it('uses a changed file after the next scan, and live runs keep their program', async () => {
    const before = await library.program('one');
    await write('one.yaml', GOOD.replace('First', 'Second'));
    const after = await library.program('one');
    expect([before?.name, after?.name]).to.deep.equal(['First', 'Second']);
    expect(before?.version).to.not.equal(after?.version);
  });

  it('does not read an unchanged file again', async () => {
    expect(await library.program('one')).to.equal(await library.program('one'));
  });

  it('keeps the old version of a broken file, logs it once, and takes the mended one', async () => {
    await write('one.yaml', GOOD.replace('answer', 'anser'));
    expect((await library.program('one'))?.name).to.equal('First');
    await library.program('one');
    expect(
      log.lines.filter((line) => line === 'error: scenario file has mistakes, its old version stays'),
    ).to.have.length(1);
    expect(library.problems().map(({ message }) => message)).to.deep.equal(['there is no component "anser"']);
    await write('one.yaml', GOOD.replace('First', 'Mended'));
    expect((await library.program('one'))?.name).to.equal('Mended');
    expect(library.problems()).to.deep.equal([]);
  });

  it('serves a scenario when a prompt that it lacked arrives, also in a language', async () => {
    await mkdir(path.join(folder, 'prompts/de'), { recursive: true });
    for (const place of ['prompts', 'prompts/de', 'prompts/fr']) {
      const id = path.basename(place);
      await write(`in-${id}.yaml`, GOOD.replace('id: one', `id: in-${id}`).replace('answer:', `play: ${id}.wav`));
      expect(await library.program(`in-${id}`)).to.equal(undefined);
      await mkdir(path.join(folder, place), { recursive: true });
      await writeFile(path.join(folder, place, `${id}.wav`), '');
      expect((await library.program(`in-${id}`))?.id).to.equal(`in-${id}`);
    }
  });

  it('loads the others when one file cannot be checked, and checks it again', async () => {
    let isBroken = true;
    const compile = async ({ source }: { readonly source: string }) => {
      if (isBroken) throw new Error('no process for scripts');
      return { ok: true, code: source } as const;
    };
    await write('two.js', 'export default async function () {}\n');
    const served = await openScenarioLibrary({ folders: [folder], components, log, compile });
    expect((await served.program('one'))?.name).to.equal('First');
    expect(await served.program('two')).to.equal(undefined);
    expect(served.problems().map(({ message }) => message)).to.deep.equal([
      'it could not be checked: no process for scripts',
    ]);
    expect(log.lines).to.include('error: scenario file could not be checked');
    isBroken = false;
    expect((await served.program('two'))?.id).to.equal('two');
    expect(served.problems()).to.deep.equal([]);
  });

  it('takes checks that have begun, of files that are as they were, and reports what they found', async () => {
    await write('two.js', 'export default async function () {}\n');
    let checks = 0;
    const compile = async ({ source }: { readonly source: string }) => {
      if (checks++ === 0) throw new Error('no process for scripts');
      return { ok: true, code: source } as const;
    };
    const begun = await beginChecks({ folders: [folder, path.join(folder, 'missing')], components, compile });
    const checked = await begun.get(path.join(folder, 'one.yaml'))?.checked;
    await eventually(async () => expect(checks).to.equal(1));
    const served = await openScenarioLibrary({ folders: [folder], components, log, compile, checks: begun });
    expect(served.programs()[0]?.blocks).to.equal(checked?.program?.blocks);
    expect(served.problems().map(({ message }) => message)).to.deep.equal([
      'it could not be checked: no process for scripts',
    ]);
    expect((await served.program('two'))?.id).to.equal('two');
    expect(checks).to.equal(2);

    const early = await beginChecks({ folders: [folder], components, compile });
    await write('one.yaml', GOOD.replace('First', 'Second'));
    const later = await openScenarioLibrary({ folders: [folder], components, log, compile, checks: early });
    expect((await later.program('one'))?.name).to.equal('Second');
    await write('one.yaml', GOOD.replace('First', 'Third'));
    expect((await later.program('one'))?.name).to.equal('Third');
  });

  it('finds a new file, and one with a new id', async () => {
    await write('two.yml', GOOD.replace('id: one', 'id: two'));
    expect((await library.program('two'))?.id).to.equal('two');
    await write('two.yml', GOOD.replace('id: one', 'id: three'));
    expect((await library.program('three'))?.id).to.equal('three');
    expect(await library.program('two')).to.equal(undefined);
  });

  it('starts from a snapshot what was there, and a file that was written before and not read yet', async () => {
    const names = async (from: Pick<ScenarioLibrary, 'program'>) =>
      await Promise.all(['one', 'two'].map(async (id) => (await from.program(id))?.name));
    await write('two.yaml', GOOD.replace('id: one', 'id: two'));
    await library.scan();
    const before = library.snapshot();
    // The file system's clock is coarse: what is written now counts as later.
    await write('one.yaml', GOOD.replace('First', 'Second'));
    await rename(path.join(folder, 'two.yaml'), path.join(folder, 'two.txt'));
    expect(await names(before)).to.deep.equal(['First', 'First']);
    await library.scan();
    expect(await names(library.snapshot())).to.deep.equal(['Second', undefined]);
    await library.versions.rollback('one');
    expect(await names(library.snapshot())).to.deep.equal(['First', undefined]);
    expect(await names(before)).to.deep.equal(['First', 'First']);
    await library.versions.rollback('one').catch(() => undefined);
    await write('one.yaml', GOOD.replace('First', 'Third'));
    const { ctimeMs } = await stat(path.join(folder, 'one.yaml'));
    await eventually(async () => expect(Date.now()).to.be.above(ctimeMs + 25));
    // Nobody has looked at the file since.
    expect(await names(library.snapshot())).to.deep.equal(['Third', undefined]);
  });

  it('drops a deleted file', async () => {
    await rename(path.join(folder, 'one.yaml'), path.join(folder, 'one.txt'));
    expect(await library.program('one')).to.equal(undefined);
  });

  it('uses the first of two files with one id', async () => {
    await write('zwei.yaml', GOOD.replace('First', 'Other'));
    await library.program('nothing');
    expect((await library.program('one'))?.name).to.equal('First');
    expect(log.lines).to.include('warn: two scenario files have the same id');
  });

  it('runs scenarios for calls and keeps their traces', async () => {
    const runner = new ScenarioRunner(library, silentLog, services());
    const call = new SimulatedCall(new VirtualClock(), { hangsUpAfter: 0 });
    expect(await runner.serve('nothing', call)).to.equal(false);
    expect(await runner.serve('one', call)).to.equal(true);
    const [live] = runner.runs();
    expect(live).to.deep.include({ scenario: 'one', callid: call.callid });
    expect(runner.running).to.equal(1);
    await runner.stop('test is over');
    expect(runner.running).to.equal(0);
    expect(runner.read(live?.id ?? '')?.outcome?.status).to.equal('stopped');
  });

  it('keeps no snapshot in memory after the run', async () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const snapshots: WeakRef<object>[] = [];
    const source = {
      program: (id: string) => library.program(id),
      snapshot: () => {
        const made = library.snapshot();
        snapshots.push(new WeakRef(made));
        return made;
      },
    };
    const runner = new ScenarioRunner(source, silentLog, services());
    const alive = () => snapshots.filter((each) => each.deref() !== undefined).length;
    for (let n = 0; n < 3; n += 1)
      await runner.serve('one', new SimulatedCall(new VirtualClock(), { hangsUpAfter: 0 }));
    gc();
    expect([snapshots.length, alive()]).to.deep.equal([3, 3]);
    await runner.stop('test is over');
    expect(runner.runs()).to.have.length(3);
    await eventually(async () => {
      gc();
      expect(alive()).to.equal(0);
    });
  });

  it('refuses a call to a scenario that needs arguments', async () => {
    await write('args.yaml', GOOD.replace('id: one', 'id: args\nparameters: { to: string }'));
    const runner = new ScenarioRunner(library, log, services());
    const call = new SimulatedCall(new VirtualClock());
    expect(await runner.serve('args', call)).to.equal(true);
    expect(call.events.map(({ what }) => what)).to.include('reject 500');
    expect(log.lines).to.include('error: scenario cannot be called directly');
  });

  it('checks files from the command line', async () => {
    const lines: string[] = [];
    const file = path.join(folder, 'one.yaml');
    expect(await runCheck([file], components, (line) => lines.push(line))).to.equal(0);
    await write('one.yaml', GOOD.replace('next: b', 'next: c'));
    expect(await runCheck([file, '/nowhere.yaml'], components, (line) => lines.push(line))).to.equal(1);
    expect(lines).to.deep.equal([
      `${file}:7:11: there is no block "c"; there is: a, b, end`,
      `${file}:8:3: the block "b" is never reached; connect an exit to it or remove it`,
      '/nowhere.yaml:1:1: the file cannot be read (no such file)',
    ]);
  });

  it('follows no symbolic link out of the prompts folder', async () => {
    const prompts = path.join(folder, 'prompts');
    await mkdir(path.join(prompts, 'sub'), { recursive: true });
    await writeFile(path.join(folder, 'secret.wav'), '');
    await writeFile(path.join(prompts, 'sub', 'real.wav'), '');
    await symlink('../secret.wav', path.join(prompts, 'out.wav'));
    await symlink('sub/real.wav', path.join(prompts, 'in.wav'));
    const file = (name: string) => {
      const sound = resolveSound(name, prompts);
      return isSoundProblem(sound) ? sound.message : sound;
    };
    expect(file('out.wav')).to.equal('"out.wav" leads outside the prompts folder');
    expect(file('in.wav')).to.deep.equal(file('sub/real.wav'));
    expect(file('a\0b')).to.equal('"a\0b" is outside the prompts folder');
    expect(file('tone:%(200,100,800)')).to.deep.equal({ tone: '%(200,100,800)' });
    expect(file('silence:1.5s')).to.deep.equal({ silenceMs: 1500 });
  });
});
