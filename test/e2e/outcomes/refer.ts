import { expect } from 'chai';
import type { PhoneCall } from '../../phones/phone-call.ts';
import { CALLS } from '../../support/stage.ts';
import { expectTalk } from '../expectations.ts';
import { type Answers, LATE_MS, type Scene } from './scene.ts';
import type { Play } from './scene.ts';

/** REFER: X talks to Y (F), who is transferred to Z (T). */
export const REFER_ANSWERS: Answers = {
  always: ['dialogid', 'result', 'ivrcallid'],
  target: ['new_acallid', 'new_last_response', 'new_dialogid'],
  refusedByTarget: ['dialogid', 'result', 'ivrcallid', 'new_acallid', 'new_last_response'],
  last: 'new_last_response',
};

const RINGING = 'SIP/2.0 180 Ringing';
const OK = 'SIP/2.0 200 OK';

/** X has called Y; the initiator is X or, with `by` as Call-ID, the party opposite of the transferred one. */
async function ask(scene: Scene, body: object = {}) {
  const { outgoing, incoming, dialogid } = await scene.connect('x', 'y');
  scene.ask('REFER', `${CALLS}/${dialogid}`, { by: scene.uri('x'), referto: scene.number('z'), ...body });
  return { initiator: outgoing, moved: incoming };
}

type Asked = Awaited<ReturnType<typeof ask>>;

/** Z's phone receives the call; the initiator is on hold. */
async function targetCalled(scene: Scene, body: object = {}) {
  const asked = await ask(scene, body);
  const target = await scene.z.incoming(LATE_MS);
  await scene.reached(2);
  expect(asked.initiator.established, 'the initiator is there').to.equal(true);
  return { ...asked, target };
}

async function targetRings(scene: Scene, body: object = {}) {
  const called = await targetCalled(scene, body);
  called.target.ring();
  await scene.reached(3, RINGING);
  return called;
}

/** The target refused: X has Y back. */
async function partyReturned(scene: Scene, { initiator, moved }: Asked): Promise<void> {
  await talkAgain(scene, moved, initiator);
}

/** X was gone: it is called. */
async function initiatorCalledBack(scene: Scene, { moved }: Asked): Promise<void> {
  const back = await scene.x.incoming(LATE_MS);
  await back.answer();
  await talkAgain(scene, moved, back);
}

async function talkAgain(scene: Scene, moved: PhoneCall, back: PhoneCall): Promise<void> {
  await expectTalk(moved, back);
  const [leaving, staying] = scene.mode % 2 === 0 ? [moved, back] : [back, moved];
  await leaving.hangup();
  expect((await staying.ended()).by).to.equal('there');
}

