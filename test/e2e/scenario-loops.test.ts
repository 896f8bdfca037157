import { expect } from 'chai';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { callingAgent } from '../support/calling-agent.ts';
import { useRooms } from './conference/support.ts';
import { expectTalk } from './expectations.ts';

/** Calls `to`, and connects its caller with the answering party; a tone reports the result. */
function calling(id: string, to: string): string {
  return callingAgent({
    id,
    to,
    exits: 'answered: talk, busy: tell_busy, refused: tell_refused',
    blocks: `  talk:
    bridge: { with: agent, hang_up: false }
    exits: { ended: tell_ended }
  tell_ended: { play: "tone:%(3000,0,1000)", next: end }
  tell_busy: { play: "tone:%(3000,0,1300)", next: end }
  tell_refused: { play: "tone:%(3000,0,1600)", next: end }`,
  });
}

const SCENARIOS: Readonly<Record<string, string>> = {
  loop_room: calling('loop_room', '*70881'),
  loop_echo: calling('loop_echo', '501'),
  loop_keys: calling('loop_keys', '*55loop_listens,1'),
  loop_listens: `
id: loop_listens
start: pick_up
blocks:
  pick_up: { answer: , next: key }
  key:
    collect: { max: 1, timeout: 5s }
    exits: { next: tone, timeout: end }
  tone: { play: "tone:%(700,0,1900)", next: end }
`,
  loop_busy: calling('loop_busy', '*55loop_refuses'),
  loop_refuses: `id: loop_refuses
start: a
blocks:
  a: { reject: 486, next: end }
`,
  loop_transfer: calling('loop_transfer', '*55loop_transfers'),
  loop_transfers: `
id: loop_transfers
start: pick_up
blocks:
  pick_up: { answer: , next: give }
  give: { refer: "102", exits: { refused: end } }
`,
};

describe('legs of a scenario to numbers without a phone', () => {
  const { stage, rooms } = useRooms();

  before('write the scenarios', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    for (const [id, text] of Object.entries(SCENARIOS)) await writeFile(join(folder, `${id}.yaml`), text);
  });

  it('a conference: the caller takes part by a bridge, until either ends', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const other = await rooms.enter(bob, '*70881');
    const one = await alice.call('*55loop_room');
    await one.answered();
    await expectTalk(one, other);
    const { confid } = await rooms.only(2);
    const [, participant] = await rooms.participants({ confid });
    expect(participant).to.include({ state: 'connected', ruri: '<sip:101@demo.local>' });
    // Removed from the room: the caller is back with the first scenario.
    expect((await rooms.ask('DELETE', `/${confid}/participants/${participant?.participantid}`)).status).to.equal(200);
    await one.hears(1000);
    await one.hangup();
    const again = await alice.call('*55loop_room');
    await again.answered();
    await expectTalk(again, other);
    await again.hangup();
    await rooms.only(1);
    await other.hangup();
    await rooms.expectNothing();
  });

  it('another scenario hears, is heard, and receives keys', async () => {
    const [alice] = await stage.phones('alice');
    const echoed = await alice.call('*55loop_echo');
    await echoed.answered();
    echoed.play(700);
    await echoed.hears(700);
    await echoed.hangup();
    await stage.expectNoDialog();
    const pressed = await alice.call('*55loop_keys');
    await pressed.answered();
    await pressed.hears(1900);
    // The scenario has ended, and its caller is back.
    await pressed.hears(1000);
    await pressed.hangup();
    await stage.expectNoDialog();
  });

  it('a refusing scenario leads to the exit of the refusal', async () => {
    const [alice] = await stage.phones('alice');
    const call = await alice.call('*55loop_busy');
    await call.answered();
    await call.hears(1300);
    await call.hangup();
  });

  it('another scenario may pass its caller to a phone', async () => {
    const [alice, bob] = await stage.phones('alice', 'bob');
    const call = await alice.call('*55loop_transfer');
    await call.answered();
    const incoming = await bob.incoming();
    expect(incoming.callerId).to.equal('101');
    await incoming.answer();
    await expectTalk(call, incoming);
    await incoming.hangup();
    await call.hears(1000);
    await call.hangup();
    await stage.expectNoDialog();
  });

  it('a pickup code takes a call that rings at another phone', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const rest = await stage.rest();
    const path = '/rest/v1/domain/featurecodes';
    const created = await rest.send('POST', path, { body: { prefix: '*88', type: 'pickup' } });
    expect(created.status, created.text).to.equal(200);
    await writeFile(join(stage.node.dataDir, 'scenarios', 'loop_pickup.yaml'), calling('loop_pickup', '*88103'));
    const outgoing = await bob.call('103');
    const ringing = await carol.incoming();
    ringing.ring();
    await outgoing.ringing();
    const call = await alice.call('*55loop_pickup');
    await call.answered();
    await outgoing.answered();
    expect((await ringing.ended()).by).to.equal('cancelled');
    await expectTalk(call, outgoing);
    await outgoing.hangup();
    await call.hears(1000);
    await call.hangup();
    await stage.expectNoDialog();
    expect((await rest.send('DELETE', `${path}/${created.json<{ id: string }>().id}`)).status).to.be.lessThan(300);
  });
});
