import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { Command } from '../cli/command.ts';
import { useStage } from '../support/stage.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** The part of the generated client that these tests use. */
interface Made {
  createClient(options: { url: string; token?: string }): Client;
  readonly RingmasterError: new () => Error;
}

interface Client {
  postIamSessions(args: { body: object }): Promise<{ session_token: string }>;
  inviteUcCalls(args: { body: object; headers?: object }): Promise<{ result: string; dialogid?: string }>;
  lookupUcCalls(args: { body: object }): Promise<readonly string[]>;
  getUcCalls(args?: { query?: object }): Promise<readonly object[]>;
  getUcCallsId(args: { id: string }): Promise<{ status: string }>;
  deleteUcCallsId(args: { id: string }): Promise<{ dialogid: string }>;
  getModelClientCustomers(args?: object): Promise<readonly { name: string }[]>;
  postModelClientCustomers(args: { body: object }): Promise<{ id: string }>;
}

/** A program with the client; it checks each answer. */
const PROGRAM = `import { createClient } from './client.ts';
const client = createClient({ url: 'http://127.0.0.1', token: 'x' });
export async function use(dry: boolean): Promise<void> {
  const { result, dialogid } = await client.inviteUcCalls({ body: { from: '101', to: '102' } });
  const answered: 'ok' | 'rejected' | 'redirected' | 'timeout' | 'error' | 'undefined' = result;
  for (const each of await client.getUcCalls()) if (each.dialogid === dialogid) console.log(answered);
  const { count }: { count: number } = await client.getUcCalls({ query: { countonly: true } });
  const limited: { count: number } = await client.getUcCalls({ query: { limit: 0 } });
  const some = await client.getUcCalls({ query: { limit: count + limited.count, countonly: false } });
  const { dialogs } = await client.referUcCalls({ query: { dry_run: true }, body: { by: '101', referto: '103' } });
  const either = await client.lookupUcCalls({ query: { dry_run: dry }, body: { from: '101' } });
  const customers = await client.getModelClientCustomers();
  const names: readonly (string | null | undefined)[] = customers.map(({ name, note }) => name ?? note);
  const groups = await client.getModelClientCustomers({ query: { groupby: '{"n":"name"}' } });
  const rows: readonly Record<string, unknown>[] = groups;
  const { count: all }: { count: number } = await client.getModelClientCustomers({ query: { limit: 0 } });
  console.log(names, rows, all);
  console.log(some.length, dialogs.length, 'dialogs' in either ? either.dialogs.length : either.length);
}
`;

describe('the generated TypeScript client', () => {
  const stage = useStage();
  const folder = temporaryFolder();
  const file = join(folder, 'client.ts');
  let made: Made;
  let client: Client;
  let classId: string;

  before(async () => {
    const admin = await stage.rest();
    const properties = [
      { name: 'name', data_type: 'string', required: true },
      { name: 'note', data_type: 'string' },
    ];
    const body = { classname: 'client/customers', storage_mode: 'ram', properties };
    const answer = await admin.send('POST', '/rest/v1/domain/classes', { body });
    expect(answer.status, answer.text).to.equal(200);
    classId = answer.json<{ id: string }>().id;
    const url = stage.node.base;
    const print = async (...args: string[]): Promise<string> => {
      const { code, out, err } = await (await Command.run(['client', '--url', url, ...args])).ended;
      expect(code, err).to.equal(0);
      return out;
    };
    writeFileSync(file, await print());
    const { createClient } = (await import(`${pathToFileURL(file).href}?anonymous`)) as Made;
    const credentials = { domain: 'demo.local', login: 'admin', pwd: 'demo-admin', session_type: 'token' };
    const { session_token: token } = await createClient({ url }).postIamSessions({ body: credentials });
    writeFileSync(file, await print('--token', token));
    made = (await import(pathToFileURL(file).href)) as Made;
    client = made.createClient({ url, token });
  });

  after(async () => {
    await (await stage.rest()).send('DELETE', `/rest/v1/domain/classes/${classId}`);
  });

  it('compiles under strict settings, and so does code that uses it', () => {
    const user = join(folder, 'user.ts');
    writeFileSync(user, PROGRAM);
    const tsc = join(import.meta.dirname, '..', '..', 'node_modules', '.bin', 'tsc');
    const args = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--exactOptionalPropertyTypes',
      '--target',
      'esnext',
      '--lib',
      'esnext,dom',
    ];
    const modules = ['--module', 'esnext', '--moduleResolution', 'bundler', '--allowImportingTsExtensions'];
    const { stdout, status } = spawnSync(tsc, [...args, ...modules, '--types', '', file, user], { encoding: 'utf8' });
    expect(status, stdout).to.equal(0);
  });

  it('starts, finds, reads and ends a call', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const inviting = client.inviteUcCalls({ body: { from: '101', to: '102', response_mode: 4 } });
    const first = await alice.incoming();
    await first.answer();
    const second = await bob.incoming();
    await second.answer();
    const { result, dialogid = '' } = await inviting;
    expect(result).to.equal('ok');
    expect(await client.lookupUcCalls({ body: { from: 'bob' } })).to.deep.equal([dialogid]);
    expect(await client.getUcCalls({ query: { filter: { dialogid }, mask: 'status' } })).to.deep.equal([
      { status: 'dialog' },
    ]);
    expect((await client.getUcCallsId({ id: dialogid })).status).to.equal('dialog');
    expect(await client.deleteUcCallsId({ id: dialogid })).to.deep.equal({ dialogid });
    await Promise.all([first.ended(), second.ended()]);
  });

  it('throws the error object of the service', async () => {
    const error = await client.getUcCallsId({ id: 'nothing' }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(made.RingmasterError);
    expect(error).to.have.nested.include({ status: 404, 'error.error_code': 1413 });
  });

  it('includes the classes of the domain', async () => {
    await client.postModelClientCustomers({ body: { name: 'Ada' } });
    expect((await client.getModelClientCustomers()).map(({ name }) => name)).to.deep.equal(['Ada']);
  });
});
