import { expect } from 'chai';
import { CALLS } from '../../support/stage.ts';
import { expectTalk } from '../expectations.ts';
import type { Answers, Scene } from './scene.ts';
import type { Play } from './scene.ts';

const sides = (...names: readonly string[]) => names.flatMap((name) => [`x_${name}`, `y_${name}`]);

/** SWITCHCONF: X talks to Y; both become participants of a conference (T of each of them). */
export const SWITCHCONF_ANSWERS: Answers = {
  always: ['dialogid', 'referto', 'result', ...sides('ivrcallid')],
  target: ['confid', ...sides('new_acallid', 'new_last_response', 'new_dialogid')],
  refusedByTarget: [],
  last: 'x_new_last_response',
};

async function ask(scene: Scene, body: object = {}) {
  const call = await scene.connect('x', 'y');
  scene.ask('SWITCHCONF', `${CALLS}/${call.dialogid}`, body);
  return call;
}

async function together(scene: Scene, { outgoing, incoming, dialogid }: Awaited<ReturnType<typeof ask>>) {
  await scene.reached(5, 'SIP/2.0 200 OK');
  for (const side of ['x_new_', 'y_new_'] as const) await scene.expectTargetDialog(side, 'dialog');
  expect(scene.answer['dialogid']).to.equal(dialogid);
  await expectTalk(outgoing, incoming);
  await outgoing.hangup();
  await incoming.hangup();
}

export const SWITCHCONF_PLAYS: Readonly<Record<string, Play>> = {
  'both parties take part': async (scene) => {
    const call = await ask(scene);
    await together(scene, call);
    expect(scene.answer['referto']).to.match(/^\*70\d+$/);
  },
  'into a named room': async (scene) => {
    const referto = `*70${scene.number('x')}`;
    const call = await ask(scene, { referto });
    await together(scene, call);
    expect(scene.answer['referto']).to.equal(referto);
  },
  'one party holds the other': async (scene) => {
    const call = await scene.connect('x', 'y');
    await call.outgoing.hold();
    scene.ask('SWITCHCONF', `${CALLS}/${call.dialogid}`, {});
    await scene.reached(5, 'SIP/2.0 200 OK');
    await call.outgoing.unhold();
    await together(scene, call);
  },
  'X has vanished': async (scene) => {
    const { incoming, dialogid } = await scene.connect('x', 'y');
    await scene.x.stop({ abruptly: true });
    scene.ask('SWITCHCONF', `${CALLS}/${dialogid}`, {});
    await scene.reached(5, 'SIP/2.0 200 OK');
    await scene.operationEnded();
    await incoming.hangup();
    const found = await scene.rest.send('LOOKUP', CALLS, { body: { from: scene.number('x') } });
    const [left] = found.json<string[]>();
    expect((await scene.rest.send('DELETE', `${CALLS}/${left}`)).status).to.equal(200);
  },
  'X hangs up at the same moment': async (scene) => {
    const { outgoing, incoming } = await ask(scene);
    await outgoing.hangup();
    await scene.answeredWithOneOf([200, 404, 422]);
    if (incoming.live) await incoming.hangup();
  },
  'Y hangs up at the same moment': async (scene) => {
    const { outgoing, incoming } = await ask(scene);
    await incoming.hangup();
    await scene.answeredWithOneOf([200, 404, 422]);
    if (outgoing.live) await outgoing.hangup();
  },
};
