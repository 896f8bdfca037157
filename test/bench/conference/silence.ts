import { Phone } from '../../phones/phone.ts';
import { hasTone } from '../../phones/media/tone.ts';
import type { TestNode } from '../../support/node.ts';
import { eventually } from '../../support/eventually.ts';

const BASE = '/rest/v1/uc/conferences';
const TONE = 1000;

/**
 * Milliseconds from a topology command to the first packet without the silenced voice, and to the answer.
 * @param sip `ip:port` of the node
 */
export async function timeToSilence(
  node: TestNode,
  sip: string,
  rounds: number,
): Promise<{ readonly silence: number[]; readonly answer: number[] }> {
  const rest = await node.login('admin');
  const phones: Phone[] = [];
  const silence: number[] = [];
  const answer: number[] = [];
  try {
    for (const login of ['alice', 'bob']) {
      const phone = await Phone.start({ login, domain: 'demo.local', password: `demo-${login}`, registrar: sip });
      phones.push(phone);
      await phone.register();
    }
    const [speaking, listening] = await Promise.all(phones.map((phone) => phone.call('*709900')));
    if (!speaking || !listening) throw new Error('no calls');
    await Promise.all([speaking.answered(), listening.answered()]);
    speaking.play(TONE);
    await listening.hears(TONE);
    const [conference] = (await rest.get(BASE)).json<{ confid: string }[]>();
    const path = `${BASE}/${conference?.confid}`;
    const participants = (await rest.get(`${path}/participants`)).json<{ participantid: string; ruri: string }[]>();
    const idOf = (login: string) => participants.find(({ ruri }) => ruri.includes(`:${login}@`))?.participantid ?? '';
    const command = (enabled: boolean) =>
      rest.send('POST', `${path}/topology`, { body: [{ from: idOf('alice'), to: idOf('bob'), enabled }] });
    const { listener } = listening.session.rtp;
    const hear = listener.hear.bind(listener);
    for (let round = 0; round < rounds; round += 1) {
      const silent = Promise.withResolvers<number>();
      const sent = performance.now();
      listener.hear = (samples) => {
        hear(samples);
        if (!hasTone(samples, TONE)) silent.resolve(performance.now() - sent);
      };
      await command(false);
      answer.push(performance.now() - sent);
      silence.push(await silent.promise);
      listener.hear = hear;
      await command(true);
      await listening.hears(TONE);
    }
    await Promise.all([speaking.hangup(), listening.hangup()]);
    await eventually(async () => {
      if ((await rest.get(BASE)).json<object[]>().length > 0) throw new Error('the conference goes on');
    });
    return { silence, answer };
  } finally {
    rest.close();
    for (const phone of phones) await phone.stop();
  }
}
