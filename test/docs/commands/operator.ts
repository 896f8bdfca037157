import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freeTcpPort, freeSipPort } from '../../support/ports.ts';
import { postgresServer } from '../../storage/support/postgres-server.ts';
import type { Blocks } from './blocks.ts';
import { containers } from './containers.ts';
import { countsOf } from './counts.ts';
import { type Machine, machineOf, putProject } from './machine.ts';

const PAGES = ['install', 'first-administrator', 'secrets', 'troubleshooting', 'upgrade', 'docker'].map(
  (name) => `docs/operating/${name}.md`,
);
const BACKUP = 'docs/operating/backup.md';

/** A machine from empty to its second version, with PostgreSQL. */
export function operator(blocks: () => Blocks): void {
  let machine: Machine | undefined;
  let password = '';
  const here = (): Machine => {
    if (machine === undefined) throw new Error('no machine yet');
    return machine;
  };
  const run = (block: string, input = '', values: Readonly<Record<string, string>> = {}): Promise<string> =>
    here().terminal.run(block, { input, values });
  const one = (page: string, text: string): string => blocks().one(`docs/operating/${page}.md`, text);

  before('an empty machine, and a PostgreSQL server', async function () {
    const server = await postgresServer();
    if (server === undefined && process.env['RINGMASTER_REQUIRE_PEERS'] !== '1') {
      // Skipped, not forgotten.
      for (const page of PAGES) if (!page.endsWith('docker.md')) blocks().all(page);
      for (const text of ['pg_dump', 'pg_restore', 'dropdb']) blocks().one(BACKUP, text);
      one('docker', 'POSTGRES_PASSWORD=$(');
      this.skip();
    }
    const { port } = new URL((await server?.createDatabase()) ?? '');
    const [app, socket, media] = [await freeTcpPort(), await freeTcpPort(), await freeSipPort()];
    machine = await machineOf({
      env: { PGHOST: '127.0.0.1', PGPORT: port, PAIR_APP: `${app}`, PAIR_SOCKET: `${socket}`, PAIR_MEDIA: `${media}` },
      rules: [['@127.0.0.1:5432/', `@127.0.0.1:${port}/`]],
    });
  });
  after('the machine goes', async () => machine?.remove());

  it('a node is installed, and started by its unit', async () => {
    const steps = blocks().all('docs/operating/install.md');
    const outputs: string[] = [];
    for (const step of steps) {
      const out = await run(step, `${password}\n`);
      password ||= /^password\s+(\S+)/m.exec(out)?.[1] ?? '';
      outputs.push(out);
    }
    expect(outputs.at(-2)).to.include('"database":"ok"');
    expect(outputs.at(-1)).to.match(/^101\b[^]*^110\b/m);
  });

  it('what the image runs is what the unit runs, and its health check sees a node that is there', () =>
    containers(here(), () => run(one('docker', 'POSTGRES_PASSWORD=$('))));

  it('accounts are made and listed', async () => {
    await run('cd /opt/ringmaster/; set -a; . /etc/ringmaster.env; set +a');
    expect(await run(one('first-administrator', 'ringmaster init'))).to.include('(exists)');
    writeFileSync(join(here().folder, 'opt/ringmaster/carrier-password.txt'), 'secret of the carrier\n');
    expect(await run(one('first-administrator', 'ringmaster login'), `${password}\n`)).to.include('115');
    expect((await run(one('first-administrator', '"prefix":"*55"'))).match(/"id":/g)).to.have.length(3);
  });

  it('troubles are looked into', async () => {
    const { terminal } = here();
    await run(one('secrets', 'AUTH='), `${password}\n`);
    for (const text of ['journalctl', 'is there an account', 'mask=started', 'df -h'])
      await terminal.run(one('troubleshooting', text));
  });

  it('a backup is restored into an empty machine, with every count as before', async () => {
    await run('curl -s -X PUT $API/user/avatar -H "$AUTH" -F file=@package.json');
    const before = await countsOf(here().terminal);
    await run(blocks().one(BACKUP, 'pg_dump'));
    await run(blocks().one(BACKUP, 'dropdb'));
    await run(blocks().one(BACKUP, 'pg_restore'));
    await run(one('install', 'systemctl enable'));
    expect(await countsOf(here().terminal)).to.deep.equal(before);
    expect(Object.values(before).filter((count) => count > 0).length).to.be.greaterThan(5);
    expect(await run('curl -s "$API/user/avatar" -H "$AUTH"')).to.include('"ringmaster"');
  });

  it('passwords are changed, of users, phones, providers and scenarios', async () => {
    for (const text of ['"anna"', '"101"', '"carrier"', 'secrets.new']) await run(one('secrets', text));
    await run(one('secrets', 'OLD'), '', { OLD: password });
    password = 'another password';
    const rescue = /^password\s+(\S+)/m.exec(await run(one('secrets', 'rescue')))?.[1] ?? '';
    expect(
      await run('RINGMASTER_TOKEN=$(ringmaster login shop.example rescue) ringmaster user', `${rescue}\n`),
    ).to.include('anna');
  });

  it('the password of PostgreSQL, and the secrets of the servers, are changed', async () => {
    await run(one('secrets', 'alter role'));
    await run(`cp /etc/ringmaster.env /etc/ringmaster.env.kept
      printf 'RINGMASTER_DRACHTIO=127.0.0.1:%s:old\\nRINGMASTER_FREESWITCH=127.0.0.1:%s:old\\n' $PAIR_APP $PAIR_SOCKET >> /etc/ringmaster.env
      sed "s/5080/$PAIR_MEDIA/" freeswitch-config/sizing.yaml > /etc/ringmaster-sizing.yaml`);
    await run(one('secrets', 'RINGMASTER_FREESWITCH'));
    expect(await run('curl -s http://127.0.0.1:8080/healthz; grep -c :old /etc/ringmaster.env || :')).to.match(
      /"sip_servers":1,"media_servers":1[^]*\n0\n$/,
    );
    await run('mv /etc/ringmaster.env.kept /etc/ringmaster.env; pair_stop');
  });

  it('a new version takes the place of the old one, and goes back', async () => {
    putProject(join(here().folder, 'opt/ringmaster.new'));
    expect(await run(one('upgrade', 'ringmaster.new && npm ci'))).to.include('"status":"ok"');
    await run(one('upgrade', 'ringmaster.old /opt/ringmaster'));
    await run('test -e /opt/ringmaster.new/package.json');
  });
}
