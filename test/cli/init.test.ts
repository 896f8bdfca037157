import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createDemoData } from '../../runtime/iam/index.ts';
import { openStorage } from '../../runtime/storage/index.ts';
import { Phone } from '../phones/phone.ts';
import { isPostgresInstalled, postgresServer } from '../storage/support/postgres-server.ts';
import { eventually } from '../support/eventually.ts';
import { freeUdpRange } from '../support/ports.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { Command, type Ended } from './command.ts';

describe('ringmaster init', function () {
  this.timeout(120_000);
  const folder = temporaryFolder({ each: true });

  const init = async (...args: string[]): Promise<Ended> =>
    (await Command.run(['init', ...args], { RINGMASTER_DATA_DIR: folder })).ended;

  async function start(env: Readonly<Record<string, string>> = {}): Promise<Command> {
    const { from, to } = await freeUdpRange(100);
    return await Command.run(['start'], {
      RINGMASTER_DATA_DIR: folder,
      RINGMASTER_HTTP_PORT: '0',
      RINGMASTER_SIP_PORT: '0',
      RINGMASTER_RTP_PORTS: `${from}-${to}`,
      RINGMASTER_LOG_LEVEL: 'warn',
      ...env,
    });
  }

  async function logIn(node: Command, domain: string, login: string, pwd: string): Promise<number> {
    const [, port] = await node.printed(/REST {2}http:\/\/\S+:(\d+)\/rest\/v1/);
    const { status } = await fetch(`http://127.0.0.1:${port}/rest/v1/iam/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ domain, login, pwd, session_type: 'token' }),
    });
    return status;
  }

  const write = (text: string): string => {
    const file = join(folder, 'admin.json');
    writeFileSync(file, text);
    return file;
  };

  it('prints the password of an administrator, who logs in at the next start; there are no demo accounts', async () => {
    const { code, out } = await init('--domain', 'shop.example', '--admin', 'root', '--sipusers', '099-101');
    expect(code).to.equal(0);
    expect(out.match(/^ {2}\d+/gm)).to.deep.equal(['  099', '  100', '  101']);
    const password = /^password\s+(\S+)/m.exec(out)?.[1] ?? '';
    const node = await start();
    expect(await logIn(node, 'shop.example', 'root', password)).to.equal(200);
    expect(await logIn(node, 'demo.local', 'admin', 'demo-admin')).to.equal(401);
    expect((await node.terminate()).out).not.to.include('demo');
  });

  it('gives a new domain featurecodes: a phone hears itself at *43', async () => {
    const { out } = await init('--domain', 'shop.example', '--sipusers', '101');
    const [, password = ''] = /^ {2}101 +(\S+)/m.exec(out) ?? [];
    const node = await start();
    const [, port] = await node.printed(/SIP {3}127\.0\.0\.1:(\d+)/);
    const phone = await Phone.start({
      login: '101',
      domain: 'shop.example',
      password,
      registrar: `127.0.0.1:${port}`,
    });
    try {
      await phone.register();
      const call = await phone.call('*43');
      await call.answered();
      call.play(440);
      await call.hears(440);
      await call.hangup();
    } finally {
      await phone.stop();
      await node.terminate();
    }
  });

  it('takes the password from a file, without printing it; run again, it says what exists', async () => {
    const file = write('secret-of-root\n');
    const { code, out } = await init('--password-file', file);
    expect(code).to.equal(0);
    expect(out).to.equal(
      'domain         voice.internal\n' +
        'featurecodes   *8 pickup, *31 clir, *43 echo, *70 conference, *80 intercom\n' +
        'administrator  admin\n',
    );
    expect((await init('--sipusers', '101', '--qr')).out).to.match(
      /^domain {9}voice\.internal {2}\(exists\)\nadministrator {2}admin {2}\(exists\)\n[^]*\n {2}101 {3}\S{24}\n[^]*█/,
    );
  });

  it('refuses wrong arguments with the usage, and wrong values and a store in use in one line', async () => {
    for (const numbers of ['9-1', '1-10', 'x', '1-5000', '+1']) {
      const { code, err } = await init('--sipusers', numbers);
      expect(code, numbers).to.equal(2);
      expect(err).to.include(`--sipusers: found "${numbers}", expected a number or a range such as 101-110\n`);
    }
    expect(await init('--password-file', write('short'))).to.deep.equal({
      code: 1,
      out: '',
      err: "ringmaster: The administrator's password has 5 characters; expected at least 8.\n",
    });
    expect(await init('--domain', 'a b')).to.deep.equal({
      code: 1,
      out: '',
      err: 'ringmaster: domain.name must be a host name\n',
    });
    const node = await start();
    await node.printed(/Ringmaster is ready/);
    const { code, err } = await init();
    expect(code).to.equal(1);
    expect(err).to.match(/^ringmaster: .* in use by process \d+.*\n$/);
    await node.terminate();
  });

  it('start on an empty store, reachable from a network, names the command and lets nobody in', async () => {
    // A loopback address that counts as one of a network.
    const node = await start({ RINGMASTER_HTTP_HOST: '::ffff:127.0.0.1' });
    await node.printed(/npx ringmaster init --domain shop\.example --sipusers 101-110\n/);
    expect(await logIn(node, 'demo.local', 'admin', 'demo-admin')).to.equal(401);
    await node.terminate();
  });

  it('start refuses a store with demo accounts at an address that is no loopback address', async () => {
    const storage = await openStorage({ dataDir: folder });
    await createDemoData(storage);
    await storage.close();
    const { code, out, err } = await (await start({ RINGMASTER_SIP_HOST: '0.0.0.0' })).ended;
    expect([code, out]).to.deep.equal([1, '']);
    expect(err).to.match(/^ringmaster: The store has the demo accounts, whose passwords are public.*\n$/);
  });

  it('on PostgreSQL, a running node lets the new administrator in', async function () {
    if (!isPostgresInstalled() && process.env['RINGMASTER_REQUIRE_PEERS'] !== '1') this.skip();
    const env = { DATABASE_URL: (await (await postgresServer())?.createDatabase()) ?? '', RINGMASTER_DATA_DIR: folder };
    const node = await start({
      ...env,
      RINGMASTER_HTTP_HOST: '::ffff:127.0.0.1',
      RINGMASTER_LOGIN_ALLOW: '127.0.0.1,::ffff:127.0.0.1',
    });
    await node.printed(/npx ringmaster init/);
    const args = ['init', '--domain', 'shop.example', '--password-file', write('secret-of-admin')];
    expect(await (await Command.run(args, env)).ended).to.include({ code: 0, err: '' });
    await eventually(async () => {
      expect(await logIn(node, 'shop.example', 'admin', 'secret-of-admin')).to.equal(200);
    });
    await node.terminate();
  });

  it('start makes the accounts of RINGMASTER_ADMIN_FILE in an empty store, and reads it no more', async () => {
    const accounts = {
      domain: 'shop.example',
      admin: 'root',
      pwd: 'first-pwd',
      sipusers: [{ login: '101', pwd: 'x' }],
    };
    const file = write(JSON.stringify(accounts));
    const node = await start({ RINGMASTER_ADMIN_FILE: file });
    expect(await logIn(node, 'shop.example', 'root', 'first-pwd')).to.equal(200);
    await node.terminate();
    write('no longer JSON');
    const again = await start({ RINGMASTER_ADMIN_FILE: file });
    expect(await logIn(again, 'shop.example', 'root', 'first-pwd')).to.equal(200);
    await again.terminate();
  });

  it('start refuses an invalid RINGMASTER_ADMIN_FILE in one line without its secrets', async () => {
    for (const [text, problem] of [
      ['{"domain": "shop.example", "admin": "root", "pwd": 7777}', 'pwd is no text, or empty'],
      ['{"domain": "shop.example", "admin": "root", "password": "7777"}', 'the file has the unknown field password'],
      [
        '{"domain": "a.example", "admin": "r", "pwd": "7777", "sipusers": [{"login": "1"}]}',
        'sipusers.0.pwd is missing',
      ],
      ['{"pwd": "7777"', 'is not JSON'],
      [
        '{"domain": "a.example", "admin": "r", "pwd": "77777777", "sipusers": [{"login": "anna", "pwd": "7777"}]}',
        'the phone anna, whose login is its number: sipuser.phonenumber must be digits, `*`, `#`, a leading `+`; empty: none',
      ],
      ['{"domain": "two words", "admin": "r", "pwd": "77777777"}', 'domain.name must be a host name'],
    ] as const) {
      const { code, err } = await (await start({ RINGMASTER_ADMIN_FILE: write(text) })).ended;
      expect(code, text).to.equal(1);
      expect(err).to.include(`RINGMASTER_ADMIN_FILE: ${join(folder, 'admin.json')}: ${problem}`);
      expect(err).to.include('; expected {"domain"');
      expect(err).not.to.include('7777');
    }
  });
});
