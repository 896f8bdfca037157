import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Phone } from '../phones/phone.ts';
import type { PhoneSubscription } from '../phones/phone-subscription.ts';
import { header } from '../phones/sip/message.ts';
import { MAX_OF_SIPUSER } from '../../runtime/switch/subscriptions/subscriptions.ts';
import { eventually } from '../support/eventually.ts';
import { TestNode } from '../support/node.ts';
import { useStage } from '../support/stage.ts';
import { leavesMessage } from '../support/voice-message.ts';

const OWN = '/rest/v1/user/sip/voicemessages';
const ALL = '/rest/v1/domain/voicemessages';
const PATIENCE_MS = 15_000;

/** Leaves a second of sound in the mailbox of bob, and plays the first message of the caller's mailbox. */
const SCENARIOS: Readonly<Record<string, string>> = {
  e2e_leave: leavesMessage('bob'),
  e2e_listen: `
start: pick_up
blocks:
  pick_up: { answer: , next: first }
  first: { mailbox: { mailbox: "\${call.number}", action: next }, exits: { next: play, empty: end } }
  play: { play: { sounds: "\${first.sound}", repeat: 5 }, next: end }`,
};

interface Message {
  readonly id: string;
  readonly mailbox: string;
  readonly number: string;
  readonly heard: boolean;
  readonly milliseconds: number;
}

const EVENT = { event: 'message-summary', expires: 600 } as const;

/** Expects the next NOTIFY to have this count of messages. */
async function expectLamp(subscription: PhoneSubscription, fresh: number, old: number): Promise<void> {
  const { state, body } = await subscription.notifies.next(PATIENCE_MS);
  expect(state).to.match(/^active;expires=\d+$/);
  expect(body.split('\r\n')).to.deep.equal([
    `Messages-Waiting: ${fresh > 0 ? 'yes' : 'no'}`,
    'Message-Account: sip:102@demo.local',
    `Voice-Message: ${fresh}/${old} (0/0)`,
    '',
  ]);
}

