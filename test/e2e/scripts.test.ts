import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { RestAnswer } from '../phones/rest-client.ts';
import { RestClient } from '../phones/rest-client.ts';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';
import { expectError } from './expectations.ts';

const IVR = '/rest/v1/domain/ivrscripts';
const SVC = '/rest/v1/domain/svcscripts';
const HOOKS = '/rest/v1/api/hooks';

interface Script {
  readonly id: string;
  readonly code: string;
  readonly version: number;
  readonly serving: { readonly version: number | null; readonly trial?: { version: number; percent: number } };
  readonly problems: readonly { readonly line: number; readonly column: number; readonly message: string }[];
  readonly opts: Readonly<Record<string, unknown>>;
}

/** A scenario that refuses the call with this status. */
const refusing = (status: number) => ({
  format: 'yaml',
  source: `start: refuse
blocks:
  refuse:
    reject: ${status}
`,
});
const BROKEN = {
  format: 'yaml',
  source: `start: refuse
blocks:
  refuse:
    rejct: 486
`,
};
const module = (body: string) => ({
  format: 'js',
  source: `export default async function (call, args) {\n${body}\n}\n`,
});

describe('scripts of a domain', () => {
  const stage = useStage();
  const made: string[] = [];

  const send = async (method: string, path: string, body?: unknown, login = 'admin'): Promise<RestAnswer> =>
    (await stage.rest(login)).send(method, path, body === undefined ? {} : { body });
  const ok = async (method: string, path: string, body?: unknown): Promise<Script> => {
    const answer = await send(method, path, body);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json<Script>();
  };
  const make = async (collection: string, body: object): Promise<Script> => {
    const script = await ok('POST', collection, body);
    made.push(`${collection}/${script.id}`);
    return script;
  };
  /** The final status of a call to the code. */
  const statusOf = async (code: string): Promise<number> => {
    const call = await (await stage.phone('alice')).call(`*55${code}`);
    return (await call.refused()).status;
  };

  afterEach(async () => {
    for (const path of made.splice(0)) await send('DELETE', path);
  });

  it('serve the next call by their code after each change; a broken version keeps the last good one', async () => {
    const { id } = await make(IVR, { code: 'shop', scriptdata: refusing(486) });
    expect(await statusOf('shop')).to.equal(486);
    expect(await ok('PATCH', `${IVR}/${id}`, { scriptdata: refusing(480) })).to.deep.include({
      version: 2,
      serving: { version: 2 },
      problems: [],
    });
    expect(await statusOf('shop')).to.equal(480);

    const broken = await ok('PATCH', `${IVR}/${id}`, { scriptdata: BROKEN });
    expect(broken).to.deep.include({ version: 3, serving: { version: 2 } });
    expect(broken.problems).to.deep.equal([
      { line: 4, column: 5, message: 'there is no component "rejct"', suggestion: 'did you mean "reject"?' },
    ]);
    expect((await ok('GET', `${IVR}/${id}`)).problems).to.deep.equal(broken.problems);
    expect(await statusOf('shop')).to.equal(480);
    // A change of another field makes no version.
    expect(await ok('PATCH', `${IVR}/${id}`, { name: 'Shop' })).to.deep.include({
      version: 3,
      problems: broken.problems,
    });
  });

  it('keep every version, roll back in one step, and give a new version a share of the calls', async () => {
    const { id } = await make(IVR, { code: 'shop', scriptdata: refusing(486) });
    const path = `${IVR}/${id}`;
    await ok('PATCH', path, { scriptdata: BROKEN });
    await ok('PATCH', path, { scriptdata: refusing(480), opts: { share: 50 } });
    const versions = (await send('GET', `${path}/versions`)).json<
      { number: number; percent: number; problems: [] }[]
    >();
    expect(versions.map(({ number, percent, problems }) => [number, percent, problems.length])).to.deep.equal([
      [3, 50, 0],
      [2, 0, 1],
      [1, 50, 0],
    ]);
    expect((await send('GET', `${path}/versions/1`)).json()).to.deep.include({ scriptdata: refusing(486) });
    const seen = new Set<number>();
    // An account has at most ten phones.
    const phone = await stage.phone('alice');
    for (let calls = 0; seen.size < 2 && calls < 40; calls++)
      seen.add((await (await phone.call('*55shop')).refused()).status);
    expect([...seen]).to.have.members([480, 486]);

    expect((await ok('ROLLBACK', path)).serving).to.deep.equal({ version: 1 });
    expect((await ok('PATCH', path, { serving: { version: 3 } })).serving).to.deep.equal({ version: 3 });
    expect(await statusOf('shop')).to.equal(480);
    // The version in between has mistakes.
    expect((await ok('POST', `${path}!rollback`)).serving).to.deep.equal({ version: 1 });
    expect(await statusOf('shop')).to.equal(486);
    const none = await send('ROLLBACK', path);
    expect([none.status, none.json()]).to.deep.include(422);
    for (const [serving, field] of [
      [{ version: 2 }, 'serving.version'],
      [{ version: 9 }, 'serving.version'],
      [{ version: null }, 'serving.version'],
      [{ version: 1, trial: { version: 2, percent: 10 } }, 'serving.trial.version'],
      [{ version: 1, trial: { version: 3, percent: 0 } }, 'serving.trial.percent'],
    ] as const) {
      const refused = await send('PATCH', path, { serving });
      expect(refused.status, JSON.stringify(serving)).to.equal(400);
      expect(refused.json()).to.have.nested.property('error_details.field', field);
    }
    expect((await send('GET', `${path}/versions/9`)).status).to.equal(404);
    expect((await send('GET', `${IVR}/nothing/versions`)).status).to.equal(404);
  });

  it('are drafts until they are promoted, which the callers of a trial get before', async () => {
    const { id } = await make(IVR, { code: 'shop', scriptdata: refusing(486) });
    const path = `${IVR}/${id}`;
    const drafted = await ok('PATCH', path, { draft: true, scriptdata: refusing(480) });
    expect(drafted).to.deep.include({ draft: true, version: 2, serving: { version: 1 } });
    // The next change of a draft is one too.
    expect(await ok('PATCH', path, { scriptdata: refusing(410) })).to.deep.include({
      version: 3,
      serving: { version: 1 },
    });
    expect(await statusOf('shop')).to.equal(486);

    const trial = { version: 1, trial: { version: 3, callers: ['102'] } };
    expect((await ok('PATCH', path, { serving: trial })).serving).to.deep.equal(trial);
    const bob = await (await stage.phone('bob')).call('*55shop');
    expect([await statusOf('shop'), (await bob.refused()).status]).to.deep.equal([486, 410]);
    expect((await ok('PATCH', path, { draft: false })).serving).to.deep.equal({ version: 3 });
    expect(await statusOf('shop')).to.equal(410);

    await ok('PATCH', path, { draft: true, scriptdata: BROKEN });
    const refused = expectError(await send('PATCH', path, { draft: false }), 400, 1400);
    expect(refused.error_details).to.deep.equal({
      field: 'draft',
      reason: 'cannot end: version 4 has 1 mistake; see problems',
    });
    for (const wrong of [{ version: 3 }, { version: 3, callers: [] }, { version: 3, callers: ['1', '1'] }])
      expectError(await send('PATCH', path, { serving: { version: 1, trial: wrong } }), 400, 1400);
  });

  it('may begin as a draft, which no call reaches', async () => {
    const { id, serving } = await make(IVR, { code: 'soon', draft: true, scriptdata: refusing(486) });
    expect(serving).to.deep.equal({ version: null });
    expect(await statusOf('soon')).to.equal(404);
    expect((await ok('PATCH', `${IVR}/${id}`, { draft: false })).serving).to.deep.equal({ version: 1 });
    expect(await statusOf('soon')).to.equal(486);
  });

  it('are checked without being saved, by CHECK and by dry_run', async () => {
    const checked = await send('CHECK', IVR, { code: 'shop', scriptdata: BROKEN });
    const answer = checked.json<{ mistakes: number; problems: Script['problems'] }>();
    expect(answer.mistakes).to.equal(1);
    expect(answer.problems[0]).to.deep.include({ line: 4, suggestion: 'did you mean "reject"?' });
    expect((await send('POST', `${SVC}!check`, { scriptdata: module('return 1;') })).json()).to.deep.equal({
      mistakes: 0,
      problems: [],
    });
    for (const body of [{}, { scriptdata: {} }, { scriptdata: { format: 'py', source: 'x' } }])
      expectError(await send('CHECK', IVR, body), 400, 1400);

    const dry = await ok('POST', `${IVR}?dry_run=true`, { code: 'shop', scriptdata: BROKEN });
    expect(dry).to.deep.include({ version: 1, serving: { version: null } });
    expect((await send('LOOKUP', IVR, { code: 'shop' })).status).to.equal(404);
    const { id } = await make(IVR, { code: 'shop', scriptdata: refusing(486) });
    const path = `${IVR}/${id}`;
    expect(await ok('PATCH', `${path}?dry_run=true`, { scriptdata: refusing(480) })).to.deep.include({ version: 2 });
    expect(await ok('GET', path)).to.deep.include({ version: 1, scriptdata: refusing(486) });
    expect((await send('GET', `${path}/versions`)).json()).to.have.length(1);
    expect(await statusOf('shop')).to.equal(486);
    expectError(await send('POST', `${IVR}?dry_run=true`, { code: 'shop', scriptdata: refusing(486) }), 409, 1402);
  });

  it('that two authors change from one version keep the first change, and show both texts to the second', async () => {
    const { id } = await make(IVR, { code: 'shop', scriptdata: refusing(486) });
    const path = `${IVR}/${id}`;
    expect((await ok('PATCH', path, { base_version: 1, scriptdata: refusing(480) })).version).to.equal(2);
    const second = await send('PATCH', path, { base_version: 1, scriptdata: refusing(410) });
    expect(expectError(second, 409, 1402).error_details).to.deep.include({
      field: 'base_version',
      base: { version: 1, scriptdata: refusing(486) },
      current: { version: 2, scriptdata: refusing(480) },
    });
    expect((await ok('GET', path)).version).to.equal(2);
    expectError(await send('POST', IVR, { code: 'new', base_version: 1, scriptdata: refusing(486) }), 400, 1400);
  });

  it('change together, or none of them does', async () => {
    const one = await make(IVR, { code: 'one', scriptdata: refusing(486) });
    const two = await make(IVR, { code: 'two', scriptdata: refusing(486) });
    const both = [one, two].map(({ id }) => ({ id, scriptdata: refusing(480) }));
    const refused = await send('PATCH', IVR, [both[0], { ...both[1], base_version: 7 }]);
    expect(expectError(refused, 409, 1402).error_details).to.have.property('field', '1.base_version');
    expectError(await send('PATCH', IVR, [both[0], { id: 'nothing', name: 'x' }]), 404, 1404);
    expect([await statusOf('one'), await statusOf('two')]).to.deep.equal([486, 486]);
    const changed = await send('PATCH', IVR, both);
    expect(changed.json<Script[]>().map(({ version }) => version)).to.deep.equal([2, 2]);
    expect([await statusOf('one'), await statusOf('two')]).to.deep.equal([480, 480]);
  });

  it('leave a running call at the version it began with', async () => {
    const wait = `await call.answer();\nconst { digits } = await call.collect({ max: 1, timeout: '20s' });\n`;
    const { id } = await make(IVR, { code: 'long', scriptdata: module(`${wait}return { version: 'old', digits };`) });
    const phone = await stage.phone('alice');
    const call = await phone.call('*55long');
    await call.answered();
    await ok('PATCH', `${IVR}/${id}`, { scriptdata: module(`${wait}return { version: 'new' };`) });
    await call.sendDtmf('7');
    await call.ended(15_000);
    await eventually(async () => {
      const runs = (await send('GET', '/rest/v1/api/runs')).json<
        { scenario: string; version: string; outcome?: object }[]
      >();
      const run = runs.find(({ scenario }) => scenario === 'long');
      expect(run).to.deep.include({ version: '1' });
      expect(run?.outcome).to.have.property('value').deep.equal({ version: 'old', digits: '7' });
    });
  });

  it('that a running call starts are those of its beginning, also after they were changed, promoted or deleted', async () => {
    const result = (value: string) => module(`return ${JSON.stringify(value)};`);
    const ask = `const { digits } = await call.collect({ max: 1, timeout: '20s' });
      if (digits === '#' || digits === '') break;
      const { value } = await scenario.run({ scenario: 'b' });
      const beside = await scenario.run({ scenario: 'b', mode: 'parallel' });
      heard.push(value, (await scenario.await({ run: beside.run })).value);`;
    await make(IVR, {
      code: 'a',
      scriptdata: module(`await call.answer();\nconst heard = [];\nfor (;;) {\n${ask}\n}\nreturn { heard };`),
    });
    const b = await make(IVR, { code: 'b', scriptdata: result('first') });
    const call = await (await stage.phone('alice')).call('*55a');
    await call.answered();
    const latest = async () => {
      const [{ id } = { id: '' }] = (
        await send('GET', '/rest/v1/api/runs?filter={"scenario":"a"}&limit=1&mask=id')
      ).json<{ id: string }[]>();
      return (await send('GET', `/rest/v1/api/runs/${id}`)).json<{
        children: object[];
        outcome?: { value: { heard: string[] } };
      }>();
    };
    const press = async (times: number): Promise<void> => {
      await call.sendDtmf('1');
      await eventually(async () => expect((await latest()).children).to.have.length(2 * times));
    };
    await ok('PATCH', `${IVR}/${b.id}`, { scriptdata: result('second') });
    await press(1);
    await ok('PATCH', `${IVR}/${b.id}`, { draft: true, scriptdata: result('third') });
    await ok('PATCH', `${IVR}/${b.id}`, { draft: false });
    await press(2);
    expect((await send('DELETE', `${IVR}/${b.id}`)).status).to.equal(204);
    await press(3);
    await call.sendDtmf('#');
    await call.ended(15_000);
    await eventually(async () => {
      expect((await latest()).outcome?.value.heard).to.deep.equal(Array.from({ length: 6 }, () => 'first'));
    });
    await make(IVR, { code: 'b', scriptdata: result('fourth') });
    const next = await (await stage.phone('alice')).call('*55a');
    await next.answered();
    await next.sendDtmf('1');
    await next.sendDtmf('#');
    await next.ended(15_000);
    await eventually(async () => {
      expect((await latest()).outcome?.value.heard).to.deep.equal(['fourth', 'fourth']);
    });
  });

  it('leave traces in the database, found by scenario, number, status and time', async () => {
    const { id } = await make(IVR, { code: 'traced', scriptdata: refusing(486) });
    await make(IVR, { code: 'failing', scriptdata: module('throw new Error("no luck");') });
    await statusOf('traced');
    await ok('PATCH', `${IVR}/${id}`, { scriptdata: refusing(480) });
    await statusOf('traced');
    await statusOf('failing');
    interface Listed {
      readonly id: string;
      readonly ts: number;
    }
    const found = async (query: string): Promise<readonly Listed[]> =>
      (await send('GET', `/rest/v1/api/runs?${query}`)).json<Listed[]>();
    const [latest, first] = await eventually(async () => {
      const both = await found('filter={"scenario":"traced","from":"101"}');
      expect(both).to.have.length(2);
      return both;
    });
    expect(latest).to.include({ scenario: 'traced', version: '2', status: 'completed', to: '*55traced' });
    expect(latest).to.not.have.any.keys('trace', 'children', 'error_code');
    expect((await found('filter={"scenario":"traced"}&order=["ts"]&limit=1&mask=id'))[0]).to.deep.equal({
      id: first?.id,
    });
    expect(await found('filter={"scenario":"traced","version":"1"}')).to.have.length(1);
    expect(await found('filter={"scenario":"failing","status":"failed"}&mask=error_code,status')).to.deep.equal([
      { status: 'failed', error_code: 'script' },
    ]);
    expect(await found('filter={"scenario":"traced"}&interval=["2020-01-01","2020-02-01"]')).to.deep.equal([]);
    const count = await send('GET', '/rest/v1/api/runs?filter={"scenario":"traced"}&countonly=true');
    expect(count.json()).to.deep.equal({ count: 2 });
    // What the database has of the run is what the node shows of it.
    const interval = encodeURIComponent('["2026-01-01","2100-01-01"]');
    const stored = (await send('GET', `/rest/v1/model/runhistory?interval=${interval}&limit=1000`)).json<Listed[]>();
    const shown = (await send('GET', `/rest/v1/api/runs/${latest?.id}`)).json<{ trace: object[] }>();
    expect(stored.find((run) => run.id === latest?.id)).to.deep.include({ trace: shown.trace, ts: latest?.ts });
    expectError(await send('GET', '/rest/v1/api/runs?filter={"trace":"x"}'), 400, 1400);
    const figures = (code: string, query = '', login = 'admin'): Promise<RestAnswer> =>
      send('GET', `/rest/v1/api/scenarios/${code}/figures${query}`, undefined, login);
    const counted = (await figures('traced')).json<{ from: number; to: number; blocks: object[] }>();
    expect(counted).to.deep.include({ scenario: 'traced', runs: 2, statuses: { completed: 2 }, failures: {} });
    expect(counted.blocks).to.have.nested.property('[0].block', 'refuse');
    expect([counted.from % 3_600_000, counted.to % 3_600_000]).to.deep.equal([0, 0]);
    const failing = (await figures('failing')).json<{ cpu_ms: number; memory_bytes: number }>();
    expect(failing).to.deep.include({ runs: 1, failures: { script: 1 } });
    expect(failing.memory_bytes).to.be.greaterThan(0);
    const past = encodeURIComponent('["2020-01-01","2020-02-01"]');
    expect((await figures('traced', `?interval=${past}`)).json()).to.deep.include({ runs: 0, blocks: [] });
    expectError(await figures('nothing'), 404, 1404);
    for (const wrong of ['x', '["2020-01-01"]', '["2020-02-01","2020-01-01"]'])
      expectError(await figures('traced', `?interval=${encodeURIComponent(wrong)}`), 400, 1400);
    expectError(await figures('traced', '', 'alice'), 403, 1401);
  });

  it('may be files, which events start until the file no longer declares it', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    const starting = (event: string): string =>
      `id: told
starts: { event: { name: ${event}, domain: demo.local } }
start: a
blocks:
  a: { log: told, next: end }
`;
    await make(SVC, { code: 'tell', scriptdata: module('await events.publish(args.event);') });
    const runsAfter = async (event: string): Promise<number> => {
      await send('POST', `${HOOKS}/tell`, { event });
      const runs = (await send('GET', '/rest/v1/api/runs')).json<{ scenario: string }[]>();
      return runs.filter(({ scenario }) => scenario === 'told').length;
    };
    await writeFile(join(folder, 'told.yaml'), starting('e2e_first'));
    await eventually(async () => expect(await runsAfter('e2e_first')).to.be.greaterThan(0), 8000);
    await writeFile(join(folder, 'told.yaml'), starting('e2e_other'));
    const before = await runsAfter('none');
    await eventually(async () => expect(await runsAfter('e2e_other')).to.be.greaterThan(before), 8000);
    const last = await runsAfter('none');
    expect(await runsAfter('e2e_first')).to.equal(last);
  });

  it('may be files, whose versions the master domain chooses', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    const says = async (value: string): Promise<unknown> => {
      await writeFile(
        join(folder, 'kept.yaml'),
        `id: kept
starts: { hook: true }
start: a
blocks:
  a: { return: ${value} }
`,
      );
      return await answer();
    };
    const answer = async (): Promise<unknown> => (await send('POST', `${HOOKS}/kept`, {})).json();
    expect([await says('one'), await says('two')]).to.deep.equal(['one', 'two']);
    for (const [version, value] of [
      ['1', 'one'],
      ['2', 'two'],
    ]) {
      const runs = await send('GET', `/rest/v1/api/runs?filter={"scenario":"kept","version":"${version}"}`);
      expect(runs.json<{ outcome: { value: string } }[]>().map(({ outcome }) => outcome.value)).to.deep.equal([value]);
    }
    const file = `${IVR}/file.kept`;
    const versions = (await send('GET', `${file}/versions`)).json<{ number: number; percent: number }[]>();
    expect(versions.map(({ number, percent }) => [number, percent])).to.deep.equal([
      [2, 100],
      [1, 0],
    ]);
    expect((await send('GET', `${file}/versions/1`)).text).to.include('return: one');
    expect((await send('ROLLBACK', file)).status).to.equal(422);
    expect((await send('PATCH', file, { serving: { version: 1 } })).status).to.equal(422);
    const master = await stage.node.login('admin', 'master');
    try {
      const back = await master.send('ROLLBACK', file);
      expect(back.json<Script>()).to.deep.include({ version: 2, serving: { version: 1 } });
      expect(await answer()).to.equal('one');
      expectError(await master.send('ROLLBACK', file), 422, 1405);
      const trial = { version: 1, trial: { version: 2, percent: 25 } };
      const tried = await master.send('PATCH', file, { body: { serving: trial } });
      expect(tried.json<Script>().serving).to.deep.equal(trial);
      for (const serving of [{ version: 7 }, { version: 1, trial: { version: 7, percent: 5 } }, { version: '1' }, 3])
        expectError(await master.send('PATCH', file, { body: { serving } }), 400, 1400);
      const beyond = { serving: { version: 1, trial: { version: 2, percent: 110 } } };
      expect((await master.send('PATCH', file, { body: beyond })).json()).to.have.deep.property('error_details', {
        field: 'serving.trial.percent',
        reason: 'must be above 0 and below 100, not 110',
      });
      expect((await ok('GET', file)).serving).to.deep.equal(trial);
    } finally {
      master.close();
    }
  });

  it('take precedence over a file of the same code, which is listed until then and read-only', async () => {
    const codes = async (): Promise<string[]> =>
      (await send('GET', `${IVR}?filter={"code":"echo"}`)).json<Script[]>().map(({ id }) => id);
    expect(await codes()).to.deep.equal(['file.echo']);
    expect((await ok('GET', `${IVR}/file.echo`)).opts).to.deep.equal({ file: 'echo.yaml' });
    expect((await send('PATCH', `${IVR}/file.echo`, { name: 'x' })).status).to.equal(422);
    expect((await send('DELETE', `${IVR}/file.echo`)).status).to.equal(422);
    const { id } = await make(IVR, { code: 'echo', scriptdata: refusing(486) });
    expect(await codes()).to.deep.equal([id]);
    expect(await statusOf('echo')).to.equal(486);
    expect((await send('DELETE', `${IVR}/${id}`)).status).to.equal(204);
    const call = await (await stage.phone('bob')).call('501');
    await call.answered();
    await call.hangup();
  });

  it('refuse invalid limits, their own and those of the domain', async () => {
    const opts = { limits: { memory: 100_000 } };
    const refused = await send('POST', IVR, { code: 'greedy', scriptdata: refusing(486), opts });
    expect(expectError(refused, 400, 1400).error_details).to.deep.equal({
      field: 'opts.limits',
      reason: 'the limit "memory" must be a whole number from 8 to 512',
    });
    const setting = { key: 'scenario_limits', value: { cpu: '1ms' } };
    expect(
      expectError(await send('POST', '/rest/v1/domain/settings', setting), 400, 1400).error_details?.field,
    ).to.equal('value');
  });

  it('answer requests to their hook', async () => {
    await make(SVC, { code: 'sum', scriptdata: module('return { sum: Number(args.a) + Number(args.b) };') });
    await make(IVR, { code: 'calls-only', scriptdata: refusing(486) });
    await make(SVC, { code: 'closed', scriptdata: module('return 1;'), opts: { hook: false } });
    await make(SVC, { code: 'fails', scriptdata: module('throw new Error("no luck");') });
    await make(SVC, {
      code: 'typed',
      scriptdata: {
        format: 'yaml',
        source: `parameters:
  n: { type: integer }
start: a
blocks:
  a:
    return: "\${n + 1}"
`,
      },
    });
    expect((await send('POST', `${HOOKS}/sum`, { a: 1, b: 2 })).json()).to.deep.equal({ sum: 3 });
    expect((await send('GET', `${HOOKS}/sum?a=4&b=5`)).json()).to.deep.equal({ sum: 9 });
    expect((await send('GET', `${HOOKS}/typed?n=41`)).json()).to.equal(42);
    expect((await send('POST', `${HOOKS}/typed?n=41`)).json()).to.equal(42);
    const wrong = await send('GET', `${HOOKS}/typed?n=x`);
    expect([wrong.status, wrong.json<{ error_details: { field: string } }>().error_details.field]).to.deep.equal([
      400,
      'n',
    ]);
    const failed = await send('GET', `${HOOKS}/fails`);
    expect([failed.status, failed.text]).to.satisfy(
      ([status, text]: [number, string]) => status === 422 && text.includes('no luck'),
    );
    for (const code of ['calls-only', 'closed', 'nothing']) {
      const refused = await send('POST', `${HOOKS}/${code}`, {});
      expect(refused.status, code).to.equal(404);
      expect(refused.text, code).to.include('no scenario of this code is there that says starts: { hook: true }');
    }
    expect((await send('GET', `${HOOKS}/sum`, undefined, 'alice')).status).to.equal(403);
    expect((await new RestClient(stage.node.base).get(`${HOOKS}/sum`)).status).to.equal(401);
    const slow = await make(SVC, { code: 'slow', scriptdata: module('await sleep(60000);') });
    const started = await send('GET', `${HOOKS}/slow?wait=0`);
    expect([started.status, started.json<{ run: string }>().run]).to.deep.equal([202, started.header('run-id')]);
    expect(slow.code).to.equal('slow');
  });

  it('identify the user of an external token', async () => {
    const master = await stage.node.login();
    const inMaster = async (method: string, path: string, body?: unknown): Promise<RestAnswer> =>
      await master.send(method, `/rest/v1${path}`, body === undefined ? {} : { body });
    const login = async (token: string): Promise<RestAnswer> =>
      await new RestClient(stage.node.base).send('POST', '/rest/v1/iam/sessions', {
        body: { token, session_type: 'token' },
      });
    expect((await login('good')).status).to.equal(422);
    expect((await inMaster('PATCH', '/iam/sessions/current', { domain: 'master' })).status).to.equal(200);
    const source = `parameters:
  token: { type: string }
variables:
  domain: demo.local
  login: ""
start: check
blocks:
  check:
    if: token == "good"
    exits: { then: good, else: end }
  good:
    set: { login: bob }
    next: end`;
    const script = await inMaster('POST', '/domain/svcscripts', {
      code: 'sso',
      scriptdata: { format: 'yaml', source },
    });
    expect(script.json<Script>().problems).to.deep.equal([]);
    const setting = await inMaster('POST', '/domain/settings', { key: 'iam_token_svcscript_code', value: 'sso' });
    expect(setting.status, setting.text).to.equal(200);
    const answer = await login('good');
    expect(answer.status, answer.text).to.equal(200);
    const bob = new RestClient(stage.node.base, answer.json<{ session_token: string }>().session_token);
    expect((await bob.get('/rest/v1/user/info')).json()).to.include({ login: 'bob', domain: 'demo.local' });
    expect((await login('bad')).status).to.equal(401);
    // The token belongs to no user.
    const runs = (await inMaster('GET', '/api/runs', undefined)).json<{ scenario: string; args?: object }[]>();
    const asked = runs.filter(({ scenario }) => scenario === 'sso');
    expect(asked.map(({ args }) => args)).to.deep.equal([undefined, undefined]);
    await inMaster('DELETE', `/domain/svcscripts/${script.json<Script>().id}`);
    // This counts as no failed login, so the address is not banned.
    for (let n = 0; n < 6; n += 1) expect((await login('good')).status).to.equal(422);
    await inMaster('DELETE', `/domain/settings/${setting.json<Script>().id}`);
    bob.close();
    master.close();
  });

  it('are independent of scripts of the same name in other domains, also in scheduling', async function () {
    this.timeout(150_000);
    const master = await stage.node.login('admin', 'master');
    const body = 'let n = 0; for (let i = 0; i < 2e7; i++) n = (n * 31 + i) % 1000003; return { n };';
    const alive = async (): Promise<number> => (await stage.node.health()).counts['runs'] ?? 0;
    const before = await alive();
    const busy = await master.send('POST', SVC, { body: { code: 'same', scriptdata: module(body) } });
    expect(busy.status, busy.text).to.equal(200);
    await make(SVC, { code: 'same', scriptdata: module('return { n: 1 };') });
    try {
      const path = `${HOOKS}/same?wait=0`;
      const begun = await Promise.all(Array.from({ length: 40 }, () => master.send('POST', path, { body: {} })));
      expect(new Set(begun.map(({ status }) => status))).to.deep.equal(new Set([202]));
      const answer = await send('POST', `${HOOKS}/same`, {});
      expect(answer.json()).to.deep.equal({ n: 1 });
      expect((await alive()) - before).to.be.greaterThan(10);
    } finally {
      await master.send('DELETE', `${SVC}/${busy.json<Script>().id}`);
      master.close();
    }
    await eventually(async () => expect(await alive()).to.be.at.most(before), 120_000);
  });
});
