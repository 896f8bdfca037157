import { expect } from 'chai';
import { REAL_SIP } from '../../support/real-servers.ts';
import { CALLS } from '../../support/stage.ts';
import { type Answers, LATE_MS, type Scene } from './scene.ts';
import type { Play } from './scene.ts';

/** INVITEBYIVR: X is called and connected with a scenario (`echo`). There is no T. */
export const INVITEBYIVR_ANSWERS: Answers = {
  always: ['result', 'ivrcallid'],
  target: [],
  refusedByTarget: [],
  last: '',
};

function ask(scene: Scene, body: object = {}): void {
  scene.ask('INVITEBYIVR', CALLS, { to: scene.number('x'), scriptcode: 'echo', ...body });
}

/** The milestone is reached, with this SIP status of X. */
async function reached(scene: Scene, milestone: 0 | 1 | 2, sipcode: number): Promise<void> {
  if (scene.mode !== milestone) {
    if (scene.mode > milestone) await scene.reached(milestone);
    return;
  }
  await scene.answeredWith(['ok']);
  const keys = ['result', 'ivrcallid', ...(milestone === 0 ? [] : ['sipcode', 'dialogid'])];
  expect(Object.keys(scene.answer)).to.have.members(keys);
  if (milestone > 0) expect(scene.answer['sipcode']).to.equal(sipcode);
}

async function rings(scene: Scene, body: object = {}) {
  ask(scene, body);
  const first = await scene.x.incoming(LATE_MS);
  await reached(scene, 0, 0);
  first.ring();
  await reached(scene, 1, 180);
  return first;
}

export const INVITEBYIVR_PLAYS: Readonly<Record<string, Play>> = {
  'the party answers': async (scene) => {
    const first = await rings(scene);
    await first.answer();
    await reached(scene, 2, 200);
    first.play(440);
    await first.hears(440);
    await first.hangup();
  },
  'the party answers without ringing': async (scene) => {
    ask(scene);
    const first = await scene.x.incoming(LATE_MS);
    await reached(scene, 0, 0);
    await first.answer();
    if (scene.mode > 0) await reached(scene, scene.mode === 1 ? 1 : 2, 200);
    await first.hangup();
  },
  'the party refuses': async (scene) => {
    ask(scene);
    const first = await scene.x.incoming(LATE_MS);
    await reached(scene, 0, 0);
    first.reject(486);
    await scene.failedAtF('rejected', { sipcode: 486 });
  },
  'the party rings and refuses': async (scene) => {
    (await rings(scene)).reject(603);
    await scene.failedAtF('rejected', { sipcode: 603 });
  },
  'the party has no registered phone': async (scene) => {
    await scene.x.unregister();
    ask(scene);
    if (scene.mode === 0) await reached(scene, 0, 0);
    await scene.failedAtF('rejected', { sipcode: 480 });
  },
  'the party is an unknown number': async (scene) => {
    ask(scene, { to: '19999' });
    if (scene.mode === 0) await reached(scene, 0, 0);
    await scene.failedAtF('rejected', { sipcode: 404 });
  },
  'the party does not respond': async (scene) => {
    ask(scene, { calltimeout: 1 });
    const first = await scene.x.incoming(LATE_MS);
    await reached(scene, 0, 0);
    await scene.failedAtF('error');
    expect((await first.ended()).by).to.equal('cancelled');
  },
  'the party rings until the timeout': async (scene) => {
    const first = await rings(scene, { calltimeout: 1 });
    await scene.failedAtF('rejected', { sipcode: 408 });
    expect((await first.ended()).by).to.equal('cancelled');
  },
  'the party has vanished': async (scene) => {
    await scene.x.stop({ abruptly: true });
    ask(scene, { calltimeout: 1 });
    // drachtio-server learns at once by ICMP that the port is closed (docs/conformance.md).
    if (!REAL_SIP || scene.mode === 0) await reached(scene, 0, 0);
    await scene.failedAtF('error');
  },
  'the party vanishes while it rings': async (scene) => {
    await rings(scene, { calltimeout: 1 });
    await scene.x.stop({ abruptly: true });
    await scene.failedAtF('rejected', { sipcode: 408 });
  },
  'the party hangs up at once': async (scene) => {
    const first = await rings(scene);
    await first.answer();
    await first.hangup();
    await reached(scene, 2, 200);
  },
  'the party vanishes when it has answered': async (scene) => {
    const first = await rings(scene);
    await first.answer();
    await reached(scene, 2, 200);
    const found = await scene.rest.send('LOOKUP', CALLS, { body: { callid: first.callId } });
    await scene.x.stop({ abruptly: true });
    const [dialogid] = found.json<string[]>();
    expect((await scene.rest.send('DELETE', `${CALLS}/${dialogid}`)).status).to.equal(200);
  },
};
