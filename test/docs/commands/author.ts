import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Phone } from '../../phones/phone.ts';
import { eventually } from '../../support/eventually.ts';
import { freeSipPort, freeTcpPort, freeUdpRange } from '../../support/ports.ts';
import { textOf } from './blocks.ts';
import type { Reader } from './reader.ts';

const FIRST = 'docs/scenarios/first-scenario.md';

/** What authors of scenarios do at a terminal, in the folder of Ringmaster, beside a node with demo data. */
export function author(reader: () => Reader): void {
  const write = (name: string, text: string): void => writeFileSync(join(reader().machine.folder, name), text);

  it('the first scenario is checked and simulated, with the output on the page', async () => {
    await reader().shell('cd "$MACHINE/opt/ringmaster"');
    write('opt/ringmaster/hello.yaml', textOf(FIRST, 'yaml'));
    expect(await reader().run(FIRST, 'ringmaster check')).to.include(textOf(FIRST, ''));
    expect(await reader().run(FIRST, '--steps')).to.include('completed');
    await reader().shell(
      'mkdir my; cp -r scenarios/examples/menu.* scenarios/examples/prompts my; cp hello.yaml my/my.yaml; cd my',
    );
    expect(await reader().run('scenarios/README.md', 'my.yaml')).to.match(/passed/);
    expect(await reader().run('docs/scenarios/testing.md', 'classes.json')).to.match(/passed/);
    await reader().shell('cd ..; rm -r my');
  });

  it('runs are traced, and a module waits for a debugger', async () => {
    const [alice] = await reader().phones('alice');
    const call = await alice.call('500');
    await call.answered();
    await call.hearsSound();
    await call.hangup();
    const [{ id: ID = '' } = {}] = await eventually(async () => {
      const runs = await reader().ask<{ id?: string; scenario?: string; status?: string }[]>('/api/runs');
      const ended = runs.filter(({ scenario, status }) => scenario === 'menu' && status !== 'running');
      expect(ended.length).to.be.greaterThan(0);
      return ended;
    }, 10_000);
    expect(await reader().run('docs/scenarios/testing.md', 'trace ID', { values: { ID } })).to.include('menu');
    expect(await reader().run('docs/scenarios/testing.md', '/api/runs')).to.match(/^\[.*\]\n\[.*\]\n$/);
    expect(await reader().run('docs/scenarios/testing.md', '/figures')).to.match(/^\{"scenario":"menu",.*"runs":1,/);
    write('var/lib/ringmaster/scenarios/my_module.ts', 'export default async function () {}\n');
    await eventually(async () => {
      expect(JSON.stringify(await reader().ask('/domain/ivrscripts'))).to.include('my_module');
    }, 10_000);
    expect(await reader().run('docs/scenarios/debugging.md', 'my_module')).to.include('my_module');
    await reader().hangUp();
  });

  it('a typed client is made', async () => {
    await reader().run('docs/rest/README.md', 'ringmaster client');
    expect(await reader().shell('cat ringmaster.ts; rm ringmaster.ts')).to.include('createClient');
  });

  it('versions of a file and speech engines are set with a session of the master domain', async () => {
    await reader().shell(
      `MASTER_AUTH="Authorization: Bearer $(curl -s $API/iam/sessions -H "$JSON" \\
        -d '{"domain":"master","login":"admin","pwd":"demo-admin","session_type":"token"}' | sed 's/.*:"\\(.*\\)".*/\\1/')"
       DEMO_AUTH=$AUTH AUTH=$MASTER_AUTH`,
    );
    for (const version of [1, 2]) {
      write(
        'var/lib/ringmaster/scenarios/reception.yaml',
        textOf(FIRST, 'yaml').replace('id: hello', `id: reception\nname: "${version}"`),
      );
      await eventually(async () => {
        const found = await reader().shell('command curl -s $API/domain/ivrscripts/file.reception/versions -H "$AUTH"');
        expect(JSON.parse(found)).to.have.length(version);
      }, 10_000);
    }
    expect(await reader().runAll('docs/scenarios/starting.md')).to.include('"version":2');
    expect(await reader().runAll('docs/operating/speech.md')).to.include('"id"');
    await reader().shell('AUTH=$DEMO_AUTH');
  });

  it('the embedded servers alone serve the program of the page, also when a caller hangs up during the tones', async () => {
    const [app, socket, media, sip] = [
      await freeTcpPort(),
      await freeTcpPort(),
      await freeSipPort(),
      await freeSipPort(),
    ];
    const { from, to } = await freeUdpRange(100);
    const values = {
      9022: app,
      8021: socket,
      5080: media,
      '127.0.0.1:5060': `127.0.0.1:${sip}`,
      '20000-20999': `${from}-${to}`,
    };
    const here = (text: string): string =>
      Object.entries(values).reduce((all, [word, value]) => all.replaceAll(word, String(value)), text);
    write('opt/ringmaster/program.mjs', here(textOf('docs/embedded.md', 'js')));
    const block = here(reader().blocks.one('docs/embedded.md', 'ringmaster embedded'));
    await reader().shell(`mkdir sounds recordings
      set -m
      { ${block}
      } < /dev/null > embedded.log 2>&1 & SERVERS=$!
      until grep -q ^ready embedded.log; do kill -0 $SERVERS; sleep 0.1; done
      node program.mjs < /dev/null > program.log 2>&1 & PROGRAM=$!
      set +m`);
    const phone = await Phone.start({ login: 'x', domain: 'demo.local', password: '', registrar: `127.0.0.1:${sip}` });
    try {
      const first = await eventually(async () => {
        const call = await phone.call('1');
        await call.answered();
        return call;
      }, 20_000);
      await first.hearsSound();
      await first.hangup();
      const second = await phone.call('2');
      await second.answered();
      await second.hears(440);
      await second.ended(20_000);
      await reader().shell('kill -0 $PROGRAM || { cat program.log >&2; false; }');
    } finally {
      await phone.stop();
      await reader().shell('kill $PROGRAM || :; kill -INT -- -$SERVERS || :; wait $PROGRAM $SERVERS || :');
    }
  });

  it('the configuration of a pair is rendered, and has the files that the servers are given', async () => {
    await reader().shell('cp freeswitch-config/sizing.yaml my-sizing.yaml');
    expect(await reader().run('freeswitch-config/README.md', 'freeswitch-config')).to.include('drachtio.conf.xml');
    await reader().shell('unset RINGMASTER_DRACHTIO RINGMASTER_FREESWITCH');
  });

  it('the parts list has every package that the project names', async () => {
    await reader().run('docs/operating/security.md', 'npm sbom');
    const { components } = JSON.parse(await reader().shell('cat sbom.json')) as { components: { name: string }[] };
    expect(components.map(({ name }) => name)).to.include.members(['pino', 'node', 'fastify']);
  });
}
