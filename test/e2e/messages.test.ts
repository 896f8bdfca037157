import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { Baresip } from '../phones/baresip.ts';
import { requirePeer } from '../phones/peers.ts';
import type { Phone } from '../phones/phone.ts';
import { parseNameAddr } from '../phones/sip/address.ts';
import { header } from '../phones/sip/message.ts';
import { REAL_SIP } from '../support/real-servers.ts';
import { type Stage, useStage } from '../support/stage.ts';

const SCENARIOS = {
  msg_call: `
id: msg_call
start: tell
blocks:
  tell:
    send_message: { to: bob, from: "700", from_name: "Front Desk", text: "Grüße" }
    exits: { delivered: yes, refused: no, unreachable: away }
  yes: { reject: 486, next: end }
  no: { reject: 603, next: end }
  away: { reject: 480, next: end }
`,
};

/** Answers a text with another one. */
const ROBOT = `
parameters: { from: string, to: string, text: string, delivered: boolean }
starts: { event: messageevents.received }
start: which
blocks:
  which: { if: '\${text == "ping"}', exits: { then: answer, else: end } }
  answer:
    send_message: { to: "\${from}", from: "\${to}", text: "pong \${string(delivered)}" }
    exits: { delivered: end, refused: end }
`;

const MODULE = `
export default async function (call, args) {
  const told = await call.sendMessage({ to: args.to, from: '700', text: args.text });
  return { exit: told.exit, status: told.status };
}
export const parameters = { to: 'string', text: 'string' };
export const starts = { hook: true };
`;

/** The text received by a phone. */
async function textAt(phone: Phone): Promise<{ text: string; from: string; type: string | undefined }> {
  const request = await phone.requests.next(5000);
  const { uri } = parseNameAddr(header(request, 'from') ?? '');
  return { text: request.body, from: uri, type: header(request, 'content-type') };
}

type ReceivedEvent = Readonly<Record<string, string | number | boolean>>;

