import { expect } from 'chai';
import type { PhoneSubscription } from '../../phones/phone-subscription.ts';
import { useStage } from '../../support/stage.ts';

const PATIENCE_MS = 15_000;
const ROOM = '*7077';
const EVENT = { event: 'conference', expires: 600 } as const;

/** The statuses by user of the first NOTIFY in which these are connected; earlier ones have intermediate states. */
async function roster(subscription: PhoneSubscription, ...connected: string[]): Promise<string> {
  for (;;) {
    const { body } = await subscription.notifies.next(PATIENCE_MS);
    const users = [
      ...body.matchAll(/<user entity="sip:(\w+)@demo\.local" state="full"><endpoint [^>]*><status>connected</g),
    ];
    if (users.map(([, user]) => user).join() === connected.join()) return body;
  }
}

describe('the participants of a conference', () => {
  const stage = useStage();

  it('are told to participants, until they leave', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const early = alice.subscription(ROOM, EVENT);
    expect((await early.send()).status, 'no such room yet').to.equal(404);
    const first = await alice.call(ROOM);
    await first.answered();
    const subscription = alice.subscription(ROOM, EVENT);
    expect((await subscription.send()).status).to.equal(200);
    const body = await roster(subscription, 'alice');
    expect(body).to.include('<user-count>1</user-count>').and.include(`entity="sip:${ROOM}@demo.local"`);
    expect((await carol.subscription(ROOM, EVENT).send()).status, 'not in the room').to.equal(403);
    const second = await bob.call(ROOM);
    await second.answered();
    await roster(subscription, 'alice', 'bob');
    await second.hangup();
    await roster(subscription, 'alice');
    await first.hangup();
    for (;;) {
      const { state } = await subscription.notifies.next(PATIENCE_MS);
      if (state === 'terminated;reason=noresource') break;
      expect(state).to.match(/^active/);
    }
  });
});
