import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { freeUdpRange } from '../support/ports.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { Command, type Ended } from './command.ts';

/** Of the demo data, which the node of these tests has. */
const ADMIN = ['login', 'demo.local', 'admin'];

describe('ringmaster domain, user, sipuser, trunk', function () {
  this.timeout(60_000);
  const folder = temporaryFolder();
  let node: Command;
  let url: string;
  let token: string;

  before('start a node with the demo data', async () => {
    const { from, to } = await freeUdpRange(100);
    node = await Command.run(['start'], {
      RINGMASTER_DATA_DIR: folder,
      RINGMASTER_HTTP_PORT: '0',
      RINGMASTER_SIP_PORT: '0',
      RINGMASTER_RTP_PORTS: `${from}-${to}`,
      RINGMASTER_LOG_LEVEL: 'warn',
    });
    url = (await node.printed(/REST {2}(http:\/\/\S+)\/rest\/v1/))[1] ?? '';
    token = (await logIn('demo-admin')).out.trim();
  });
  after(() => node.terminate());

  const logIn = async (password: string): Promise<Ended> =>
    (await Command.run([...ADMIN, '--url', url], {}, [], `${password}\n`)).ended;
  const run = async (...args: string[]): Promise<Ended> =>
    (await Command.run([...args, '--url', url], { RINGMASTER_TOKEN: token })).ended;

  it('login prints a token for the password of standard input, and refuses a wrong one', async () => {
    expect(token).to.match(/^[\w-]{20,}$/);
    expect(await logIn('wrong')).to.deep.equal({
      code: 1,
      out: '',
      err: 'ringmaster: Wrong domain, login or password\n',
    });
  });

  it('lists the entities of the domain as a table', async () => {
    expect(await run('sipuser')).to.deep.equal({
      code: 0,
      out: `login  phonenumber  name
alice  101          Alice
bob    102          Bob
carol  103          Carol
dave   104          Dave
`,
      err: '',
    });
    expect((await run('domain')).out).to.equal('name        is_master\ndemo.local  -\n');
  });

  it('makes phones of a range with generated passwords, and leaves those that exist', async () => {
    expect((await run('sipuser', 'add', '201-202', 'name=Desk')).out).to.match(
      /^201 {2}password \S{24} {3}\(not shown again\)\n202 {2}password \S{24} .*\n$/,
    );
    expect((await run('sipuser', 'add', '202-203', 'name=Other')).out).to.match(/^202 {2}\(exists\)\n203 {2}password /);
    expect((await run('sipuser')).out)
      .to.match(/^202 +202 +Desk$/m)
      .and.to.match(/^203 +203 +Other$/m);
  });

  it('makes users, trunks and domains with the given fields, also from a file and as JSON', async () => {
    const file = join(folder, 'password.txt');
    writeFileSync(file, 'secret\n');
    const user = await run('user', 'add', 'erin', 'name=Erin', 'roles:=["user"]', `pwd=@${file}`);
    expect(user).to.deep.equal({ code: 0, out: 'erin\n', err: '' });
    expect((await run('user')).out).to.match(/^erin +Erin +user +-$/m);
    const erin = await Command.run(['login', 'demo.local', 'erin', '--url', url], {}, [], 'secret\n');
    expect(await erin.ended).to.include({ code: 0, err: '' });
    const trunk = await run('trunk', 'add', 'carrier', 'host=sip.carrier.example', 'register=none', 'max_calls:=3');
    expect(trunk).to.deep.equal({ code: 0, out: 'carrier\n', err: '' });
    expect((await run('trunk')).out).to.match(/^carrier +sip\.carrier\.example +none +yes +unregistered/m);
    const domain = await run('domain', 'add', 'shop.demo.local');
    expect(domain.out).to.equal(
      'shop.demo.local  featurecodes *8 pickup, *31 clir, *43 echo, *70 conference, *80 intercom\n',
    );
    expect((await run('domain', 'add', 'shop.demo.local')).out).to.equal('shop.demo.local  (exists)\n');
    const greta = await run('user', 'add', 'greta', 'roles:=["user"]', '--domain', 'shop.demo.local');
    expect(greta).to.include({ code: 0, err: '' });
    expect((await run('sipuser', 'add', '301', '--domain', 'SHOP.demo.local')).code).to.equal(0);
    expect((await run('sipuser', '--domain', 'shop.demo.local')).out).to.match(/^login.*\n301 +301\n$/);
  });

  it('takes a value from standard input', async () => {
    const gina = await Command.run(
      ['user', 'add', 'gina', 'pwd=@-', '--url', url],
      { RINGMASTER_TOKEN: token },
      [],
      'piped\n',
    );
    expect(await gina.ended).to.deep.equal({ code: 0, out: 'gina\n', err: '' });
    const login = await Command.run(['login', 'demo.local', 'gina', '--url', url], {}, [], 'piped\n');
    expect(await login.ended).to.include({ code: 0, err: '' });
  });

  it('reports what the node refuses in one line, and wrong arguments with the usage', async () => {
    const refused = await run('user', 'add', 'frank', 'roles:=["nobody"]');
    expect(refused).to.deep.include({ code: 1, out: '' });
    expect(refused.err).to.match(/^ringmaster: .*roles\.0: must be the code of a role\n$/);
    expect(await run('sipuser', '--domain', 'nowhere.local')).to.deep.equal({
      code: 1,
      out: '',
      err: 'ringmaster: there is no domain nowhere.local, or it is not below demo.local\n',
    });
    for (const args of [
      ['add'],
      ['remove', '101'],
      ['add', 'x', 'name'],
      ['add', 'x', 'opts:={'],
      ['add', 'x', 'pwd=@'],
    ]) {
      const { code, err } = await run('user', ...args);
      expect({ code, usage: /^.*\nusage: ringmaster user /.test(err) }, args.join(' ')).to.deep.equal({
        code: 2,
        usage: true,
      });
    }
  });
});