export const REFER_PLAYS: Readonly<Record<string, Play>> = {
  'all answer': async (scene) => {
    const { initiator, moved, target } = await targetRings(scene);
    await scene.expectTargetDialog('new_', 'forking');
    await target.answer();
    await scene.reached(5, OK);
    expect((await initiator.ended()).by).to.equal('there');
    await scene.expectTargetDialog('new_', 'dialog');
    await expectTalk(moved, target);
    const [leaving, staying] = scene.mode % 2 === 0 ? [moved, target] : [target, moved];
    await leaving.hangup();
    expect((await staying.ended()).by).to.equal('there');
  },
  'all answer, by the called side': async (scene) => {
    const { outgoing, incoming, dialogid } = await scene.connect('x', 'y');
    scene.ask('REFER', `${CALLS}/${dialogid}`, { by: incoming.callId, referto: scene.number('z') });
    const target = await scene.z.incoming(LATE_MS);
    await scene.reached(2);
    await target.answer();
    await scene.reached(5, OK);
    expect((await incoming.ended()).by).to.equal('there');
    await expectTalk(outgoing, target);
    await outgoing.hangup();
    await target.ended();
  },
  'T refuses': async (scene) => {
    const called = await targetCalled(scene);
    called.target.reject(603);
    await scene.failedAtT('SIP/2.0 603 Decline');
    await partyReturned(scene, called);
  },
  'T is busy': async (scene) => {
    const called = await targetCalled(scene);
    called.target.reject(486);
    await scene.failedAtT('SIP/2.0 486 Busy Here');
    await partyReturned(scene, called);
  },
  'T redirects to an unknown number': async (scene) => {
    const called = await targetCalled(scene);
    called.target.reject(302, scene.elsewhere('19999'));
    await scene.failedAtT('SIP/2.0 302 Moved Temporarily', 'redirected');
    await partyReturned(scene, called);
  },
  'T rings and refuses': async (scene) => {
    const called = await targetRings(scene);
    called.target.reject(480);
    await scene.failedAtT('SIP/2.0 480 Temporarily Unavailable');
    await partyReturned(scene, called);
  },
  'T refuses, X was not held': async (scene) => {
    const asked = await ask(scene, { hold_initiator: false });
    const target = await scene.z.incoming(LATE_MS);
    await scene.reached(2);
    expect((await asked.initiator.ended()).by).to.equal('there');
    target.reject(603);
    await scene.failedAtT('SIP/2.0 603 Decline');
    await initiatorCalledBack(scene, asked);
  },
  'T refuses, X has hung up': async (scene) => {
    const asked = await targetCalled(scene);
    await asked.initiator.hangup();
    asked.target.reject(486);
    await scene.failedAtT('SIP/2.0 486 Busy Here');
    await initiatorCalledBack(scene, asked);
  },
  'T refuses, X has hung up and refuses': async (scene) => {
    const { initiator, moved, target } = await targetCalled(scene);
    await initiator.hangup();
    target.reject(486);
    await scene.failedAtT('SIP/2.0 486 Busy Here');
    (await scene.x.incoming(LATE_MS)).reject(603);
    expect((await moved.ended()).by).to.equal('there');
  },
  'T refuses, and X has vanished': async (scene) => {
    const { moved, target } = await targetCalled(scene);
    await scene.x.stop({ abruptly: true });
    target.reject(486);
    await scene.failedAtT('SIP/2.0 486 Busy Here');
    await scene.operationEnded();
    await moved.hangup();
  },
  'T has no registered phone': async (scene) => {
    await scene.z.unregister();
    const called = await ask(scene);
    if (scene.mode < 3) await scene.reached(2);
    await scene.failedAtT('SIP/2.0 480 Temporarily Unavailable');
    await partyReturned(scene, called);
  },
  'T is an unknown number': async (scene) => {
    const called = await ask(scene, { referto: '19999' });
    if (scene.mode < 3) await scene.reached(2);
    await scene.failedAtT('SIP/2.0 404 Not Found');
    await partyReturned(scene, called);
  },
  'T does not respond': async (scene) => {
    const called = await targetCalled(scene, { targettimeout: 1 });
    await scene.failedAtT('SIP/2.0 408 Request Timeout');
    expect((await called.target.ended()).by).to.equal('cancelled');
    await partyReturned(scene, called);
  },
  'T rings until the timeout': async (scene) => {
    const called = await targetRings(scene, { targettimeout: 1 });
    await scene.failedAtT('SIP/2.0 408 Request Timeout');
    expect((await called.target.ended()).by).to.equal('cancelled');
    await partyReturned(scene, called);
  },
  'T has vanished': async (scene) => {
    await scene.z.stop({ abruptly: true });
    const called = await ask(scene, { targettimeout: 1 });
    if (scene.mode < 3) await scene.reached(2);
    await scene.failedAtT(/^SIP\/2\.0 (408|410|480|503) /);
    await partyReturned(scene, called);
  },
  'T vanishes while it rings': async (scene) => {
    const called = await targetRings(scene, { targettimeout: 1 });
    await scene.z.stop({ abruptly: true });
    await scene.failedAtT('SIP/2.0 408 Request Timeout');
    await partyReturned(scene, called);
  },
  'T hangs up at once': async (scene) => {
    const { moved, target } = await targetRings(scene);
    await target.answer();
    await target.hangup();
    await scene.reached(5, OK);
    expect((await moved.ended()).by).to.equal('there');
  },
  'T vanishes when it has answered': async (scene) => {
    const { moved, target } = await targetRings(scene);
    await target.answer();
    await scene.reached(5, OK);
    await scene.z.stop({ abruptly: true });
    await moved.hangup();
  },
  'F hangs up at once': async (scene) => {
    const { moved } = await ask(scene);
    await moved.hangup();
    const status = await scene.answeredWithOneOf([200, 404]);
    if (status === 404) return;
    await scene.cancelledIfCalled(scene.z);
  },
  'F hangs up while T rings': async (scene) => {
    const { initiator, moved, target } = await targetRings(scene);
    await moved.hangup();
    expect((await target.ended()).by).to.equal('cancelled');
    expect((await initiator.ended()).by).to.equal('there');
    await scene.failedAtT('SIP/2.0 487 Request Terminated');
  },
  'F hangs up when T has answered': async (scene) => {
    const { moved, target } = await targetRings(scene);
    await target.answer();
    await scene.reached(5, OK);
    await moved.hangup();
    expect((await target.ended()).by).to.equal('there');
  },
  'F has vanished': async (scene) => {
    const { outgoing, dialogid } = await scene.connect('x', 'y');
    await scene.y.stop({ abruptly: true });
    scene.ask('REFER', `${CALLS}/${dialogid}`, { by: scene.uri('x'), referto: scene.number('z') });
    const target = await scene.z.incoming(LATE_MS);
    await scene.reached(2);
    await target.answer();
    await scene.reached(5, OK);
    await outgoing.ended();
    await target.hangup();
  },
  'X has vanished': async (scene) => {
    const { incoming, dialogid } = await scene.connect('x', 'y');
    await scene.x.stop({ abruptly: true });
    scene.ask('REFER', `${CALLS}/${dialogid}`, { by: scene.uri('x'), referto: scene.number('z') });
    const target = await scene.z.incoming(LATE_MS);
    await scene.reached(2);
    await target.answer();
    await scene.reached(5, OK);
    await expectTalk(incoming, target);
    await target.hangup();
    await incoming.ended();
  },
};
