import { expect } from 'chai';
import { REAL_SIP } from '../../support/real-servers.ts';
import { CALLS } from '../../support/stage.ts';
import { expectTalk } from '../expectations.ts';
import { type Answers, LATE_MS, type Scene } from './scene.ts';
import type { Play } from './scene.ts';

/** POST: X is called first (F), then Y (T). */
export const INVITE_ANSWERS: Answers = {
  always: ['result', 'ivrcallid'],
  target: ['acallid', 'last_response', 'dialogid'],
  refusedByTarget: ['result', 'ivrcallid', 'acallid', 'last_response'],
  last: 'last_response',
};

const RINGING = 'SIP/2.0 180 Ringing';
const OK = 'SIP/2.0 200 OK';

function ask(scene: Scene, body: object = {}): void {
  scene.ask('POST', CALLS, { from: scene.number('x'), to: scene.number('y'), ...body });
}

/** X is called, rings and answers. */
async function firstAnswers(scene: Scene, body: object = {}) {
  ask(scene, body);
  const first = await scene.x.incoming(LATE_MS);
  await scene.reached(0);
  first.ring();
  await scene.reached(1);
  await first.answer();
  return first;
}

/** Y's phone receives the call, after X has answered. */
async function targetCalled(scene: Scene, body: object = {}) {
  const first = await firstAnswers(scene, body);
  const target = await scene.y.incoming(LATE_MS);
  await scene.reached(2);
  return { first, target };
}

async function targetRings(scene: Scene, body: object = {}) {
  const called = await targetCalled(scene, body);
  called.target.ring();
  await scene.reached(3, RINGING);
  return called;
}

