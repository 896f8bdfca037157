import { expect } from 'chai';
import { CALLS } from '../../support/stage.ts';
import { expectTalk } from '../expectations.ts';
import { type Answers, LATE_MS, type Scene } from './scene.ts';
import type { Play } from './scene.ts';

/** REFERCONF: X has a conference on hold and talks to Y (F), who is brought into the conference (T). */
export const REFERCONF_ANSWERS: Answers = {
  always: ['dialogid', 'result', 'ivrcallid'],
  target: ['new_acallid', 'new_last_response', 'new_dialogid'],
  refusedByTarget: ['dialogid', 'result', 'ivrcallid', 'new_acallid', 'new_last_response'],
  last: 'new_last_response',
};

const OK = 'SIP/2.0 200 OK';
const CONFERENCES = '/rest/v1/uc/conferences';
/** Featurecode of rooms for two. */
export const SMALL_ROOM = '*7222';

async function consultation(scene: Scene, prefix = '*70') {
  const room = scene.number('x');
  const held = await scene.x.call(`${prefix}${room}`);
  await held.answered();
  await held.hold();
  const { outgoing, incoming, dialogid } = await scene.connect('x', 'y');
  const ask = (body: object = { referconfnumber: `${prefix}${room}` }): void =>
    scene.ask('REFERCONF', `${CALLS}/${dialogid}`, { by: scene.uri('x'), ...body });
  return { room, held, outgoing, incoming, dialogid, ask };
}

export const REFERCONF_PLAYS: Readonly<Record<string, Play>> = {
  'all parties take part': async (scene) => {
    const { room, held, outgoing, incoming, ask } = await consultation(scene);
    ask({ referconfroomnum: room });
    await scene.reached(5, OK);
    expect((await outgoing.ended()).by).to.equal('there');
    await held.unhold();
    await expectTalk(held, incoming);
    await held.hangup();
    await incoming.hangup();
  },
  'the conference is full': async (scene) => {
    const { held, outgoing, incoming, ask } = await consultation(scene, SMALL_ROOM);
    const third = await scene.z.call(`${SMALL_ROOM}${scene.number('x')}`);
    await third.answered();
    ask();
    await scene.answeredWithOneOf([422]);
    await expectTalk(outgoing, incoming);
    await Promise.all([incoming.hangup(), outgoing.ended(), third.hangup(), held.hangup()]);
  },
  'F has vanished': async (scene) => {
    const { held, outgoing, ask } = await consultation(scene);
    await scene.y.stop({ abruptly: true });
    ask();
    await scene.reached(5, OK);
    await scene.operationEnded();
    await outgoing.ended();
    await held.hangup();
    const found = await scene.rest.send('LOOKUP', CALLS, { body: { from: scene.number('y') } });
    const [left] = found.json<string[]>();
    expect((await scene.rest.send('DELETE', `${CALLS}/${left}`)).status).to.equal(200);
  },
  'F hangs up at the same moment': async (scene) => {
    const { held, outgoing, incoming, ask } = await consultation(scene);
    ask();
    await incoming.hangup();
    await scene.answeredWithOneOf([200, 404, 422]);
    await outgoing.ended();
    await held.hangup();
  },
  'the conference ends at the same moment': async (scene) => {
    const { room, held, outgoing, incoming, ask } = await consultation(scene);
    const found = await scene.rest.send('LOOKUP', CONFERENCES, { body: { confroomnum: room } });
    const [confid] = found.json<string[]>();
    ask();
    await scene.rest.send('DELETE', `${CONFERENCES}/${confid}`);
    await scene.answeredWithOneOf([200, 404, 422]);
    await held.ended();
    for (const call of [outgoing, incoming]) if (call.live) await call.hangup();
    if (scene.x.waitingCalls > 0) await (await scene.x.incoming(LATE_MS)).ended();
  },
};
