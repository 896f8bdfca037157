import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Phone } from '../../phones/phone.ts';
import { eventually } from '../../support/eventually.ts';
import { leavesMessage } from '../../support/voice-message.ts';
import { mayRun } from './peers.ts';
import type { Reader } from './reader.ts';

const CALLS = 'docs/rest/calls.md';
const OPERATIONS = 'docs/rest/operations.md';

/** Leaves a message of a second in the mailbox of bob. */
const LEAVE = `id: leave${leavesMessage('bob')}`;

/** Live calls over REST. */
export function calls(reader: () => Reader): void {
  const ask = <T>(path: string): Promise<T> => reader().ask<T>(path);
  const terminal = () => reader().machine.terminal;

  /** A paragraph of a block with one command or a few for one call. */
  const paragraph = (page: string, text: string): string => {
    const found = reader()
      .blocks.one(page, text)
      .split('\n\n')
      .find((each) => each.includes(text));
    if (found === undefined) throw new Error(`${page} has no ${text}`);
    return found;
  };

  const answer = async (phone: Phone) => {
    const call = await phone.incoming(20_000);
    await call.answer();
    return call;
  };

  afterEach('all calls end', async () => {
    await reader().hangUp();
    await eventually(async () => expect(await ask('/uc/calls')).to.deep.equal([]), 10_000);
  });

  it('calls are listed, found and ended', async () => {
    const [alice, bob] = await reader().phones('alice', 'bob');
    const { outgoing, incoming, dialogid } = await reader().talk(alice, bob);
    expect(await reader().run(CALLS, 'mask=dialogid', { values: { DIALOGID: dialogid } })).to.include(dialogid);
    await Promise.all([outgoing.ended(), incoming.ended()]);
  });

  it('calls are started by REST and scenarios, once for each Idempotency-Key, with events', async () => {
    const [alice, bob] = await reader().phones('alice', 'bob');
    for (const text of ['"response_mode":4', 'Idempotency-Key']) {
      const asked = reader().run(CALLS, text);
      const x = await answer(alice);
      const y = await answer(bob);
      expect(await asked).to.include('"result":"ok"');
      await x.hangup();
      await y.ended();
    }
    const asked = reader().run(CALLS, 'INVITEBYIVR');
    const x = await answer(alice);
    expect(await asked).to.include('"result":"ok"');
    expect(x.header('x-ticket')).to.equal('4711');
    await x.hangup();
    expect(await reader().runAll('docs/rest/events.md')).to.include('subscribed');
    expect(await reader().run(OPERATIONS, 'dry_run=true')).to.include('"dry_run"');
  });

  it('calls are moved', async () => {
    const [alice, bob, carol] = await reader().phones('alice', 'bob', 'carol');
    const moved = await reader().talk(alice, bob);
    const asked = terminal().run(paragraph(OPERATIONS, 'X REFER $'), { values: { DIALOGID: moved.dialogid } });
    const target = await answer(carol);
    expect(await asked).to.include('"result":"ok"');
    await moved.outgoing.ended();
    await target.hangup();
    await moved.incoming.ended();

    const first = await reader().talk(alice, bob);
    await first.outgoing.hold();
    const second = await reader().talk(alice, carol);
    const values = { DIALOGID: first.dialogid, OTHER: second.dialogid };
    expect(await terminal().run(paragraph(OPERATIONS, 'REFERREPLACES'), { values })).to.include('"result":"ok"');
    await Promise.all([first.outgoing.ended(), second.outgoing.ended()]);
    await first.incoming.hangup();
    await second.incoming.ended();
  });

  it('calls come into conferences, and are labelled', async () => {
    const [alice, bob] = await reader().phones('alice', 'bob');
    const { outgoing, incoming, dialogid } = await reader().talk(alice, bob);
    const values = { DIALOGID: dialogid };
    expect(await terminal().run(paragraph(OPERATIONS, 'SETUP_BINDINGS'), { values })).to.include('"result":"ok"');
    expect(await terminal().run(paragraph(OPERATIONS, 'SWITCHCONF'), { values })).to.include('"result":"ok"');
    await outgoing.hangup();
    await incoming.hangup();
    const held = await alice.call('*7017');
    await held.answered();
    await held.hold();
    const inside = await reader().talk(alice, bob);
    const brought = await terminal().run(paragraph(OPERATIONS, 'REFERCONF'), {
      values: { DIALOGID: inside.dialogid },
    });
    expect(brought).to.include('"result":"ok"');
  });

  interface Recording {
    readonly id: string;
    readonly idconn: string;
    readonly reclink: string;
  }

  it('calls are recorded, listed in the archive, and transcribed', async () => {
    const rule = await reader().run('docs/rest/recordings.md', 'recordingrules');
    const [alice, bob] = await reader().phones('alice', 'bob');
    const { outgoing, incoming, dialogid } = await reader().talk(alice, bob);
    await reader().shell(
      `curl -s -X SETUP_RECORD $API/uc/calls/${dialogid} -H "$AUTH" -H "$JSON" -d '{"command":"add","layer":"main"}'`,
    );
    expect(await reader().run(OPERATIONS, '"command":"pause"', { values: { DIALOGID: dialogid } })).to.include('ok');
    await outgoing.hangup();
    await incoming.ended();
    const saved = await eventually(async () => {
      const [found] = await ask<Recording[]>('/domain/recordings?filter={"status":"saved"}');
      if (found === undefined) throw new Error('nothing is saved');
      return found;
    }, 20_000);
    const { id, idconn, reclink } = saved;
    const block = reader().blocks.one(OPERATIONS, 'SETUP_ASR');
    if (mayRun('pocketsphinx_continuous')) {
      const again = await reader().talk(alice, bob);
      const values = { DIALOGID: again.dialogid, CONNECTIONID: idconn, 'fs://main/...': reclink };
      expect(await terminal().run(block, { values })).to.include('"result":"ok"');
    }
    await reader().run('docs/rest/recordings.md', 'RECORDID/file', { values: { RECORDID: id, CONNECTIONID: idconn } });
    await reader().shell(`
      curl -s -X DELETE $API/domain/recordingrules/${(JSON.parse(rule) as { id: string }).id} -H "$AUTH"
      mkdir -p "$RINGMASTER_DATA_DIR/recordings/demo.local"
      cp call.wav "$RINGMASTER_DATA_DIR/recordings/demo.local/4f1c-1.wav"`);
    await reader().run('docs/rest/recordings.md', '4f1c-1.wav');
  });

  it('phones get NOTIFY, digits and silence', async () => {
    const [alice, bob] = await reader().phones('alice', 'bob');
    const { outgoing, incoming, dialogid } = await reader().talk(alice, bob);
    await outgoing.hold();
    const values = { DIALOGID: dialogid, CALLID: incoming.callId };
    expect(await reader().run(OPERATIONS, 'X NOTIFY', { values })).to.include('"result":"ok"');
  });

  it('past calls and operations are listed', async () => {
    const [{ id: callid = '' } = {}] = await eventually(async () => {
      const list = await ask<{ id?: string }[]>('/uc/history?limit=1');
      expect(list).to.have.length(1);
      return list;
    }, 20_000);
    const [{ id = '' } = {}] = await ask<{ id?: string }[]>('/uc/operations?limit=1');
    const year = new Date().getFullYear();
    const dates = { '2026-11-01': `${year}-01-01`, '2026-12-01': `${year + 1}-01-01` };
    expect(await reader().runAll('docs/rest/history.md', { values: { ...dates, CALLID: callid } })).to.include(callid);
    await reader().shell('grep -q talking_ms november.csv');
    await reader().shell('ln -sf "$MACHINE/log" node.log');
    const ofLog = { '9420f3ee-f385-4581-be39-e5dcf1d29a6b': callid };
    expect(await reader().run('docs/operating/monitoring.md', 'grep 9420f3ee', { values: ofLog })).to.include(
      '"call ended"',
    );
    await reader().shell('cd "$MACHINE/opt/ringmaster"');
    const ofLadder = { '42593f37-2ce1-41f5-9437-d6e3c8761125': callid };
    expect(await reader().run('docs/operating/ladder.md', 'ringmaster ladder', { values: ofLadder })).to.match(
      /INVITE \S+ \+SDP/,
    );
    expect(await reader().run(OPERATIONS, '/uc/operations', { values: { OPERATIONID: id } })).to.include('"operation"');
  });

  it('codecs of a provider are set', async () => {
    const [{ id = '' } = {}] = await ask<{ id?: string }[]>('/domain/providers?limit=1');
    expect(await reader().run('docs/codecs.md', 'PROVIDERID', { values: { PROVIDERID: id } })).to.include(
      '"codecs":["PCMA","PCMU"]',
    );
  });

  it('a voice message is fetched by its owner, marked as heard, and removed', async () => {
    const [alice] = await reader().phones('alice');
    await writeFile(join(reader().machine.folder, 'var/lib/ringmaster/scenarios/leave.yaml'), LEAVE);
    await eventually(async () => {
      const call = await alice.call('*55leave');
      await call.answered();
      call.play(620);
      await call.ended(10_000);
    }, 20_000);
    await reader().shell(`OTHERS=$AUTH
      AUTH="Authorization: Bearer $(echo demo-bob | npx ringmaster login demo.local bob)"; cd "$HOME/files"`);
    const [{ id = '' } = {}] = await eventually(async () => {
      const list = await ask<{ id?: string }[]>('/user/sip/voicemessages');
      expect(list).to.have.length(1);
      return list;
    }, 20_000);
    const out = await reader().run('docs/rest/voice-messages.md', 'MESSAGEID/file', { values: { MESSAGEID: id } });
    expect(out).to.include('"heard":true');
    expect(await ask('/user/sip/voicemessages')).to.deep.equal([]);
    await reader().shell('[[ $(head -c 4 message.wav) == RIFF ]]; AUTH=$OTHERS');
  });

  it('a conference is listed, extended, parted and ended', async () => {
    await reader().run('docs/conferences.md', '"prefix":"*71"');
    const [alice, bob, carol] = await reader().phones('alice', 'bob', 'carol');
    for (const phone of [alice, carol]) await (await phone.call('*7018')).answered();
    const [{ confid = '' } = {}] = await ask<{ confid?: string }[]>('/uc/conferences');
    await reader().run('docs/conferences.md', 'LOOKUP', { values: { CONFID: confid } });
    type Participants = { participantid: string; ruri: string }[];
    const idOf = async (login: string): Promise<string> => {
      const all = await ask<Participants>(`/uc/conferences/${confid}/participants`);
      return all.find(({ ruri }) => ruri.includes(login))?.participantid ?? '';
    };
    const [head, list, add, ...others] = [
      '',
      ...reader().blocks.one('docs/conferences.md', 'participants/ID').split('\n'),
    ];
    await terminal().run(`${head}${list}\n${add}`, { values: { CONFID: confid } });
    const guest = await answer(bob);
    const ID = await eventually(async () => {
      const id = await idOf('102');
      if (id === '') throw new Error('bob is not there');
      return id;
    });
    const values = { CONFID: confid, ALICE: await idOf('alice'), CAROL: await idOf('carol') };
    expect(await reader().run('docs/conferences.md', 'topology', { values })).to.include('"enabled":false');
    await terminal().run(others.join('\n'), { values: { CONFID: confid, ID } });
    await guest.ended();
    await reader().run('docs/conferences.md', 'X DELETE $API/uc/conferences/CONFID -H', { values: { CONFID: confid } });
    await reader().run('docs/conferences.md', '"layer":"CONFID"', { values: { CONFID: confid } });
  });
}
