import { expect } from 'chai';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { TONES, useRooms } from './support.ts';

describe('component conference on a call', () => {
  const { stage, rooms } = useRooms();

  const scenario = async (id: string, settings: string): Promise<void> => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, `${id}.yaml`),
      `id: ${id}
start: pick_up
blocks:
  pick_up:
    answer:
    next: meet
  meet:
    conference: ${settings}
    exits: { entered: end, refused: sorry }
  sorry:
    play: "tone:%(3000,0,2000)"
    next: end
`,
    );
  };

  it('brings its caller into a room; a muted caller only listens', async () => {
    await scenario('meeting', '{ room: "7101" }');
    await scenario('listening', '{ room: "*707101", muted: true }');
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const one = await rooms.enter(alice, '*55meeting', TONES[0]);
    const other = await rooms.enter(bob, '*707101', TONES[1]);
    await Promise.all([one.hears(TONES[1]), other.hears(TONES[0])]);
    const listener = await rooms.enter(carol, '*55listening', TONES[2]);
    await listener.hears(TONES[0]);
    await other.hearsNot(TONES[2], { forMs: 300 });
    expect((await rooms.only(3)).uri).to.equal('<sip:*707101@demo.local>');
    expect(await stage.dialogs()).to.have.length(3);
  });

  it('creates a room when no number is given, and keeps its caller when the room is unknown', async () => {
    await scenario('fresh', '{}');
    await scenario('wrong', '{ room: "102" , moderator: true }');
    await scenario('nowhere', '{ room: "*99" }');
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    await rooms.enter(alice, '*55fresh');
    expect((await rooms.only(1)).confroomnum).to.match(/^\d{6}$/);
    // Digits alone are a room, even when an account has that number.
    await rooms.enter(bob, '*55wrong');
    expect(bob.waitingCalls).to.equal(0);
    await eventually(async () => {
      expect((await rooms.list()).map(({ uri }) => uri)).to.include('<sip:*70102@demo.local>');
    });
    const sorry = await rooms.enter(carol, '*55nowhere');
    await sorry.hears(2000);
  });
});

describe('conference operations of a scenario', () => {
  const { stage, rooms } = useRooms();

  it('find the room that a leg has called by its Call-ID and by its dialog', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    const text = `
id: own_room
starts: { hook: true }
start: ring
blocks:
  ring: { call: { to: "*707144", caller_id: "101" }, leg: room, exits: { answered: by_call, refused: end } }
  by_call: { operation.lookup_conferences: { callid: "\${ring.callid}" }, next: by_dialog }
  by_dialog: { operation.lookup_conferences: { dialogid: "\${ring.dialogid}" }, next: read }
  read: { operation.read_conference: { confid: "\${by_call.ids[0]}" }, next: answer }
  answer: { return: { room: "\${read.confroomnum}", same: "\${by_call.ids == by_dialog.ids}" } }
`;
    await writeFile(join(folder, 'own_room.yaml'), text);
    const rest = await stage.rest();
    await eventually(async () => {
      const answer = await rest.send('POST', '/rest/v1/api/hooks/own_room', { body: {} });
      expect(answer.json()).to.deep.equal({ room: '7144', same: true });
    });
  });

  it('find a room, call a participant, separate it from the others, remove it, and end the room', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    const text = `
id: host
start: pick_up
blocks:
  pick_up:
    answer:
    next: find
  find:
    operation.lookup_conferences: { confroomnum: "7105" }
    next: invite
  invite:
    operation.add_participant: { confid: "\${find.ids[0]}", to: "102" }
    next: first_key
  first_key:
    collect: { max: 1, timeout: 10s }
    exits: { next: silence, timeout: end }
  silence:
    operation.change_topology:
      confid: \${find.ids[0]}
      commands: [{ from: "\${invite.participantid}", to: "*", enabled: false }]
    next: who
  who:
    operation.list_participants: { confid: "\${find.ids[0]}" }
    next: second_key
  second_key:
    collect: { max: 1, timeout: 10s }
    exits: { next: out, timeout: end }
  out:
    operation.remove_participant: { confid: "\${find.ids[0]}", participantid: "\${who.participants[1].participantid}" }
    next: third_key
  third_key:
    collect: { max: 1, timeout: 10s }
    exits: { next: finish, timeout: end }
  finish:
    operation.terminate_conference: { confid: "\${find.ids[0]}" }
    next: gone
  gone:
    operation.read_topology: { confid: conf-none }
    exits: { next: end, error: tell }
  tell:
    play: "tone:%(3000,0,2000)"
    next: end
`;
    await writeFile(join(folder, 'host.yaml'), text);
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const one = await rooms.enter(alice, '*707105', TONES[0]);
    await rooms.only(1);
    const host = await rooms.enter(carol, '*55host');
    const called = await bob.incoming();
    await called.answer();
    called.play(TONES[1]);
    await one.hears(TONES[1]);
    await host.sendDtmf('1');
    await eventually(async () => one.hearsNot(TONES[1], { forMs: 200 }));
    await called.hears(TONES[0]);
    await host.sendDtmf('2');
    expect((await called.ended()).by).to.equal('there');
    await rooms.only(1);
    await host.sendDtmf('3');
    expect((await one.ended()).by).to.equal('there');
    // For an unknown conference the block leaves by `error`.
    await host.hears(2000);
  });
});
