import { utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { components } from '../../runtime/component-registry/index.ts';
import { openScenarioLibrary } from '../../runtime/runs/library.ts';
import { ScenarioRunner } from '../../runtime/runs/runner.ts';
import { simulatedServices } from '../../runtime/workbench/simulation/services.ts';
import { VirtualClock } from '../../runtime/workbench/simulation/virtual-clock.ts';
import { Cron, CronError } from '../../runtime/language/cron.ts';
import { ScenarioStarter, type StarterOptions } from '../../runtime/runs/starting/starter.ts';
import { VersionError } from '../../runtime/runs/versions.ts';
import { type Sandbox, openSandbox } from '../../runtime/sandbox/index.ts';
import { eventually } from '../support/eventually.ts';
import { silentLog } from '../support/log.ts';
import { problems } from '../support/scenarios.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const at = (text: string) => Date.parse(text);

describe('cron', () => {
  const table: readonly (readonly [string, string, string, boolean])[] = [
    ['* * * * *', 'UTC', '2026-11-21T12:34:56Z', true],
    ['30 9 * * mon-fri', 'UTC', '2026-11-20T09:30:00Z', true],
    ['30 9 * * mon-fri', 'UTC', '2026-11-21T09:30:00Z', false],
    ['30 9 * * 1-5', 'Europe/London', '2026-07-01T08:30:00Z', true],
    ['30 9 * * 1-5', 'Europe/London', '2026-07-01T09:30:00Z', false],
    ['*/15 8-18/2 * * *', 'UTC', '2026-01-01T10:45:00Z', true],
    ['*/15 8-18/2 * * *', 'UTC', '2026-01-01T11:45:00Z', false],
    ['0 0 1 jan,jul *', 'UTC', '2026-07-01T00:00:00Z', true],
    ['0 0 13 * fri', 'UTC', '2026-11-20T00:00:00Z', true],
    ['0 0 13 * fri', 'UTC', '2026-11-13T00:00:00Z', true],
    ['0 0 13 * fri', 'UTC', '2026-11-14T00:00:00Z', false],
    ['0 12 * * 7', 'UTC', '2026-11-22T12:00:00Z', true],
    ['0 0 * * *', 'America/New_York', '2026-11-21T05:00:30Z', true],
  ];
  for (const [expression, zone, moment, expected] of table) {
    it(`${expression} ${zone} ${expected ? 'matches' : 'does not match'} ${moment}`, () => {
      expect(new Cron(expression, zone).matches(at(moment))).to.equal(expected);
    });
  }

  it('refuses invalid expressions', () => {
    for (const wrong of [
      '',
      '* * * *',
      '60 * * * *',
      '* 24 * * *',
      '* * 0 * *',
      '* * * 13 *',
      '* * * * mo',
      '5-1 * * * *',
      '*/0 * * * *',
      '-1 * * * *',
    ])
      expect(() => new Cron(wrong), wrong).to.throw(CronError);
    expect(() => new Cron('* * * * *', 'Mars/Olympus')).to.throw(CronError, 'there is no time zone "Mars/Olympus"');
    expect(
      problems(
        `id: a
starts: { schedule: "61 * * * *", hoo: true, event: { nme: x } }
start: b
blocks:
  b:
    hangup:
`,
      ),
    ).to.deep.equal([
      '2:21: "61" is no minute (0 to 59)',
      '2:35: there is no start "hoo"; did you mean "hook"?',
      '2:53: "event" says not which event',
      '2:55: "event" has no "nme"; did you mean "name"?',
    ]);
  });
});

const DEMO = asDomainName('demo.local');

describe('starting points and versions', () => {
  const folder = temporaryFolder({ each: true });
  let stamp = 1_700_000_000;

  async function write(name: string, text: string): Promise<void> {
    await writeFile(path.join(folder, name), text);
    stamp += 1;
    await utimes(path.join(folder, name), stamp, stamp);
  }
  const scenario = (starts: string, value: string, id = 'one') =>
    `id: ${id}
parameters: { who: { type: string, default: nobody } }
starts: ${starts}
start: a
blocks:
  a:
    return: ${value}
`;

  async function open(sandbox?: Sandbox, refusal?: StarterOptions['refusal'], claim?: StarterOptions['claim']) {
    const library = await openScenarioLibrary({
      folders: [folder],
      components,
      log: silentLog,
      versionsFolder: path.join(folder, 'v'),
    });
    const clock = new VirtualClock(at('2026-11-20T09:28:30Z'));
    const services = simulatedServices({ clock, ...(sandbox ? { sandbox } : {}) });
    const runner = new ScenarioRunner(library, silentLog, services);
    const { events } = services;
    const starter = new ScenarioStarter({
      library,
      runner,
      domain: DEMO,
      domainOf: (name) => (name.toLowerCase() === DEMO ? DEMO : undefined),
      clock,
      log: silentLog,
      ...(refusal ? { refusal } : {}),
      claim,
      ...(events ? { events } : {}),
    });
    return { library, clock, events, runner, starter };
  }

  it('start scenarios by schedule, once in each minute', async () => {
    await write('one.yaml', scenario('{ schedule: { cron: "30-31 9 * * *", args: { who: clock } } }', '"${who}"'));
    const { clock, runner, starter } = await open();
    for (let minute = 0; minute < 5; minute += 1) {
      await clock.run(clock.sleep(60_000, new AbortController().signal));
    }
    await eventually(async () =>
      expect(runner.runs().map(({ outcome, domain }) => [outcome?.value, domain])).to.deep.equal([
        ['clock', 'demo.local'],
        ['clock', 'demo.local'],
      ]),
    );
    starter.close();
  });

  it('start a scheduled scenario at the one node that claims the start', async () => {
    await write('one.yaml', scenario('{ schedule: { cron: "30-31 9 * * *", args: { who: clock } } }', '"${who}"'));
    const claimed = new Set<string>();
    const claim = async (start: string) => claimed.size < claimed.add(start).size;
    const [first, second] = [await open(undefined, undefined, claim), await open(undefined, undefined, claim)];
    const broken = await open(undefined, undefined, () => Promise.reject(new Error('no database')));
    for (let minute = 0; minute < 5; minute += 1)
      for (const { clock } of [first, second, broken])
        await clock.run(clock.sleep(60_000, new AbortController().signal));
    const runs = () => [first, second].flatMap(({ runner }) => runner.runs().map(({ outcome }) => outcome?.value));
    await eventually(async () => expect(runs()).to.deep.equal(['clock', 'clock']));
    expect([...claimed].map((name) => name.replace(/\d+$/, 'T'))).to.deep.equal(Array(2).fill('demo.local one 0 T'));
    expect(broken.runner.runs()).to.deep.equal([]);
    for (const { starter } of [first, second, broken]) starter.close();
  });

  it('start scenarios by event, with its fields', async () => {
    await write('one.yaml', scenario('{ event: door_opened }', '"${who}"'));
    const { events, runner, starter } = await open();
    const opened = { domain: DEMO, class: 'scenarioevents', type: 'door_opened' };
    // The other node starts it.
    events?.publish({ ...opened, data: { who: 'eve' }, elsewhere: true });
    events?.publish({ ...opened, data: { who: 'bob', x: 1 } });
    await eventually(async () => expect(runner.runs().map(({ outcome }) => outcome?.value)).to.deep.equal(['bob']));
    starter.close();
  });

  it('start no scenario that begins calls while the node drains', async () => {
    const calling = (id: string, block: string) => `id: ${id}
starts: { hook: true, event: door_opened, schedule: "* * * * *" }
start: a
blocks:
  a:
    ${block}
`;
    await write(
      'dial.yaml',
      calling('dial', 'call: { to: "101", caller_id: "100" }\n    exits: { answered: end, refused: end }'),
    );
    await write('invite.yaml', calling('invite', 'operation.invite: { from: "101", to: "102" }\n    next: end'));
    await write(
      'dials.js',
      "export const starts = { hook: true };\nexport default (call) => call.call({ to: '101', caller_id: '100' });",
    );
    await write('quiet.yaml', scenario('{ hook: true, event: door_opened }', '"${who}"', 'quiet'));
    const refused = { reason: 'draining', retryAfterSeconds: 30 };
    let draining = true;
    const { events, clock, runner, starter } = await open(undefined, () => (draining ? refused : undefined));
    const request = { domain: DEMO, args: {}, waitMs: 1000 };
    for (const id of ['dial', 'invite', 'dials'])
      expect(await starter.hook(id, request), id).to.deep.equal({ kind: 'refused', ...refused });
    expect((await starter.hook('quiet', request)).kind).to.equal('started');
    events?.publish({ domain: DEMO, class: 'scenarioevents', type: 'door_opened', data: {} });
    await clock.run(clock.sleep(60_000, new AbortController().signal));
    await eventually(async () => expect(runner.runs().map((run) => run.scenario)).to.deep.equal(['quiet', 'quiet']));
    draining = false;
    expect((await clock.run(starter.hook('dial', request))).kind).to.equal('started');
    starter.close();
  });

  it('name their domain in any case, and run in it as the directory spells it', async () => {
    await write('one.yaml', scenario('{ event: { name: door_opened, domain: DEMO.Local } }', '"${who}"'));
    await write('hook.yaml', scenario('{ hook: { domain: Demo.Local } }', '"${who}"', 'hook'));
    await write('foreign.yaml', scenario('{ hook: { domain: other.local } }', '"${who}"', 'foreign'));
    const { events, runner, starter } = await open();
    events?.publish({ domain: DEMO, class: 'scenarioevents', type: 'door_opened', data: { who: 'bob' } });
    const request = { domain: DEMO, args: { who: 'me' }, waitMs: 1000 };
    expect((await starter.hook('hook', request)).kind).to.equal('started');
    expect((await starter.hook('foreign', request)).kind).to.equal('unknown');
    await eventually(async () =>
      expect(
        runner.runs().map(({ scenario: id, outcome, domain }) => [id, outcome?.value, domain]),
      ).to.have.deep.members([
        ['one', 'bob', 'demo.local'],
        ['hook', 'me', 'demo.local'],
      ]),
    );
    starter.close();
  });

  it('pass all fields of the event to a module without declared parameters', async () => {
    const source = `export const starts = { event: { name: 'door_opened' } };
export default async function (call, args) { return args; }`;
    await write('one.js', source);
    const sandbox = await openSandbox({ workers: 1 });
    const { events, runner, starter } = await open(sandbox);
    events?.publish({ domain: DEMO, class: 'scenarioevents', type: 'door_opened', data: { who: 'bob', x: 1 } });
    await eventually(async () =>
      expect(runner.runs().map(({ outcome }) => outcome?.value)).to.deep.equal([{ who: 'bob', x: 1 }]),
    );
    starter.close();
    await sandbox.close();
  });

  it('limit the starts of a scenario by its own events', async () => {
    const source = `id: one
starts: { event: storm }
start: a
blocks:
  a: { publish: storm, next: b }
  b: { publish: storm, next: end }
`;
    await write('one.yaml', source);
    const { events, runner, starter } = await open();
    const seen = new Set<string>();
    events?.publish({ domain: DEMO, class: 'scenarioevents', type: 'storm', data: {} });
    await eventually(async () => {
      for (const { id } of runner.runs()) seen.add(id);
      expect(seen.size).to.equal(200);
      expect(runner.running).to.equal(0);
    });
    starter.close();
  });

  it('start scenarios by hook, with their return value', async () => {
    await write('one.yaml', scenario('{ hook: true }', '"${who}"'));
    await write('two.yaml', scenario('', 'x').replace('id: one', 'id: two'));
    const { starter } = await open();
    const request = { domain: DEMO, args: { who: 'me' }, waitMs: 1000 };
    const result = await starter.hook('one', request);
    expect(result.kind === 'started' && result.outcome?.value).to.equal('me');
    expect(await starter.hook('two', request)).to.deep.equal({ kind: 'unknown' });
    expect(await starter.hook('three', request)).to.deep.equal({ kind: 'unknown' });
    starter.close();
  });

  it('keep every version; rollback and shares select the one for new runs', async () => {
    await write('one.yaml', scenario('', 'first'));
    const { library, starter } = await open();
    starter.close();
    const first = await library.program('one');
    await write('one.yaml', scenario('', 'second'));
    const second = await library.program('one');
    expect([first?.version, second?.version]).to.deep.equal(['1', '2']);
    expect(library.versions.versions('one').map(({ percent }) => percent)).to.deep.equal([0, 100]);
    await library.versions.rollback('one');
    expect((await library.program('one'))?.version).to.equal(first?.version);
    await library.versions.activate('one', second?.hash ?? '', 30);
    expect(library.versions.versions('one').map(({ percent }) => percent)).to.deep.equal([70, 30]);
    const chosen = new Set<string | undefined>();
    for (let run = 0; run < 200; run += 1) chosen.add((await library.program('one'))?.version);
    expect(chosen.size).to.equal(2);
    await library.versions.rollback('one');
    expect(library.versions.versions('one').map(({ percent }) => percent)).to.deep.equal([100, 0]);
    const error = await library.versions.rollback('one').catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(VersionError);
  });

  it('keep a rollback over a restart, until the file changes', async () => {
    await write('one.yaml', scenario('', 'first'));
    const before = await open();
    before.starter.close();
    const first = await before.library.program('one');
    await write('one.yaml', scenario('', 'second'));
    await before.library.program('one');
    await before.library.versions.rollback('one');
    const { library, starter } = await open();
    starter.close();
    expect((await library.program('one'))?.version).to.equal(first?.version);
    library.versions.setShare('one', 10);
    await write('one.yaml', scenario('', 'third'));
    await library.program('one');
    expect(library.versions.versions('one').map(({ percent }) => percent)).to.deep.equal([90, 0, 10]);
  });
});
