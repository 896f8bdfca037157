import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';
import { expectTalk } from './expectations.ts';

const DESK_JS = `export default async function (call) {
  await call.answer();
  const found = await operation.lookup({ sipuserlogin: 'bob' });
  await operation.setup_bindings({ from: '102', command: 'add', label: 'seen' });
  const { labels } = await operation.setup_bindings({ dialogid: found.ids[0], command: 'get' });
  const problems = [];
  for (const [name, parameters] of [
    ['refer', { from: '102', by: '<sip:dave@demo.local>', referto: '104' }],
    ['notify', { callid: 'nobody', event: 'talk' }],
    ['stop_hold_melody', { from: '102' }],
    ['send_dtmf', { from: '102', dtmf: '1' }],
  ]) {
    try { await operation[name](parameters); problems.push('none'); } catch (error) { problems.push(error.code); }
  }
  return { ids: found.ids, labels, problems };
}
`;

/** Reads the calls of the domain: its own, and bob's. */
const WATCH = `export default async function (call) {
  await call.answer();
  const { dialogs } = await operation.list({});
  const bobs = await operation.read({ sipuserlogin: 'bob' });
  const code = await operation.read({ dialogid: 'none' }).catch((error) => error.code);
  return { ids: dialogs.map(({ dialogid }) => dialogid), bobs, code };
}
`;

const WATCH_BLOCKS = `id: watch_blocks
start: pick_up
blocks:
  pick_up:
    answer:
    next: all
  all:
    operation.list:
    next: one
  one:
    operation.read: { from: "102" }
    next: told
  told:
    return: { count: "\${size(all.dialogs)}", status: "\${one.status}", legs: "\${size(one.legs)}" }
`;

const MOVER = `id: mover
start: pick_up
blocks:
  pick_up:
    answer:
    next: move
  move:
    operation.refer: { from: "102", by: "<sip:bob@demo.local>", referto: "104", response_mode: 4 }
    exits: { next: clear, failed: end, error: end }
  clear:
    operation.delete: { from: "104" }
    next: told
  told:
    return: { moved: "\${move.result}", dialogid: "\${move.new_dialogid}", ended: "\${clear.dialogid}" }
`;

/** Takes the party called by bob out of that call, as a further leg of its own. */
const BARGE = `id: barge
start: pick_up
blocks:
  pick_up:
    answer:
    next: find
  find:
    operation.lookup: { sipuserlogin: bob }
    next: take
  take:
    take_over: { dialogid: "\${string(find.ids[0])}", side: b }
    leg: other
    exits: { taken: talk, refused: end }
  talk:
    bridge: other
    exits: { ended: told }
  told:
    return: { dialogid: "\${take.dialogid}" }
`;

describe('call operations from scenarios', () => {
  const stage = useStage();

  before('put scenarios into the folder', async () => {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'desk.js'), DESK_JS);
    await writeFile(join(folder, 'mover.yaml'), MOVER);
    await writeFile(join(folder, 'watch.js'), WATCH);
    await writeFile(join(folder, 'watch_blocks.yaml'), WATCH_BLOCKS);
    await writeFile(join(folder, 'barge.yaml'), BARGE);
  });

  async function valueOf(scenario: string): Promise<Record<string, unknown>> {
    const runs = (await (await stage.rest()).get('/rest/v1/api/runs')).json<
      { scenario: string; outcome?: { value?: Record<string, unknown>; error?: object } }[]
    >();
    const outcome = runs.find((run) => run.scenario === scenario)?.outcome;
    expect(outcome, 'outcome').to.not.equal(undefined);
    expect(outcome?.error).to.equal(undefined);
    return outcome?.value ?? {};
  }

  it('are functions of a script, with error codes', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(bob, carol, '103');
    const { dialogid } = await stage.dialog();
    const call = await alice.call('*55desk');
    await call.answered();
    await call.ended(15_000);
    await eventually(async () =>
      expect(await valueOf('desk')).to.deep.equal({
        ids: [dialogid],
        labels: ['seen'],
        problems: ['not_applicable', 'dialog_not_found', 'not_applicable', 'parameter'],
      }),
    );
    await outgoing.hangup();
    await incoming.ended();
  });

  it('list and read dialogs like GET', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(bob, carol, '103');
    const shown = await stage.dialog();
    const call = await alice.call('*55watch');
    await call.answered();
    await call.ended(15_000);
    await eventually(async () => {
      const { ids, bobs, code } = await valueOf('watch');
      expect(ids).to.have.length(2).and.include(shown.dialogid);
      expect(bobs).to.deep.include(shown);
      expect(code).to.equal('dialog_not_found');
    });
    const blocks = await alice.call('*55watch_blocks');
    await blocks.answered();
    await blocks.ended(15_000);
    await eventually(async () =>
      expect(await valueOf('watch_blocks')).to.deep.equal({ count: 2, status: 'dialog', legs: 2 }),
    );
    await outgoing.hangup();
    await incoming.ended();
  });

  it('work beside take_over, which brings a party of another call into a scenario with a caller', async () => {
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    const { outgoing, incoming } = await stage.connect(bob, carol, '103');
    const before = await stage.dialog();
    const call = await alice.call('*55barge');
    await call.answered();
    await outgoing.ended();
    await expectTalk(call, incoming);
    const ids = (await stage.dialogs()).map(({ dialogid }) => dialogid);
    await incoming.hangup();
    await call.ended();
    await eventually(async () => {
      const { dialogid } = await valueOf('barge');
      expect(ids).to.include(dialogid).and.not.include(before.dialogid);
    });
  });

  it('are blocks that move and end other calls', async () => {
    const [alice, bob, carol, dave] = await stage.phones('alice', 'bob', 'carol', 'dave');
    const { outgoing, incoming } = await stage.connect(bob, carol, '103');
    const call = await alice.call('*55mover');
    await call.answered();
    const arriving = await dave.incoming();
    await arriving.answer();
    await outgoing.ended();
    await Promise.all([incoming.ended(), arriving.ended()]);
    await call.ended(15_000);
    await eventually(async () => {
      const { moved, dialogid, ended } = await valueOf('mover');
      expect([moved, ended]).to.deep.equal(['ok', dialogid]);
    });
  });
});
