import { expect } from 'chai';
import { CALLS } from '../../support/stage.ts';
import { expectTalk } from '../expectations.ts';
import { type Answers, LATE_MS, type Scene } from './scene.ts';
import type { Play } from './scene.ts';

/** REFERREPLACES: X talks to Y (F) in the master call and to Z (T) in the slave call; Y and Z are joined. */
export const REFERREPLACES_ANSWERS: Answers = {
  always: ['masterdialogid', 'slavedialogid', 'result', 'ivrcallid'],
  target: ['new_acallid', 'new_last_response', 'new_dialogid'],
  refusedByTarget: ['masterdialogid', 'slavedialogid', 'result', 'ivrcallid', 'new_acallid', 'new_last_response'],
  last: 'new_last_response',
};

const OK = 'SIP/2.0 200 OK';

/** X has called Y, holds that call, and has called Z. */
async function twoCalls(scene: Scene) {
  const master = await scene.connect('x', 'y');
  await master.outgoing.hold();
  const slave = await scene.connect('x', 'z');
  return { master, slave };
}

type Calls = Awaited<ReturnType<typeof twoCalls>>;

function ask(scene: Scene, { master, slave }: Calls, body: object = {}): void {
  scene.ask('REFERREPLACES', `${CALLS}/${master.dialogid}`, {
    masterby: scene.uri('x'),
    slavedialogid: slave.dialogid,
    slaveby: scene.uri('x'),
    ...body,
  });
}

async function joined(scene: Scene, { master, slave }: Calls): Promise<void> {
  await scene.reached(5, OK);
  await scene.expectTargetDialog('new_', 'dialog');
  expect(scene.answer).to.include({ masterdialogid: master.dialogid, slavedialogid: slave.dialogid });
  await Promise.all([master.outgoing.ended(), slave.outgoing.ended()]);
  await expectTalk(master.incoming, slave.incoming);
  const [leaving, staying] =
    scene.mode % 2 === 0 ? [master.incoming, slave.incoming] : [slave.incoming, master.incoming];
  await leaving.hangup();
  expect((await staying.ended()).by).to.equal('there');
}

/** Ends all calls, and waits for the end of unanswered calls back. */
async function allEnd(scene: Scene, { master, slave }: Calls): Promise<void> {
  for (const call of [master.incoming, slave.incoming, master.outgoing, slave.outgoing])
    if (call.live) await call.hangup();
  for (const phone of [scene.x, scene.y, scene.z]) {
    while (phone.waitingCalls > 0) await (await phone.incoming(LATE_MS)).ended();
  }
}

export const REFERREPLACES_PLAYS: Readonly<Record<string, Play>> = {
  'all parties take part': async (scene) => {
    const calls = await twoCalls(scene);
    ask(scene, calls);
    await joined(scene, calls);
  },
  'X is the called party of one call': async (scene) => {
    const first = await scene.connect('x', 'y');
    const { outgoing, incoming, dialogid } = await scene.connect('z', 'x');
    const calls: Calls = { master: first, slave: { outgoing: incoming, incoming: outgoing, dialogid } };
    ask(scene, calls, { slaveby: incoming.callId });
    await joined(scene, calls);
  },
  'X has vanished': async (scene) => {
    const calls = await twoCalls(scene);
    await scene.x.stop({ abruptly: true });
    ask(scene, calls);
    await scene.reached(5, OK);
    await scene.operationEnded();
    await expectTalk(calls.master.incoming, calls.slave.incoming);
    await calls.master.incoming.hangup();
    await calls.slave.incoming.ended();
  },
  'F has vanished': async (scene) => {
    const calls = await twoCalls(scene);
    await scene.y.stop({ abruptly: true });
    ask(scene, calls);
    await scene.reached(5, OK);
    await scene.operationEnded();
    await calls.slave.incoming.hangup();
  },
  'T has vanished': async (scene) => {
    const calls = await twoCalls(scene);
    await scene.z.stop({ abruptly: true });
    ask(scene, calls);
    await scene.reached(5, OK);
    await scene.operationEnded();
    await calls.master.incoming.hangup();
  },
  'F hangs up at the same moment': async (scene) => {
    const calls = await twoCalls(scene);
    ask(scene, calls);
    await calls.master.incoming.hangup();
    await scene.answeredWithOneOf([200, 404, 422]);
    await allEnd(scene, calls);
  },
  'T hangs up at the same moment': async (scene) => {
    const calls = await twoCalls(scene);
    ask(scene, calls);
    await calls.slave.incoming.hangup();
    await scene.answeredWithOneOf([200, 404, 422]);
    await allEnd(scene, calls);
  },
  'X hangs up both calls at the same moment': async (scene) => {
    const calls = await twoCalls(scene);
    ask(scene, calls);
    await Promise.all([calls.master.outgoing.hangup(), calls.slave.outgoing.hangup()]);
    await scene.answeredWithOneOf([200, 404, 422]);
    await allEnd(scene, calls);
  },
};