describe('message lamps', () => {
  const stage = useStage();

  before('write the scenarios', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    for (const [id, text] of Object.entries(SCENARIOS)) await writeFile(join(folder, `${id}.yaml`), `id: ${id}${text}`);
  });

  afterEach('empty the mailbox', async () => {
    const rest = await stage.rest();
    for (const { id } of (await rest.get(ALL)).json<Message[]>()) await rest.send('DELETE', `${ALL}/${id}`);
  });

  async function leaveMessage(alice: Phone, frequency = 440): Promise<void> {
    const call = await eventually(async () => {
      // The node may not have read the file yet.
      const tried = await alice.call('*55e2e_leave');
      await tried.answered();
      return tried;
    });
    call.play(frequency);
    await call.ended(PATIENCE_MS);
  }

  it('go on with a message and off when it was heard', async () => {
    const alice = await stage.phone('alice');
    const bob = await stage.phone('bob', { unregistered: true });
    const subscription = bob.subscription('102', EVENT);
    const accepted = await subscription.send();
    expect([accepted.status, header(accepted, 'expires')]).to.deep.equal([200, '600']);
    await expectLamp(subscription, 0, 0);
    await leaveMessage(alice);
    await expectLamp(subscription, 1, 0);

    const messages = (await (await stage.rest('bob')).get(OWN)).json<Message[]>();
    expect(messages).to.have.length(1);
    const [message] = messages;
    expect(message).to.include({ mailbox: '102', number: '101', heard: false });
    expect(message?.milliseconds).to.be.within(500, 1100);
    expect((await (await stage.rest('alice')).get(OWN)).json()).to.deep.equal([]);
    const one = `${OWN}/${message?.id}`;
    expect((await (await stage.rest('alice')).get(one)).status, 'a message of another user').to.equal(404);
    const rest = await stage.rest('bob');
    const sound = await rest.get(`${one}/file`);
    expect([sound.status, sound.text.slice(0, 4)]).to.deep.equal([200, 'RIFF']);
    expect((await rest.send('PATCH', one, { body: { heard: true } })).status).to.equal(200);
    await expectLamp(subscription, 0, 1);
    // A refresh gets the state at once, and so does the end.
    expect((await subscription.send()).status).to.equal(200);
    await expectLamp(subscription, 0, 1);
    expect((await rest.send('DELETE', one)).status).to.equal(204);
    await expectLamp(subscription, 0, 0);
    expect((await subscription.send(0)).status).to.equal(200);
    expect((await subscription.notifies.next(PATIENCE_MS)).state).to.equal('terminated;reason=timeout');
    expect((await subscription.send()).status, 'a refresh after the end').to.equal(481);
  });

  it('play the message to its owner', async () => {
    await leaveMessage(await stage.phone('alice'), 700);
    const call = await (await stage.phone('bob')).call('*55e2e_listen');
    await call.answered();
    await call.hears(700, { withinMs: PATIENCE_MS });
    await call.hangup();
  });

  it('are a single NOTIFY for many changes at once, with the last state', async () => {
    const bob = await stage.phone('bob', { unregistered: true });
    const alice = await stage.phone('alice');
    await leaveMessage(alice);
    const subscription = bob.subscription('bob', EVENT);
    await subscription.send();
    await expectLamp(subscription, 1, 0);
    const rest = await stage.rest('bob');
    const [message] = (await rest.get(OWN)).json<Message[]>();
    for (const heard of [true, false, true, false, true])
      await rest.send('PATCH', `${OWN}/${message?.id}`, { body: { heard } });
    await expectLamp(subscription, 0, 1);
    await subscription.send(0);
    expect((await subscription.notifies.next(PATIENCE_MS)).state, 'no further state').to.match(/^terminated/);
  });

  it('end when the phone does not know the subscription any more', async () => {
    const bob = await stage.phone('bob', { unregistered: true });
    const subscription = bob.subscription('102', EVENT);
    subscription.answers = 481;
    await subscription.send();
    await expectLamp(subscription, 0, 0);
    await eventually(async () => expect((await subscription.send()).status).to.equal(481));
  });

  it('have the state once for a fetch', async () => {
    const bob = await stage.phone('bob', { unregistered: true });
    const fetched = bob.subscription('102', { event: 'message-summary', expires: 0 });
    expect((await fetched.send()).status).to.equal(200);
    const { state, body } = await fetched.notifies.next(PATIENCE_MS);
    expect([state, body.slice(0, 20)]).to.deep.equal(['terminated;reason=timeout', 'Messages-Waiting: no']);
  });

  for (const [what, target, options, status, named] of [
    ['an unknown event', '102', { event: 'weather' }, 489, ['allow-events', /message-summary.*refer/]],
    ['no event', '102', { event: '' }, 489, ['allow-events', /message-summary/]],
    ['a broken event', '102', { event: 'a b c' }, 489, ['allow-events', /message-summary/]],
    ['a short time', '102', { expires: 5 }, 423, ['min-expires', /^60$/]],
    ['a negative time', '102', { expires: -1 }, 400, undefined],
    ['no time', '102', { expires: 'soon' }, 400, undefined],
    ['an unknown mailbox', '999', {}, 404, undefined],
    ['the mailbox of another sipuser', '103', {}, 403, undefined],
    ['another domain', 'sip:102@elsewhere.example', {}, 403, undefined],
    [
      'another type of body',
      '102',
      { headers: [{ name: 'Accept', value: 'text/html' }] },
      406,
      ['accept', /simple-message/],
    ],
    [
      'a huge body',
      '102',
      { body: 'x'.repeat(5000), headers: [{ name: 'Content-Type', value: 'text/plain' }] },
      413,
      undefined,
    ],
  ] as const)
    it(`are refused for ${what} with ${status}`, async () => {
      const bob = await stage.phone('bob', { unregistered: true, transport: 'tcp' });
      const response = await bob.subscription(target, { ...EVENT, ...options }).send();
      expect(response.status).to.equal(status);
      if (named !== undefined) expect(header(response, named[0])).to.match(named[1]);
    });

  it('are refused with a wrong password', async () => {
    const mallory = await stage.phone('bob', { unregistered: true, password: 'guess' });
    expect((await mallory.subscription('102', EVENT).send()).status).to.equal(403);
  });

  it('are bounded for a sipuser, and shorten a long time', async () => {
    // A registered phone needs no credentials.
    const bob = await stage.phone('bob', { transport: 'tcp' });
    // All at once: those on their way count too.
    const asked = Array.from({ length: MAX_OF_SIPUSER + 5 }, () =>
      bob.subscription('102', { ...EVENT, expires: 4_000_000_000 }),
    );
    const answers = await Promise.all(asked.map(async (each) => ({ each, answer: await each.send() })));
    const accepted = answers.filter(({ answer }) => answer.status === 200);
    expect(accepted).to.have.length(MAX_OF_SIPUSER);
    for (const { answer } of accepted) expect(header(answer, 'expires')).to.equal('3600');
    const all = accepted.map(({ each }) => each);
    const further = await bob.subscription('102', EVENT).send();
    expect([further.status, further.reason]).to.deep.equal([403, 'Too Many Subscriptions']);
    const counts = (await (await stage.rest()).get('/healthz')).json<{ counts: { subscriptions: number } }>().counts;
    expect(counts.subscriptions).to.be.at.least(MAX_OF_SIPUSER);
    for (const each of all) await each.notifies.next(PATIENCE_MS);
    await Promise.all(all.map((each) => each.send(0)));
    expect((await bob.subscription('102', { ...EVENT, expires: 0 }).send()).status).to.equal(200);
  });

  it('go on after a restart of the node without a word of the phone, which may refresh and end them', async () => {
    const node = await TestNode.start({ embedded: true });
    try {
      const bob = await stage.phone('bob', { unregistered: true, registrar: node.sip });
      const subscription = bob.subscription('102', EVENT);
      await subscription.send();
      await expectLamp(subscription, 0, 0);
      await node.stop();
      await node.restart();
      await expectLamp(subscription, 0, 0);
      expect((await node.health()).counts['subscriptions']).to.equal(1);
      for (const again of ['once', 'twice']) {
        expect((await subscription.send()).status, `refreshed ${again}`).to.equal(200);
        await expectLamp(subscription, 0, 0);
      }
      expect((await subscription.send(0)).status).to.equal(200);
      expect((await subscription.notifies.next(PATIENCE_MS)).state).to.equal('terminated;reason=timeout');
      expect((await node.health()).counts['subscriptions']).to.equal(0);
    } finally {
      await node.remove();
    }
  });
});