/** Follows the texts that a user may see; `received` returns those received so far. */
async function follow(
  stage: Stage,
  login: string,
): Promise<{ received(): Promise<readonly ReceivedEvent[]>; close(): void }> {
  const { token } = await stage.rest(login);
  const socket = new WebSocket(`${stage.node.base.replace('http', 'ws')}/ws`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const received: ReceivedEvent[] = [];
  const subscribed = Promise.withResolvers<void>();
  socket.on('message', (text: Buffer) => {
    const [method, body] = JSON.parse(text.toString()) as [string, { data: ReceivedEvent }];
    if (method === 'subscribe_result') subscribed.resolve();
    if (method === 'event') received.push(body.data);
  });
  await once(socket, 'open');
  socket.send(JSON.stringify(['subscribe', { qid: '1', id: 'texts', events: ['messageevents'], expires: 60 }]));
  await subscribed.promise;
  return {
    received: async () => {
      socket.ping();
      await once(socket, 'pong');
      return received;
    },
    close: () => socket.close(),
  };
}

describe('text messages outside calls (MESSAGE)', () => {
  const stage = useStage();

  before('write the scenarios', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    for (const [id, text] of Object.entries(SCENARIOS)) await writeFile(join(folder, `${id}.yaml`), text);
    await writeFile(join(folder, 'msg_module.js'), MODULE);
  });

  describe('from phone to phone', () => {
    for (const transport of ['udp', 'tcp'] as const) {
      it(`reach every phone of a number or login over ${transport}`, async () => {
        const alice = await stage.phone('alice', { transport });
        const phones = [await stage.phone('bob', { transport })];
        // drachtio-server sends all messages for a user at one address over the same TCP connection (docs/conformance.md).
        if (!REAL_SIP || transport === 'udp') phones.push(await stage.phone('bob', { transport: 'udp' }));
        for (const target of ['102', 'bob']) {
          const answer = await alice.message(target, `to ${target}: ☎`);
          expect(answer.status).to.equal(200);
          for (const phone of phones) {
            expect(await textAt(phone)).to.deep.equal({
              text: `to ${target}: ☎`,
              from: 'sip:alice@demo.local',
              type: 'text/plain',
            });
          }
        }
      });
    }

    it('are delivered when one phone accepts them; otherwise the sender gets the answer of the phones', async () => {
      const alice = await stage.phone('alice');
      await stage.phone('bob', { messageStatus: 415 });
      expect((await alice.message('102', 'hello')).status).to.equal(415);
      await stage.phone('bob');
      expect((await alice.message('102', 'hello')).status).to.equal(200);
    });

    it('an unusual answer of a phone reaches the sender as that of its class, and the node goes on', async () => {
      const alice = await stage.phone('alice');
      await stage.phone('bob', { messageStatus: 499 });
      expect((await alice.message('102', 'hello')).status).to.equal(400);
    });

    it('follow no redirection, and pass on no challenge of another phone', async () => {
      const alice = await stage.phone('alice');
      await stage.phone('bob', { messageStatus: 407 });
      await stage.phone('carol', { messageStatus: 302 });
      expect((await alice.message('102', 'hello')).status).to.equal(480);
      expect((await alice.message('103', 'hello')).status).to.equal(480);
    });

    it('are answered 404 for an unknown number, 480 without a phone, and reach no other host', async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      expect((await alice.message('999', 'hello')).status).to.equal(404);
      expect((await alice.message('103', 'hello')).status).to.equal(480);
      expect((await alice.message('sip:bob@elsewhere.example', 'hello')).status).to.equal(404);
      // The sender has no other phone.
      expect((await alice.message('101', 'hello')).status).to.equal(480);
      expect((await alice.message(`sip:102@${stage.node.sip}`, 'by address')).status).to.equal(200);
      expect((await textAt(bob)).text).to.equal('by address');
      expect(bob.requests.pending).to.equal(0);
    });

    it('do not loop through phones registered at the address of the server', async () => {
      const alice = await stage.phone('alice', { unregistered: true });
      const carol = await stage.phone('carol', { unregistered: true });
      const writer = await stage.phone('alice', { unregistered: true });
      for (const phone of [alice, carol]) {
        await phone.register({ contact: `sip:101@${stage.node.sip}` });
        await phone.register({ contact: `sip:103@${stage.node.sip}` });
      }
      const events = await follow(stage, 'admin');
      expect((await writer.message('103', 'round')).status).to.equal(480);
      // It returns once from each contact of carol, as if sent by alice, and goes no further.
      expect((await events.received()).length).to.be.within(1, 3);
      events.close();
      for (const phone of [alice, carol]) await phone.register({ contact: '*', expires: 0 });
    });

    it('from an unregistered phone require its password', async () => {
      const bob = await stage.phone('bob');
      const alice = await stage.phone('alice', { unregistered: true });
      expect((await alice.message('102', 'wrong', { password: 'wrong' })).status).to.equal(403);
      expect((await alice.message('102', 'right')).status).to.equal(200);
      expect((await textAt(bob)).text).to.equal('right');
      // Under another name, a phone still sends as its own account.
      const answer = await alice.message('102', 'as carol', { from: 'sip:carol@demo.local' });
      expect(answer.status).to.equal(200);
      expect((await textAt(bob)).from).to.equal('sip:101@demo.local');
    });

    it('are plain text of at most 1300 octets', async () => {
      const alice = await stage.phone('alice', { transport: 'tcp' });
      const bob = await stage.phone('bob', { transport: 'tcp' });
      const html = await alice.message('102', '<b>x</b>', { contentType: 'text/html' });
      expect(html.status).to.equal(415);
      expect(header(html, 'accept')).to.equal('text/plain');
      expect((await alice.message('102', 'x', { contentType: 'text/plain;charset=utf-16' })).status).to.equal(415);
      expect((await alice.message('102', `${'é'.repeat(650)}x`)).status).to.equal(513);
      const longest = 'é'.repeat(650);
      expect((await alice.message('102', longest, { contentType: 'text/plain; charset="UTF-8"' })).status).to.equal(
        200,
      );
      expect((await textAt(bob)).text).to.equal(longest);
    });

    it('of an ended call are answered 481', async () => {
      const alice = await stage.phone('alice');
      expect((await alice.message('102', 'x', { to: '<sip:bob@demo.local>;tag=gone' })).status).to.equal(481);
    });

    it('reach baresip', async function () {
      const program = requirePeer(this, 'baresip');
      const carol = await Baresip.start(program, {
        login: 'carol',
        domain: 'demo.local',
        password: 'demo-carol',
        server: stage.node.sip,
      });
      try {
        await carol.registered();
        const alice = await stage.phone('alice');
        expect((await alice.message('103', 'hello')).status).to.equal(200);
      } finally {
        await carol.stop();
      }
    });
  });

  describe('from and to scenarios', () => {
    it('are sent without affecting the call', async () => {
      const [alice, bob] = await stage.phones('alice', 'bob');
      expect((await (await alice.call('*55msg_call')).refused()).status).to.equal(486);
      expect(await textAt(bob)).to.deep.equal({ text: 'Grüße', from: 'sip:700@demo.local', type: 'text/plain' });
      await bob.unregister();
      expect((await (await alice.call('*55msg_call')).refused()).status).to.equal(480);
      await stage.phone('bob', { messageStatus: 488 });
      expect((await (await alice.call('*55msg_call')).refused()).status).to.equal(603);
    });

    it('are sent by modules, without a call', async () => {
      const bob = await stage.phone('bob');
      const rest = await stage.rest();
      const ask = async (to: string): Promise<unknown> =>
        (await rest.send('POST', '/rest/v1/api/hooks/msg_module', { body: { to, text: 'from a module' } })).json();
      expect(await ask('102')).to.deep.include({ exit: 'delivered', status: 200 });
      expect((await textAt(bob)).text).to.equal('from a module');
      expect(await ask('999')).to.deep.include({ exit: 'unreachable', status: 404 });
    });

    it('are reported to authorised users, and to no other user of the domain', async () => {
      const [alice] = await stage.phones('alice', 'bob');
      const [admin, carol] = await Promise.all([follow(stage, 'admin'), follow(stage, 'carol')]);
      await alice.message('bob', 'for bob');
      expect(await admin.received()).to.deep.equal([
        {
          from: '101',
          fromlogin: 'alice',
          to: '102',
          tologin: 'bob',
          text: 'for bob',
          status: 200,
          delivered: true,
        },
      ]);
      expect(await carol.received()).to.deep.equal([]);
      for (const each of [admin, carol]) each.close();
    });

    it('start scenarios as events, also when they were not delivered', async () => {
      const rest = await stage.rest();
      const scriptdata = { format: 'yaml', source: ROBOT };
      const made = await rest.send('POST', '/rest/v1/domain/svcscripts', { body: { code: 'robot', scriptdata } });
      expect(made.status, made.text).to.equal(200);
      expect(made.json<{ problems: unknown[] }>().problems).to.deep.equal([]);
      try {
        const [alice, bob] = await stage.phones('alice', 'bob');
        expect((await alice.message('102', 'ping')).status).to.equal(200);
        expect(await textAt(alice)).to.deep.include({ text: 'pong true', from: 'sip:102@demo.local' });
        expect((await textAt(bob)).text).to.equal('ping');
        expect((await alice.message('103', 'ping')).status).to.equal(480);
        expect(await textAt(alice)).to.deep.include({ text: 'pong false', from: 'sip:103@demo.local' });
      } finally {
        await rest.send('DELETE', `/rest/v1/domain/svcscripts/${made.json<{ id: string }>().id}`);
      }
    });
  });
});
