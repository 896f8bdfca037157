import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { mayRun } from './peers.ts';
import type { Reader } from './reader.ts';

const README = 'README.md';

/** The tour of the README. */
export function tour(reader: () => Reader): void {
  it('the README starts a node with the Node.js of the reader', async () => {
    const { machine, blocks } = reader();
    await machine.terminal.serve(blocks.one(README, 'npm ci && npm start'));
    expect(await reader().run('docs/operating/monitoring.md', 'healthz')).to.include('"status":"ok"');
  });

  it('the README lets baresip register as alice and bob', async function () {
    const phones = ['alice', 'bob'].map((login) => reader().blocks.one(README, `baresip -f /tmp/${login}`));
    if (!mayRun('baresip')) this.skip();
    const registered = async (): Promise<number> => {
      const { counts } = JSON.parse(await reader().shell('curl -s http://127.0.0.1:8080/healthz')) as {
        counts: { registrations: number };
      };
      return counts.registrations;
    };
    for (const [index, block] of phones.entries()) {
      await reader().shell(`set -m\n{ ${block}\n} < /dev/null > "$MACHINE/phone" 2>&1 &\nset +m\nPHONES="$PHONES -$!"`);
      await eventually(async () => expect(await registered()).to.equal(index + 1), 15_000);
    }
    await reader().shell('for phone in $PHONES; do kill -INT -- $phone; done; wait ${PHONES//-/} || :');
    await eventually(async () => expect(await registered()).to.equal(0), 15_000);
  });

  it('the README starts, shows, finds and ends a call as alice', async () => {
    const [alice, bob] = await reader().phones('alice', 'bob');
    const asked = reader().run(README, 'TOKEN=');
    const x = await alice.incoming(20_000);
    await x.answer();
    const y = await bob.incoming();
    y.ring();
    expect(JSON.parse(await asked)).to.include({ result: 'ok', last_response: 'SIP/2.0 180 Ringing' });
    await y.answer();
    const shown = await reader().shell(
      'curl -s http://127.0.0.1:8080/rest/v1/user/sip/calls -H "Authorization: Bearer $TOKEN"',
    );
    const [{ dialogid }] = JSON.parse(shown) as [{ dialogid: string }];
    const block = reader()
      .blocks.one(README, 'LOOKUP')
      .replaceAll(/(?=^curl)/gm, 'echo; ');
    const out = await reader().machine.terminal.run(block, { values: { DIALOGID: dialogid } });
    const [list = '', found = '', ended = ''] = out.split('\n').filter((line) => line !== '');
    expect((JSON.parse(list) as { dialogid: string }[]).map((dialog) => dialog.dialogid)).to.deep.equal([dialogid]);
    expect(JSON.parse(found)).to.deep.equal([dialogid]);
    expect(JSON.parse(ended)).to.deep.equal({ dialogid });
    await Promise.all([x.ended(), y.ended()]);
    await reader().hangUp();
  });
}
