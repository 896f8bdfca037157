import { expect } from 'chai';
import type { RestAnswer } from '../phones/rest-client.ts';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';
import { expectError } from './expectations.ts';

const IVR = '/rest/v1/domain/ivrscripts';
const SVC = '/rest/v1/domain/svcscripts';

interface Script {
  readonly id: string;
  readonly version: number;
  readonly serving: { readonly version: number | null; readonly trial?: object };
  readonly problems: readonly { readonly file?: string; readonly message: string; readonly suggestion?: string }[];
}

const ts = (source: string) => ({ format: 'ts', source });
/** A module that others import. */
const hours = (open: string) => ts(`export const open = (): string => ${JSON.stringify(open)};\n`);
const USER = ts(`import { open } from './hours.ts';\nexport default async function () { return { open: open() }; }\n`);

describe('scripts that import others of their domain', () => {
  const stage = useStage();
  const made: string[] = [];

  const send = async (method: string, path: string, body?: unknown): Promise<RestAnswer> =>
    (await stage.rest('admin')).send(method, path, body === undefined ? {} : { body });
  const ok = async <T = Script>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await send(method, path, body);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json<T>();
  };
  const make = async (path: string, body: object): Promise<string> => {
    const { id, problems } = await ok('POST', path, body);
    made.unshift(`${path}/${id}`);
    expect(problems).to.deep.equal([]);
    return `${path}/${id}`;
  };
  const said = async (code: string): Promise<unknown> => (await send('POST', `/rest/v1/api/hooks/${code}`, {})).json();
  const both = async (): Promise<readonly [module: string, user: string]> => {
    const module = await make(SVC, { code: 'hours', scriptdata: hours('9') });
    return [module, await make(SVC, { code: 'user', scriptdata: USER })];
  };
  const expectRefused = async (answer: Promise<RestAnswer> | RestAnswer, reason: RegExp): Promise<void> => {
    const { error_details: details } = expectError(await answer, 422, 1405);
    expect(details?.reason).to.match(reason);
  };

  afterEach(async () => {
    // A module goes after its importers.
    const all = made.splice(0);
    for (const path of [...all, ...all]) await send('DELETE', path);
  });

  it('have a new version when the module changes, with its number in traces and figures', async () => {
    const [module, user] = await both();
    expect(await said('user')).to.deep.equal({ open: '9' });
    await ok('PATCH', module, { scriptdata: hours('10') });
    expect(await said('user')).to.deep.equal({ open: '10' });
    expect(await ok('GET', user)).to.deep.include({ version: 2, serving: { version: 2 }, scriptdata: USER });
    const runs = await eventually(async () => {
      const all = await ok<{ version: string; hash: string }[]>(
        'GET',
        '/rest/v1/api/runs?filter={"scenario":"user"}&limit=2&mask=version,hash',
      );
      expect(all).to.have.length(2);
      return all;
    });
    expect(runs.map(({ version }) => version)).to.deep.equal(['2', '1']);
    expect(runs[0]?.hash).to.not.equal(runs[1]?.hash);
    expect(await ok('GET', '/rest/v1/api/scenarios/user/figures')).to.deep.include({ versions: { 1: 1, 2: 1 } });

    const versions = await ok<{ number: number; percent: number }[]>('GET', `${user}/versions`);
    expect(versions.map(({ number, percent }) => [number, percent])).to.deep.equal([
      [2, 100],
      [1, 0],
    ]);
    expect(await ok('GET', `${user}/versions/1`)).to.deep.include({ modules: { 'hours.ts': hours('9').source } });
    // A rollback returns to the modules of that version, until the script is saved again.
    await ok('ROLLBACK', user);
    await ok('PATCH', module, { scriptdata: hours('11') });
    expect(await said('user')).to.deep.equal({ open: '9' });
    expect((await ok('PATCH', user, { scriptdata: USER })).serving).to.deep.equal({ version: 3 });
    expect(await said('user')).to.deep.equal({ open: '11' });
  });

  it('are in either collection, and follow modules through other modules and in circles', async () => {
    const days = (text: string) =>
      ts(`import { open } from './hours.ts';\nexport const day = () => '${text}' + (open === undefined);\n`);
    const circle = ts(`import { day } from './days.ts';\nexport const open = () => day();\n`);
    const draft = await ok('POST', IVR, [
      { code: 'hours', scriptdata: circle },
      { code: 'days', scriptdata: days('Monday ') },
    ]);
    const [one, other] = draft as unknown as readonly Script[];
    expect([one?.problems, other?.problems]).to.deep.equal([[], []]);
    await make(SVC, { code: 'user', scriptdata: USER });
    made.push(`${IVR}/${other?.id}`, `${IVR}/${one?.id}`);
    expect(await said('user')).to.deep.equal({ open: 'Monday false' });
    await ok('PATCH', `${IVR}/${other?.id}`, { scriptdata: days('Friday ') });
    expect(await said('user')).to.deep.equal({ open: 'Friday false' });
    expect(await ok('GET', `${IVR}/${one?.id}`)).to.deep.include({ version: 2, serving: { version: 2 } });
    // Each imports the other: both go when nobody else imports them.
    await send('DELETE', made.shift() ?? '');
    expectError(await send('DELETE', `${IVR}/${one?.id}`), 409, 1402);
    await ok('PATCH', `${IVR}/${one?.id}`, { scriptdata: hours('9') });
  });

  it('refuse a change of the module that would break them, naming the importer and the place', async () => {
    const [module, user] = await both();
    const closed = ts('export const closed = (): string => "never";\n');
    const reason = /^would break the svcscript "user" that imports it, at user\.ts:1:10: hours\.ts exports no "open"$/;
    const refused = await send('PATCH', module, { scriptdata: closed });
    await expectRefused(refused, reason);
    expect(refused.json()).to.have.nested.property('error_details.field', 'scriptdata');
    expect(refused.json()).to.have.nested.property('error_details.importers[0].problem.line', 1);
    await expectRefused(send('PATCH', `${module}?dry_run=true`, { scriptdata: closed }), reason);
    await expectRefused(send('PATCH', module, { code: 'times' }), /there is no module "hours\.ts"/);
    await expectRefused(
      send('PATCH', module, { scriptdata: { format: 'js', source: 'export const open = 1;' } }),
      /hours/,
    );
    // What is not served breaks nobody: a text with mistakes, and a draft, which says so.
    expect((await ok('PATCH', module, { scriptdata: ts('export const open = (;') })).serving).to.deep.equal({
      version: 1,
    });
    const drafted = await ok('PATCH', module, { draft: true, scriptdata: closed });
    expect(drafted.problems.map(({ message }) => message)).to.match(reason);
    await expectRefused(send('PATCH', module, { draft: false }), reason);
    const checked = await ok<{ mistakes: number; problems: object[] }>('CHECK', SVC, {
      code: 'hours',
      scriptdata: closed,
    });
    expect(checked.mistakes).to.equal(1);
    expect(checked.problems[0]).to.include({ file: 'user.ts', line: 1, column: 10 });
    expect(await ok('CHECK', SVC, { code: 'hours', scriptdata: hours('11') })).to.deep.include({ mistakes: 0 });
    expect(await said('user')).to.deep.equal({ open: '9' });
    expect((await ok('GET', user)).version).to.equal(1);
    const more = ts(`${hours('9').source}export const also = 1;\n`);
    const rename = ts(
      `import { also as open } from './hours.ts';\nexport default async function () { return open; }\n`,
    );
    await ok('PATCH', module, { draft: false, scriptdata: more });
    await ok('PATCH', user, { scriptdata: rename });
    await expectRefused(send('ROLLBACK', module), /"user" .* hours\.ts exports no "also"/);
    await expectRefused(send('PATCH', module, { serving: { version: 1 } }), /"user"/);
    expect(await said('user')).to.equal(1);
    const inUse = expectError(await send('DELETE', module), 409, 1402);
    expect(inUse.error_details?.reason).to.include('imports of the svcscript "user"');
  });

  it('change together with their modules, also as drafts', async () => {
    const [module, user] = await both();
    const [hoursId, userId] = [module, user].map((path) => path.slice(SVC.length + 1));
    const named = ts('export const closed = () => "never";\n');
    const uses = ts(`import { closed } from './hours.ts';\nexport default async function () { return closed(); }\n`);
    const drafts = [
      { id: userId, draft: true, scriptdata: uses },
      { id: hoursId, draft: true, scriptdata: named },
    ];
    for (const draft of await ok<readonly Script[]>('PATCH', SVC, drafts))
      expect(draft.serving).to.deep.equal({ version: 1 });
    expect(await said('user')).to.deep.equal({ open: '9' });
    const alone = expectError(await send('PATCH', user, { draft: false }), 400, 1400);
    expect(alone.error_details?.reason).to.include('1:10: hours.ts exports no "closed"');
    await expectRefused(send('PATCH', module, { draft: false }), /"user"/);
    const promoted = drafts.map(({ id }) => ({ id, draft: false }));
    for (const { serving, problems } of await ok<readonly Script[]>('PATCH', SVC, promoted))
      expect({ serving, problems }).to.deep.equal({ serving: { version: 2 }, problems: [] });
    expect(await said('user')).to.equal('never');
    const back = [
      { id: userId, scriptdata: USER },
      { id: hoursId, scriptdata: hours('9') },
    ];
    await ok('PATCH', `${SVC}?dry_run=true`, back);
    expect(await said('user')).to.equal('never');
    const wrong = await send('PATCH', SVC, [{ id: userId, name: 'User' }, back[1]]);
    expect(expectError(wrong, 422, 1405).error_details?.field).to.equal('1.scriptdata');
    await ok('PATCH', SVC, back);
    expect(await said('user')).to.deep.equal({ open: '9' });
  });

  it('may be saved before their module, and serve when it arrives', async () => {
    const { id, problems, serving } = await ok('POST', SVC, { code: 'user', scriptdata: USER });
    made.push(`${SVC}/${id}`);
    expect(problems).to.have.length(1);
    expect(problems[0]).to.include({
      message: 'there is no module "hours.ts"',
      suggestion: 'make a script of this domain with the code "hours" and the format "ts"',
    });
    expect(serving).to.deep.equal({ version: null });
    const module = await make(SVC, { code: 'hours', draft: true, scriptdata: hours('9') });
    const [waiting] = (await ok('PATCH', `${SVC}/${id}`, { scriptdata: USER })).problems;
    expect(waiting?.suggestion).to.match(/has no version that serves: .* end its draft/);
    await ok('PATCH', module, { draft: false });
    expect(await said('user')).to.deep.equal({ open: '9' });
    // The change of a module is no change by an author.
    expect(await ok('PATCH', `${SVC}/${id}`, { base_version: 1, name: 'User' })).to.deep.include({ problems: [] });
  });

  it('import nothing of other domains, nor of the master domain, and no more than fits', async () => {
    const master = await stage.node.login('admin', 'master');
    const other = (await master.send('POST', SVC, { body: { code: 'hours', scriptdata: hours('9') } })).json<Script>();
    try {
      const { problems } = await ok('POST', `${SVC}?dry_run=true`, { code: 'user', scriptdata: USER });
      expect(problems.map(({ message }) => message)).to.deep.equal(['there is no module "hours.ts"']);
      const mistake = async (source: string) => (await ok('CHECK', SVC, { scriptdata: ts(source) })).problems;
      const outside = `import { open } from '../master/hours.ts';\nexport default async function () {}\n`;
      expect((await mistake(outside))[0]).to.include({ line: 1, column: 22 });
      const [long] = await mistake(`${USER.source}//${'x'.repeat(131_072)}`);
      expect(long?.message).to.match(/the file has 131\d+ characters/);
    } finally {
      await master.send('DELETE', `${SVC}/${other.id}`);
      master.close();
    }
    const chain = Array.from({ length: 52 }, (_, n) => ({
      code: `m${n}`,
      scriptdata: ts(`${n < 51 ? `export * from './m${n + 1}.ts';\n` : ''}export const x${n} = 1;\n`),
    }));
    const [first] = await ok<readonly Script[]>('POST', `${SVC}?dry_run=true`, chain);
    expect(first?.problems).to.have.length(1);
    expect(first?.problems[0]).to.deep.include({
      file: 'm50.ts',
      message: 'the scenario imports more than 50 modules',
    });
  });

  it('serve calls, and are no scenario where nothing can run', async () => {
    await make(IVR, { code: 'hours', scriptdata: hours('486') });
    const source = `import { open } from './hours.ts';\nexport default async function (call: Call) { await call.reject({ status: Number(open()) }); }\n`;
    await make(IVR, { code: 'user', scriptdata: ts(source) });
    const phone = await stage.phone('alice');
    expect((await (await phone.call('*55user')).refused()).status).to.equal(486);
    expect((await (await phone.call('*55hours')).refused()).status).to.equal(404);
    const invite = await send('INVITEBYIVR', '/rest/v1/uc/calls', { scriptcode: 'hours', to: '102' });
    await expectRefused(invite, /^'hours' is a module that others import and no scenario; see GET .domain.ivrscripts/);
  });
});