export const INVITE_PLAYS: Readonly<Record<string, Play>> = {
  'all answer': async (scene) => {
    const { first, target } = await targetRings(scene);
    await scene.expectTargetDialog('', 'forking');
    await target.answer();
    await scene.reached(5, OK);
    await scene.expectTargetDialog('', 'dialog');
    await expectTalk(first, target);
    const [leaving, staying] = scene.mode % 2 === 0 ? [first, target] : [target, first];
    await leaving.hangup();
    expect((await staying.ended()).by).to.equal('there');
  },
  'F refuses': async (scene) => {
    ask(scene);
    const first = await scene.x.incoming(LATE_MS);
    await scene.reached(0);
    first.reject(486);
    await scene.failedAtF('rejected');
  },
  'F rings and refuses': async (scene) => {
    ask(scene);
    const first = await scene.x.incoming(LATE_MS);
    first.ring();
    await scene.reached(1);
    first.reject(603);
    await scene.failedAtF('rejected');
  },
  'F has no registered phone': async (scene) => {
    await scene.x.unregister();
    ask(scene);
    if (scene.mode === 0) await scene.reached(0);
    await scene.failedAtF('rejected');
  },
  'F is an unknown number': async (scene) => {
    ask(scene, { from: '19999' });
    if (scene.mode === 0) await scene.reached(0);
    await scene.failedAtF('rejected');
  },
  'F does not respond': async (scene) => {
    ask(scene, { calltimeout: 1 });
    const first = await scene.x.incoming(LATE_MS);
    await scene.reached(0);
    await scene.failedAtF('error');
    expect((await first.ended()).by).to.equal('cancelled');
  },
  'F rings until the timeout': async (scene) => {
    ask(scene, { calltimeout: 1 });
    const first = await scene.x.incoming(LATE_MS);
    first.ring();
    await scene.reached(1);
    await scene.failedAtF('rejected');
    expect((await first.ended()).by).to.equal('cancelled');
  },
  'F has vanished': async (scene) => {
    await scene.x.stop({ abruptly: true });
    ask(scene, { calltimeout: 1 });
    // drachtio-server learns at once by ICMP that the port is closed (docs/conformance.md).
    if (!REAL_SIP || scene.mode === 0) await scene.reached(0);
    await scene.failedAtF('error');
  },
  'F vanishes while it rings': async (scene) => {
    ask(scene, { calltimeout: 1 });
    (await scene.x.incoming(LATE_MS)).ring();
    await scene.reached(1);
    await scene.x.stop({ abruptly: true });
    await scene.failedAtF('rejected');
  },
  'F redirects': async (scene) => {
    ask(scene);
    (await scene.x.incoming(LATE_MS)).reject(302, scene.elsewhere(scene.number('z')));
    const first = await scene.z.incoming(LATE_MS);
    await scene.reached(0);
    first.ring();
    await scene.reached(1);
    await first.answer();
    const target = await scene.y.incoming(LATE_MS);
    await scene.reached(2);
    await target.answer();
    await scene.reached(5, OK);
    await expectTalk(first, target);
    await first.hangup();
    await target.ended();
  },
  'F redirects to an unknown number': async (scene) => {
    ask(scene);
    (await scene.x.incoming(LATE_MS)).reject(302, scene.elsewhere('19999'));
    if (scene.mode === 0) await scene.reached(0);
    await scene.failedAtF('redirected');
  },
  'F hangs up at once': async (scene) => {
    const first = await firstAnswers(scene);
    await first.hangup();
    if (scene.mode === 2) await scene.reached(2);
    await scene.answeredWith(['rejected', 'error', 'undefined']);
    await scene.cancelledIfCalled(scene.y);
  },
  'F hangs up while T rings': async (scene) => {
    const { first, target } = await targetRings(scene);
    await first.hangup();
    expect((await target.ended()).by).to.equal('cancelled');
    await scene.failedAtT('SIP/2.0 487 Request Terminated');
  },
  'F hangs up when T has answered': async (scene) => {
    const { first, target } = await targetRings(scene);
    await target.answer();
    await scene.reached(5, OK);
    await first.hangup();
    expect((await target.ended()).by).to.equal('there');
  },
  'F vanishes when it has answered': async (scene) => {
    const { target } = await targetCalled(scene);
    await scene.x.stop({ abruptly: true });
    target.ring();
    await scene.reached(3, RINGING);
    await target.answer();
    await scene.reached(5, OK);
    await target.hangup();
  },
  'T refuses': async (scene) => {
    const { first, target } = await targetCalled(scene);
    target.reject(603);
    await scene.failedAtT('SIP/2.0 603 Decline');
    expect((await first.ended()).by).to.equal('there');
  },
  'T is busy': async (scene) => {
    const { first, target } = await targetCalled(scene);
    target.reject(486);
    await scene.failedAtT('SIP/2.0 486 Busy Here');
    expect((await first.ended()).by).to.equal('there');
  },
  'T redirects to two phones': async (scene) => {
    const { first, target } = await targetCalled(scene);
    const two = `<sip:${scene.number('z')}@demo.local>, <sip:19999@demo.local>`;
    target.reject(300, { headers: [{ name: 'Contact', value: two }] });
    const other = await scene.z.incoming(LATE_MS);
    other.ring();
    await scene.reached(3, RINGING);
    await other.answer();
    await scene.reached(5, OK);
    await expectTalk(first, other);
    await first.hangup();
    await other.ended();
  },
  'T redirects to an unknown number': async (scene) => {
    const { first, target } = await targetCalled(scene);
    target.reject(302, scene.elsewhere('19999'));
    await scene.failedAtT('SIP/2.0 302 Moved Temporarily', 'redirected');
    expect((await first.ended()).by).to.equal('there');
  },
  'T redirects to another host': async (scene) => {
    const { first, target } = await targetCalled(scene);
    const away = `<sip:${scene.number('z')}@elsewhere.example>`;
    target.reject(302, { headers: [{ name: 'Contact', value: away }] });
    await scene.failedAtT('SIP/2.0 302 Moved Temporarily', 'redirected');
    expect((await first.ended()).by).to.equal('there');
  },
  'T rings and refuses': async (scene) => {
    const { first, target } = await targetRings(scene);
    target.reject(480);
    await scene.failedAtT('SIP/2.0 480 Temporarily Unavailable');
    expect((await first.ended()).by).to.equal('there');
  },
  'T has no registered phone': async (scene) => {
    await scene.y.unregister();
    const first = await firstAnswers(scene);
    if (scene.mode === 2) await scene.reached(2);
    await scene.failedAtT('SIP/2.0 480 Temporarily Unavailable');
    expect((await first.ended()).by).to.equal('there');
  },
  'T is an unknown number': async (scene) => {
    const first = await firstAnswers(scene, { to: '19999' });
    if (scene.mode === 2) await scene.reached(2);
    await scene.failedAtT('SIP/2.0 404 Not Found');
    expect((await first.ended()).by).to.equal('there');
  },
  'T does not respond': async (scene) => {
    const { first, target } = await targetCalled(scene, { targettimeout: 1 });
    await scene.failedAtT('SIP/2.0 408 Request Timeout');
    expect((await target.ended()).by).to.equal('cancelled');
    expect((await first.ended()).by).to.equal('there');
  },
  'T rings until the timeout': async (scene) => {
    const { first, target } = await targetRings(scene, { targettimeout: 1 });
    await scene.failedAtT('SIP/2.0 408 Request Timeout');
    expect((await target.ended()).by).to.equal('cancelled');
    expect((await first.ended()).by).to.equal('there');
  },
  'T has vanished': async (scene) => {
    await scene.y.stop({ abruptly: true });
    const first = await firstAnswers(scene, { targettimeout: 1 });
    if (scene.mode === 2) await scene.reached(2);
    await scene.failedAtT(/^SIP\/2\.0 (408|410|480|503) /);
    expect((await first.ended()).by).to.equal('there');
  },
  'T vanishes while it rings': async (scene) => {
    const { first } = await targetRings(scene, { targettimeout: 1 });
    await scene.y.stop({ abruptly: true });
    await scene.failedAtT('SIP/2.0 408 Request Timeout');
    expect((await first.ended()).by).to.equal('there');
  },
  'T hangs up at once': async (scene) => {
    const { first, target } = await targetRings(scene);
    await target.answer();
    await target.hangup();
    await scene.reached(5, OK);
    expect((await first.ended()).by).to.equal('there');
  },
  'T vanishes when it has answered': async (scene) => {
    const { first, target } = await targetRings(scene);
    await target.answer();
    await scene.reached(5, OK);
    await scene.y.stop({ abruptly: true });
    await first.hangup();
  },
};
