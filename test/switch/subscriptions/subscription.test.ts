import { mock } from 'node:test';
import { expect } from 'chai';
import { answer, type NotifyResult, type OutgoingNotifyOptions } from '../../../runtime/signalling/index.ts';
import { Subscription, type SubscriptionFacts } from '../../../runtime/switch/subscriptions/subscription.ts';

const FACTS: SubscriptionFacts = {
  id: 's1',
  sipUserId: 'u1',
  event: 'message-summary',
  eventId: '',
  target: '102',
  key: 'demo.local 102',
  dialog: {
    server: 'd1',
    callId: 'c1',
    local: '<sip:102@x>;tag=a',
    remote: '<sip:102@x>;tag=b',
    contact: '<sip:192.0.2.9>',
    target: 'sip:102@192.0.2.1',
  },
  remoteTag: 'b',
  source: { protocol: 'udp', address: '192.0.2.1', port: 5060 },
  route: undefined,
  via: 'server',
  began: 0,
  expires: 3_600_000,
};

describe('a subscription', () => {
  let sent: OutgoingNotifyOptions[] = [];
  let ended: string[] = [];
  let status = 200;
  let inDialog = true;
  let body: string | undefined = 'first';
  let broken = false;
  let subscription: Subscription;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 0 });
    sent = [];
    ended = [];
    status = 200;
    inDialog = true;
    body = 'first';
    broken = false;
    subscription = new Subscription(FACTS, {
      state: async () => {
        if (broken) throw new Error('the database is away');
        const text = body;
        return text === undefined ? undefined : { type: 'text/plain', text: () => text };
      },
      notify: async (options): Promise<NotifyResult> => {
        sent.push(options);
        return { answer: answer(status, undefined, status === 408), inDialog };
      },
      nextHop: () => undefined,
      ended: (_, reason) => ended.push(reason),
      failed: () => undefined,
      now: () => Date.now(),
    });
  });
  afterEach(() => {
    subscription.drop();
    mock.timers.reset();
  });

  /** Lets time and promises go on. */
  async function pass(milliseconds: number): Promise<void> {
    await settled();
    mock.timers.tick(milliseconds);
    await settled();
  }
  async function settled(): Promise<void> {
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  }
  const bodies = (): (string | undefined)[] => sent.map((each) => each.body?.text);

  it('sends the state at once, then at most once a second, the last state always', async () => {
    subscription.change();
    await pass(0);
    expect(bodies()).to.deep.equal(['first']);
    for (const state of ['second', 'third']) {
      body = state;
      subscription.change();
    }
    await pass(999);
    expect(bodies()).to.deep.equal(['first']);
    await pass(1);
    expect(bodies()).to.deep.equal(['first', 'third']);
    await pass(5000);
    expect(bodies()).to.have.length(2);
  });

  it('sends nothing when the state is the same as before, except after a refresh', async () => {
    for (const _ of [1, 2, 3]) {
      subscription.change();
      await pass(2000);
    }
    expect(bodies()).to.deep.equal(['first']);
    body = 'second';
    subscription.change();
    await pass(0);
    expect(bodies(), 'at once').to.deep.equal(['first', 'second']);
    await pass(2000);
    subscription.refresh(FACTS);
    await pass(0);
    expect(bodies()).to.deep.equal(['first', 'second', 'second']);
  });

  it('says how long it lasts, and ends with the state and the reason timeout', async () => {
    subscription.change();
    await pass(0);
    expect(sent[0]?.state).to.equal('active;expires=3600');
    await pass(3_600_000);
    expect(sent.at(-1)).to.deep.include({ state: 'terminated;reason=timeout' });
    expect(sent.at(-1)?.body?.text).to.equal('first');
    expect(ended).to.deep.equal(['timeout']);
    subscription.change();
    await pass(2000);
    expect(sent).to.have.length(2);
  });

  it('lasts longer after a refresh', async () => {
    subscription.refresh({ ...FACTS, expires: 7_200_000 });
    await pass(3_600_000);
    expect(ended).to.deep.equal([]);
    await pass(3_600_000);
    expect(ended).to.deep.equal(['timeout']);
  });

  for (const failure of [481, 404, 408])
    it(`ends when a NOTIFY is answered ${failure}`, async () => {
      status = failure;
      subscription.change();
      await pass(0);
      expect([ended, subscription.state]).to.deep.equal([[String(failure)], 'ended']);
    });

  it('waits and tries again while the SIP server or the database is away', async () => {
    status = 503;
    subscription.change();
    await pass(0);
    status = 200;
    broken = true;
    await pass(15_000);
    expect(sent).to.have.length(1);
    broken = false;
    body = 'last';
    await pass(15_000);
    expect([bodies(), ended]).to.deep.equal([['first', 'last'], []]);
  });

  it('ends with the reason noresource when there is no state for it any more', async () => {
    body = undefined;
    subscription.change();
    await pass(0);
    expect(sent.map(({ state }) => state)).to.deep.equal(['terminated;reason=noresource']);
    expect(ended).to.deep.equal(['noresource']);
  });

  it('goes on outside the dialog of the SIP server once that has lost it, with rising numbers', async () => {
    let state = 0;
    subscription.drop();
    mock.timers.tick(1_795_000_000_000);
    subscription = new Subscription(
      { ...FACTS, expires: Date.now() + 600_000 },
      {
        state: async () => ({ type: 'text/plain', text: () => String((state += 1)) }),
        notify: async (options) => {
          sent.push(options);
          return { answer: answer(200, undefined, false), inDialog: false };
        },
        nextHop: () => 'sip:192.0.2.1',
        ended: () => undefined,
        failed: () => undefined,
        now: () => Date.now(),
      },
    );
    subscription.change();
    await pass(0);
    subscription.change();
    await pass(1000);
    expect(sent.map(({ dialog }) => dialog.server)).to.deep.equal(['d1', undefined]);
    const [first = 0, second = 0] = sent.map(({ cseq }) => cseq);
    expect(first).to.be.greaterThan(1_000_000_000);
    expect(second).to.be.greaterThan(first);
  });
});
